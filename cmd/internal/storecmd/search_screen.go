package storecmd

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/storage/fulltext"
)

const (
	bold, notBold = "\x1b[1m", "\x1b[22m"
	dim           = "\x1b[2m"
	blue          = "\x1b[36m"
	plain         = "\x1b[0m"
)

// screenHits shows hits on a terminal, of which w is an exact writer.
type screenHits struct {
	w     io.Writer
	width int
	n     int // shown so far
}

func (*screenHits) marks() fulltext.Marks { return fulltext.Marks{Open: bold, Close: notBold} }

func (p *screenHits) hit(h fulltext.Hit, fragments []string) error {
	p.n++
	number := fmt.Sprintf("%2d  ", p.n)
	indent := strings.Repeat(" ", len(number))
	title := cmp.Or(h.Title, "(no title)")
	about := []string{}
	for _, part := range []string{dayOf(h.Date), h.Language, h.Type} {
		if part != "" {
			about = append(about, terminal.Line(part))
		}
	}
	if h.Superseded {
		about = append(about, fmt.Sprintf("version %d, superseded", h.Version))
	}
	lines := []string{
		number + bold + cut(title, p.width-len(number)) + plain,
		indent + blue + terminal.Line(h.URL) + plain,
	}
	if len(about) > 0 {
		lines = append(lines, indent+dim+cut(strings.Join(about, " · "), p.width-len(indent))+plain)
	}
	for _, fragment := range fragments {
		for _, line := range terminal.Fill(fragment, p.width-len(indent), p.width-len(indent)) {
			lines = append(lines, indent+line)
		}
	}
	_, err := fmt.Fprintf(p.w, "%s%s\n\n", strings.Join(lines, "\n"), plain)
	return err
}

func (p *screenHits) facets(r fulltext.Results) error {
	const indent = 12
	for _, name := range fulltext.Facets {
		facet := r.Facets[name]
		if len(facet.Counts) == 0 {
			continue
		}
		var values []string
		for _, c := range facet.Counts {
			values = append(values, fmt.Sprintf("%s %s%d%s", terminal.Line(c.Value), bold, c.Count, notBold))
		}
		if facet.Others > 0 {
			values = append(values, fmt.Sprintf("others %s%d%s", bold, facet.Others, notBold))
		}
		for i, line := range terminal.FillWith(values, "   ", p.width-indent, p.width-indent) {
			label := ""
			if i == 0 {
				label = name
			}
			if _, err := fmt.Fprintf(p.w, "%-*s%s\n", indent, label, line); err != nil {
				return err
			}
		}
	}
	return nil
}

// cut shortens a text to so many columns.
func cut(text string, columns int) string {
	if terminal.Columns(text) <= columns {
		return text
	}
	used := 1 // for the dots
	for i, r := range text {
		if used += terminal.ColumnsOf(r); used > columns {
			return strings.TrimRight(text[:i], " ") + "…"
		}
	}
	return text
}
