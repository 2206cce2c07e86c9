package keywordfilter

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/stages/internal/loadingcache"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/stages/keywordfilter/series"
	"github.com/webrace/webrace/storage/objects"
)

// What moved is not new: what came to a document from another page of its crawl was told there. Looked at are the page
// that led to the document and, of a list that goes over several pages, the one before and the next one, in the
// versions that the crawl was shown. All of that is stored, so that a match that is repeated finds the same.

// another is another page from which something may have come to a document.
type another struct {
	url   string // as it is known by
	near  bool   // it is the next page of a list, or the one before
	next  bool   // it is the next one
	shown []webrace.Shown
}

// others are the other pages of a document.
type others struct {
	pages []another
	known map[string]*acquaintance
}

// acquaintance is what some who are asked know of the other pages: of each the versions from one to another.
type acquaintance struct{ versions []span }

type span struct{ from, to int } // 0: none

// othersOf returns the other pages of a document that crawls came to; nil if there are none, or nothing of it can be
// new.
func (s *stage) othersOf(d *webrace.Document) (*others, error) {
	if len(d.Reach) == 0 || d.Visit != nil && d.Visit.Version == d.Version {
		return nil, nil
	}
	o := &others{known: make(map[string]*acquaintance)}
	add := func(page another) error {
		known := func(p another) bool { return p.url == page.url }
		if page.url == "" || page.url == d.URL || slices.ContainsFunc(o.pages, known) {
			return nil
		}
		var err error
		if page.shown, page.url, err = s.shown(d.Secret, page.url); err != nil || len(page.shown) == 0 || slices.ContainsFunc(o.pages, known) {
			return err
		}
		o.pages = append(o.pages, page)
		return nil
	}
	before, next := series.Near(d.URL, append([]string{d.From}, d.Links...)...)
	var errs []error
	for _, url := range before {
		errs = append(errs, add(another{url: url, near: true}))
	}
	for _, url := range next {
		errs = append(errs, add(another{url: url, near: true, next: true}))
	}
	errs = append(errs, add(another{url: d.From}))
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("look at other pages: %w", err)
	}
	if len(o.pages) == 0 {
		return nil, nil
	}
	return o, nil
}

// shownBy asks the frontier of this pipeline what each crawl was last shown of a URL, and how that is spelled.
func (s *stage) shownBy(secret, url string) ([]webrace.Shown, string, error) {
	store, err := s.dir.Frontier()
	if err != nil {
		return nil, "", err
	}
	return store.Shown(s.env.Pipeline, secret, url)
}

// to returns what those of a crawl know of the other pages, whose interest is of a revision and for whom a page counts
// if it lies within their levels; nil if that is nothing.
func (o *others) to(crawl string, interest int64, within func(distance int) bool) *acquaintance {
	if o == nil || crawl == "" {
		return nil
	}
	var key strings.Builder
	versions, any := make([]span, len(o.pages)), false
	for i, page := range o.pages {
		n, ok := slices.BinarySearchFunc(page.shown, crawl, func(s webrace.Shown, id string) int { return strings.Compare(s.Crawl, id) })
		if ok && within(page.shown[n].Distance) {
			if from := page.shown[n].From(interest); from > 0 {
				versions[i], any = span{from, page.shown[n].Version}, true
			}
		}
		fmt.Fprintf(&key, "%d-%d ", versions[i].from, versions[i].to)
	}
	if !any {
		return nil
	}
	if o.known[key.String()] == nil {
		o.known[key.String()] = &acquaintance{versions}
	}
	return o.known[key.String()]
}

// movedHere is what moved to a text, for those who know the same of it and of other pages.
type movedHere struct {
	*match.Moves
	last *match.Last
}

// unitsOf reads what a version of another page consists of; it returns none if that was removed.
type unitsOf func(page *another, version int) (units *match.Units, removed bool, err error)

// find finds what came to a text from other pages that some know; nil if nothing did.
func (n *novelty) find(ctx context.Context, know *acquaintance, now *webrace.Text, before *match.Before, read unitsOf) (*match.Moves, error) {
	var from []match.Elsewhere
	var failure error
	for i := range n.others.pages {
		page, known := &n.others.pages[i], know.versions[i]
		shown, err := n.shownSince(page, known, before != nil, read)
		if err != nil {
			return nil, err
		}
		from = append(from, match.Elsewhere{Shown: shown, Near: page.near, Next: page.next, Now: func() *match.Units {
			units, err := n.stage.latestOf(ctx, n.document.Secret, page, read)
			failure = errors.Join(failure, err)
			return units
		}})
	}
	moves := match.FindMoves(now, before, from, annotate.LeadsOn(n.document))
	for block := range now.Blocks {
		if page, is := moves.From(block); is && !slices.Contains(n.origins, n.others.pages[page].url) {
			n.origins = append(n.origins, n.others.pages[page].url)
		}
	}
	return moves, failure
}

