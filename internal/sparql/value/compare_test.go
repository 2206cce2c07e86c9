package value_test

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql/value"
)

const dateTimeType = "^^xsd:dateTime"

func TestComparisons(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, op, b string
		want     string // empty is an error
	}{
		// Numbers, of all types.
		{"1", "=", "01", "true"},
		{"1", "=", "1.0", "true"},
		{"1", "=", "1.0e0", "true"},
		{"0.1", "=", `"0.1"^^xsd:float`, "true"},
		{"0.1", "=", "0.1e0", "true"},
		{`"0.1"^^xsd:float`, "=", "0.1e0", "false"},
		{"1", "<", "1.5", "true"},
		{"-0.0e0", "=", "0", "true"},
		{"9007199254740993", "=", "9007199254740992", "false"},
		{"9007199254740993", "=", "9007199254740992.0e0", "true"},
		{"123456789012345678901234567890", ">", "123456789012345678901234567889.5", "true"},
		{"0.000000000000000000000000000001", "<", "1", "true"},
		{"100000000000000000000", "=", "1e20", "true"},
		{"-100000000000000000000", "<", "1", "true"},
		{`"NaN"^^xsd:double`, "=", `"NaN"^^xsd:double`, "false"},
		{`"NaN"^^xsd:double`, "!=", `"NaN"^^xsd:double`, "true"},
		{`"NaN"^^xsd:float`, "<=", "1", "false"},
		{`"INF"^^xsd:float`, "=", `"INF"^^xsd:double`, "true"},
		{`"-INF"^^xsd:float`, "<", "-1", "true"},
		{`"127"^^xsd:byte`, "=", "127", "true"},
		{`"128"^^xsd:byte`, "=", "128", ""},
		{`"-1"^^xsd:unsignedInt`, "<", "128", ""},
		{`"18446744073709551615"^^xsd:unsignedLong`, ">", `"9223372036854775807"^^xsd:long`, "true"},
		{`"18446744073709551616"^^xsd:unsignedLong`, ">", "1", ""},
		{`"0"^^xsd:negativeInteger`, ">", "1", ""},
		{`"1.5"^^xsd:integer`, ">", "1", ""},
		{`"1e3"^^xsd:decimal`, ">", "1", ""},
		{`"0x10"^^xsd:double`, ">", "1", ""},
		{`" 1"^^xsd:integer`, "=", "1", ""},
		{`"+1"^^xsd:integer`, "=", "1", "true"},
		{`"."^^xsd:decimal`, "=", "1", ""},
		{`""^^xsd:integer`, "=", "1", ""},

		// Texts.
		{`"a"`, "<", `"b"`, "true"},
		{`"a\n"`, "<", `"aA"`, "true"}, // the characters, not their escapes
		{`"é"`, ">", `"z"`, "true"},
		{`"a"`, "=", `"a"@en`, "false"},
		{`"a"@en`, "=", `"a"@en`, "true"},
		{`"a"@en`, "!=", `"a"@fr`, "true"},
		{`"a"@en`, "=", `"a"^^<http://t/>`, "false"},
		{`"a"^^<http://t/>`, "!=", `"a"@en`, "true"},
		{`"x"^^xsd:integer`, "=", `"x"@en`, "false"},
		{`"a"@en`, "=", "1", "false"},
		{`"a"@en`, "<", `"b"@en`, ""},
		{`"a"`, "<", `"b"@en`, ""},
		{`"1"`, "=", "1", "false"}, // both types are known, and their values are not the same
		{`"1"`, "<", "1", ""},

		// Booleans.
		{"true", "=", `"1"^^xsd:boolean`, "true"},
		{"false", "<", "true", "true"},
		{`"yes"^^xsd:boolean`, "=", "true", ""},
		{"true", "=", "1", "false"},

		// Unknown datatypes and terms that are no literals.
		{`"a"^^<http://t/>`, "=", `"a"^^<http://t/>`, "true"},
		{`"a"^^<http://t/>`, "!=", `"a"^^<http://t/>`, "false"},
		{`"a"^^<http://t/>`, "=", `"b"^^<http://t/>`, ""},
		{`"a"^^<http://t/>`, "!=", `"a"`, ""},
		{`"a"^^<http://t/>`, "=", "<http://a/>", "false"},
		{`"x"^^xsd:integer`, "=", `"x"^^xsd:integer`, "true"},
		{"<http://a/>", "=", "<http://a/>", "true"},
		{"<http://a/>", "!=", "<http://b/>", "true"},
		{"<http://a/>", "<", "<http://b/>", ""},
		{"<http://a/>", "=", "_:a", "false"},
		{"_:a", "=", "_:a", "true"},
		{"", "=", "1", ""},
		{"", "=", "", ""},

		// Dates and times.
		{`"2002-04-02T12:00:00"` + dateTimeType, "=", `"2002-04-02T12:00:00Z"` + dateTimeType, "true"}, // the implicit timezone
		{`"2002-04-02T23:00:00-04:00"` + dateTimeType, "=", `"2002-04-03T02:00:00-01:00"` + dateTimeType, "true"},
		{`"2002-04-02T23:00:00"` + dateTimeType, "=", `"2002-04-02T23:00:00+06:00"` + dateTimeType, "false"},
		{`"1999-12-31T24:00:00"` + dateTimeType, "=", `"2000-01-01T00:00:00"` + dateTimeType, "true"},
		{`"2005-04-04T24:00:00"` + dateTimeType, "=", `"2005-04-04T00:00:00"` + dateTimeType, "false"},
		{`"2005-04-04T00:00:00.10"` + dateTimeType, "<", `"2005-04-04T00:00:00.1000001"` + dateTimeType, "true"},
		{`"-0001-01-01T00:00:00Z"` + dateTimeType, "<", `"0001-01-01T00:00:00Z"` + dateTimeType, "true"},
		{`"2000-02-29T00:00:00Z"` + dateTimeType, "<", `"12000-01-01T00:00:00Z"` + dateTimeType, "true"},
		{`"2001-02-29T00:00:00Z"` + dateTimeType, "=", `"2001-03-01T00:00:00Z"` + dateTimeType, ""},
		{`"02001-02-01T00:00:00Z"` + dateTimeType, "=", `"2001-02-01T00:00:00Z"` + dateTimeType, ""},
		{`"2001-02-01T00:00:00+14:01"` + dateTimeType, "=", `"2001-02-01T00:00:00Z"` + dateTimeType, ""},
		{`"2001-02-01T24:00:01"` + dateTimeType, "=", `"2001-02-01T00:00:00Z"` + dateTimeType, ""},
		{`"2001-02-01"` + dateTimeType, "=", `"2001-02-01T00:00:00Z"` + dateTimeType, ""},
		{`"2004-12-25-12:00"^^xsd:date`, "=", `"2004-12-26+12:00"^^xsd:date`, "true"},
		{`"2004-12-25"^^xsd:date`, "<", `"2004-12-26"^^xsd:date`, "true"},
		{`"2004-12-25"^^xsd:date`, "=", `"2004-12-25T00:00:00"` + dateTimeType, "false"},
		{`"2004-12-25"^^xsd:date`, "<", `"2004-12-26T00:00:00"` + dateTimeType, ""},
		{`"08:00:00+09:00"^^xsd:time`, "=", `"17:00:00-06:00"^^xsd:time`, "false"}, // XPath's own example
		{`"24:00:00"^^xsd:time`, "=", `"00:00:00"^^xsd:time`, "true"},
		{`"2005-12:00"^^xsd:gYear`, "=", `"2005+12:00"^^xsd:gYear`, "false"},
		{`"2005"^^xsd:gYear`, "<", `"2006"^^xsd:gYear`, "true"},
		{`"2005-12"^^xsd:gYearMonth`, "=", `"2005-12Z"^^xsd:gYearMonth`, "true"},
		{`"--02-29"^^xsd:gMonthDay`, "=", `"--02-29Z"^^xsd:gMonthDay`, "true"},
		{`"--02-30"^^xsd:gMonthDay`, "=", `"--02-29Z"^^xsd:gMonthDay`, ""},
		{`"--12"^^xsd:gMonth`, "=", `"--11"^^xsd:gMonth`, "false"},
		{`"---31"^^xsd:gDay`, ">", `"---30"^^xsd:gDay`, "true"},
		{`"2005-12-25T12:00:00"^^xsd:dateTimeStamp`, "=", `"2005-12-25T12:00:00Z"` + dateTimeType, ""},

		// Durations.
		{`"P1Y"^^xsd:duration`, "=", `"P12M"^^xsd:yearMonthDuration`, "true"},
		{`"PT24H"^^xsd:dayTimeDuration`, "=", `"P1D"^^xsd:duration`, "true"},
		{`"P1Y"^^xsd:duration`, "=", `"P365D"^^xsd:duration`, "false"},
		{`"-P3DT10H30M0.5S"^^xsd:dayTimeDuration`, "<", `"PT0S"^^xsd:dayTimeDuration`, "true"},
		{`"P1Y"^^xsd:duration`, "<", `"P2Y"^^xsd:duration`, ""},
		{`"P"^^xsd:duration`, "=", `"P2Y"^^xsd:duration`, ""},
		{`"P1YT"^^xsd:duration`, "=", `"P2Y"^^xsd:duration`, ""},
		{`"P1D"^^xsd:yearMonthDuration`, "=", `"P2Y"^^xsd:duration`, ""},
	} {
		got, err := value.Compare(c.op, term(c.a), term(c.b))
		if (err != nil) != (c.want == "") || err == nil && got != (c.want == "true") {
			t.Errorf("%s %s %s is %t, %v, want %s", c.a, c.op, c.b, got, err, c.want)
		}
		if err != nil && !errors.Is(err, value.ErrType) {
			t.Errorf("%s %s %s is %v, want %v", c.a, c.op, c.b, err, value.ErrType)
		}
	}
}

