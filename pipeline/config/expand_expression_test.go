package config

import (
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline/expression"
)

// Within an expression, what a variable is set to is a text, whatever it holds and wherever it stands.
func FuzzAVariableInAnExpressionIsData(f *testing.F) {
	for _, set := range []string{"", "shop.example", `x" or true or "`, `' or true or '`, "` or true or `", "``", "\\", `\"`, "a\nb\r", "*/ or true", "// x", "${V}", "\u2028 ü", `"`, "#"} {
		f.Add(set)
	}
	f.Fuzz(func(t *testing.T, set string) {
		set = strings.ToValidUTF8(set, "?")
		l := newLoader(LoadOptions{Env: func(string) (string, bool) { return set, true }})
		for written, want := range map[string]string{
			`${V}`: set, `"${V}"`: set, `'${V}'`: set, "`${V}`": set, `"a'${V}b" + 'c"${V}'`: "a'" + set + "b" + `c"` + set,
			"`a``${V}` + ${V:-x}": "a`" + set + set, "${V} // ${V}": set, "/* ${V} ' */ '${V}' // \" ${V}": set, `"\"${V}\\" + ${V}`: `"` + set + `\` + set,
			"'a' // '\n + ${V}": "a" + set, `"$${V}"`: "${V}",
		} {
			text, wrong := l.expandExpression(&value{kind: stringValue, text: written, doc: &document{}})
			if len(wrong) > 0 {
				t.Fatalf("%s: %v", written, wrong)
			}
			if strings.Contains(written, ":-") && set == "" {
				continue // the default
			}
			p, err := expression.Compile(text)
			if err != nil {
				if len(text) > 8000 {
					return
				}
				t.Fatalf("%s becomes %s: %v", written, text, err)
			}
			if got, err := p.Value(nil, nil); err != nil || got != want {
				t.Fatalf("%s becomes %s, which is %q, %v; want %q", written, text, got, err, want)
			}
		}
	})
}
