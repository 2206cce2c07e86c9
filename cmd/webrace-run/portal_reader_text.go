package main

import (
	"strings"
	"unicode/utf8"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
	"github.com/webrace/webrace/stages/portal"
)

// extent is how much of a text is shown.
type extent struct {
	whole         bool // also what is far from anything found
	pieces, bytes int  // at most
}

var (
	extentOfTrial   = extent{pieces: 200, bytes: 32 << 10}
	extentOfReading = extent{whole: true, pieces: 4000, bytes: 256 << 10}
)

// excerptOf returns what of a text is shown: all of it, or what is around what was found.
func excerptOf(v *explain.MarkedText, size extent) (e portal.Excerpt) {
	blocks := v.Excerpt()
	if size.whole {
		blocks = blocks[:0]
		for i := range v.Text.Blocks {
			blocks = append(blocks, i)
		}
	}
	next := 0
	for _, number := range blocks {
		if size.pieces <= 0 || size.bytes <= 0 {
			break
		}
		block := v.Text.Blocks[number]
		e.Blocks = append(e.Blocks, portal.Block{Field: block.Field.String(), Left: number - next, Pieces: size.take(v.Pieces(block, size.whole))})
		next = number + 1
	}
	e.Left = len(v.Text.Blocks) - next
	return e
}

// take returns as many pieces as there is room for, which they use up. Where it ends within a block there is an
// ellipsis.
func (x *extent) take(pieces []explain.Piece) (taken []portal.Piece) {
	for _, p := range pieces {
		if p.Text == "" {
			continue
		}
		if x.pieces <= 0 || x.bytes <= 0 {
			return append(taken, portal.Piece{Text: " …"})
		}
		text := cutText(p.Text, x.bytes)
		x.pieces--
		x.bytes -= len(p.Text)
		taken = append(taken, portal.Piece{Text: text, Keyword: p.Keyword})
	}
	return taken
}

// cutText returns the beginning of a text of so many bytes, with an ellipsis where there is more.
func cutText(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	for bytes > 0 && !utf8.RuneStart(text[bytes]) {
		bytes--
	}
	return strings.ToValidUTF8(text[:bytes], "") + "…"
}

// worthOf returns how relevant something is to people who are shown it.
func worthOf(e match.Explanation) portal.Worth {
	w := portal.Worth{Relevance: e.Relevance, Threshold: e.Threshold}
	for _, k := range e.Keywords {
		share := portal.Share{Keyword: k.Key, Weight: k.Weight, Share: k.Share}
		for field, n := range k.Hits {
			*map[webrace.Field]*int{
				webrace.FieldTitle: &share.Title, webrace.FieldHeading: &share.Heading, webrace.FieldBody: &share.Body, webrace.FieldNavigation: &share.Navigation,
			}[webrace.Field(field)] = n
		}
		w.Shares = append(w.Shares, share)
	}
	return w
}