// movedSince returns what moved to a text since a version that was seen; nil if nothing did.
func (n *novelty) movedSince(ctx context.Context, s *since, know *acquaintance, now *webrace.Text, read unitsOf) (*movedHere, error) {
	if know == nil || !slices.Contains(s.last.Added, true) {
		return nil, nil
	}
	if m, known := s.moved[know]; known {
		return m, nil
	}
	moves, err := n.find(ctx, know, now, &match.Before{Added: s.last.Added, Text: s.last.Text}, read)
	var m *movedHere
	if moves != nil {
		m = &movedHere{moves, annotate.LastWith(moves, s.last, now)}
	}
	if s.moved == nil {
		s.moved = make(map[*acquaintance]*movedHere)
	}
	s.moved[know] = m
	return m, err
}

// meet lets those who ask for the first time be shown what did not move to a text, if some did. It reports whether
// there is any.
func (n *novelty) meet(ctx context.Context, a *asking, now *webrace.Text, read unitsOf) (any bool, err error) {
	if a.knows == nil {
		return true, nil
	}
	moves, err := n.find(ctx, a.knows, now, nil, read)
	if moves == nil || err != nil {
		return true, err
	}
	a.Added = moves.Without(nil)
	if a.Everyone {
		a.Seen, a.SeenDistance, a.Met = math.MaxInt64, a.Distance, true
	}
	for i := range a.Recipients {
		a.Recipients[i].OnlyAdded = !a.whole
	}
	return slices.Contains(a.Added, true), nil
}

// shownSince returns what a page showed since the document was visited last, of the versions that are known, the last
// first: the one that it was then, too.
func (n *novelty) shownSince(page *another, known span, visited bool, read unitsOf) (all []*match.Units, err error) {
	if known.to == 0 {
		return nil, nil
	}
	var since time.Time
	if visited {
		since = n.document.Visit.At
	}
	for version := known.to; version >= known.from && len(all) < match.MostBaselineVersions; version-- {
		units, removed, err := read(page, version)
		if removed || err != nil {
			return all, err
		}
		all = append(all, units)
		v, err := n.stage.objects.Get(objects.View(n.document.Secret, page.url), version)
		if errors.Is(err, objects.ErrNotFound) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		if !v.FetchedAt.After(since) {
			break
		}
	}
	return all, nil
}

// latestOf returns what a page consists of by now: that is stored at least as soon as the document at hand, to which it
// led, but may not be durable yet.
func (s *stage) latestOf(ctx context.Context, secret string, page *another, read unitsOf) (*match.Units, error) {
	if err := s.dir.AwaitDocuments(ctx); err != nil {
		return nil, err
	}
	latest, err := s.objects.Latest(objects.View(secret, page.url))
	if err != nil {
		return nil, err
	}
	units, removed, err := read(page, latest.Number)
	if removed {
		units = match.UnitsOf(nil)
	}
	return units, err
}

// wholeUnits is unitsOf whole pages, which are kept for the next documents that they lead to.
func (n *novelty) wholeUnits(ctx context.Context) unitsOf {
	return func(page *another, version int) (*match.Units, bool, error) {
		at := *n.document
		at.URL = page.url
		units, err := n.stage.units.Get(ctx, fmt.Sprintf("%d %s %s", version, at.Secret, at.URL), func(context.Context) (loadingcache.Loaded[*match.Units], error) {
			r, err := n.stage.recall(&at, version)
			if err != nil {
				return loadingcache.Loaded[*match.Units]{}, err
			}
			units := match.UnitsOf(r.text.Text)
			return loadingcache.Loaded[*match.Units]{Value: units, Keep: time.Hour, Cost: unitsHeader + unitBytes*units.Len()}, nil
		})
		if errors.Is(err, objects.ErrNotFound) {
			return nil, true, nil
		}
		return units, false, err
	}
}

// The memory that units of other pages may take, in all and each.
const (
	keptUnits   = 8 << 20
	unitsHeader = 256
	unitBytes   = 64
)

// partUnits is unitsOf the same part of other pages.
func (h *history) partUnits(ctx context.Context, rules *selection.Selection) unitsOf {
	of := make(map[string]*history)
	return func(page *another, version int) (*match.Units, bool, error) {
		there := of[page.url]
		if there == nil {
			at := *h.document
			at.URL = page.url
			there = &history{stage: h.stage, document: &at, budget: h.budget}
			of[page.url] = there
		}
		text, is, err := there.read(ctx, version, rules)
		return match.UnitsOf(text), is == gone, err
	}
}
