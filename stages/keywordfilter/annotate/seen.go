package annotate

import (
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/xmlschema"
)

// Seen is what a request has been shown of a document, version by version: nothing in the beginning.
type Seen struct {
	baseline match.Baseline
	text     *webrace.Text            // of the last version that had one
	pieces   map[string]*webrace.Text // by its rules, what each of several found when it last found anything
	any      bool                     // there was anything of what it looks at
	body     Body                     // of the last version

	// Moves, if it is set before Show is called, finds what moved to the text from other pages, since one before or, if
	// that is nil, at all.
	Moves func(now *webrace.Text, before *match.Before) *match.Moves
}

// Text returns the text of the last version that was shown and had one; nil for none.
func (s *Seen) Text() *webrace.Text { return s.text }

// News is what of a text is new to a request that has seen a version before.
type News struct {
	Added []bool
	Last  match.Last
}

// Show shows a request the next version of what it looks at, and returns what that is worth to it, and the alert if it
// gives rise to one. A text that is no state is no version that a later one could be compared with.
func (s *Seen) Show(i *Interest, part *selection.Part, body Body) (match.Explanation, *match.Alert) {
	text := part.Text
	isFirst, before, lost := !s.any, s.text, s.text != nil && s.body.MediaType == body.MediaType
	was := s.body
	s.any, s.body = s.any || !i.Selects() || match.IsState(text), body
	unconcerned := func() (match.Explanation, *match.Alert) {
		none := &News{Added: make([]bool, len(text.Blocks))}
		none.Last.Added = none.Added
		why, _ := i.Worth(text, none)
		return why, nil
	}
	if !isFirst && i.Change == xmlschema.ChangeFirst {
		return unconcerned()
	}
	if !match.IsState(text) {
		if lost {
			return unconcerned()
		}
		s.baseline, s.text = nil, nil
		if !isFirst && i.toldOfBody(text) {
			summary := body.Since(was)
			if summary == "" {
				return unconcerned()
			}
			alert := BodyAlert(i.URD, body, summary)
			return alert.Explanation, &alert
		}
		return i.WorthOf(body, text)
	}
	remember := i.Remembers(match.BaselineVersions)
	whole := s.whole(part)
	compared := s.baseline.Compare(whole)
	if compared.Recast {
		compared.KnowRows(whole, before)
	}
	s.baseline, s.text = compared.Next, whole
	news := &News{compared.Added(remember), match.Last{
		Added: compared.Added(1), Went: compared.Went, Text: func() *webrace.Text { return before },
	}}
	if isFirst {
		return s.meet(i, text)
	}
	if moves := s.moves(whole, &match.Before{Added: news.Last.Added, Text: news.Last.Text}); moves != nil {
		last := news.Last
		news.Added, news.Last = moves.Without(news.Added), *LastWith(moves, &last, whole)
	}
	added := news.Added
	switch {
	case compared.Same, i.Change == xmlschema.ChangePage && remember > 1 && !slices.Contains(news.Added, true):
		return unconcerned()
	case i.Change == xmlschema.ChangePage:
		news = nil
	}
	why, alert := i.Worth(text, news)
	if alert != nil && SaysChange(i.URD) && !ChangeOf(i.URD, before, whole, added, SummaryBytes).Say(i.URD, alert, SummaryBytes) {
		return unconcerned()
	}
	if alert != nil && news != nil && SaysEdits(i.URD, alert, &news.Last) {
		EditsOf(before, whole, SummaryBytes).Say(alert, SummaryBytes)
	}
	return why, alert
}

// Unite lets a request know what it was shown of another page that became one with the document, as the frontier does:
// what that said last is known, too. A request that selects compares the same part of stored versions, which are those
// of the one page alone.
func (s *Seen) Unite(i *Interest, other *Seen) {
	if !i.Selects() {
		s.baseline = s.baseline.With(other.baseline)
	}
}

// whole returns a part with what those of several rules found last that find nothing in it.
func (s *Seen) whole(part *selection.Part) *webrace.Text {
	text := part.Text
	for _, piece := range part.Pieces {
		key := piece.Rules.Key()
		if match.IsState(piece.Text) {
			if s.pieces == nil {
				s.pieces = make(map[string]*webrace.Text)
			}
			s.pieces[key] = piece.Text
		} else if was := s.pieces[key]; was != nil {
			text = selection.Join(text, was)
		}
	}
	return text
}

func (s *Seen) moves(now *webrace.Text, before *match.Before) *match.Moves {
	if s.Moves == nil {
		return nil
	}
	return s.Moves(now, before)
}

// meet shows a request the first version of what it looks at.
func (s *Seen) meet(i *Interest, text *webrace.Text) (match.Explanation, *match.Alert) {
	moves := s.moves(text, nil)
	if moves == nil {
		return i.Worth(text, nil)
	}
	news := &News{Added: moves.Without(nil)}
	if i.Change == xmlschema.ChangePage && slices.Contains(news.Added, true) {
		news = nil
	}
	return i.Worth(text, news)
}
