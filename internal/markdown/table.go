package markdown

import (
	"strconv"

	"golang.org/x/net/html"
)

// A table of GitHub's has one line a row, and running text in its cells. So a table is written as one if its cells
// have no more than that, or can do with it because it has a head; a table that arranges a page, or one of which a
// row is no row, is written as the blocks that it consists of.

const (
	// maxColumns is how many columns a table may have.
	maxColumns = 256
	// maxFilling is how many empty cells a table may have for each that is not, beyond the first thousand: a renderer
	// fills rows up.
	maxFilling  = 8
	someFilling = 1024
)

// shape is what a table consists of.
type shape struct {
	w        *writer
	captions []*html.Node
	rows     []*html.Node
	cells    int
	columns  int  // of the longest row
	head     bool // it has a head, or cells of one
	blocks   bool // of its cells some hold lists, or blocks of code
	broken   bool // it cannot be written as a table
}

// table writes a table.
func (w *writer) table(n *html.Node) {
	s := shape{w: w}
	s.table(n)
	if role := attribute(n, "role"); role == "presentation" || role == "none" || s.isLayout() {
		w.children(n)
		return
	}
	for _, caption := range s.captions {
		w.node(caption)
		w.flush()
	}
	rows := s.rows
	w.begin()
	if isHead(rows[0]) {
		w.row(rows[0], s.columns)
		rows = rows[1:]
	} else {
		w.emptyRow(s.columns, "  |")
	}
	w.linePrefix(false)
	w.emptyRow(s.columns, " --- |")
	for _, row := range rows {
		if w.full() {
			break
		}
		w.linePrefix(false)
		w.row(row, 0)
	}
}

func (s *shape) isLayout() bool {
	switch {
	case s.broken, len(s.rows) == 0, s.columns > maxColumns, s.columns*len(s.rows) > someFilling+maxFilling*s.cells:
		return true
	case s.head:
		return false
	}
	return s.blocks || s.columns < 2 || len(s.rows) < 2
}

// table looks at the parts of a table.
func (s *shape) table(n *html.Node) {
	for c := n.FirstChild; c != nil && !s.broken; c = c.NextSibling {
		switch {
		case s.isNothing(c):
		case c.Data == "thead" || c.Data == "tbody" || c.Data == "tfoot":
			s.head = s.head || c.Data == "thead"
			s.table(c)
		case c.Data == "tr":
			s.row(c)
		case c.Data == "caption" && len(s.rows) == 0:
			s.captions = append(s.captions, c)
		case c.Data != "colgroup" && c.Data != "col":
			s.broken = true
		}
	}
}

// isNothing reports whether a node shows nothing.
func (s *shape) isNothing(n *html.Node) bool {
	switch n.Type {
	case html.TextNode:
		for i := range len(n.Data) {
			if !isSpace[n.Data[i]] {
				return false
			}
		}
		return true
	case html.ElementNode:
		return s.w.kindOf(n) == skipped
	}
	return true
}

func (s *shape) row(n *html.Node) {
	columns := 0
	for c := n.FirstChild; c != nil && !s.broken; c = c.NextSibling {
		switch {
		case s.isNothing(c):
		case c.Data == "td" || c.Data == "th":
			s.head = s.head || c.Data == "th"
			s.cells++
			columns += span(c)
			s.within(c)
		default:
			s.broken = true
		}
	}
	if columns > 0 {
		s.rows = append(s.rows, n)
		s.columns = max(s.columns, columns)
	}
}

// within looks for what cannot stand in a cell. What is behind the first table within is left to that, so that a
// page is looked at once, however many of its tables are within one another.
func (s *shape) within(n *html.Node) {
	if s.w.depth >= maxDepth {
		return
	}
	s.w.depth++
	defer func() { s.w.depth-- }()
	for c := n.FirstChild; c != nil && !s.broken; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		switch k := kinds[c.Data]; k {
		case skipped:
			continue
		case table, quotation, h1, h2, h3, h4, h5, h6:
			s.broken = true
		case list, definitions, preformatted:
			s.blocks = true
		}
		s.within(c)
	}
}

// span returns over how many columns a cell goes: as many as it has, mostly one.
func span(n *html.Node) int {
	value := attribute(n, "colspan")
	if value == "" {
		return 1
	}
	columns, err := strconv.Atoi(value)
	if err != nil {
		return 1
	}
	return min(max(columns, 1), maxColumns+1)
}

// isHead reports whether a row is one of heads.
func isHead(row *html.Node) bool {
	if row.Parent != nil && row.Parent.Data == "thead" {
		return true
	}
	for c := row.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode && c.Data == "td" {
			return false
		}
	}
	return true
}

// row writes a row, of at least so many cells.
func (w *writer) row(n *html.Node, columns int) {
	w.dst = append(w.dst, '|')
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode || w.kindOf(c) == skipped {
			continue
		}
		w.dst = append(w.dst, ' ')
		w.context = inCell
		w.children(c)
		if w.hasText() {
			w.render(inCell)
		}
		w.context = inFlow
		w.dst = append(w.dst, " |"...)
		columns--
		for range span(c) - 1 {
			w.dst = append(w.dst, "  |"...)
			columns--
		}
	}
	for ; columns > 0; columns-- {
		w.dst = append(w.dst, "  |"...)
	}
	w.dst = append(w.dst, '\n')
}

func (w *writer) emptyRow(columns int, cell string) {
	w.dst = append(w.dst, '|')
	for range columns {
		w.dst = append(w.dst, cell...)
	}
	w.dst = append(w.dst, '\n')
}
