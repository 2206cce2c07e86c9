package keywordfilter

import (
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// diffs describe of a document, or of a part of it, how it changed since others of its versions: to those who
// ask for any change of it, or for the whole whenever it changes. What changed is found once for all URDs that have
// seen the same version.
type diffs struct {
	now   *webrace.Text
	added []bool // which blocks are new to those who are shown these alone
	came  []bool // which blocks the version that was seen had not, if all else of the text is that version; or nil
	size  int    // the most bytes to say
	old   func(version int) (*webrace.Text, error)
	known map[seenBefore]annotate.Change
	last  *match.Last            // how the version that was seen differs from this one; nil if none was
	edits map[int]annotate.Edits // of the entries of a list, by the version that was seen
	news  map[int]string         // what a model is asked of, by the version that was seen
}

// newsSince returns what is new since a version, 0 for none, in the entries of a list, or in all of it if there are
// none. Those of all are found once.
func (d *diffs) newsSince(version int, entries []int32) (string, error) {
	if found, known := d.news[version]; known && len(entries) == 0 {
		return found, nil
	}
	var old *webrace.Text
	if version > 0 {
		var err error
		if old, err = d.old(version); err != nil {
			return "", err
		}
	}
	news := annotate.NewText(old, d.now, d.added, entries)
	if len(entries) == 0 {
		if d.news == nil {
			d.news = make(map[int]string)
		}
		d.news[version] = news
	}
	return news, nil
}

// seenBefore is what a change depends on: which version was seen, whether text counts that was there
// before that one, and whether there are keywords, beside which it is said.
type seenBefore struct {
	version  int
	page     bool
	keywords bool
}

// newDiffs expects a function that returns an old version's text, or nil if that was removed.
func (s *stage) newDiffs(now *webrace.Text, added []bool, old func(int) (*webrace.Text, error)) *diffs {
	return &diffs{now: now, added: added, size: s.options.Summary, old: old, known: make(map[seenBefore]annotate.Change)}
}

// editsSince returns how the entries of a list have changed since a version.
func (d *diffs) editsSince(version int) (annotate.Edits, error) {
	if found, known := d.edits[version]; known {
		return found, nil
	}
	old, err := d.old(version)
	if err != nil || old == nil {
		return nil, err
	}
	if d.edits == nil {
		d.edits = make(map[int]annotate.Edits)
	}
	d.edits[version] = annotate.EditsOf(old, d.now, d.size)
	return d.edits[version], nil
}

// since returns what the owner of a URD is told who has seen a version.
func (d *diffs) since(version int, urd *control.URD) (annotate.Change, error) {
	seen := seenBefore{version, urd.Change == xmlschema.ChangePage, !urd.AnyChange()}
	if found, known := d.known[seen]; known {
		return found, nil
	}
	if d.came != nil {
		found := annotate.Growth(urd.URD, d.now, d.came, d.added, d.size)
		d.known[seen] = found
		return found, nil
	}
	old, err := d.old(version)
	if err != nil {
		return annotate.Change{}, err
	}
	found := annotate.ChangeOf(urd.URD, old, d.now, d.added, d.size)
	d.known[seen] = found
	return found, nil
}
