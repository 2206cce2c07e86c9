package keywordfilter

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/stages/internal/loadingcache"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/storage/objects"
)

// otherPages are the other pages of a document from which something may have come to it, in the versions that crawls
// were shown.
type otherPages struct {
	pages []annotate.Page
	shown [][]webrace.Shown // of each
	known map[string]*knownPages

	instead webrace.Instead // of the document, if it is of a list
}

// knownPages is what some who are asked know of the other pages: of each the versions from one to another.
type knownPages struct{ versions []annotate.Span }

// othersOf returns the other pages of a document that crawls came to; nil if there are none, or nothing of it can be
// new.
func (s *stage) othersOf(ctx context.Context, d *webrace.Document, last lastVersion) (*otherPages, error) {
	if len(d.Reach) == 0 || d.Visit != nil && d.Visit.Version == d.Version {
		return nil, nil
	}
	list, err := s.listOf(ctx, d, last)
	if err != nil {
		return nil, fmt.Errorf("look at the pages of a list: %w", err)
	}
	around := annotate.Around{URL: d.URL, Links: d.Links, LinksBefore: func() ([]string, error) { return s.linksBefore(d, last) }, List: list, From: []string{d.From}}
	pages, err := around.Pages()
	if err != nil {
		return nil, err
	}
	o := &otherPages{known: make(map[string]*knownPages)}
	if len(list) > 0 {
		o.instead = d.Instead
	}
	for _, page := range pages {
		shown, spelling, err := s.shown(d.Secret, page.URL)
		if err != nil {
			return nil, fmt.Errorf("look at other pages: %w", err)
		}
		page.URL = spelling
		if len(shown) > 0 && !slices.ContainsFunc(o.pages, func(p annotate.Page) bool { return p.URL == spelling }) {
			o.pages, o.shown = append(o.pages, page), append(o.shown, shown)
		}
	}
	if len(o.pages) == 0 {
		return nil, nil
	}
	return o, nil
}

// learn remembers where the document stands in its list.
func (o *otherPages) learn(v *webrace.Visit) {
	if v.Instead = (webrace.Instead{}); o != nil {
		v.Instead = o.instead
	}
}

// listOf returns the pages of the list that a document is of, if that is paged by a cursor and was turned over.
func (s *stage) listOf(ctx context.Context, d *webrace.Document, last lastVersion) ([]annotate.Page, error) {
	lists := annotate.Lists{Objects: s.objects, Secret: d.Secret}
	if d.Instead == (webrace.Instead{}) {
		return lists.Behind(d, func() ([]string, error) { return s.linksOf(last) })
	}
	if err := s.dir.AwaitDocuments(ctx); err != nil { // the page that led here may not be durable yet
		return nil, err
	}
	name, err := lists.NameOf(d.From, d.URL)
	if err != nil || name == "" {
		return nil, err
	}
	return lists.Around(d.Instead, name, d.From)
}

// linksBefore returns the links of the version of a document that was visited last, at least those to pages of the same
// list; none if there is no such version.
func (s *stage) linksBefore(d *webrace.Document, last lastVersion) (links []string, err error) {
	if before, known := matchedLast(d); known {
		return before.Series, nil
	}
	return s.linksOf(last)
}

