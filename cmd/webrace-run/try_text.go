package main

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/wording"
)

const (
	mostMatching = 40  // blocks with matches that are shown without --text full
	firstBlocks  = 3   // that are shown when nothing was found
	around       = 160 // characters of a block that are shown on either side of what was found
)

// chosen returns the blocks of the text to show, ascending: all, none, or those in which something was found
// with their neighbours.
func (v *markedText) chosen(text string) (blocks []int) {
	if text == textNone {
		return nil
	}
	found := 0
	for i, block := range v.text.Blocks {
		switch matches := len(v.marksIn(block)) > 0; {
		case text == textFull:
			blocks = append(blocks, i)
		case matches && found < mostMatching:
			found++
			blocks = append(blocks, max(i-1, 0), i, min(i+1, len(v.text.Blocks)-1))
		}
	}
	if text == textMatches && found == 0 {
		for i := range min(firstBlocks, len(v.text.Blocks)) {
			blocks = append(blocks, i)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(blocks)))
}

// palette is what keywords are told apart by.
var palette = []style{"1;31", "1;34", "1;35", "1;36", "1;32", "1;33"}

// colours gives every keyword that was found a colour.
func (t *trial) colours() map[string]style {
	colours := make(map[string]style)
	give := func(v *markedText) {
		for _, m := range v.marks {
			if _, has := colours[m.Keyword]; !has {
				colours[m.Keyword] = palette[len(colours)%len(palette)]
			}
		}
	}
	give(&t.markedText)
	for _, w := range t.scores {
		if w.part != nil {
			give(w.part)
		}
	}
	return colours
}

// styles and labels of the fields of a page.
var styles = map[webrace.Field]style{webrace.FieldTitle: bold, webrace.FieldHeading: bold, webrace.FieldNavigation: dim}

const labelWidth = len("navigation") + 2

// showText writes blocks of the text, each under the name of its field, with what was found in them.
func (v *markedText) showText(s *screen, blocks []int, full bool, colours map[string]style) {
	next := 0
	for _, number := range blocks {
		if number > next {
			s.line(run{"…", dim})
		}
		next = number + 1
		block := v.text.Blocks[number]
		label := ""
		if block.Field != webrace.FieldBody {
			label = block.Field.String()
		}
		label += strings.Repeat(" ", labelWidth-len(label))
		s.line(run{label, dim}, v.runsOf(block, full, !s.colours, colours)...)
	}
	if next < len(v.text.Blocks) {
		rest := len(v.text.Blocks) - next
		s.line(run{"… ", dim}, run{wording.Count(rest, "further block") + "; --text full shows all", dim})
	}
}

// runsOf cuts a block into what was found and what stands between. Unless all of it is asked for, what is far
// from anything found is left out.
func (v *markedText) runsOf(block webrace.Block, full, quoted bool, colours map[string]style) (runs []run) {
	base := styles[block.Field]
	at, end := int(block.Start), int(block.End)
	between := func(to int, last bool) {
		text := string(v.text.Bytes[at:to])
		if !full {
			text = shortened(text, len(runs) == 0 && !last, last)
		}
		runs = append(runs, run{text, base})
	}
	for _, m := range v.marksIn(block) {
		if m.End <= at && len(runs) > 0 {
			continue // within a longer one
		}
		start := max(m.Start, at)
		between(start, false)
		text := string(v.text.Bytes[start:m.End])
		if quoted {
			text = "«" + text + "»"
		}
		runs = append(runs, run{text, colours[m.Keyword]})
		at = m.End
	}
	between(end, true)
	return runs
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
