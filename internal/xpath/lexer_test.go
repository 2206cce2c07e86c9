package xpath

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestExpressionsOfStrangersAreRefusedWithAReason(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"":                    "it is empty",
		"//a[":                "a [ is not closed",
		"//a]":                "a ] has no [",
		"//a['x]":             "a string is not closed",
		"//a[contians(.,'')]": `did you mean "contains"`,
		"childs::a":           "there is no axis childs",
		"//a[$x]":             "'$' is not part of XPath here",
		"1.2.3":               "is not a number",
		"\xff":                "not valid UTF-8",
		"//a[matches(.,'x')]": "there is no function matches",
	} {
		if _, err := Lex(expression); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", expression, err, want)
		}
	}
}

func TestABudgetEndsTheWork(t *testing.T) {
	t.Parallel()
	spend := func(ctx context.Context, left, steps int) error {
		b := Budget{Context: ctx, Left: left}
		return Evaluate(func() {
			for range steps {
				b.Spend(1)
			}
		})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := spend(t.Context(), 10, 10); err != nil {
		t.Error(err)
	}
	if err := spend(t.Context(), 10, 11); !errors.Is(err, ErrBudget) {
		t.Error(err)
	}
	if err := spend(ended, 1<<20, 1<<12); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := Evaluate(func() { panic("x") }); err == nil || err.Error() != "x" {
		t.Error(err)
	}
}
