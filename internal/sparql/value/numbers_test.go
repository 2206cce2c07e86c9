package value_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql/value"
)

func TestArithmetic(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a    string
		op   byte
		b    string
		want string // empty is an error
	}{
		{"1", '+', "2", "3"},
		{`"1"^^xsd:byte`, '+', `"2"^^xsd:short`, "3"},
		{"1", '-', "2.5", "-1.5"},
		{"1.10", '+', "0.90", "2.0"},
		{"2", '*', "3e0", "6.0E0"},
		{`"1"^^xsd:float`, '+', "0.1", `"1.1E0"^^xsd:float`},
		{`"1"^^xsd:float`, '+', "0.1e0", "1.1E0"},
		{"6", '/', "3", "2.0"},
		{"1", '/', "3", "0.333333333333333333333333"},
		{"2", '/', "3", "0.666666666666666666666667"},
		{"-2", '/', "3", "-0.666666666666666666666667"},
		{"1", '/', "8", "0.125"},
		{"1.5", '/', "0.03", "50.0"},
		{"1", '/', "0", ""},
		{"1", '/', "0.0", ""},
		{"1", '/', "0e0", `"INF"^^xsd:double`},
		{"0", '/', "0e0", `"NaN"^^xsd:double`},
		{"9223372036854775807", '+', "1", "9223372036854775808"},
		{"-9223372036854775808", '-', "1", "-9223372036854775809"},
		{"9223372036854775808", '-', "1", "9223372036854775807"},
		{"9223372036854775807", '*', "9223372036854775807", "85070591730234615847396907784232501249"},
		{"0.000000000000000001", '*', "0.000000000000000001", "0." + strings.Repeat("0", 35) + "1"},
		{"10", '*', "0.1", "1.0"},
		{"1", '+', `"1"`, ""},
		{"1", '+', `"x"^^xsd:integer`, ""},
		{"1", '+', "", ""},
	} {
		got, err := value.Arithmetic(c.op, term(c.a), term(c.b))
		if (err != nil) != (c.want == "") || got != term(c.want) {
			t.Errorf("%s %c %s is %s, %v, want %s", c.a, c.op, c.b, got, err, c.want)
		}
	}
	for a, want := range map[string]string{"1": "-1", "0": "0", "-1.50": "1.5", "0e0": "-0.0E0", "-9223372036854775808": "9223372036854775808",
		`"a"`: ""} {
		if got, err := value.Negate(term(a)); got != term(want) || (err != nil) != (want == "") {
			t.Errorf("-%s is %s, %v, want %s", a, got, err, want)
		}
	}
}

// Decimals are computed with as math/big does it.
func TestDecimalsAgainstRationals(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		a, b := randomDecimal(r), randomDecimal(r)
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		for _, op := range []byte("+-*/") {
			want := new(big.Rat)
			switch op {
			case '+':
				want.Add(x, y)
			case '-':
				want.Sub(x, y)
			case '*':
				want.Mul(x, y)
			case '/':
				if y.Sign() == 0 {
					continue
				}
				want.Quo(x, y)
			}
			term, err := value.Arithmetic(op, rdf.NewTyped(a, rdf.XSDDecimal), rdf.NewTyped(b, rdf.XSDDecimal))
			got, ok := new(big.Rat).SetString(rdf.Value(term))
			if err != nil || !ok {
				t.Fatalf("%s %c %s is %s, %v", a, op, b, term, err)
			}
			if off := new(big.Rat).Sub(got, want); op != '/' && off.Sign() != 0 || off.Abs(off).Cmp(halfUnit) > 0 {
				t.Fatalf("%s %c %s is %s, want %s", a, op, b, term, want.FloatString(30))
			}
		}
		if got := value.Order(rdf.NewTyped(a, rdf.XSDDecimal), rdf.NewTyped(b, rdf.XSDDecimal)); got != x.Cmp(y) {
			t.Fatalf("Order(%s, %s) is %d, want %d", a, b, got, x.Cmp(y))
		}
		f, _ := y.Float64()
		if got := value.Order(rdf.NewTyped(a, rdf.XSDDecimal), double(f)); got != x.Cmp(new(big.Rat).SetFloat64(f)) {
			t.Fatalf("Order(%s, %v) is %d", a, f, got)
		}
	}
}

// halfUnit is how far a quotient may be off.
var halfUnit = new(big.Rat).SetFrac(big.NewInt(5), new(big.Int).Exp(big.NewInt(10), big.NewInt(25), nil))

func randomDecimal(r *rand.Rand) string {
	var b strings.Builder
	if r.IntN(2) == 0 {
		b.WriteByte('-')
	}
	for range 1 + r.IntN(22) {
		b.WriteByte("0123456789"[r.IntN(10)*r.IntN(2)])
	}
	if r.IntN(3) > 0 {
		b.WriteByte('.')
		for range 1 + r.IntN(20) {
			b.WriteByte("0123456789"[r.IntN(10)*r.IntN(2)])
		}
	}
	return b.String()
}

func double(f float64) webrace.Term {
	return rdf.NewTyped(strconv.FormatFloat(f, 'e', -1, 64), rdf.XSDDouble)
}

