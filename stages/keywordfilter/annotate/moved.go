package annotate

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/internal/series"
)

// What moved is not new: what came to a document from another page of its crawl was told there. Looked at are the page
// that led to the document and, of a list that goes over several pages, the one before and the next one. All of that is
// stored, so that a match that is repeated finds the same, and commands find what the stage found.

// Page is another page from which something may have come to a document.
type Page struct {
	URL  string
	Near bool // it is the next page of a list, or the one before
	Next bool // it is the next one
	Gone bool // nothing leads there any more: all has gone from there
}

// Around is what a document is known by to be among others.
type Around struct {
	URL         string
	Links       []string
	LinksBefore func() ([]string, error) // of the version before
	List        []Page                   // of a list that is paged by a cursor, see [Lists]
	From        []string                 // what led to it
}

// Pages returns the other pages of a document: its neighbours, and those that led to it. If it has no links to a next
// page any more, the version before may have had some: a list that becomes shorter loses its last page.
func (a *Around) Pages() (pages []Page, err error) {
	before, next := series.Near(a.URL, slices.Concat(a.From, a.Links)...)
	if len(next) == 0 {
		were, err := a.LinksBefore()
		if err != nil {
			return nil, fmt.Errorf("look at other pages: %w", err)
		}
		if len(were) > 0 {
			before, next = series.Near(a.URL, slices.Concat(a.From, a.Links, were)...)
		}
	}
	add := func(p Page) {
		if p.URL != "" && p.URL != a.URL && !slices.ContainsFunc(pages, func(other Page) bool { return other.URL == p.URL }) {
			pages = append(pages, p)
		}
	}
	for _, other := range a.List {
		add(other)
	}
	for _, other := range before {
		add(Page{URL: other, Near: true})
	}
	for _, other := range next {
		add(Page{URL: other, Near: true, Next: true})
	}
	for _, other := range a.From {
		add(Page{URL: other})
	}
	return pages, nil
}

// Span is the versions of a page from one to another; none if To is 0.
type Span struct{ From, To int }

// Elsewhere is the other pages of a document, as they are stored.
type Elsewhere struct {
	Document *webrace.Document
	Pages    []Page
	// Units reads what who is asked looks at of a version of a page, and when that was fetched; nil if it was removed.
	Units func(page Page, version int) (*match.Units, time.Time, error)
	// Latest returns the latest version of a page: what has gone from there is not in it.
	Latest func(page Page) (version int, err error)
}

// Moves finds what came to a text from other pages, of each of which some versions are known, since the document was
// visited last; nil if nothing did. It returns the pages from which something came, too.
func (e *Elsewhere) Moves(now *webrace.Text, before *match.Before, known []Span, since time.Time) (moves *match.Moves, origins []string, err error) {
	var from []match.Elsewhere
	var failure error
	for i, page := range e.Pages {
		shown, err := e.shownSince(page, known[i], since)
		if err != nil {
			return nil, nil, err
		}
		from = append(from, match.Elsewhere{Shown: shown, Near: page.Near, Next: page.Next, Now: func() *match.Units {
			units, err := e.latest(page)
			failure = errors.Join(failure, err)
			return units
		}})
	}
	moves = match.FindMoves(now, before, from, LeadsOn(e.Document, e.Pages))
	for block := range now.Blocks {
		if page, is := moves.From(block); is && !slices.Contains(origins, e.Pages[page].URL) {
			origins = append(origins, e.Pages[page].URL)
		}
	}
	return moves, origins, failure
}

// shownSince returns what a page showed since a time, of the versions that are known, the last first: the one that it
// was then, too.
func (e *Elsewhere) shownSince(page Page, known Span, since time.Time) (all []*match.Units, err error) {
	if known.To == 0 {
		return nil, nil
	}
	for version := known.To; version >= known.From && len(all) < match.MostBaselineVersions; version-- {
		units, fetched, err := e.Units(page, version)
		if units == nil || err != nil {
			return all, err
		}
		if all = append(all, units); !fetched.After(since) {
			break
		}
	}
	return all, nil
}

func (e *Elsewhere) latest(page Page) (*match.Units, error) {
	none := match.UnitsOf(nil)
	if page.Gone {
		return none, nil
	}
	version, err := e.Latest(page)
	if err != nil {
		return none, err
	}
	units, _, err := e.Units(page, version)
	if units == nil {
		units = none
	}
	return units, err
}

// LastWith returns the version of a page that was seen last as if what moved to it since had been there: what moved was
// known, so that conditions do not come to hold by it.
func LastWith(moves *match.Moves, last *match.Last, now *webrace.Text) *match.Last {
	return &match.Last{Added: moves.Without(last.Added), Went: last.Went, Text: func() *webrace.Text {
		text := last.Text()
		if text == nil {
			return nil
		}
		return selection.Join(text, moves.Of(now))
	}}
}
