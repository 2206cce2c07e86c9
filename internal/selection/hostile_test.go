package selection

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// many are 64 rules, each of a form with its number.
func many(form string) (all []Rule) {
	language, text, _ := strings.Cut(form, " ")
	for i := range MostRules {
		all = append(all, Rule{Language: Language(language), Text: strings.ReplaceAll(text, "%d", fmt.Sprint(i+1))})
	}
	return all
}

// TestHostileRules applies 64 rules of one owner to pages that make them costly. The steps they take are bounded by
// what a rule can concern, and where they are not, by the budget; so are the time and the memory.
func TestHostileRules(t *testing.T) {
	if testing.Short() {
		t.Skip("a lot to compute, and nobody beside it: not in short mode")
	}
	const elements = 10_000
	wide := strings.Repeat("<p class='a b c' id=x>x", elements)
	deep := strings.Repeat("<div class='a b c'>", 500) + strings.Repeat("<b class=d></b>", elements)
	attribute := "<p data-x='" + strings.Repeat("a", 4<<20) + "'>x"
	classes := "<p class='" + strings.Repeat("ab ", 1<<19) + "'>x"
	var attributes strings.Builder
	attributes.WriteString("<p")
	for i := range 200_000 {
		fmt.Fprintf(&attributes, " a%d", i)
	}
	attributes.WriteString(">x")
	const each = 1.3 * MostRules * elements // one step an element and rule
	for _, c := range []struct {
		name, rule, page string
		most             float64 // steps; 0 where the budget may end them
	}{
		{"classes that are there", "css .z%d.a", wide, 3 * each},
		{"classes that are not", "css .a.z%d", wide, 1e5},
		{"descendants", "css div div div div div div .z%d.d", deep, 3 * each},
		{"ways through a deep page", "css .a .b .c .a .b .c .a .b .c .a .d:nth-child(%d)", deep, 4 * each},
		{"ids", "css #z%d#x", wide, 3 * each},
		{"nth-child", "css p:nth-child(%dn+100001)", wide, 3 * each},
		{"nth-last-of-type", "css b:nth-last-of-type(%dn+100001)", deep, 3 * each},
		{"has in has", "css :has(:has(:has(z%d)))", deep, 1e5},
		{"has behind has", "css p:has(~ p:has(~ p:has(~ p)))", strings.Repeat("<p>x", elements/8), 3 * each},
		{"ways back in has", "css .a:has(.b .c .a .b .c .a .b .c ~ .z%d)", deep, 1e5},
		{"has of what is everywhere", "css .a:has(* * * > * + * ~ *)", wide, 0},
		{"nth-child of a list", "css :nth-child(%dn+1 of :nth-last-child(n of p))", wide, 0},
		{"languages", "css p:lang('*-%d', x)", "<p lang='a" + strings.Repeat("-bb", 1<<20) + "'>x", 0},
		{"siblings before", "css p ~ p ~ p ~ p ~ z%d", wide, 1e5},
		{"classes of siblings before", "css .z%d ~ .b ~ .c ~ .a", wide, 0}, // once 8.5 s and 853 MB for 50,000 elements
		{"siblings before everything", "css * ~ * ~ * ~ * ~ * ~ :nth-child(%d)", wide, 0},
		{"parts of an attribute", "css [data-x*='aaab%d']", attribute, 6e6},
		{"words of an attribute", "css .z%d.ab", classes, 9e6},
		{"attributes", "css [z%d]", attributes.String(), 8e6},
		{"nothing but not", "css :not(:not(:not(:not(z%d))))", wide, 4 * each},
		{"regex", "regex (x|x )*z%d", wide, 6e6},
		{"xpath", "xpath //p[@class='z%d']", wide, 0},
		{"xpath of ancestors", "xpath //*[count(ancestor::*) > %d]", deep, 0},
		{"everything is selected", "css *", wide, 0},
		{"texts are selected", "xpath //text()", strings.Repeat("x<!-- -->", elements), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Compile(many(c.rule))
			if err != nil {
				t.Fatal(err)
			}
			d := Open("http://a.example/", []byte("<body>"+c.page), "text/html", "utf-8", nil)
			if strings.HasPrefix(c.rule, "regex") {
				d = open(t, "<body>"+c.page, "text/html")
			}
			if root, err := d.tree(); root == nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began, budget := time.Now(), NewBudget()
			_, err = s.Apply(t.Context(), d, budget)
			took := time.Since(began)
			runtime.ReadMemStats(&after)
			steps := maxSteps - budget.Left()
			t.Logf("%d steps in %v, %d MB allocated: %v", steps, took, (after.TotalAlloc-before.TotalAlloc)>>20, err)
			switch {
			case err != nil && !errors.Is(err, ErrBudget):
				t.Error(err)
			case c.most > 0 && (err != nil || float64(steps) > c.most):
				t.Errorf("%d steps, %.0f are the most: %v", steps, c.most, err)
			case after.TotalAlloc-before.TotalAlloc > 1<<30:
				t.Errorf("%d MB allocated", (after.TotalAlloc-before.TotalAlloc)>>20)
			case took > time.Minute: // half a second on a machine that has nothing else to do
				t.Errorf("it took %v", took)
			}
		})
	}
}
