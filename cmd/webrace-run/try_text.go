package main

import (
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
)

// chosen returns the blocks of a text to show, ascending: all, none, or those in which something was found with
// their neighbours.
func chosen(v *explain.MarkedText, text string) (blocks []int) {
	switch text {
	case textMatches:
		return v.Excerpt()
	case textFull:
		for i := range v.Text.Blocks {
			blocks = append(blocks, i)
		}
	}
	return blocks
}

// palette is what keywords are told apart by.
var palette = []style{"1;31", "1;34", "1;35", "1;36", "1;32", "1;33"}

// colours gives every keyword that was found a colour.
func (t *trial) colours() map[string]style {
	colours := make(map[string]style)
	give := func(v *explain.MarkedText) {
		for _, m := range v.Marks {
			if _, has := colours[m.Keyword]; !has {
				colours[m.Keyword] = palette[len(colours)%len(palette)]
			}
		}
	}
	give(&t.Whole)
	for _, w := range t.Scores {
		if w.Selected != nil {
			give(w.Selected)
		}
	}
	return colours
}

// styles and labels of the fields of a page.
var styles = map[webrace.Field]style{webrace.FieldTitle: bold, webrace.FieldHeading: bold, webrace.FieldNavigation: dim}

const labelWidth = len("navigation") + 2

// showText writes blocks of the text, each under the name of its field, with what was found in them.
func showText(s *screen, v *explain.MarkedText, blocks []int, full bool, colours map[string]style) {
	next := 0
	for _, number := range blocks {
		if number > next {
			s.line(run{"…", dim})
		}
		next = number + 1
		block := v.Text.Blocks[number]
		label := ""
		if block.Field != webrace.FieldBody {
			label = block.Field.String()
		}
		label += strings.Repeat(" ", labelWidth-len(label))
		s.line(run{label, dim}, styledPieces(v, block, full, !s.colours, colours)...)
	}
	if next < len(v.Text.Blocks) {
		rest := len(v.Text.Blocks) - next
		s.line(run{"… ", dim}, run{wording.Count(rest, "further block") + "; --text full shows all", dim})
	}
}

// styledPieces styles what was found in a block and what stands between. Unless all of it is asked for, what is far
// from anything found is left out.
func styledPieces(v *explain.MarkedText, block webrace.Block, full, quoted bool, colours map[string]style) (runs []run) {
	base := styles[block.Field]
	for _, piece := range v.Pieces(block, full) {
		switch {
		case piece.Keyword == "":
			runs = append(runs, run{piece.Text, base})
		case quoted:
			runs = append(runs, run{"«" + piece.Text + "»", colours[piece.Keyword]})
		default:
			runs = append(runs, run{piece.Text, colours[piece.Keyword]})
		}
	}
	return runs
}
