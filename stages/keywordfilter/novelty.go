package keywordfilter

import (
	"context"
	"errors"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
)

// novelty holds which blocks of a document are new: those that none of the last versions had which a URD
// remembers. It is found once for all who have seen the same version and remember the same number.
type novelty struct {
	stage    *stage
	document *webrace.Document
	next     match.Baseline          // what this visit is to remember
	visit    *since                  // how the document compares with the last visit
	known    map[seenVersions]*since // and with other versions, once asked for
	states   map[int]*webrace.Text   // by version, those that were asked for
	others   *otherPages             // nil for none
	origins  []string                // of these, those from which something moved here
	err      error                   // of reading a text that was asked for
}

// seenVersions are versions of a document that a URD knows: so many, up to one of them; without what one of several
// rules last found at the revision missed, or before that.
type seenVersions struct {
	last, remember int
	missed         int64
}

// mayKnow reports whether a URD may know what one of several rules finds: it came before that was absent, if it was.
func (s seenVersions) mayKnow(piece *selection.Selection, v *webrace.Visit) bool {
	part, absent := v.Lacks(rulesID(piece))
	return !absent || part.Revision == 0 || part.Revision > s.missed
}

// since is how a document compares with the versions that were seen.
type since struct {
	match.Comparison
	last  *match.Last
	came  []bool                                 // if all else of the document is the version seen last, which blocks that had not; or nil
	added [match.MostBaselineVersions + 1][]bool // by the number that is remembered, once asked for
	moved map[*knownPages]*movedHere             // what came from other pages, once asked for; nil if nothing did
}

func (s *stage) newNovelty(d *webrace.Document) (*novelty, error) {
	n := &novelty{stage: s, document: d}
	visit, err := n.readAgain()
	if err != nil {
		return nil, err
	}
	last := 0
	if d.Visit != nil {
		last = d.Visit.Version
	}
	n.visit = n.compare(visit, last)
	n.next = n.visit.Next
	return n, n.err
}

// compare compares the document with a baseline, which is that of a version and those before it.
func (n *novelty) compare(baseline match.Baseline, last int) *since {
	s := newSince(baseline, n.document.Text, func() *webrace.Text {
		text, err := n.stateOf(last)
		n.err = errors.Join(n.err, err)
		return text
	})
	if v := n.document.Visit; s.Grew && !v.IsInherited() { // what is inherited may be of two pages that became one
		s.came = s.last.Added
	}
	return s
}

// stateOf is stage.stateOf of the document, which reads each version once.
func (n *novelty) stateOf(version int) (*webrace.Text, error) {
	if text, known := n.states[version]; known {
		return text, nil
	}
	text, err := n.stage.stateOf(n.document, version)
	if n.states == nil {
		n.states = make(map[int]*webrace.Text)
	}
	if err == nil {
		n.states[version] = text
	}
	return text, err
}

// newSince compares a text with a baseline, of which the latest version had the text that the function returns.
func newSince(known match.Baseline, now *webrace.Text, last func() *webrace.Text) *since {
	s := &since{Comparison: known.Compare(now)}
	if s.Recast {
		before := last()
		s.KnowRows(now, before)
		last = func() *webrace.Text { return before }
	}
	s.last = &match.Last{Added: s.Added(1), Went: s.Went, Text: last}
	s.added[1] = s.last.Added
	return s
}

// readAgain returns the baseline of the last visit, made anew out of the stored versions if a release made it that
// read texts otherwise: what is only read differently is no news. If these were removed, there is nothing to compare
// this version with, and it is taken for known.
func (n *novelty) readAgain() (match.Baseline, error) {
	v := n.document.Visit
	visit := baselineOf(v)
	if v == nil || v.Version == 0 || len(v.Baseline) == 0 || v.Reading == extract.Revision {
		return visit, nil
	}
	again, err := n.stored(v.Version, visit.Versions())
	if err == nil && len(again) == 0 {
		again, _ = again.Remember(visit.Versions(), n.document.Text)
	}
	return again, err
}

func baselineOf(v *webrace.Visit) match.Baseline {
	if v == nil {
		return nil
	}
	return v.Baseline
}

// recipientGroup is the URDs that are shown a document together, because the same of it is new to them.
type recipientGroup struct {
	added   []bool
	last    *match.Last
	came    []bool // as of those who ask
	depends bool   // some of them are shown only what is new
	asked   []match.Asking
}

