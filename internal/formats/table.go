package formats

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/webrace/webrace"
)

// csv reads a table of values between commas, or what else stands between most of them.
func (w *writer) csv(body []byte) {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	separator := byte(0)
	if line, rest, _ := bytes.Cut(body, []byte("\n")); len(line) >= 5 && hasPrefixFold(string(line[:5]), "sep=") { // as Excel writes it
		separator, body = line[4], rest
	}
	if strings.IndexByte(separators, separator) < 0 || separator == 0 {
		separator = separatorOf(body)
	}
	w.separated(body, separator)
}

// tsv reads a table of values between tabs.
func (w *writer) tsv(body []byte) {
	w.separated(bytes.TrimPrefix(body, []byte("\ufeff")), '\t')
}

const separators = ",;\t|"

// separatorOf returns what separates the values of the first line, without those in quotes.
func separatorOf(body []byte) byte {
	count := [len(separators)]int{}
	quoted := false
	for _, c := range body[:min(len(body), 64<<10)] {
		switch i := strings.IndexByte(separators, c); {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '\n' && count != [len(separators)]int{}:
			return separators[slices.Index(count[:], slices.Max(count[:]))]
		case i >= 0:
			count[i]++
		}
	}
	return separators[slices.Index(count[:], slices.Max(count[:]))]
}

func (w *writer) separated(body []byte, separator byte) {
	in := rowReader{rest: body, separator: separator, left: mostSeparators}
	r := csv.NewReader(&in)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord = rune(separator), true, -1, true
	t := table{writer: w}
	defer t.end()
	for {
		row, err := r.Read()
		in.left = mostSeparators
		switch {
		case errors.Is(err, io.EOF):
			return
		case errors.Is(err, errLongRow):
			w.exceed("a row of it has more than %d separators", mostSeparators)
			return
		case err != nil:
			w.spoil("it is no table from byte %d on: %v", r.InputOffset(), err)
			return
		case w.ended() || !t.row(row):
			return
		}
	}
}

// mostSeparators is how many a row may have, those in quotes included: each may be a column, which takes 24 bytes.
const mostSeparators = 1 << 18

var errLongRow = errors.New("the row is too long")

// rowReader gives a table to a reader of rows, and fails within one that is too long.
type rowReader struct {
	rest      []byte
	separator byte
	left      int // separators that there may be until the next row
}

func (r *rowReader) Read(p []byte) (n int, err error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n = copy(p, r.rest)
	if r.left -= bytes.Count(p[:n], []byte{r.separator}); r.left < 0 {
		return 0, errLongRow
	}
	r.rest = r.rest[n:]
	return n, nil
}

// table writes rows, each as a block, "name: Bolt; price: 12". The names of the columns are those in its first row of
// several cells, if that names anything; else columns are called as in spreadsheets, "A: Bolt; B: 12". Empty cells are
// left out. A row of one cell, in a table without names, is that cell.
type table struct {
	*writer
	first []string // the row that may have the names
	named bool
	names []string
	line  []byte
}

// row takes the next row, and reports whether there is place for more.
func (t *table) row(cells []string) bool {
	if len(cells) > t.limits.Columns {
		t.exceed("columns behind the %dth are left out", t.limits.Columns)
		cells = cells[:t.limits.Columns]
	}
	if !t.count(1 + len(cells)) {
		return false
	}
	switch filled := filledCells(cells); {
	case filled == 0:
		return true
	case t.named:
		return t.write(cells, t.names)
	case filled == 1 && t.first == nil:
		return t.write(cells, nil)
	case t.first == nil:
		t.first = slices.Clone(cells)
		for i := range t.first { // they may share the memory of the whole line
			t.first[i] = strings.Clone(t.first[i])
		}
		return true
	}
	return t.begin(cells) && t.write(cells, t.names)
}

// count counts cells, and reports whether there is place for them.
func (w *writer) count(cells int) bool {
	if w.cells += cells; w.cells > w.limits.Cells {
		w.exceed("its tables have more than %d cells", w.limits.Cells)
		return false
	}
	return true
}

// end writes what is left.
func (t *table) end() {
	if t.first != nil && !t.named {
		t.begin(nil)
	}
}

// begin decides, by the row behind it, whether the first row has the names of the columns, and writes it.
func (t *table) begin(second []string) bool {
	t.named = true
	if !hasNames(t.first, second) {
		return t.write(t.first, nil)
	}
	t.names = make([]string, len(t.first))
	for i, name := range t.first {
		t.names[i] = shorten(collapse(name), longestName)
	}
	for i := 0; i < len(t.names) && len(t.Text.Columns) < t.limits.Columns; i++ {
		t.Text.Columns = append(t.Text.Columns, columnName(t.names, i))
	}
	return t.block([]byte(strings.Join(slices.DeleteFunc(slices.Clone(t.names), func(s string) bool { return s == "" }), "; ")), webrace.FieldBody)
}

// longestName is how many bytes of the name of a column are written.
const longestName = 100

// hasNames reports whether a row names columns: none of its cells is a value, other than a year; or one of them is none
// above a value.
func hasNames(row, below []string) bool {
	values := false
	for i, cell := range row {
		switch {
		case !isValue(cell) || isYear(cell):
			if i < len(below) && strings.TrimSpace(cell) != "" && isValue(below[i]) {
				return true
			}
		default:
			values = true
		}
	}
	return !values
}

// isValue reports whether a cell is a number, an amount of money, a date: it has digits, and hardly a letter.
func isValue(cell string) bool {
	digits, letters := 0, 0
	for _, c := range cell {
		switch {
		case unicode.IsDigit(c):
			digits++
		case unicode.IsLetter(c):
			letters++
		}
	}
	return digits > 0 && letters <= min(3, digits)
}

func isYear(cell string) bool {
	cell = strings.TrimSpace(cell)
	return len(cell) == 4 && (cell[0] == '1' || cell[0] == '2') && strings.Trim(cell, "0123456789") == ""
}

func filledCells(cells []string) (n int) {
	for _, cell := range cells {
		if strings.TrimSpace(cell) != "" {
			n++
		}
	}
	return n
}

// write writes a row.
func (t *table) write(cells, names []string) bool {
	t.line = t.line[:0]
	single := len(names) == 0 && filledCells(cells) == 1
	for i, cell := range cells {
		if cell = collapse(cell); cell == "" {
			continue
		}
		if len(t.line) > 0 {
			t.line = append(t.line, "; "...)
		}
		if !single {
			t.line = append(append(t.line, columnName(names, i)...), ": "...)
		}
		if t.line = append(t.line, cell...); len(t.line) > t.limits.Text {
			break
		}
	}
	return t.block(t.line, webrace.FieldBody)
}

// columnName returns the name of a column, or what spreadsheets call it: A to Z, AA and so on.
func columnName(names []string, i int) string {
	if i < len(names) && names[i] != "" {
		return names[i]
	}
	name := ""
	for i++; i > 0; i = (i - 1) / 26 {
		name = string(rune('A'+(i-1)%26)) + name
	}
	return name
}
