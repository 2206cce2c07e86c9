package keywordfilter

import (
	"context"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
)

// novelty says which blocks of a document are new: those that none of the last versions had which a URD
// remembers. It is found once for all who have seen the same version and remember the same number.
type novelty struct {
	stage    *stage
	document *webrace.Document
	visit    match.Baseline // what the last visit remembers, and of how many versions that is
	versions int
	next     match.Baseline // what this visit is to remember
	known    map[seenVersions][]bool
}

// seenVersions are versions of a document that a URD knows: so many, up to one of them.
type seenVersions struct{ last, remember int }

func (s *stage) newNovelty(d *webrace.Document) (*novelty, error) {
	n := &novelty{stage: s, document: d, visit: baselineOf(d.Visit), known: make(map[seenVersions][]bool)}
	if err := n.readAgain(); err != nil {
		return nil, err
	}
	n.versions = n.visit.Versions()
	var added []bool
	n.next, added = n.visit.Remember(match.MostBaselineVersions, d.Text)
	n.known[seenVersions{0, n.versions}] = added
	return n, nil
}

// readAgain makes the baseline of the last visit anew out of the stored versions if a release made it that read texts
// otherwise: what is only read differently is no news. If these were removed, there is nothing to compare this version
// with, and it is taken for known.
func (n *novelty) readAgain() error {
	v := n.document.Visit
	if v == nil || v.Version == 0 || len(v.Baseline) == 0 || v.Reading == extract.Revision {
		return nil
	}
	again, err := n.stored(v.Version, n.visit.Versions())
	if err == nil && len(again) == 0 {
		again, _ = again.Remember(n.visit.Versions(), n.document.Text)
	}
	n.visit = again
	return err
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
	depends bool // some of them are shown only what is new
	asked   []match.Asking
}

// merged finds what is new to each, and puts those together to whom it is the same: most pages have no text
// that comes and goes.
func merged(all []asking, n *novelty) (groups []*recipientGroup, err error) {
	for _, a := range all {
		concerned, err := a.compareWith(n)
		if err != nil {
			return nil, err
		}
		if !concerned {
			continue
		}
		i := slices.IndexFunc(groups, func(g *recipientGroup) bool { return !g.depends || !a.depends() || slices.Equal(g.added, a.Added) })
		if i < 0 {
			i, groups = len(groups), append(groups, new(recipientGroup))
		}
		groups[i].take(a)
	}
	return groups, nil
}

// depends reports whether what is new matters to some who ask.
func (a *asking) depends() bool { return a.seenVersions != seenVersions{} }

// compareWith finds what is new in the document to those who have seen a version, and reports whether it concerns them.
func (a *asking) compareWith(n *novelty) (concerned bool, err error) {
	if !a.depends() {
		return true, nil
	}
	if a.Added, err = n.added(a.last, a.remember); err != nil || !a.whole {
		return err == nil, err
	}
	changed, err := n.changed(a.last)
	a.Unchanged = !changed || a.remember > 1 && !slices.Contains(a.Added, true) // all of the text is known
	return !a.Unchanged || a.Everyone, err
}

// added returns which blocks are new to those who have seen a version and remember a number of them: what was
// added since the last visit, unless they were not shown that one, because another crawl came first. Then the
// versions that they know are compared, out of the object cache. Where these have been removed as garbage,
// everything is new; but not if it is the last visit's version that was removed, because its baseline is kept.
func (n *novelty) added(version, remember int) ([]bool, error) {
	d := n.document
	sinceVisit := version == 0 || version == d.Visit.Version || d.Visit.Version == 0
	what := seenVersions{version, remember}
	if sinceVisit {
		what = seenVersions{0, min(remember, n.versions)}
	}
	if added, known := n.known[what]; known {
		return added, nil
	}
	baseline := n.visit
	if !sinceVisit {
		var err error
		if baseline, err = n.stored(version, remember); err != nil {
			return nil, err
		}
	}
	_, added := baseline.Remember(remember, d.Text)
	n.known[what] = added
	return added, nil
}

// stored returns the baseline of so many stored versions up to one.
func (n *novelty) stored(version, remember int) (known match.Baseline, err error) {
	for v := max(1, version-remember+1); v <= version; v++ {
		text, err := n.stage.textOf(n.document, v)
		if err != nil {
			return nil, err
		}
		if text != nil {
			known, _ = known.Remember(remember, text)
		}
	}
	return known, nil
}

// changed reports whether the document has another text than a version, or that was removed: its order, white space and
// markup do not count.
func (n *novelty) changed(version int) (bool, error) {
	if version == n.document.Visit.Version || n.document.Visit.Version == 0 {
		return !slices.Equal(n.next, n.visit), nil
	}
	before, err := n.stored(version, 1)
	if err != nil {
		return false, err
	}
	now, _ := before.Remember(1, n.document.Text)
	return !slices.Equal(now, before), nil
}

// take adds some who ask.
func (g *recipientGroup) take(a asking) {
	if a.depends() {
		g.depends, g.added = true, a.Added
		for i := range g.asked {
			g.asked[i].Added = a.Added
		}
	}
	a.Added = g.added
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
func (h *history) compare(ctx context.Context, part *selection.Part, g *partGroup) (concerned bool, err error) {
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
func (h *history) addedTo(ctx context.Context, now *webrace.Text, g *partGroup) (added []bool, changed bool, err error) {
	if g.last == 0 {
		return nil, true, nil
	}
	last, err := h.lastPart(ctx, g.last, g.rules)
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
func (h *history) knownBefore(ctx context.Context, g *partGroup) (known match.Baseline, err error) {
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