// merged finds what is new to each, and puts those together to whom it is the same: most pages have no text
// that comes and goes.
func merged(ctx context.Context, all []recipientList, n *novelty) (groups []*recipientGroup, err error) {
	for _, a := range all {
		concerned, err := a.compareWith(ctx, n)
		if err != nil {
			return nil, err
		}
		if !concerned {
			continue
		}
		i := slices.IndexFunc(groups, func(g *recipientGroup) bool {
			return !g.depends || !a.depends() || g.last == a.Last && slices.Equal(g.added, a.Added)
		})
		if i < 0 {
			i, groups = len(groups), append(groups, new(recipientGroup))
		}
		groups[i].take(a)
	}
	return groups, nil
}

// depends reports whether what is new matters to some who ask.
func (a *recipientList) depends() bool { return a.seenVersions != seenVersions{} || a.Added != nil }

// compareWith finds what is new in the document to those who have seen a version, and reports whether it concerns them.
func (a *recipientList) compareWith(ctx context.Context, n *novelty) (concerned bool, err error) {
	read := n.wholeUnits(ctx)
	if a.last == 0 {
		return n.meet(ctx, a, n.document.Text, read)
	}
	s, err := n.since(a.seenVersions)
	if err != nil {
		return false, err
	}
	came, err := n.movedSince(ctx, s, a.knows, n.document.Text, read)
	return a.learn(s, came), err
}

// learn takes note of what is new, and reports whether it concerns those who ask.
func (a *recipientList) learn(s *since, came *movedHere) (concerned bool) {
	a.Added, a.Last, a.came = s.newTo(a.remember), s.last, s.came
	if came != nil {
		a.Added, a.Last = came.Without(a.Added), came.last
	}
	a.Unchanged = s.Same || a.remember > 1 && !slices.Contains(a.Added, true) // all of the text is known
	if a.whole {
		return !a.Unchanged || a.Everyone
	}
	return !s.Same || a.Everyone
}

// newTo returns which blocks are new to those who remember so many versions.
func (s *since) newTo(remember int) []bool {
	if s.added[remember] == nil {
		s.added[remember] = s.Added(remember)
	}
	return s.added[remember]
}

// since returns how the document compares with what those know who have seen a version and remember a number of them:
// with the last visit, unless they were not shown that one, because another crawl came first. Then the
// versions that they know are compared, out of the object cache. Where these have been removed as garbage,
// everything is new; but not if it is the last visit's version that was removed, because its baseline is kept.
func (n *novelty) since(seen seenVersions) (*since, error) {
	if visited := n.document.Visit.Version; seen.last == visited || visited == 0 {
		return n.visit, nil
	}
	if s, known := n.known[seen]; known {
		return s, nil
	}
	remember := seen.remember
	if len(n.document.Text.Entries) > 0 {
		remember = match.MostBaselineVersions // whether an entry fell out of its list, and how many said the same
	}
	baseline, err := n.stored(seen.last, remember)
	if err != nil {
		return nil, err
	}
	if n.known == nil {
		n.known = make(map[seenVersions]*since)
	}
	n.known[seen] = n.compare(baseline, seen.last)
	return n.known[seen], nil
}

// stored returns the baseline of so many stored versions up to one. Those that say nothing are none, nor are
// placeholders for that one, nor is one that reads as the next does.
func (n *novelty) stored(version, remember int) (known match.Baseline, err error) {
	var texts []*webrace.Text
	var last extract.Kind    // of the first text
	var after match.Baseline // of the version behind the one at hand
	for first := version - match.MostBaselineVersions; version > max(0, first) && len(texts) < remember; version-- {
		text, kind, err := n.stage.textOf(n.document, version)
		switch {
		case err != nil:
			return nil, err
		case !match.IsState(text), len(texts) > 0 && kind.StandsInFor(last):
			continue
		case len(texts) == 0:
			last = kind
		case after.Compare(text).Same:
			continue
		}
		after, _ = match.Baseline(nil).Remember(1, text)
		texts = append(texts, text)
	}
	for _, text := range slices.Backward(texts) {
		known, _ = known.Remember(remember, text)
	}
	return known, nil
}

