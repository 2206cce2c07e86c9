package explain

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
)

// MarkedText is a text, and the marks in it, in its order.
type MarkedText struct {
	Text  *webrace.Text
	Marks []match.Mark
}

// Mark adds what an interest finds.
func (v *MarkedText) Mark(i *annotate.Interest) {
	v.Marks = append(v.Marks, i.Marks(v.Text)...)
	slices.SortStableFunc(v.Marks, func(a, b match.Mark) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Keyword, b.Keyword))
	})
}

// MarksIn returns the marks of a block. A keyword that several URDs have is marked once.
func (v *MarkedText) MarksIn(block webrace.Block) []match.Mark {
	at := func(position int32) int {
		i, _ := slices.BinarySearchFunc(v.Marks, position, func(m match.Mark, p int32) int { return cmp.Compare(m.Start, int(p)) })
		return i
	}
	return slices.Compact(slices.Clone(v.Marks[at(block.Start):at(block.End)]))
}

const (
	mostMatching = 40  // blocks with matches in an excerpt
	firstBlocks  = 3   // in an excerpt when nothing was found
	around       = 160 // characters of a block that are shown on either side of what was found
)

// Excerpt returns the numbers of the blocks that show best what was found, ascending: the first 40 in which something
// was, with their neighbours, or if nothing was, the first three.
func (v *MarkedText) Excerpt() (blocks []int) {
	found := 0
	for i, block := range v.Text.Blocks {
		if found < mostMatching && len(v.MarksIn(block)) > 0 {
			found++
			blocks = append(blocks, max(i-1, 0), i, min(i+1, len(v.Text.Blocks)-1))
		}
	}
	if found == 0 {
		for i := range min(firstBlocks, len(v.Text.Blocks)) {
			blocks = append(blocks, i)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(blocks)))
}

// Piece is a part of a block.
type Piece struct {
	Text    string
	Keyword string // what it was found by; empty if it stands between what was found
}

// Pieces cuts a block into what was found and what stands between. Together they are its text, if it is wanted whole;
// or else what is far from anything found is left out, for an ellipsis.
func (v *MarkedText) Pieces(block webrace.Block, whole bool) (pieces []Piece) {
	at, end := int(block.Start), int(block.End)
	between := func(to int, last bool) {
		text := string(v.Text.Bytes[at:to])
		if !whole {
			text = shortened(text, len(pieces) == 0 && !last, last)
		}
		pieces = append(pieces, Piece{Text: text})
	}
	for _, m := range v.MarksIn(block) {
		if m.End <= at && len(pieces) > 0 {
			continue // within a longer one
		}
		start := max(m.Start, at)
		between(start, false)
		pieces = append(pieces, Piece{string(v.Text.Bytes[start:m.End]), m.Keyword})
		at = m.End
	}
	between(end, true)
	return pieces
}

// shortened leaves out what is far from either end of a text: the beginning, if it is the first of its
// block, or the end, if it is the last.
func shortened(text string, first, last bool) string {
	const ellipsis = " … "
	switch {
	case first && len(text) > around:
		return ellipsis + text[wordAfter(text, len(text)-around):]
	case last && len(text) > around:
		return text[:wordBefore(text, around)] + ellipsis
	case !first && !last && len(text) > 2*around+len(ellipsis):
		return text[:wordBefore(text, around)] + ellipsis + text[wordAfter(text, len(text)-around):]
	}
	return text
}

// wordAfter returns where the first word begins at or after a position, if that is near.
func wordAfter(text string, at int) int {
	if i := strings.IndexAny(text[at:], " \t\n\r"); i >= 0 && i < around/4 {
		return at + i + 1
	}
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}

// wordBefore returns where the last word ends at or before a position, if that is near.
func wordBefore(text string, at int) int {
	if i := strings.LastIndexAny(text[:at], " \t\n\r"); i > at-around/4 {
		return i
	}
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
