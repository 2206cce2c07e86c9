package annotate

import (
	"errors"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/xmlschema"
)

func TestAConditionSaysWhatIsWrongWithIt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"number < 100 or change < -0.05": "", "abs(number - last) > 5": "", "numbr < 1": "numbr", "number <": "column", "number + 1": "no condition", "true": "",
		`number < "a"`: "evaluate",
	} {
		if err := CheckWhen(text); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Many steps, each judged by the slow rules of the doc comment.
func TestANumberIsToldOnceUntilItLeaves(t *testing.T) {
	t.Parallel()
	w, err := NewWhen(urdWhen("number < 100"))
	if err != nil {
		t.Fatal(err)
	}
	var last *webrace.Told
	for i, c := range []struct {
		number float64
		found  bool
		tell   bool
	}{{95, true, true}, {95, true, false}, {94, true, true}, {120, true, false}, {94, true, true}, {0, false, false}, {94, true, true}, {94, true, false}} {
		tell, next, err := w.Judge(Number{Value: c.number, Found: c.found}, last, selection.NewBudget())
		if err != nil || tell != c.tell {
			t.Errorf("step %d: %t, %v", i, tell, err)
		}
		last = &next
	}
}

// A condition is evaluated within what its owner has left, and takes from that what it costs: the same each time.
func TestAConditionIsPaidFor(t *testing.T) {
	t.Parallel()
	w, err := NewWhen(urdWhen("number < 100 and sum(1..100, # + number) > 0"))
	if err != nil {
		t.Fatal(err)
	}
	budget := selection.NewBudget()
	var costs [2]int
	for i := range costs {
		before := budget.Left()
		if _, _, err := w.Judge(Number{Value: 95, Found: true}, nil, budget); err != nil {
			t.Fatal(err)
		}
		costs[i] = before - budget.Left()
	}
	if costs[0] != costs[1] || costs[0] < 100 {
		t.Errorf("it costs %v steps", costs)
	}
	budget.Spend(budget.Left() - costs[0] + 1)
	if tell, _, err := w.Judge(Number{Value: 95, Found: true}, nil, budget); tell || !errors.Is(err, selection.ErrBudget) {
		t.Errorf("with a step too few: %t, %v", tell, err)
	}
	for _, endless := range []string{"let a = 1..4000; all(a, all(a, # > 0))", "len(1..1000000) > 0"} {
		if err := CheckWhen(endless); err == nil {
			t.Errorf("%s is taken", endless)
		}
	}
}

func urdWhen(when string) *xmlschema.URD {
	return urd(func(u *xmlschema.URD) {
		u.Select = []xmlschema.Rule{{Language: xmlschema.RuleCSS, Text: "#price", When: when}}
	})
}

// What a rule selects of JSON stands behind its path, in which there are numbers, too.
func TestTheNumberOfAPartOfJSON(t *testing.T) {
	t.Parallel()
	body := []byte(`{"items": [{"price": 12.5}, {"price": "1.234,56 €", "a: 7": 99}]}`)
	for rule, want := range map[string]float64{".items[0].price": 12.5, ".items[1].price": 1234.56, `.items[1]["a: 7"]`: 99, `"\(.items[0].price) of 3"`: 12.5, ".items[]": 1234.56} {
		w, err := NewWhen(urd(func(u *xmlschema.URD) {
			u.Select = []xmlschema.Rule{{Language: xmlschema.RuleJQ, Text: rule, When: "number > 0"}}
		}))
		if err != nil {
			t.Fatal(err)
		}
		text, err := extract.Document(body, "application/json", "http://a.example/", extract.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n, err := w.Number(t.Context(), selection.Open("http://a.example/", body, "application/json", "", text.Text), "", selection.NewBudget())
		if err != nil || !n.Found || n.Value != want {
			t.Errorf("%s: %+v, %v, want %v", rule, n, err, want)
		}
	}
}
