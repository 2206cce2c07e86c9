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
	asking
}

// asksForData returns those whose rules ask what a document says as RDF, which one without text may say as well.
func asksForData(groups []*partGroup) []*partGroup {
	return slices.DeleteFunc(slices.Clone(groups), func(g *partGroup) bool { return !g.rules.AsksForData() })
}

// matchParts emits an annotation for each URD that looks at part of the document and is concerned by that.
func (m *matching) matchParts(ctx context.Context, groups []*partGroup) error {
	d := m.document
	h := history{stage: m.stage, document: d}
	now := selection.Open(d.URL, d.Body, d.MediaType, d.Charset, d.Text)
	m.numbers.document = now
	owners := &accounts{m.audience.urds, make(map[string]*selection.Budget)}
	m.numbers.owners = owners
	var part *selection.Part           // of the group before, if there is one
	var missing []*selection.Selection // what several rules find nothing of
	cost := 0                          // of that part
	for i, g := range groups {
		h.budget = owners.most(g)
		before := h.budget.Left()
		if i > 0 && part != nil && g.rules.Key() == groups[i-1].rules.Key() {
			h.budget.Spend(cost)
		} else {
			var err error
			if part, missing, err = m.partOf(ctx, g.rules, now, h.budget); err != nil {
				return err
			}
			cost = before - h.budget.Left()
		}
		concerned, err := h.compare(ctx, part, missing, g)
		if err != nil {
			return err
		}
		if err := m.charge(ctx, owners, g, before-h.budget.Left()); err != nil {
			return err
		}
		m.look(g.rules, part, missing)
		if !concerned || !g.Everyone && len(g.Recipients) == 0 {
			continue
		}
		seen := h.seen
		diffs := m.stage.newDiffs(h.now, g.Added, func(int) (*webrace.Text, error) { return seen, nil })
		if err := m.emitAlerts(ctx, part.Text, []match.Asking{g.Asking}, diffs); err != nil {
			return err
		}
	}
	return nil
}

// look notes whether there is a part that rules look for, and which of several rules find nothing.
func (m *matching) look(rules *selection.Selection, part *selection.Part, missing []*selection.Selection) {
	if slices.Contains(m.looked, rulesID(rules)) {
		return
	}
	m.note(rules, part == nil || !match.IsState(part.Text))
	if part == nil {
		return
	}
	for _, one := range rules.Parts() {
		m.note(one, slices.ContainsFunc(missing, func(s *selection.Selection) bool { return s.Key() == one.Key() }))
	}
}

func (m *matching) note(rules *selection.Selection, isAbsent bool) {
	id := rulesID(rules)
	m.looked = append(m.looked, id)
	if !isAbsent {
		return
	}
	last, absent := m.document.Visit.LastWith(id)
	if !absent && m.document.Visit != nil {
		last = m.document.Visit.Version
	}
	m.absent = append(m.absent, webrace.Absent{Rules: id, Version: last})
}

// partOf applies rules to the document at hand, and returns those of several that find nothing; it returns no part if
// they cannot be applied. That is no failure of the document, whose other readers are told all the same. A budget that
// does not suffice is reported where it is charged.
func (m *matching) partOf(ctx context.Context, rules *selection.Selection, now *selection.Document, budget *selection.Budget) (*selection.Part, []*selection.Selection, error) {
	part, err := rules.Apply(ctx, now, budget)
	var missing []*selection.Selection
	if err == nil {
		missing, err = missingIn(ctx, now, rules, budget)
	}
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case errors.Is(err, selection.ErrBudget):
		return nil, nil, nil
	case err != nil:
		m.stage.env.Counter("unselectable").Add(1)
		m.stage.env.Logger.Warn("part of a document cannot be looked at", "url", m.document.URL, "rules", rules.Key(), "error", err)
		return nil, nil, nil
	case len(part.Text.Blocks) == 0:
		m.stage.env.Counter("selected_nothing").Add(1)
	}
	budget.Spend(len(part.Text.Bytes) / matchedBytes)
	return part, missing, nil
}

// missingIn returns those of several rules that find nothing in a document.
func missingIn(ctx context.Context, d *selection.Document, rules *selection.Selection, budget *selection.Budget) (missing []*selection.Selection, err error) {
	for _, one := range rules.Parts() {
		part, err := one.Apply(ctx, d, budget)
		if err != nil {
			return nil, err
		}
		if !match.IsState(part.Text) {
			missing = append(missing, one)
		}
	}
	return missing, nil
}

// joined returns a text with another behind it.
func joined(text, more *webrace.Text) *webrace.Text {
	all := *text
	at, entries := int32(len(text.Bytes)), int32(len(text.Entries))
	all.Bytes, all.Entries, all.Blocks = slices.Concat(text.Bytes, more.Bytes), slices.Concat(text.Entries, more.Entries), slices.Clone(text.Blocks)
	for _, b := range more.Blocks {
		b.Start, b.End = b.Start+at, b.End+at
		if b.Entry > 0 {
			b.Entry += entries
		}
		all.Blocks = append(all.Blocks, b)
	}
	for _, column := range more.Columns {
		if !slices.Contains(all.Columns, column) {
			all.Columns = append(slices.Clip(all.Columns), column)
		}
	}
	return &all
}

// matchedBytes of text are matched, and recalledBytes of a version are read, at the cost of a step.
const (
	matchedBytes  = 8
	recalledBytes = 4
)
