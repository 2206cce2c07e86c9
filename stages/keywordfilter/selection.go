package keywordfilter

import (
	"context"
	"errors"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/objects"
)

// Some URDs look at part of a page. Each set of rules is applied once, and those who have the same are matched with the
// text of their part, apart from the others.

// glance is who is shown the same part of a document together, because they have the same rules, have seen the
// same version of it before, or none (0), and remember the same number of them.
type glance struct {
	rules *selection.Selection
	asking
}

// tellOfParts emits an annotation for everyone whom the part of the document that they look at concerns.
func (s *stage) tellOfParts(ctx context.Context, a *audience, glances []*glance, it *pipeline.Item, out pipeline.Emitter) error {
	d := it.Value.(*webrace.Document)
	h := history{stage: s, document: d}
	now := selection.Open(d.Body, d.MediaType, d.Charset, d.Text)
	owners := a.newAccounts()
	var part *selection.Part // of the glance before, if there is one
	cost := 0                // of that part
	for i, g := range glances {
		h.budget = owners.most(g)
		before := h.budget.Left()
		if i > 0 && part != nil && g.rules.Key() == glances[i-1].rules.Key() {
			h.budget.Spend(cost)
		} else {
			var err error
			if part, err = s.partOf(ctx, g.rules, now, d, h.budget); err != nil {
				return err
			}
			cost = before - h.budget.Left()
		}
		concerned, err := h.compare(ctx, part, g)
		if err != nil {
			return err
		}
		if err := s.charge(ctx, a, owners, g, before-h.budget.Left(), it, out); err != nil {
			return err
		}
		if !concerned || !g.Everyone && len(g.Recipients) == 0 {
			continue
		}
		seen := h.seen
		diffs := s.newDiffs(part.Text, g.Added, func(int) (*webrace.Text, error) { return seen, nil })
		if err := s.emitAlerts(ctx, a, part.Text, []match.Asking{g.Asking}, diffs, it, out); err != nil {
			return err
		}
	}
	return nil
}

// partOf applies rules to the document at hand; it returns none if they cannot be applied. That is no
// failure of the document, whose other readers are told all the same. A budget that does not do is told of where it is
// charged.
func (s *stage) partOf(ctx context.Context, rules *selection.Selection, now *selection.Document, d *webrace.Document, budget *selection.Budget) (*selection.Part, error) {
	part, err := rules.Apply(ctx, now, budget)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, selection.ErrBudget):
		return nil, nil
	case err != nil:
		s.env.Counter("unselectable").Add(1)
		s.env.Logger.Warn("part of a document cannot be looked at", "url", d.URL, "rules", rules.Key(), "error", err)
		return nil, nil
	case len(part.Text.Blocks) == 0:
		s.env.Counter("selected_nothing").Add(1)
	}
	budget.Spend(len(part.Text.Bytes) / matchedBytes)
	return part, nil
}

// matchedBytes of text are matched, and recalledBytes of a version are read, at the cost of a step.
const (
	matchedBytes  = 8
	recalledBytes = 4
)

// history is what the object cache has of a document. The baseline of a visit knows whole blocks of whole
// pages, so what is new in a part is told by the same part of the versions before.
type history struct {
	*stage
	document *webrace.Document
	budget   *selection.Budget // of whom it is looked at for
	seen     *webrace.Text     // the part that they have seen; nil if that version was removed
	number   int               // of the version that was opened last
	version  *selection.Document
	cost     int // of reading it
}

// at returns a version; nil if it was removed.
func (h *history) at(number int) (*selection.Document, error) {
	if h.number == number {
		h.budget.Spend(h.cost) // as if it were read for this owner alone
		return h.version, nil
	}
	if h.budget.Left() < 0 {
		return nil, nil
	}
	r, err := h.recall(objects.View(h.document.Secret, h.document.URL), number)
	if err != nil && !errors.Is(err, objects.ErrNotFound) {
		return nil, err
	}
	h.number, h.version, h.cost = number, nil, len(r.body)/recalledBytes
	h.budget.Spend(h.cost)
	if err == nil {
		h.version = selection.Open(r.body, r.text.MediaType, r.text.Charset, r.text.Text)
	}
	return h.version, nil
}

// part returns the same part of a version; nil if that was removed, or the rules cannot be applied to it.
func (h *history) part(ctx context.Context, number int, rules *selection.Selection) (*webrace.Text, error) {
	d, err := h.at(number)
	if d == nil || err != nil {
		return nil, err
	}
	part, err := rules.Apply(ctx, d, h.budget)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, nil
	}
	return part.Text, nil
}

// compare finds what is new in a part to those who have seen a version, and reports whether it concerns them.
func (h *history) compare(ctx context.Context, part *selection.Part, g *glance) (concerned bool, err error) {
	if part == nil || len(part.Text.Blocks) == 0 {
		return false, nil
	}
	var changed bool
	if g.Added, changed, err = h.addedTo(ctx, part.Text, g); err != nil {
		return false, err
	}
	g.Unchanged = !changed || g.last > 0 && g.remember > 1 && !slices.Contains(g.Added, true)
	return !g.Unchanged || g.Everyone, nil
}

// addedTo returns which blocks of a part are new to those who have seen a version, because none of the last
// versions up to that one had them in the same part; and whether the part has changed since at all. Where
// a version was removed as garbage, the baseline of the last visit stands in for it.
func (h *history) addedTo(ctx context.Context, now *webrace.Text, g *glance) (added []bool, changed bool, err error) {
	if g.last == 0 {
		return nil, true, nil
	}
	last, err := h.part(ctx, g.last, g.rules)
	if err != nil {
		return nil, false, err
	}
	h.seen = last
	known := baselineOf(h.document.Visit)
	if last != nil {
		var before match.Baseline
		before, _ = before.Remember(g.remember, last)
		var after match.Baseline
		after, added = before.Remember(g.remember, now)
		if changed = !slices.Equal(before, after); !changed || !slices.Contains(added, true) {
			return added, changed, nil
		}
		if known, err = h.knownBefore(ctx, g); err != nil {
			return nil, false, err
		}
		known, _ = known.Remember(g.remember, last)
	}
	_, added = known.Remember(g.remember, now)
	return added, true, nil
}

// knownBefore returns the baseline of a part up to the version before the one that was seen.
func (h *history) knownBefore(ctx context.Context, g *glance) (known match.Baseline, err error) {
	for number := max(1, g.last-g.remember+1); number < g.last; number++ {
		text, err := h.part(ctx, number, g.rules)
		if err != nil {
			return nil, err
		}
		if text != nil {
			known, _ = known.Remember(g.remember, text)
		}
	}
	return known, nil
}
