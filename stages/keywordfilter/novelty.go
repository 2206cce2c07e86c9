package keywordfilter

import (
	"errors"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/storage/objects"
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

func (s *stage) newNovelty(d *webrace.Document) *novelty {
	n := &novelty{stage: s, document: d, visit: baselineOf(d.Visit), known: make(map[seenVersions][]bool)}
	n.versions = n.visit.Versions()
	var added []bool
	n.next, added = n.visit.Remember(match.MostBaselineVersions, d.Text)
	n.known[seenVersions{0, n.versions}] = added
	return n
}

func baselineOf(v *webrace.Visit) match.Baseline {
	if v == nil {
		return nil
	}
	return v.Baseline
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

// stored returns the baseline of so many stored versions up to one.
func (n *novelty) stored(version, remember int) (known match.Baseline, err error) {
	for v := max(1, version-remember+1); v <= version; v++ {
		old, err := n.stage.recall(objects.View(n.document.Secret, n.document.URL), v)
		if errors.Is(err, objects.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		known, _ = known.Remember(remember, old.text.Text)
	}
	return known, nil
}