// linksOf returns the links of the version that was visited last; none if there is none.
func (s *stage) linksOf(last lastVersion) (links []string, err error) {
	v, err := last()
	if err == nil {
		links, err = s.objects.Links(v)
	}
	if errors.Is(err, objects.ErrNotFound) {
		return nil, nil
	}
	return links, err
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
func (o *otherPages) to(crawl string, interest int64, within func(distance int) bool) *knownPages {
	if o == nil || crawl == "" {
		return nil
	}
	var key strings.Builder
	versions, any := make([]annotate.Span, len(o.pages)), false
	for i, shown := range o.shown {
		for _, one := range webrace.ShownOf(shown, crawl) {
			if from := one.From(interest); from > 0 && within(one.Distance) {
				versions[i], any = annotate.Span{From: min(from, one.Version), To: one.Version}, true
			}
		}
		fmt.Fprintf(&key, "%d-%d ", versions[i].From, versions[i].To)
	}
	if !any {
		return nil
	}
	if o.known[key.String()] == nil {
		o.known[key.String()] = &knownPages{versions}
	}
	return o.known[key.String()]
}

// movedHere is what moved to a text, for those who know the same of it and of other pages.
type movedHere struct {
	*match.Moves
	last *match.Last
}

// unitsOf reads what a version of another page consists of; nil if that was removed.
type unitsOf func(page annotate.Page, version int) (*match.Units, error)

// find finds what came to a text from other pages that some know; nil if nothing did.
func (n *novelty) find(ctx context.Context, know *knownPages, now *webrace.Text, before *match.Before, read unitsOf) (*match.Moves, error) {
	view := func(page annotate.Page) string { return objects.View(n.document.Secret, page.URL) }
	e := annotate.Elsewhere{Document: n.document, Pages: n.others.pages, Units: func(page annotate.Page, version int) (*match.Units, time.Time, error) {
		units, err := read(page, version)
		if units == nil || err != nil {
			return nil, time.Time{}, err
		}
		v, err := n.stage.objects.Get(view(page), version)
		if errors.Is(err, objects.ErrNotFound) {
			err = nil
		}
		return units, v.FetchedAt, err
	}, Latest: func(page annotate.Page) (int, error) {
		// That is stored at least as soon as the document at hand, to which it led, but may not be durable yet.
		if err := n.stage.dir.AwaitDocuments(ctx); err != nil {
			return 0, err
		}
		latest, err := n.stage.objects.Latest(view(page))
		return latest.Number, err
	}}
	var since time.Time
	if before != nil {
		var err error
		if since, err = n.stage.lastSeen(n.document); err != nil {
			return nil, err
		}
	}
	moves, origins, err := e.Moves(now, before, know.versions, since)
	for _, url := range origins {
		if !slices.Contains(n.origins, url) {
			n.origins = append(n.origins, url)
		}
	}
	return moves, err
}

// lastSeen returns when a document was there last: where it led elsewhere since, when that version was fetched.
func (s *stage) lastSeen(d *webrace.Document) (time.Time, error) {
	if d.Visit.Status < http.StatusMultipleChoices || d.Visit.Status == http.StatusNotModified {
		return d.Visit.At, nil
	}
	v, err := s.version(d, d.Visit.Version)
	if errors.Is(err, objects.ErrNotFound) {
		return d.Visit.At, nil
	}
	return v.FetchedAt, err
}

// movedSince returns what moved to a text since a version that was seen; nil if nothing did.
func (n *novelty) movedSince(ctx context.Context, s *since, know *knownPages, now *webrace.Text, read unitsOf) (*movedHere, error) {
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
		s.moved = make(map[*knownPages]*movedHere)
	}
	s.moved[know] = m
	return m, err
}

// meet lets those who ask for the first time be shown what did not move to a text, if some did. It reports whether
// there is any.
func (n *novelty) meet(ctx context.Context, a *recipientList, now *webrace.Text, read unitsOf) (any bool, err error) {
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

// wholeUnits is unitsOf whole pages, which are kept for the next documents that they lead to.
func (n *novelty) wholeUnits(ctx context.Context) unitsOf {
	return func(page annotate.Page, version int) (*match.Units, error) {
		at := *n.document
		at.URL = page.URL
		units, err := n.stage.units.Get(ctx, fmt.Sprintf("%d %s %s", version, at.Secret, at.URL), func(context.Context) (loadingcache.Loaded[*match.Units], error) {
			r, err := n.stage.recall(&at, version)
			if err != nil {
				return loadingcache.Loaded[*match.Units]{}, err
			}
			units := match.UnitsOf(r.text.Text)
			return loadingcache.Loaded[*match.Units]{Value: units, Keep: time.Hour, Cost: unitsHeader + unitBytes*units.Len()}, nil
		})
		if errors.Is(err, objects.ErrNotFound) {
			return nil, nil
		}
		return units, err
	}
}

// The memory that units of other pages may take, in all and each.
const (
	keptUnits   = 8 << 20
	unitsHeader = 256
	unitBytes   = 128
)

// partUnits is unitsOf the same part of other pages.
func (h *history) partUnits(ctx context.Context, rules *selection.Selection) unitsOf {
	of := make(map[string]*history)
	return func(page annotate.Page, version int) (*match.Units, error) {
		there := of[page.URL]
		if there == nil {
			at := *h.document
			at.URL = page.URL
			there = &history{stage: h.stage, document: &at, budget: h.budget}
			of[page.URL] = there
		}
		text, is, err := there.read(ctx, version, rules)
		if is == gone || err != nil {
			return nil, err
		}
		return match.UnitsOf(text), nil
	}
}