// take adds some who ask.
func (g *recipientGroup) take(a recipientList) {
	if a.depends() {
		g.depends, g.added, g.last, g.came = true, a.Added, a.Last, a.came
		for i := range g.asked {
			g.asked[i].Added, g.asked[i].Last = a.Added, a.Last
		}
	}
	a.Added, a.Last = g.added, g.last
	i := slices.IndexFunc(g.asked, func(with match.Asking) bool {
		return with.View == a.View && with.Everyone == a.Everyone && with.Unchanged == a.Unchanged
	})
	if i < 0 {
		g.asked = append(g.asked, a.Asking)
		return
	}
	g.asked[i].Recipients = append(g.asked[i].Recipients, a.Recipients...)
	g.asked[i].Remember |= a.Remember
}

// compare finds what is new in a part to those who have seen a version, and reports whether it concerns them.
func (h *history) compare(ctx context.Context, part *selection.Part, g *partGroup, n *novelty) (concerned bool, err error) {
	switch h.seen, h.now = nil, nil; {
	case part == nil || !match.IsState(part.Text):
		return false, nil
	case g.last == 0:
		h.now = part.Text
		return n.meet(ctx, &g.recipientList, part.Text, h.partUnits(ctx, g.rules))
	}
	s, err := h.since(ctx, part, g)
	if err != nil {
		return false, err
	}
	came, err := n.movedSince(ctx, s, g.knows, h.now, h.partUnits(ctx, g.rules))
	return g.learn(s, came), err
}

// since returns how a part compares with the same part of the versions that those know who have seen one of them. Where
// that was removed as garbage, the baseline of the last visit stands in for it. Of rules that find nothing, now or
// then, the part has what they found last: that is neither gone, nor new when it is back.
func (h *history) since(ctx context.Context, now *selection.Part, g *partGroup) (*since, error) {
	last, number, err := h.lastPart(ctx, g.last, g.rules)
	if err != nil {
		return nil, err
	}
	whole := last != nil
	if whole {
		if last, whole, err = h.wholeOf(ctx, last, number, g); err != nil {
			return nil, err
		}
	}
	if h.now, _, err = h.with(ctx, now.Text, g.last, now.Pieces, g.seenVersions); err != nil {
		return nil, err
	}
	h.seen = last
	var known match.Baseline
	switch {
	case whole:
		known, _ = known.Remember(g.remember, last)
	case number == g.last:
		known = baselineOf(h.document.Visit)
	case number > 0: // that was before the part was absent
		known = baselineOf(h.document.Visit).AsOne()
	}
	s := newSince(known, h.now, func() *webrace.Text { return last })
	if !whole || g.remember == 1 || !slices.Contains(s.last.Added, true) {
		return s, nil
	}
	if known, err = h.knownBefore(ctx, number, g); err != nil {
		return nil, err
	}
	known, _ = known.Remember(g.remember, last)
	return newSince(known, h.now, s.last.Text), nil
}

// wholeOf returns the part of a version with what several rules found last that find nothing in it; and false if some
// of that was removed.
func (h *history) wholeOf(ctx context.Context, text *webrace.Text, number int, g *partGroup) (*webrace.Text, bool, error) {
	d, err := h.at(number)
	if d == nil || err != nil {
		return text, true, err
	}
	pieces, err := g.rules.Pieces(ctx, d, h.budget)
	switch {
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case err != nil:
		return text, true, nil
	}
	return h.with(ctx, text, number, pieces, g.seenVersions)
}

// with returns a text with the pieces that are missing in it, as they were last up to a version, if they may be known;
// and false if some of that was removed.
func (h *history) with(ctx context.Context, text *webrace.Text, last int, pieces []selection.Piece, by seenVersions) (*webrace.Text, bool, error) {
	whole := true
	for _, piece := range pieces {
		if match.IsState(piece.Text) || !by.mayKnow(piece.Rules, h.document.Visit) {
			continue
		}
		found, number, err := h.lastPart(ctx, last, piece.Rules)
		switch {
		case err != nil:
			return nil, false, err
		case found != nil:
			text = selection.Join(text, found)
		case number > 0:
			whole = false
		}
	}
	return text, whole, nil
}

// knownBefore returns the baseline of a part up to the version before the one that was seen.
func (h *history) knownBefore(ctx context.Context, seen int, g *partGroup) (known match.Baseline, err error) {
	first := max(1, seen-g.remember+1)
	for _, piece := range g.rules.Parts() {
		if part, _ := h.document.Visit.Lacks(rulesID(piece)); !g.mayKnow(piece, h.document.Visit) {
			first = max(first, part.Version+1) // all before had it
		}
	}
	for number := first; number < seen; number++ {
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
