package annotate

import (
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/xmlschema"
)

// Seen is what a request has been shown of a document, version by version: nothing in the beginning.
type Seen struct {
	baseline match.Baseline
	text     *webrace.Text // of the last version that had one
	any      bool
}

// News is what of a text is new to a request that has seen a version before.
type News struct {
	Added []bool
	Last  match.Last
}

// Show shows a request the next version of what it looks at, and returns what that is worth to it, and the alert if it
// gives rise to one. A text without blocks is no version that a later one could be compared with.
func (s *Seen) Show(i *Interest, text *webrace.Text) (match.Explanation, *match.Alert) {
	isFirst, before := !s.any, s.text
	s.any = true
	unconcerned := func() (match.Explanation, *match.Alert) {
		none := &News{Added: make([]bool, len(text.Blocks))}
		none.Last.Added = none.Added
		why, _ := i.Worth(text, none)
		return why, nil
	}
	if !isFirst && i.Change == xmlschema.ChangeFirst {
		return unconcerned()
	}
	if len(text.Blocks) == 0 {
		return i.Worth(text, nil)
	}
	remember := i.Remembers(match.BaselineVersions)
	compared := s.baseline.Compare(text)
	s.baseline, s.text = compared.Next, text
	news := &News{compared.Added(remember), match.Last{
		Added: compared.Added(1), Went: compared.Went, Text: func() *webrace.Text { return before },
	}}
	switch {
	case isFirst:
		return i.Worth(text, nil)
	case compared.Same, i.Change == xmlschema.ChangePage && remember > 1 && !slices.Contains(news.Added, true):
		return unconcerned()
	case i.Change == xmlschema.ChangePage:
		return i.Worth(text, nil)
	}
	return i.Worth(text, news)
}
