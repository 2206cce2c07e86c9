package markdown

import (
	"strings"

	"github.com/webrace/webrace"
)

// AppendText appends the Markdown of a text, which has no markup, as it is read from PDF, files of offices, tables,
// feeds, mails, JSON and plain text. Its title is a heading of the first level, its headings are of the second, and
// its other blocks paragraphs; rows of a table whose columns have names are those of a table, and other entries of a
// list that is no feed, as the leaves of JSON, are items. Nothing of it is taken for markup. What it appends is
// empty, or ends with a line feed.
func AppendText(dst []byte, text *webrace.Text) []byte {
	w := &writer{dst: dst, start: len(dst)}
	t := textWriter{writer: w, columns: text.Columns}
	for _, b := range text.Blocks {
		if w.full() {
			break
		}
		t.block(text, b, string(text.Slice(b)))
	}
	return w.dst
}

// textWriter writes the blocks of a text.
type textWriter struct {
	*writer
	columns []string // the names of those of tables that have not begun
	names   []string // of the columns of the table that has begun; nil outside of tables
	cells   int      // of it
	filling int      // how many of these are empty
	items   *items   // of the list that is written; nil outside
}

func (t *textWriter) block(text *webrace.Text, b webrace.Block, s string) {
	isBody := b.Field == webrace.FieldBody
	if isBody && t.head(s) || isBody && t.row(s) {
		return
	}
	t.names = nil
	if isBody && b.Entry > 0 && !text.Feed {
		t.item(s)
		return
	}
	if t.items != nil {
		t.items.end()
		t.items = nil
	}
	t.text(s)
	switch {
	case !t.hasText():
	case b.Field == webrace.FieldTitle:
		t.writeHeading(1)
	case b.Field == webrace.FieldHeading:
		t.writeHeading(2)
	default:
		t.flush()
	}
}

// item writes a block as an item of a list.
func (t *textWriter) item(s string) {
	if t.items == nil {
		t.items = t.writer.items(false)
	}
	t.items.next(0)
	t.items.write(func() { t.text(s); t.flush() })
}

// head takes the names of the next table's columns, if a block has them: in the order that they have in the text, and
// without those that have no name there, for which the text has the letters of spreadsheets.
func (t *textWriter) head(s string) bool {
	n, rest := 0, s
	for n < len(t.columns) && n < maxColumns && rest != "" {
		if after, ok := strings.CutPrefix(rest, t.columns[n]); ok && (after == "" || strings.HasPrefix(after, "; ")) {
			rest = strings.TrimPrefix(after, "; ")
		}
		n++
	}
	if rest != "" || n == 0 {
		return false
	}
	t.names, t.columns = t.columns[:n], t.columns[n:]
	t.cells, t.filling = 0, 0
	t.begin()
	t.rowOf(t.names)
	t.linePrefix(false)
	t.emptyRow(n, " --- |")
	return true
}

// row writes a row, "name: Bolt; price: 12", of the table that has begun, if a block is one.
func (t *textWriter) row(s string) bool {
	if t.names == nil {
		return false
	}
	column := t.column(0, s)
	if column < 0 {
		return false
	}
	values := make([]string, 0, len(t.names))
	for column >= 0 {
		t.filling += column - len(values)
		for len(values) < column {
			values = append(values, "")
		}
		s = s[len(t.names[column])+len(": "):]
		end, next := t.end(column+1, s)
		values = append(values, s[:end])
		if column = next; next >= 0 {
			s = s[end+len("; "):]
		}
		t.cells++
	}
	if t.filling += len(t.names) - 1; t.filling > someFilling+maxFilling*t.cells {
		return false
	}
	t.linePrefix(false)
	t.rowOf(values)
	return true
}

// column returns the first column from one on whose name a text begins with; -1 if there is none.
func (t *textWriter) column(from int, s string) int {
	for i := from; i < len(t.names); i++ {
		if after, ok := strings.CutPrefix(s, t.names[i]); ok && strings.HasPrefix(after, ": ") {
			return i
		}
	}
	return -1
}

// end returns where the value ends that a text begins with, and which column follows, from one on; -1 for none.
func (t *textWriter) end(from int, s string) (end, next int) {
	for i := 0; ; {
		n := strings.Index(s[i:], "; ")
		if n < 0 {
			return len(s), -1
		}
		if next = t.column(from, s[i+n+len("; "):]); next >= 0 {
			return i + n, next
		}
		i += n + len("; ")
	}
}

func (t *textWriter) rowOf(values []string) {
	t.dst = append(t.dst, '|')
	for _, value := range values {
		t.dst = append(t.dst, ' ')
		t.context = inCell
		t.text(value)
		if t.hasText() {
			t.render(inCell)
		}
		t.context = inFlow
		t.dst = append(t.dst, " |"...)
	}
	t.dst = append(t.dst, '\n')
}
