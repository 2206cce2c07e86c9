package keywordfilter

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
)

// A request may die when annotations of its version are stored, and its visit does not know of that version yet. If the
// document has changed again by the next visit, that would compare it with the version before both, and tell once more
// what was told. So the version that was lost is matched first, as of the visit before it: that gives the same
// annotations under the same ids, stores those that are missing, and teaches what the lost request would have.

// mostLost is how many lost versions are matched again, the last ones: one for each time that a process died.
const mostLost = 16

// match emits an annotation for each URD that the document concerns, and for those that a version concerned that was
// lost before it. Repeating it gives the same ones.
func (s *stage) match(ctx context.Context, a *audience, it *pipeline.Item, out pipeline.Emitter) error {
	d := it.Value.(*webrace.Document)
	lost, err := s.lostVersions(ctx, a, d)
	if err != nil {
		return err
	}
	for _, number := range lost {
		version, err := s.version(d, number)
		if errors.Is(err, objects.ErrNotFound) {
			continue // it was removed as garbage
		}
		if err != nil {
			return err
		}
		visit, err := s.matchLost(ctx, a, it, d, version, out)
		if err != nil {
			return err
		}
		now := *d
		now.Visit, d = visit, &now
		it = it.With(d)
	}
	return s.matchVersion(ctx, a, it, func(l webrace.Learned) { it.Learn(l) }, out)
}

// lostVersions returns the versions between the last visit and a document of which those who are asked about it were
// told, in order. Of the first visit, who was told before is not told apart from who asks for the first time: none are
// lost then.
func (s *stage) lostVersions(ctx context.Context, a *audience, d *webrace.Document) (lost []int, err error) {
	if d.Visit == nil || d.Visit.Version == 0 || d.Version <= d.Visit.Version+1 {
		return nil, nil
	}
	for told, err := range s.control.VersionsTold(ctx, d.URL, d.Visit.Version, d.Version) {
		if err != nil {
			return nil, err
		}
		if !slices.Contains(lost, told.Version) && a.asksAgain(told, d) {
			lost = append(lost, told.Version)
		}
	}
	return lost[max(0, len(lost)-mostLost):], nil
}

// asksAgain reports whether who was told of a version of a document is asked about it now.
func (a *audience) asksAgain(told control.Told, d *webrace.Document) bool {
	urd, known := a.urds.Get(told.URD)
	if !known {
		return false
	}
	_, watches := urd.Prefix()
	return watches || a.everyone || slices.ContainsFunc(d.Reach, func(r webrace.Reach) bool { return r.Crawl == urd.Crawl.ID })
}

// matchLost matches a version that was lost before a document, and returns the visit as it was to be after it.
func (s *stage) matchLost(ctx context.Context, a *audience, it *pipeline.Item, d *webrace.Document, v objects.Version, out pipeline.Emitter) (*webrace.Visit, error) {
	links, err := s.objects.Links(v)
	if err != nil {
		return nil, err
	}
	lost, visit := *d, *d.Visit
	lost.Version, lost.Digest, lost.Changed, lost.Outcome, lost.Links = v.Number, v.Digest, true, webrace.Fresh, links
	lost.Body, lost.Text = nil, nil // which are read from the object cache
	learn := func(l webrace.Learned) {
		it.Learn(l)
		l(&visit)
	}
	if err := s.matchVersion(ctx, a, it.With(&lost), learn, out); err != nil {
		return nil, err
	}
	s.env.Counter("lost_versions").Add(1)
	visit.Version, visit.Digest = v.Number, v.Digest
	if !visit.IsPlaceholder() {
		visit.Shown = shownNow(visit.Shown, d.Reach, v.Number, a.revision)
	}
	return &visit, nil
}

// shownNow returns what crawls were shown when those that have come here now were shown a version: who reaches no
// farther than where it lay before has not seen it.
func shownNow(before []webrace.Shown, now []webrace.Reach, version int, revision int64) []webrace.Shown {
	all := slices.DeleteFunc(slices.Clone(before), func(s webrace.Shown) bool {
		return slices.ContainsFunc(now, func(r webrace.Reach) bool { return r.Crawl == s.Crawl && r.Distance <= s.Distance })
	})
	for _, r := range now {
		all = append(all, webrace.Shown{Crawl: r.Crawl, Distance: r.Distance, Version: version, Revision: revision})
	}
	slices.SortStableFunc(all, func(x, y webrace.Shown) int { return strings.Compare(x.Crawl, y.Crawl) })
	return all
}
