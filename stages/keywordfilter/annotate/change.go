package annotate

import (
	"slices"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/stages/keywordfilter/textdiff"
	"github.com/webrace/webrace/xmlschema"
)

// Change is how a text has changed since a version that a request has seen, as far as it is said beside or instead of
// what was found in it.
type Change struct {
	Summary string
	None    bool // it is certain that there is none
}

// SaysChange reports whether a request is told what has changed: who asks for any change, or for the whole page
// whenever that changes. Without the latter three alerts with the same keyword would read the same.
func SaysChange(u *xmlschema.URD) bool { return u.AnyChange() || u.Change == xmlschema.ChangePage }

// ChangeOf returns how a text has changed, in as many bytes as there are for a request. Without an old text, which was
// removed, it is what was added.
func ChangeOf(u *xmlschema.URD, old, now *webrace.Text, added []bool, size int) Change {
	if u.Change == xmlschema.ChangePage && old != nil {
		added = nil
	}
	summary, changed := textdiff.Summary(old, now, added, changeSize(u, size))
	return Change{summary, !changed && old != nil}
}

// Growth is ChangeOf for a text that is the old one and the blocks that came.
func Growth(u *xmlschema.URD, now *webrace.Text, came, added []bool, size int) Change {
	if u.Change != xmlschema.ChangePage {
		came = slices.Clone(came)
		for i := range came {
			came[i] = came[i] && added[i]
		}
	}
	summary, changed := textdiff.Growth(now, came, changeSize(u, size))
	return Change{summary, !changed}
}

// Edits describes how entries of a list have changed, by their numbers from 1: of those that were there before, and
// only of these.
type Edits []string

// SaysEdits reports whether an alert of a list is to tell how its entries have changed: to who asks for words, if
// something of the last version went.
func SaysEdits(u *xmlschema.URD, a *match.Alert, last *match.Last) bool {
	return len(a.Entries) > 0 && !SaysChange(u) && last != nil && last.Went
}

// EditsOf returns the edits from one text of a list to another, each in as many bytes as there are beside keywords.
func EditsOf(old, now *webrace.Text, size int) Edits {
	edits := make(Edits, len(now.Entries)+1)
	for i, said := range textdiff.ChangedEntries(old, now, size/2) {
		if entry := now.Blocks[i].Entry; said != "" {
			edits[entry] = said
		}
	}
	return edits
}

// Say writes into the summary of an alert, of at most so many bytes, how those of its entries have changed that fit in.
func (e Edits) Say(a *match.Alert, size int) {
	said := ""
	for _, number := range a.Entries {
		if int(number) >= len(e) || e[number] == "" || len(said)+len(separator)+len(e[number]) > size/2+len(separator) {
			continue
		}
		if said != "" {
			said += separator
		}
		said += e[number]
	}
	if said != "" {
		a.Summary = shortened(a.Summary, size-len(separator)-len(said)) + separator + said
	}
}

// changeSize is how many of so many bytes a request has for what changed.
func changeSize(u *xmlschema.URD, size int) int {
	if u.AnyChange() {
		return size
	}
	return size / 2
}

// Say writes the change into the summary of an alert, of at most so many bytes; it reports whether there is something
// to tell.
func (c Change) Say(u *xmlschema.URD, a *match.Alert, size int) (tells bool) {
	switch {
	case c.None:
		return false
	case c.Summary == "":
	case u.AnyChange() || a.Summary == "":
		a.Summary = c.Summary
	default:
		a.Summary = shortened(a.Summary, size-len(separator)-len(c.Summary)) + separator + c.Summary
	}
	return true
}

const (
	separator = " · "
	ellipsis  = "…"
)

// shortened returns a summary of at most so many bytes, cut between words that are not marked.
func shortened(summary string, most int) string {
	if len(summary) <= most {
		return summary
	}
	for end := max(most-len(ellipsis)-1, 0); end > 0; end-- {
		if head := summary[:end]; summary[end] == ' ' && strings.Count(head, "«") == strings.Count(head, "»") {
			return head + " " + ellipsis
		}
	}
	return ellipsis
}
