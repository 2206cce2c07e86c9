package keywordfilter

import (
	"context"
	"errors"
	"fmt"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/storage/control"
)

// numbers are those of one document on which URDs have conditions: what was read, and what its visit is to remember.
// That becomes durable with the visit, after every alert of it, so that a document which is matched again after a crash
// is compared with the same numbers, and gives the same alerts.
type numbers struct {
	document *selection.Document
	owners   *ownerBudgets // who pay for what is looked at
	told     []webrace.Told
}

// tells reports whether the condition of a URD on a number allows an alert; without one it does.
func (m *matching) tells(ctx context.Context, urd *control.URD) (bool, error) {
	when, has := m.audience.whens.Get(urd.ID)
	if !has {
		return true, nil
	}
	budget := m.numbers.owners.owned(urd)
	number, err := when.Number(ctx, m.numbers.document, m.document.Language, budget)
	if err != nil {
		return false, m.unjudged(ctx, urd, fmt.Errorf("look at the number: %w", err))
	}
	tell, next, err := m.judge(when, number, budget)
	if err != nil {
		return false, m.unjudged(ctx, urd, fmt.Errorf("evaluate the condition: %w", err))
	}
	if number.Found || m.document.Visit.ToldTo(when.URD) != nil {
		m.numbers.told = append(m.numbers.told, next)
	}
	return tell, nil
}

func (m *matching) judge(when *annotate.When, number annotate.Number, budget *selection.Budget) (bool, webrace.Told, error) {
	return when.Judge(number, m.document.Visit.ToldTo(when.URD), budget)
}

// unjudged notes why the condition of a URD on a number allows no alert. An owner who has nothing left for the document
// is given notice of that.
func (m *matching) unjudged(ctx context.Context, urd *control.URD, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	m.stage.env.Counter("unselectable").Add(1)
	m.stage.env.Logger.Warn("no alert by a condition on a number, which cannot be judged", "url", m.document.URL, "urd", urd.ID, "error", err)
	if errors.Is(err, selection.ErrBudget) {
		return m.notify(ctx, urd)
	}
	return nil
}

// learn makes the visit remember the numbers.
func (n *numbers) learn(v *webrace.Visit) { v.Tell(n.told) }
