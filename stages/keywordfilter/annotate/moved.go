package annotate

import (
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
)

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
