package keywordfilter

import (
	"context"
	"errors"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
)

// Some URDs look at part of a page. Each set of rules is applied once, and those who have the same are matched with the
// text of their part, apart from the others.

// partGroup is the URDs that are shown the same part of a document together, because they have the same rules, have
// seen the same version of it before, or none (0), and remember the same number of them.
type partGroup struct {
	rules *selection.Selection
	recipientList
}

// asksForData returns those whose rules ask what a document states as RDF, which one without text may do as well.
func asksForData(groups []*partGroup) []*partGroup {
	return slices.DeleteFunc(slices.Clone(groups), func(g *partGroup) bool { return !g.rules.AsksForData() })
}

// matchParts emits an annotation for each URD that looks at part of the document and is concerned by that.
func (m *matching) matchParts(ctx context.Context, groups []*partGroup) error {
	d := m.document
	h := history{stage: m.stage, document: d}
	now := selection.Open(d.URL, d.Body, d.MediaType, d.Charset, d.Text)
	m.numbers.document = now
	owners := &ownerBudgets{m.audience.urds, make(map[string]*selection.Budget)}
	m.numbers.owners = owners
	var part *selection.Part // of the group before, if there is one
	cost := 0                // of that part
	for i, g := range groups {
		h.budget = owners.most(g)
		before := h.budget.Left()
		if i > 0 && part != nil && g.rules.Key() == groups[i-1].rules.Key() {
			h.budget.Spend(cost)
		} else {
			var err error
			if part, err = m.partOf(ctx, g.rules, now, h.budget); err != nil {
				return err
			}
			cost = before - h.budget.Left()
		}
		concerned, err := h.compare(ctx, part, g, m.novelty)
		if err != nil {
			return err
		}
		if err := m.charge(ctx, owners, g, before-h.budget.Left()); err != nil {
			return err
		}
		m.look(g.rules, part)
		if !concerned || !g.Everyone && len(g.Recipients) == 0 {
			continue
		}
		seen := h.seen
		diffs := m.stage.newDiffs(h.now, g.Added, func(int) (*webrace.Text, error) { return seen, nil })
		diffs.last = g.Last
		if err := m.emitAlerts(ctx, part.Text, g.rules, []match.Asking{g.Asking}, diffs); err != nil {
			return err
		}
	}
	return nil
}

// look notes whether there is a part that rules look for, and which of several rules find nothing.
func (m *matching) look(rules *selection.Selection, part *selection.Part) {
	if slices.Contains(m.looked, rulesID(rules)) {
		return
	}
	m.note(rules, part == nil || !match.IsState(part.Text))
	if part == nil {
		return
	}
	for _, piece := range part.Pieces {
		m.note(piece.Rules, !match.IsState(piece.Text))
	}
}

func (m *matching) note(rules *selection.Selection, isAbsent bool) {
	id := rulesID(rules)
	m.looked = append(m.looked, id)
	if !isAbsent {
		return
	}
	visit := m.document.Visit
	part, absent := visit.Lacks(id)
	if !absent && visit != nil {
		part.Version, part.Revision = visit.Version, visit.Revision
	}
	part.Rules = id
	m.absent = append(m.absent, part)
}

// partOf applies rules to the document at hand; it returns none if they cannot be applied. That is no failure of the
// document, whose other readers are told all the same. A budget that does not suffice is reported where it is charged.
func (m *matching) partOf(ctx context.Context, rules *selection.Selection, now *selection.Document, budget *selection.Budget) (*selection.Part, error) {
	part, err := rules.Look(ctx, now, budget)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, selection.ErrBudget):
		return nil, nil
	case err != nil:
		m.stage.env.Counter("unselectable").Add(1)
		m.stage.env.Logger.Warn("part of a document cannot be looked at", "url", m.document.URL, "rules", rules.Key(), "error", err)
		return nil, nil
	case len(part.Text.Blocks) == 0:
		m.stage.env.Counter("selected_nothing").Add(1)
	}
	budget.Spend(len(part.Text.Bytes) / matchedBytes)
	return part, nil
}

// matchedBytes of text are matched, and recalledBytes of a version are read, at the cost of a step.
const (
	matchedBytes  = 8
	recalledBytes = 4
)
