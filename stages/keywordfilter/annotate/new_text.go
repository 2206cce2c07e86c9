package annotate

import (
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/stages/keywordfilter/textdiff"
)

// NewsBytes is the most of what is new that a model is asked of.
const NewsBytes = 8 << 10

// NewText returns what is new in a text, for a model that is asked of it: what came in «», what went in [−]. Old is the
// text that was seen before, nil for none; added marks the blocks that are new, all if it is nil; of a list the entries
// are those that are told of, by their numbers from 1, all if there are none.
func NewText(old, now *webrace.Text, added []bool, entries []int32) string {
	if len(entries) > 0 {
		of := make([]bool, len(now.Blocks))
		for i, b := range now.Blocks {
			of[i] = slices.Contains(entries, b.Entry) && (added == nil || i >= len(added) || added[i])
		}
		added = of
	}
	news, _ := textdiff.Summary(old, now, added, NewsBytes)
	return clean(news, NewsBytes)
}
