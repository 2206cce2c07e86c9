package keywordfilter

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/amount"
	"github.com/webrace/webrace/xmlschema"
)

// oracleConditions are conditions on a number, and what they mean.
var oracleConditions = map[string]func(number, last float64) bool{
	"number < 20":                 func(number, _ float64) bool { return number < 20 },
	"number > last or last == 7":  func(number, last float64) bool { return number > last || last == 7 },
	"change < -0.5":               func(number, last float64) bool { return number < last/2 },
	"any([3, 5, 7], # == number)": func(number, _ float64) bool { return number == 3 || number == 5 || number == 7 },
}

// compareNumbers compares what the visit of a document is to remember of numbers with what the oracle has it remember.
func (w *world) compareNumbers(d *webrace.Document, learned []any) {
	w.Helper()
	var got, want webrace.Visit
	if d.Visit != nil {
		got, want = *d.Visit, *d.Visit
	}
	for _, what := range learned {
		what.(webrace.Learned)(&got)
	}
	want.Tell(w.told)
	byURD := func(x, y webrace.Told) int { return cmp.Compare(x.URD, y.URD) }
	sorted := func(v webrace.Visit) []webrace.Told { return slices.SortedFunc(slices.Values(v.Numbers), byURD) }
	if remembered, told := sorted(got), sorted(want); !slices.Equal(remembered, told) {
		w.Fatalf("%s, with the visit %+v: remembered is %+v, want %+v", d.URL, d.Visit, remembered, told)
	}
}

// numbered passes on what the condition of a URD on a number allows.
type numbered struct {
	pipeline.Emitter
	*oracle
	urd *lone
}

func (n numbered) Emit(ctx context.Context, it *pipeline.Item) error {
	tells, err := n.tells(n.urd)
	if err != nil || !tells {
		return err
	}
	return n.Emitter.Emit(ctx, it)
}

// tells goes by the words of docs/annotation.md: an owner is told of a number that meets the condition, but for the one
// that they were told last and that has met it ever since.
func (o *oracle) tells(u *lone) (bool, error) {
	rule := u.When()
	if rule == nil {
		return true, nil
	}
	alone := xmlschema.URD{Select: []xmlschema.Rule{*rule}, Ignore: u.Ignore}
	rules, err := selection.Compile(alone.Rules())
	if err != nil {
		return false, err
	}
	part, err := rules.Apply(o.Context(), selection.Open(o.d.URL, o.d.Body, o.d.MediaType, o.d.Charset, o.d.Text), selection.NewBudget())
	if err != nil {
		return false, err
	}
	read, found := amount.Read(string(part.Text.Bytes), o.d.Language, o.d.Text.Bytes)
	number := read.Value()
	before := o.d.Visit.ToldTo(xmlschema.NumberID(u.ID, u.InterestHash()))
	if !found {
		if before != nil {
			o.remember(u, before.Number, false)
		}
		o.unmet++
		return false, nil
	}
	last, wasMet := number, false
	if before != nil {
		last, wasMet = before.Number, before.Met
	}
	met := oracleConditions[rule.When](number, last)
	tells := met && (before == nil || !wasMet || number != last)
	if met {
		last = number
		o.numbers++
	}
	switch {
	case !tells:
		o.unmet++
	case before != nil && number == before.Number:
		o.back++
	}
	o.remember(u, last, met)
	return tells, nil
}

func (o *oracle) remember(u *lone, number float64, met bool) {
	o.world.told = append(o.world.told, webrace.Told{URD: xmlschema.NumberID(u.ID, u.InterestHash()), Number: number, Met: met})
}

// TestOracleRemembersNumbers does so with one page whose price comes and goes, and URDs with conditions on it alone.
func TestOracleRemembersNumbers(t *testing.T) {
	t.Parallel()
	for i, few := range []int{0, mostFew} {
		w := newWorld(t, uint64(i), "requesters", few)
		w.priced = true
		w.revise(100, 50)
		for range 60 {
			w.revise(w.IntN(2), 50)
			w.visit()
		}
		if w.back < 5 || w.unmet < 50 {
			t.Errorf("%d alerts of a number that had gone, and %d that a number did not allow, prove too little", w.back, w.unmet)
		}
	}
}
