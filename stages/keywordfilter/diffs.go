package keywordfilter

import (
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/stages/keywordfilter/textdiff"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// diffs say of a document, or of a part of it, how it changed since others of its versions: to those who
// ask for any change of it. What changed is found once for all URDs that have seen the same version.
type diffs struct {
	now   *webrace.Text
	added []bool // which blocks are new to those who are shown these alone
	size  int    // the most bytes to say
	old   func(version int) (*webrace.Text, error)
	known map[seenBefore]change
}

// seenBefore is what a change depends on: which version was seen, and whether text counts that was there
// before that one.
type seenBefore struct {
	version int
	page    bool
}

type change struct {
	summary string
	none    bool // it is certain that there is none
}

// newDiffs expects a function that returns an old version's text, or nil if that was removed.
func (s *stage) newDiffs(now *webrace.Text, added []bool, old func(int) (*webrace.Text, error)) *diffs {
	return &diffs{now: now, added: added, size: s.options.Summary, old: old, known: make(map[seenBefore]change)}
}

// since returns what the owner of a URD is told who has seen a version.
func (d *diffs) since(version int, urd *control.URD) (change, error) {
	seen := seenBefore{version, urd.Change == xmlschema.ChangePage}
	if found, known := d.known[seen]; known {
		return found, nil
	}
	old, err := d.old(version)
	if err != nil {
		return change{}, err
	}
	added := d.added
	if seen.page && old != nil {
		added = nil
	}
	summary, changed := textdiff.Summary(old, d.now, added, d.size)
	found := change{summary, !changed && old != nil}
	d.known[seen] = found
	return found, nil
}
