package explain

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/storage/objects"
)

// moving finds what moved to a version of a document from other pages, by what is stored of these: its neighbours in a
// list, and those from which something moved there by what its visits remember.
type moving struct {
	cache   *objects.Store
	d       *Stored
	before  *objects.Version  // the one before it, nil for none
	origins []string          // of its visits
	instead []webrace.Instead // of its visits: in whose place of a list it stood
	from    []string          // where what was found last came from

	pages    []annotate.Page // once asked for
	versions [][]objects.Version
	looked   bool
}

// look finds the other pages, as they were when the version was fetched.
func (m *moving) look() error {
	if m.looked {
		return nil
	}
	m.looked = true
	v := m.d.Version
	links, err := m.links(&v)
	if err != nil {
		return err
	}
	before := func() ([]string, error) { return m.links(m.before) }
	list, err := m.list(links, before)
	if err != nil {
		return err
	}
	around := annotate.Around{URL: v.URL, Links: links, LinksBefore: before, List: list, From: m.origins}
	pages, err := around.Pages()
	if err != nil {
		return err
	}
	for _, p := range pages {
		p.URL = m.cache.Spelling(v.Secret, p.URL)
		if slices.ContainsFunc(m.pages, func(other annotate.Page) bool { return other.URL == p.URL }) {
			continue
		}
		all, err := m.cache.Versions(objects.View(v.Secret, p.URL))
		if err = unlessGone(err); err != nil {
			return err
		}
		if all = slices.DeleteFunc(all, func(o objects.Version) bool { return o.FetchedAt.After(v.FetchedAt) }); len(all) > 0 {
			m.pages, m.versions = append(m.pages, p), append(m.versions, all)
		}
	}
	return nil
}

// list returns the pages of the list that the document is of, if that is paged by a cursor and was turned over.
func (m *moving) list(links []string, before func() ([]string, error)) ([]annotate.Page, error) {
	lists := annotate.Lists{Objects: m.cache, Secret: m.d.Version.Secret, Until: m.d.Version.FetchedAt}
	for _, instead := range m.instead {
		if pages, err := lists.Around(instead, "", m.origins...); err != nil || len(pages) > 0 {
			return pages, err
		}
	}
	d := m.d.Document()
	d.Links = links
	return lists.Behind(d, before)
}

func (m *moving) links(v *objects.Version) ([]string, error) {
	if v == nil {
		return nil, nil
	}
	links, err := m.cache.Links(*v)
	return links, unlessGone(err)
}

// to returns how a URD asks for what moved, see [annotate.Seen]. An error is kept there.
func (m *moving) to(ctx context.Context, i *annotate.Interest, failure *error) func(now *webrace.Text, before *match.Before) *match.Moves {
	return func(now *webrace.Text, before *match.Before) (moves *match.Moves) {
		m.from = nil
		if *failure = m.look(); *failure != nil || len(m.pages) == 0 {
			return nil
		}
		stored := func(page annotate.Page) []objects.Version {
			return m.versions[slices.Index(m.pages, page)]
		}
		e := annotate.Elsewhere{Document: m.d.Document(), Pages: m.pages, Units: func(page annotate.Page, version int) (*match.Units, time.Time, error) {
			for _, v := range stored(page) {
				if v.Number == version {
					units, err := m.units(ctx, i, v)
					return units, v.FetchedAt, err
				}
			}
			return nil, time.Time{}, nil
		}, Latest: func(page annotate.Page) (int, error) {
			all := stored(page)
			return all[len(all)-1].Number, nil
		}}
		var known []annotate.Span
		for _, all := range m.versions {
			known = append(known, annotate.Span{From: all[0].Number, To: all[len(all)-1].Number})
		}
		var since time.Time
		if before != nil && m.before != nil {
			since = m.before.FetchedAt
		}
		moves, m.from, *failure = e.Moves(now, before, known, since)
		return moves
	}
}

// units returns what a URD would look at of a version of another page; nil if that was removed.
func (m *moving) units(ctx context.Context, i *annotate.Interest, v objects.Version) (*match.Units, error) {
	d, err := Read(ctx, m.cache, v)
	if err != nil {
		return nil, unlessGone(err)
	}
	part, err := i.Part(ctx, d.Parts, selection.NewBudget())
	if err != nil {
		return match.UnitsOf(nil), nil // it looks at nothing
	}
	return match.UnitsOf(part.Text), nil
}

// unite lets a request that was shown a document know what it was shown of the pages that became one with it, before it
// is shown the first version of that.
func (r *Reach) unite(ctx context.Context, cache *objects.Store, i *annotate.Interest, seen *annotate.Seen) error {
	for _, url := range r.united {
		versions, err := cache.History(objects.View(r.Secret, url))
		if err = unlessGone(err); err != nil {
			return err
		}
		var there annotate.Seen
		for _, v := range versions[max(0, len(versions)-match.MostBaselineVersions):] {
			d, err := Read(ctx, cache, v)
			if errors.Is(err, objects.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			if part, err := i.Part(ctx, d.Parts, selection.NewBudget()); err == nil {
				there.Show(i, part, d.AsBody())
			}
		}
		seen.Unite(i, &there)
	}
	return ctx.Err()
}

// instead returns in whose places of lists a page stood, by what visits remember.
func (r *Reach) instead() (all []webrace.Instead) {
	for _, s := range r.Statuses {
		if s.Visit != nil && s.Visit.Instead != (webrace.Instead{}) {
			all = append(all, s.Visit.Instead)
		}
	}
	return all
}

// origins returns the pages from which something moved to a page, by what visits remember.
func (r *Reach) origins() (all []string) {
	for _, s := range r.Statuses {
		if s.Visit != nil {
			all = append(all, s.Visit.Origins...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