func TestEffectiveBooleanValue(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"true": "true", "false": "false", `"1"^^xsd:boolean`: "true", `"x"^^xsd:boolean`: "false", `""`: "false", `"false"`: "true",
		`""@en`: "false", `"a"@en`: "true", "0": "false", "-1": "true", "0.0": "false", "0.00": "false", "1e0": "true", "0e5": "false",
		`"NaN"^^xsd:float`: "false", `"x"^^xsd:integer`: "false", `"300"^^xsd:byte`: "false", `"a"^^<http://t/>`: "",
		`"2001-01-01"^^xsd:date`: "", "<http://a/>": "", "_:a": "", "": "",
	} {
		got, err := value.Boolean(term(s))
		if (err != nil) != (want == "") || got != (want == "true") {
			t.Errorf("%s is %t, %v, want %s", s, got, err, want)
		}
	}
}

// randomTerms are few enough values that many are equal, of all types.
func randomTerms(r *rand.Rand, n int) []webrace.Term {
	types := []string{"integer", "decimal", "double", "float", "byte", "unsignedLong", "boolean", "string", "dateTime", "date", "time",
		"gYear", "gMonthDay", "duration", "dayTimeDuration", "yearMonthDuration"}
	lexical := []string{"0", "1", "-1", "1.5", "01", "1e0", "127", "9007199254740993", "9007199254740992", "9007199254740992.5", "1e300",
		"123456789012345678901234567890", "0.1", "0.10000000149011612", "NaN", "INF", "-INF", "true", "false", "a", "a\\\"", "é",
		"2001-01-01T00:00:00Z", "2001-01-01T00:00:00", "2001-01-01T01:00:00+01:00", "2000-12-31T23:59:59.5", "2001-01-01", "2001-01-01Z",
		"00:00:00", "23:00:00-01:00", "2001", "2001Z", "--02-29", "P1Y", "P12M", "PT24H", "P1D", "-P1D", ""}
	list := []webrace.Term{"", "_:a", "_:b", "<http://a/>", "<http://b/>", `"a"@en`, `"a"@fr`, `"b"@en`}
	for len(list) < n {
		text := `"` + lexical[r.IntN(len(lexical))] + `"`
		switch name := types[r.IntN(len(types))]; {
		case name == "string":
			list = append(list, webrace.Term(text))
		case r.IntN(20) == 0:
			list = append(list, webrace.Term(text+"^^<http://t/"+name+">"))
		default:
			list = append(list, webrace.Term(text+"^^<"+rdf.XSD+name+">"))
		}
	}
	return list
}

