package value_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql/value"
)

// Integers take a fast path; those of a derived type do not, and must give the same.
func TestIntegersAreAsThoseOfDerivedTypes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 10))
	edges := []int64{0, 1, -1, 2099, 2100, 999999999999999999, 1000000000000000000, -999999999999999999, math.MaxInt64, math.MinInt64}
	some := func() string {
		n := edges[r.IntN(len(edges))]
		switch r.IntN(3) {
		case 0:
			n = int64(r.Uint64()) >> r.IntN(64)
		case 1:
			return "0" + strings.TrimPrefix(strconv.FormatInt(max(n, -math.MaxInt64), 10), "-") // no long is -math.MinInt64
		}
		return strconv.FormatInt(n, 10)
	}
	for range 4000 {
		a, b := some(), some()
		x, y := rdf.NewTyped(a, rdf.XSDInteger), rdf.NewTyped(b, rdf.XSDInteger)
		u, v := rdf.NewTyped(a, rdf.XSD+"long"), rdf.NewTyped(b, rdf.XSD+"long")
		for _, op := range []string{"=", "!=", "<", "<=", ">", ">="} {
			got, err := value.Compare(op, x, y)
			want, slow := value.Compare(op, u, v)
			if got != want || err != nil || slow != nil {
				t.Fatalf("%s %s %s is %t, %v, and of longs %t, %v", a, op, b, got, err, want, slow)
			}
		}
		if got, want := value.Order(x, y), value.Order(u, v); got != want {
			t.Fatalf("Order(%s, %s) is %d, and of longs %d", a, b, got, want)
		}
		for _, op := range []byte("+-*/") {
			got, err := value.Arithmetic(op, x, y)
			want, slow := value.Arithmetic(op, u, v)
			if got != want || (err != nil) != (slow != nil) {
				t.Fatalf("%s %c %s is %s, %v, and of longs %s, %v", a, op, b, got, err, want, slow)
			}
		}
	}
	for _, text := range []string{"", "-", "--1", "+1", "1x", " 1", "1.", "١"} {
		x, u := rdf.NewTyped(text, rdf.XSDInteger), rdf.NewTyped(text, rdf.XSD+"long")
		got, err := value.Compare("<", x, term("5"))
		want, slow := value.Compare("<", u, term("5"))
		if got != want || (err != nil) != (slow != nil) {
			t.Errorf("%q < 5 is %t, %v, and as a long %t, %v", text, got, err, want, slow)
		}
	}
}

func TestCommonValuesAreComparedWithoutAllocation(t *testing.T) { // not parallel: it counts allocations
	for _, o := range operands {
		if !o.free {
			continue
		}
		n := testing.AllocsPerRun(100, func() {
			value.Compare("=", o.a, o.b)
			value.Compare("<", o.a, o.b)
			value.Order(o.a, o.b)
			value.Boolean(o.a)
		})
		if n != 0 {
			t.Errorf("%s are compared with %f allocations", o.name, n)
		}
	}
	if n := testing.AllocsPerRun(100, func() { value.Arithmetic('+', operands[0].a, operands[0].b) }); n != 0 {
		t.Errorf("integers are added with %f allocations", n)
	}
}

// A string whose datatype is written is the same value as a plain one, though no canonical term has it.
func TestStringsWithTheirDatatype(t *testing.T) {
	t.Parallel()
	long, short := term(`"a\n"^^xsd:string`), term(`"a\n"`)
	if same, err := value.Compare("=", long, short); !same || err != nil || value.Order(long, short) != 0 {
		t.Errorf("%s = %s is %t, %v", long, short, same, err)
	}
}

// No term makes a function panic, and what is equal is in the same place of the order.
func FuzzValues(f *testing.F) {
	for _, o := range operands {
		f.Add(rdf.Value(o.a), rdf.Datatype(o.a), rdf.Value(o.b), rdf.Datatype(o.b))
	}
	for _, name := range []string{"gMonthDay", "duration", "time", "unsignedLong"} {
		f.Add("--02-29", rdf.XSD+name, "-P1Y2M3DT4H5M6.7S", rdf.XSD+name)
	}
	f.Fuzz(func(t *testing.T, x, xType, y, yType string) {
		if !rdf.ValidIRI(xType) || !rdf.ValidIRI(yType) {
			return
		}
		a, b := rdf.NewTyped(x, xType), rdf.NewTyped(y, yType)
		order := value.Order(a, b)
		if back := value.Order(b, a); order != -back {
			t.Errorf("Order(%s, %s) is %d, and the other way round %d", a, b, order, back)
		}
		if less, err := value.Compare("<", a, b); less && err == nil && order != -1 {
			t.Errorf("%s < %s, but Order is %d", a, b, order)
		}
		for _, op := range []byte("+-*/") {
			if sum, err := value.Arithmetic(op, a, b); err == nil {
				if _, err := value.Compare("=", sum, sum); err != nil {
					t.Errorf("%s %c %s is %s: %v", a, op, b, sum, err)
				}
			}
		}
		for _, to := range []string{"boolean", "integer", "decimal", "float", "double", "string", "dateTime"} {
			for _, from := range []string{string(a), string(rdf.NewString(x))} {
				once, err := value.Call(rdf.XSD+to, terms(from), nil)
				if err != nil {
					continue
				}
				if twice, err := value.Call(rdf.XSD+to, terms(string(once)), nil); err != nil || once != twice {
					t.Errorf("xsd:%s(%s) is %s, and of that %s, %v", to, from, once, twice, err)
				}
			}
		}
		for _, name := range []string{"ABS", "CEIL", "FLOOR", "ROUND", "YEAR", "MONTH", "DAY", "SECONDS", "TZ", "TIMEZONE", "UCASE", "STRLEN"} {
			value.Call(name, terms(string(a)), nil)
		}
	})
}