// The table of section 17.5, and the canonical forms of XPath. An empty result is an error.
func TestCasts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ to, from, want string }{
		{"boolean", `" true "`, "true"},
		{"boolean", `"1"`, "true"},
		{"boolean", `"yes"`, ""},
		{"boolean", "0.0", "false"},
		{"boolean", `"NaN"^^xsd:double`, "false"},
		{"boolean", "<http://a/>", ""},
		{"integer", `" +07 "`, "7"},
		{"integer", `"1.5"`, ""},
		{"integer", "2.9", "2"},
		{"integer", "-2.9", "-2"},
		{"integer", "-2.9e0", "-2"},
		{"integer", "1e25", "10000000000000000905969664"},
		{"integer", `"INF"^^xsd:double`, ""},
		{"integer", "true", "1"},
		{"integer", `"5"^^xsd:byte`, "5"},
		{"integer", `"500"^^xsd:byte`, ""},
		{"decimal", `"1"`, "1.0"},
		{"decimal", "1e-1", "0.1"},
		{"decimal", `"0.1"^^xsd:float`, "0.1"},
		{"decimal", "1e21", "1000000000000000000000.0"},
		{"decimal", `"1e3"`, ""},
		{"decimal", `"NaN"^^xsd:float`, ""},
		{"float", "16777217", `"1.6777216E7"^^xsd:float`},
		{"float", "0.1", `"1.0E-1"^^xsd:float`},
		{"float", "1e300", `"INF"^^xsd:float`},
		{"double", `"-INF"`, `"-INF"^^xsd:double`},
		{"double", "100", "1.0E2"},
		{"double", "123.45", "1.2345E2"},
		{"double", "false", "0.0E0"},
		{"double", `"1e400"`, `"INF"^^xsd:double`},
		{"double", `"Infinity"`, ""},
		{"string", "<http://a/>", `"http://a/"`},
		{"string", "01", `"1"`},
		{"string", "1.50", `"1.5"`},
		{"string", "2.0", `"2"`},
		{"string", "1e2", `"100"`},
		{"string", "1e6", `"1.0E6"`},
		{"string", "1.5e-7", `"1.5E-7"`},
		{"string", `"0.1"^^xsd:float`, `"0.1"`},
		{"string", `"1"^^xsd:boolean`, `"true"`},
		{"string", "false", `"false"`},
		{"string", `"1999-12-31T24:00:00.500"^^xsd:dateTime`, ""},
		{"string", `"1999-12-31T24:00:00+00:00"^^xsd:dateTime`, `"2000-01-01T00:00:00Z"`},
		{"string", `"a"@en`, ""},
		{"string", `"a"^^<http://t/>`, ""},
		{"string", "_:a", ""},
		{"dateTime", `" 2002-04-02T12:00:00.50-05:00"`, `"2002-04-02T12:00:00.5-05:00"^^xsd:dateTime`},
		{"dateTime", `"-0044-03-15T00:00:00"`, `"-0044-03-15T00:00:00"^^xsd:dateTime`},
		{"dateTime", `"2002-04-02"`, ""},
		{"dateTime", "1", ""},
	} {
		got, err := value.Call(rdf.XSD+c.to, terms(c.from), nil)
		if (err != nil) != (c.want == "") || got != term(c.want) {
			t.Errorf("xsd:%s(%s) is %s, %v, want %s", c.to, c.from, got, err, c.want)
		}
	}
}

// A number that is cast to a text, or to a type that can hold it, and back is the same.
func TestCastsRoundTrip(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	cast := func(to string, from webrace.Term) webrace.Term {
		got, err := value.Call(rdf.XSD+to, []webrace.Term{from}, nil)
		if err != nil {
			t.Fatalf("xsd:%s(%s): %v", to, from, err)
		}
		return got
	}
	for range 1000 {
		f := math.Float64frombits(r.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		single := cast("float", double(r.NormFloat64()*1e3))
		for _, c := range []struct {
			from    webrace.Term
			through []string
		}{
			{cast("double", double(f)), []string{"string", "double"}},
			{cast("double", double(f)), []string{"decimal", "double"}},
			{single, []string{"double", "float"}},
			{single, []string{"string", "float"}},
			{single, []string{"decimal", "float"}},
			{value.Integer(int64(r.Uint64())), []string{"string", "decimal", "integer"}},
			{value.Integer(int64(r.Uint32())), []string{"double", "integer"}},
			{cast("decimal", rdf.NewString(randomDecimal(r))), []string{"string", "decimal"}},
			{value.Of(r.IntN(2) == 0), []string{"string", "boolean"}},
			{value.Of(r.IntN(2) == 0), []string{"integer", "double", "boolean"}},
		} {
			got := c.from
			for _, to := range c.through {
				got = cast(to, got)
			}
			if same, err := value.Compare("=", got, c.from); !same || err != nil || rdf.Datatype(got) != rdf.Datatype(c.from) {
				t.Fatalf("%s becomes %s through %v", c.from, got, c.through)
			}
		}
	}
}

// What is computed at the limit of digits is read again, and what is beyond it is not a number, however it is written.
func TestTheLongestNumbersAreReadAgain(t *testing.T) {
	t.Parallel()
	read := 0
	for digits := 990; digits < 1010; digits++ {
		for _, text := range []string{
			strings.Repeat("2", digits), "-" + strings.Repeat("9", digits), strings.Repeat("9", digits) + ".0", "0." + strings.Repeat("0", digits-1) + "1",
			"0." + strings.Repeat("9", digits), "1" + strings.Repeat("0", digits-1),
		} {
			once, err := value.Call(rdf.XSDDecimal, []webrace.Term{rdf.NewString(text)}, nil)
			if err != nil {
				continue
			}
			read++
			if twice, err := value.Call(rdf.XSDDecimal, []webrace.Term{once}, nil); err != nil || twice != once {
				t.Errorf("of %d digits %.10s… is %.20s…, and that is %.20s…, %v", digits, text, once, twice, err)
			}
			if sum, err := value.Arithmetic('+', once, once); err == nil {
				if same, err := value.Compare("=", sum, sum); !same || err != nil {
					t.Errorf("of %d digits %.10s… twice is no number: %v", digits, text, err)
				}
			}
		}
	}
	if read < 60 {
		t.Errorf("%d of 120 numbers are read", read)
	}
}
