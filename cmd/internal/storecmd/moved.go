package storecmd

import (
	"context"
	"slices"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/stages/keywordfilter/series"
	"github.com/webrace/webrace/storage/objects"
)

// moving finds what moved to a version of a document from other pages, by what is stored of these: its neighbours in a
// list, and those from which something moved there by what its visits remember.
type moving struct {
	cache   *objects.Store
	d       *stored
	last    time.Time // when the version before was fetched; zero for none
	origins []string  // of its visits
	from    []string  // where what was found last came from

	pages  []near // once asked for
	looked bool
}

// near is a page from which something may have come.
type near struct {
	url      string
	versions []objects.Version // up to the one that there was then
	next     bool
	listed   bool
}

// look finds the other pages, as they were when the version was fetched.
func (m *moving) look() error {
	if m.looked {
		return nil
	}
	m.looked = true
	v := m.d.version
	_, header, err := m.cache.Body(v)
	if err != nil {
		return unlessGone(err)
	}
	r, err := extract.Document(m.d.body, extract.ContentType(header, v.MediaType), v.URL, extract.Options{})
	if err != nil {
		return err
	}
	before, next := series.Near(v.URL, slices.Concat(m.origins, r.Links)...)
	for i, url := range slices.Concat(before, next, m.origins) {
		p := near{url: m.cache.Spelling(v.Secret, url), listed: i < len(before)+len(next), next: i >= len(before) && i < len(before)+len(next)}
		if slices.ContainsFunc(m.pages, func(other near) bool { return other.url == p.url }) {
			continue
		}
		all, err := m.cache.Versions(objects.View(v.Secret, p.url))
		if err = unlessGone(err); err != nil {
			return err
		}
		if p.versions = slices.DeleteFunc(all, func(o objects.Version) bool { return o.FetchedAt.After(v.FetchedAt) }); len(p.versions) > 0 {
			m.pages = append(m.pages, p)
		}
	}
	return nil
}

// to returns how a URD asks for what moved, see [annotate.Seen]. An error is kept there.
func (m *moving) to(ctx context.Context, i *annotate.Interest, failure *error) func(now *webrace.Text, before *match.Before) *match.Moves {
	return func(now *webrace.Text, before *match.Before) *match.Moves {
		m.from = nil
		if *failure = m.look(); *failure != nil || len(m.pages) == 0 {
			return nil
		}
		var from []match.Elsewhere
		for _, p := range m.pages {
			e := match.Elsewhere{Near: p.listed, Next: p.next, Now: func() *match.Units {
				return m.units(ctx, i, p.versions[len(p.versions)-1], failure)
			}}
			for _, v := range slices.Backward(p.versions[max(0, len(p.versions)-match.MostBaselineVersions):]) {
				e.Shown = append(e.Shown, m.units(ctx, i, v, failure))
				if before != nil && !v.FetchedAt.After(m.last) {
					break
				}
			}
			from = append(from, e)
		}
		moves := match.FindMoves(now, before, from, annotate.LeadsOn(m.d.document()))
		for block := range now.Blocks {
			if page, is := moves.From(block); is && !slices.Contains(m.from, m.pages[page].url) {
				m.from = append(m.from, m.pages[page].url)
			}
		}
		return moves
	}
}

// units returns what a URD would look at of a version of another page.
func (m *moving) units(ctx context.Context, i *annotate.Interest, v objects.Version, failure *error) *match.Units {
	d, err := read(m.cache, v)
	if err != nil {
		if err = unlessGone(err); err != nil {
			*failure = err
		}
		return match.UnitsOf(nil)
	}
	part, err := i.Part(ctx, d.parts, selection.NewBudget())
	if err != nil {
		return match.UnitsOf(nil) // it looks at nothing
	}
	return match.UnitsOf(part.Text)
}

// origins returns the pages from which something moved to a page, by what visits remember.
func (r *reach) origins() (all []string) {
	for _, s := range r.statuses {
		if s.Visit != nil {
			all = append(all, s.Visit.Origins...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
