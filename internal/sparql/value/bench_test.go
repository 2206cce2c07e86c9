package value_test

import (
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/sparql/value"
)

// operands are pairs as queries compare them.
var operands = []struct {
	name string
	a, b webrace.Term
	free bool // comparing must not allocate
}{
	{"integers", term("120"), term("95"), true},
	{"derived", term(`"120"^^xsd:unsignedShort`), term("95"), true},
	{"decimals", term("120.50"), term("95.125"), true},
	{"doubles", term("1.2e2"), term("9.5e1"), true},
	{"mixed", term("120"), term("95.5e0"), true},
	{"decimal-double", term("120.5"), term("95.5e0"), true},
	{"strings", `"Wetter am Bodensee"`, `"Wetter am Attersee"`, true},
	{"languages", `"Wetter"@de`, `"weather"@en`, true},
	{"IRIs", "<http://example.org/a>", "<http://example.org/b>", true},
	{"booleans", value.True, value.False, true},
	{"dateTimes", term(`"2011-01-10T14:45:13.815-05:00"^^xsd:dateTime`), term(`"2011-01-10T14:45:13Z"^^xsd:dateTime`), true},
	{"escapes", `"a \"text\""`, `"a text"`, false},
	{"large", term("123456789012345678901234567890"), term("1"), false},
}

func BenchmarkCompare(b *testing.B) {
	for _, o := range operands {
		b.Run(o.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				value.Compare("=", o.a, o.b)
			}
		})
	}
}

func BenchmarkOrder(b *testing.B) {
	for _, o := range operands {
		b.Run(o.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				value.Order(o.a, o.b)
			}
		})
	}
}

func BenchmarkArithmetic(b *testing.B) {
	for _, o := range operands[:6] {
		b.Run(o.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				value.Arithmetic('+', o.a, o.b)
			}
		})
	}
}

func BenchmarkCall(b *testing.B) {
	env := &value.Env{}
	for name, args := range map[string][]webrace.Term{
		"STR":       {"<http://example.org/a>"},
		"STRLEN":    {`"Wetter am Bodensee"@de`},
		"CONTAINS":  {`"Wetter am Bodensee"@de`, `"Boden"`},
		"REGEX":     {`"Wetter am Bodensee"@de`, `"^wetter.*see$"`, `"i"`},
		"LCASE":     {`"Wetter am Bodensee"@de`},
		"LANG":      {`"Wetter am Bodensee"@de`},
		"YEAR":      {operands[10].a},
		"ISNUMERIC": {operands[0].a},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				value.Call(name, args, env)
			}
		})
	}
}