// Order is a total order, and that of < where there is one.
func TestOrderIsTotalAndThatOfLess(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	list := randomTerms(r, 150)
	for _, a := range list {
		for _, b := range list {
			ab := value.Order(a, b)
			if ab != -value.Order(b, a) || a == b && ab != 0 {
				t.Fatalf("Order(%s, %s) is %d, and the other way round %d", a, b, ab, value.Order(b, a))
			}
			less, err := value.Compare("<", a, b)
			if less && err == nil && ab != -1 {
				t.Fatalf("%s < %s, but Order is %d", a, b, ab)
			}
			if equal, err := value.Compare("=", a, b); ab == 0 && a != b && err == nil && !equal && !isNaN(a) {
				t.Fatalf("Order(%s, %s) is 0, but they are not equal", a, b)
			}
			for _, c := range list[:60] {
				if ab <= 0 && value.Order(b, c) <= 0 && value.Order(a, c) > 0 {
					t.Fatalf("%s <= %s <= %s, but not the first and the last", a, b, c)
				}
			}
		}
	}
}

func isNaN(t webrace.Term) bool { return rdf.Value(t) == "NaN" }

// The operators agree with each other: = with !=, < with >, <= with both.
func TestOperatorsAgree(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	list := randomTerms(r, 200)
	for range 4000 {
		a, b := list[r.IntN(len(list))], list[r.IntN(len(list))]
		is := map[string]bool{}
		failed := map[string]bool{}
		for _, op := range []string{"=", "!=", "<", "<=", ">", ">="} {
			got, err := value.Compare(op, a, b)
			is[op], failed[op] = got, err != nil
			mirrored := map[string]string{"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}[op]
			if back, err := value.Compare(mirrored, b, a); back != got || (err != nil) != failed[op] {
				t.Fatalf("%s %s %s is %t, and mirrored %t, %v", a, op, b, got, back, err)
			}
		}
		if failed["="] != failed["!="] || !failed["="] && is["="] == is["!="] {
			t.Fatalf("%s = and != %s: %v, errors %v", a, b, is, failed)
		}
		if !failed["<"] && (is["<="] != (is["<"] || is["="]) || is["<"] && is[">"]) {
			t.Fatalf("%s and %s: %v", a, b, is)
		}
	}
}

// What ORDER BY does with kinds of terms (section 15.1).
func TestOrderOfKinds(t *testing.T) {
	t.Parallel()
	list := terms("", "_:a", "_:b", "<http://a/>", "<http://a/1>", "<http://a/10>", "<http://a/2>", "<http://b/>", `"NaN"^^xsd:double`, `"-INF"^^xsd:double`, "-1", "0.5", "1", "2e0", `""`,
		`"a"`, `"a"@en`, `"a"@fr`, `"aa"`, "false", "true", `"2001-01-01T00:00:00Z"^^xsd:dateTime`, `"2001-01-01"^^xsd:date`,
		`"a"^^<http://t/>`, `"b"^^<http://t/>`, `"x"^^<http://www.w3.org/2001/XMLSchema#integer>`)
	for i := range list {
		for j := range list {
			want := max(-1, min(1, i-j))
			if got := value.Order(list[i], list[j]); got != want {
				t.Errorf("Order(%s, %s) is %d, want %s", list[i], list[j], got, strconv.Itoa(want))
			}
		}
	}
}
