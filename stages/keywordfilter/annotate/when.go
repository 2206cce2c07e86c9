package annotate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/formats"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/expression"
	"github.com/webrace/webrace/stages/internal/amount"
	"github.com/webrace/webrace/xmlschema"
)

// When is the condition of a request on a number of a document (select/@when), made ready.
//
// Change and last are relative to the number that the owner was told last, or that was there first. An owner is told
// of a number if it meets the condition, unless it is the one that they were told last and has met it ever since: a
// price that leaves and comes back is told of again, other words around it are not.
type When struct {
	URD       uint64 // identifies the request in what visits remember
	condition *expression.Program
	rules     *selection.Selection
	language  string // of the rule
}

// numberKind has what a condition may name.
var numberKind = pipeline.RecordOf("number", "change", "last")

// CheckWhen reports what is wrong with a condition, and where in it.
func CheckWhen(text string) error {
	condition, err := expression.CompileCounted(text, numberKind)
	if err != nil {
		return err
	}
	if _, err = holds(condition, 1, 1, selection.NewBudget()); errors.Is(err, selection.ErrBudget) {
		return errors.New("the condition goes through too many elements: it is about a number, its change, and the last one")
	}
	return err
}

// NewWhen returns the condition of a request on a number; nil if it has none.
func NewWhen(u *xmlschema.URD) (*When, error) {
	rule := u.When()
	if rule == nil {
		return nil, nil
	}
	w := &When{URD: xmlschema.NumberID(u.ID, u.InterestHash()), language: rule.Language}
	var err error
	if w.condition, err = expression.CompileCounted(rule.When, numberKind); err != nil {
		return nil, fmt.Errorf("when: %w", err)
	}
	alone := xmlschema.URD{Select: []xmlschema.Rule{*rule}, Ignore: u.Ignore}
	w.rules, err = selection.Compile(alone.Rules())
	return w, err
}

// Number is what a document has for a condition.
type Number struct {
	Value float64
	Found bool
	Doubt string // what it may be as well, and why it is not taken for that; "" if it is not ambiguous
}

// Number returns the number that the rule selects of a document in a language. An error is that of the context, or
// tells why the rule cannot be applied.
func (w *When) Number(ctx context.Context, d *selection.Document, language string, budget *selection.Budget) (Number, error) {
	part, err := w.rules.Apply(ctx, d, budget)
	if err != nil {
		return Number{}, err
	}
	text := string(part.Text.Bytes)
	switch w.language {
	case xmlschema.RuleJQ:
		text = values(text)
	case xmlschema.RuleSPARQL:
		n, literal, found := w.rules.Number(part.Text)
		if found {
			return Number{Value: n, Found: true}, nil
		}
		text = literal
	}
	read, found := amount.Read(text, language, d.Text().Bytes)
	n := Number{Value: read.Value(), Found: found}
	if read.Other != "" {
		n.Doubt = fmt.Sprintf("%q is read %s; it may be %v, too", read.Written, read.Why, amount.Amount{Digits: read.Other}.Value())
	}
	return n, nil
}

// values leaves out the paths to what a rule selects of JSON, in which there are numbers, too.
func values(text string) string {
	var values strings.Builder
	for block := range strings.Lines(text) {
		values.WriteString(formats.Value(block))
	}
	return values.String()
}

// Judge returns whether the owner is to be told of a number, who was told another last, or none (nil); and what is to
// be remembered if that is done. Without a number the condition is not met. What the condition costs is taken from the
// budget; one that does not suffice is [selection.ErrBudget].
func (w *When) Judge(n Number, last *webrace.Told, budget *selection.Budget) (tell bool, next webrace.Told, err error) {
	next = webrace.Told{URD: w.URD, Number: n.Value}
	if last != nil {
		next.Number = last.Number
	}
	if !n.Found {
		return false, next, nil
	}
	if next.Met, err = holds(w.condition, n.Value, next.Number, budget); err != nil || !next.Met {
		return false, next, err
	}
	tell = last == nil || n.Value != last.Number || !last.Met
	next.Number = n.Value
	return tell, next, nil
}

// Explain describes whether a number meets the condition.
func (w *When) Explain(n Number, last *webrace.Told) string {
	if !n.Found {
		return fmt.Sprintf("there is no number for %q", w.condition)
	}
	said := fmt.Sprintf("the number is %v", n.Value)
	if n.Doubt != "" {
		said += " (" + n.Doubt + ")"
	}
	if last != nil {
		said += fmt.Sprintf(", %v was told or seen before", last.Number)
	}
	_, next, err := w.Judge(n, last, selection.NewBudget())
	switch {
	case err != nil:
		return fmt.Sprintf("%s: %v", said, err)
	case next.Met:
		return fmt.Sprintf("%s: %q is met", said, w.condition)
	}
	return fmt.Sprintf("%s: %q is not met", said, w.condition)
}

// What a condition costs of the budget of rules: evaluating it, and each element of a list that it goes through.
const (
	conditionSteps = 64
	elementSteps   = 8
)

func holds(condition *expression.Program, number, last float64, budget *selection.Budget) (bool, error) {
	if !budget.Spend(conditionSteps) {
		return false, selection.ErrBudget
	}
	change := 0.0
	if number != last {
		change = (number - last) / math.Abs(last) // infinite, if that was 0
	}
	met, taken, err := condition.BoolWithin(pipeline.Record{"number": number, "change": change, "last": last}, nil, budget.Left()/elementSteps)
	if !budget.Spend(taken*elementSteps) || errors.Is(err, expression.ErrTakesTooLong) {
		return false, selection.ErrBudget
	}
	return met, err
}
