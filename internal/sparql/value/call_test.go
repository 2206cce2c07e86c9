package value_test

import (
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql/value"
)

// term reads what a test writes: the forms of Turtle, with xsd: for XML Schema.
func term(s string) webrace.Term {
	switch {
	case s == "true" || s == "false":
		return webrace.Term(`"` + s + `"^^<` + rdf.XSDBoolean + `>`)
	case s != "" && (s[0] >= '0' && s[0] <= '9' || s[0] == '-' || s[0] == '.'):
		datatype := rdf.XSDInteger
		if strings.ContainsAny(s, "eE") {
			datatype = rdf.XSDDouble
		} else if strings.Contains(s, ".") {
			datatype = rdf.XSDDecimal
		}
		return webrace.Term(`"` + s + `"^^<` + datatype + `>`)
	}
	if text, name, ok := strings.Cut(s, "^^xsd:"); ok {
		return webrace.Term(text + "^^<" + rdf.XSD + name + ">")
	}
	return webrace.Term(s)
}

func terms(list ...string) []webrace.Term {
	var result []webrace.Term
	for _, s := range list {
		result = append(result, term(s))
	}
	return result
}

// The examples of SPARQL 1.1, section 17.4, and the rules beside them. An empty result is an error.
func TestFunctions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []webrace.Term
		want string
	}{
		// 17.4.2
		{"ISIRI", terms("<http://a/>"), "true"},
		{"ISURI", terms(`"http://a/"`), "false"},
		{"ISBLANK", terms("_:b"), "true"},
		{"ISLITERAL", terms("_:b"), "false"},
		{"ISLITERAL", terms("1"), "true"},
		{"ISNUMERIC", terms("12"), "true"},
		{"ISNUMERIC", terms(`"12"`), "false"},
		{"ISNUMERIC", terms(`"12"^^xsd:nonNegativeInteger`), "true"},
		{"ISNUMERIC", terms(`"1200"^^xsd:byte`), "false"},
		{"ISNUMERIC", terms("<http://a/>"), "false"},
		{"STR", terms("<mailto:alice@work.example>"), `"mailto:alice@work.example"`},
		{"STR", terms(`"a\nb"@en`), `"a\nb"`},
		{"STR", terms("01"), `"01"`},
		{"STR", terms("_:b"), ""},
		{"LANG", terms(`"Roberto"@es`), `"es"`},
		{"LANG", terms(`"Robert"`), `""`},
		{"LANG", terms("<http://a/>"), ""},
		{"DATATYPE", terms(`"a"`), "<" + rdf.XSDString + ">"},
		{"DATATYPE", terms(`"a"@en`), "<" + rdf.LangString + ">"},
		{"DATATYPE", terms("1.0e0"), "<" + rdf.XSDDouble + ">"},
		{"DATATYPE", terms("<http://a/>"), ""},
		{"IRI", terms(`"http://example/"`), "<http://example/>"},
		{"IRI", terms(`"a/../b"`), "<https://base.example/b>"},
		{"IRI", terms("<http://a/>"), "<http://a/>"},
		{"IRI", terms(`"a b"`), ""},
		{"URI", terms("1"), ""},
		{"STRDT", terms(`"123"`, "<http://t/>"), `"123"^^<http://t/>`},
		{"STRDT", terms(`"123"`, "<"+rdf.XSDString+">"), `"123"`},
		{"STRDT", terms(`"iiii"@en`, "<http://t/>"), ""},
		{"STRLANG", terms(`"chat"`, `"EN"`), `"chat"@en`},
		{"STRLANG", terms(`"chat"`, `"e n"`), ""},
		{"STRLANG", terms(`"chat"@en`, `"en"`), ""},
		{"SAMETERM", terms("1", "01"), "false"},
		{"SAMETERM", terms("1", "1"), "true"},
		{"LANGMATCHES", terms(`"en-gb"`, `"EN"`), "true"},
		{"LANGMATCHES", terms(`"en"`, `"en-gb"`), "false"},
		{"LANGMATCHES", terms(`"eng"`, `"en"`), "false"},
		{"LANGMATCHES", terms(`""`, `"*"`), "false"},
		{"LANGMATCHES", terms(`"fr"`, `"*"`), "true"},

		// 17.4.3
		{"STRLEN", terms(`"chat"@en`), "4"},
		{"STRLEN", terms(`"食べる"`), "3"},
		{"STRLEN", terms("1"), ""},
		{"SUBSTR", terms(`"foobar"`, "4"), `"bar"`},
		{"SUBSTR", terms(`"foobar"@en`, "4", "1"), `"b"@en`},
		{"SUBSTR", terms(`"食べる"`, "2", "1"), `"べ"`},
		{"SUBSTR", terms(`"12345"`, "1.5", "2.6"), `"234"`},
		{"SUBSTR", terms(`"12345"`, "0", "3"), `"12"`},
		{"SUBSTR", terms(`"12345"`, "5", "-3"), `""`},
		{"SUBSTR", terms(`"12345"`, `"NaN"^^xsd:double`), `""`},
		{"UCASE", terms(`"foo"@en`), `"FOO"@en`},
		{"UCASE", terms(`"straße"`), `"STRASSE"`},
		{"LCASE", terms(`"BAR"`), `"bar"`},
		{"STRSTARTS", terms(`"foobar"@en`, `"foo"`), "true"},
		{"STRSTARTS", terms(`"foobar"`, `"foo"@en`), ""},
		{"STRSTARTS", terms(`"foobar"@en`, `"foo"@fr`), ""},
		{"STRENDS", terms(`"foobar"@en`, `"bar"@en`), "true"},
		{"CONTAINS", terms(`"foobar"`, `"oba"`), "true"},
		{"CONTAINS", terms(`"foobar"`, "1"), ""},
		{"STRBEFORE", terms(`"abc"`, `"b"`), `"a"`},
		{"STRBEFORE", terms(`"abc"@en`, `"bc"`), `"a"@en`},
		{"STRBEFORE", terms(`"abc"@en`, `"b"@cy`), ""},
		{"STRBEFORE", terms(`"abc"`, `"xyz"`), `""`},
		{"STRBEFORE", terms(`"abc"@en`, `"z"@en`), `""`},
		{"STRBEFORE", terms(`"abc"@en`, `""`), `""@en`},
		{"STRAFTER", terms(`"abc"`, `"b"`), `"c"`},
		{"STRAFTER", terms(`"abc"@en`, `"ab"`), `"c"@en`},
		{"STRAFTER", terms(`"abc"@en`, `""@en`), `"abc"@en`},
		{"STRAFTER", terms(`"abc"@en`, `"z"`), `""`},
		{"ENCODE_FOR_URI", terms(`"Los Angeles"@en`), `"Los%20Angeles"`},
		{"ENCODE_FOR_URI", terms(`"~bébé"`), `"~b%C3%A9b%C3%A9"`},
		{"CONCAT", terms(`"foo"`, `"bar"`), `"foobar"`},
		{"CONCAT", terms(`"foo"@en`, `"bar"@en`), `"foobar"@en`},
		{"CONCAT", terms(`"foo"@en`, `"bar"`), `"foobar"`},
		{"CONCAT", terms(`"foo"@en`, `"bar"@fr`, `"x"@en`), `"foobarx"`},
		{"CONCAT", terms(`"foo"`, "1"), ""},
		{"CONCAT", nil, `""`},

		// 17.4.4
		{"ABS", terms("-1.5"), "1.5"},
		{"ABS", terms("-1"), "1"},
		{"ABS", terms(`"-5"^^xsd:byte`), "5"},
		{"ROUND", terms("2.4999"), "2.0"},
		{"ROUND", terms("2.5"), "3.0"},
		{"ROUND", terms("-2.5"), "-2.0"},
		{"ROUND", terms("-2.5e0"), "-2.0E0"},
		{"CEIL", terms("10.5"), "11.0"},
		{"CEIL", terms("-10.5"), "-10.0"},
		{"FLOOR", terms("10.5"), "10.0"},
		{"FLOOR", terms("-10.5"), "-11.0"},
		{"FLOOR", terms(`"1.5"^^xsd:float`), `"1.0E0"^^xsd:float`},
		{"FLOOR", terms(`"1.5"`), ""},

		// 17.4.5
		{"NOW", nil, `"2011-01-10T14:45:13.815Z"^^xsd:dateTime`},
		{"YEAR", terms(`"2011-01-10T14:45:13.815-05:00"^^xsd:dateTime`), "2011"},
		{"MONTH", terms(`"2011-01-10T14:45:13.815-05:00"^^xsd:dateTime`), "1"},
		{"DAY", terms(`"2011-01-10T14:45:13.815-05:00"^^xsd:dateTime`), "10"},
		{"HOURS", terms(`"2011-01-10T14:45:13.815-05:00"^^xsd:dateTime`), "14"},
		{"MINUTES", terms(`"2011-01-10T14:45:13.815-05:00"^^xsd:dateTime`), "45"},
		{"SECONDS", terms(`"2011-01-10T14:45:13.815-05:00"^^xsd:dateTime`), "13.815"},
		{"TIMEZONE", terms(`"2011-01-10T14:45:13.815-05:00"^^xsd:dateTime`), `"-PT5H"^^xsd:dayTimeDuration`},
		{"TIMEZONE", terms(`"2011-01-10T14:45:13.815Z"^^xsd:dateTime`), `"PT0S"^^xsd:dayTimeDuration`},
		{"TIMEZONE", terms(`"2011-01-10T14:45:13.815"^^xsd:dateTime`), ""},
		{"TZ", terms(`"2011-01-10T14:45:13.815-05:00"^^xsd:dateTime`), `"-05:00"`},
		{"TZ", terms(`"2011-01-10T14:45:13.815Z"^^xsd:dateTime`), `"Z"`},
		{"TZ", terms(`"2011-01-10T14:45:13.815"^^xsd:dateTime`), `""`},
		{"YEAR", terms(`"-0044-03-15T00:00:00"^^xsd:dateTime`), "-44"},
		{"YEAR", terms(`"2011-13-10T14:45:13Z"^^xsd:dateTime`), ""},
		{"YEAR", terms(`"2011"`), ""},
		{"HOURS", terms(`"2011-01-10"^^xsd:date`), ""},

		// 17.4.6
		{"MD5", terms(`"abc"`), `"900150983cd24fb0d6963f7d28e17f72"`},
		{"SHA1", terms(`"abc"`), `"a9993e364706816aba3e25717850c26c9cd0d89d"`},
		{"SHA256", terms(`"abc"`), `"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"`},
		{"MD5", terms(`"abc"@en`), ""},
		{"STRLEN", terms(""), ""},
	} {
		base, err := rdf.ParseBase("https://base.example/x")
		if err != nil {
			t.Fatal(err)
		}
		env := &value.Env{Base: base, Now: time.Date(2011, 1, 10, 14, 45, 13, 815e6, time.UTC)}
		got, err := value.Call(c.name, c.args, env)
		if (err != nil) != (c.want == "") || got != term(c.want) {
			t.Errorf("%s%s is %s, %v, want %s", c.name, c.args, got, err, c.want)
		}
	}
}
