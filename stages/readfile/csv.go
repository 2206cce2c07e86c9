package readfile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/webrace/webrace/pipeline"
)

// rows gives the rows of CSV as records. The first row names the fields, unless they are known; of several of one name
// the second is NAME_2. A row that has not as many cells as that is bad.
func (o Options) rows(lines *lines, from *opened) reader {
	r := &rowReader{lines: lines, comma: []byte(o.Separator), lazy: o.LazyQuotes}
	return func() (any, error) {
		for from.header == nil {
			var err error
			if from.header, err = r.names(); err != nil {
				return nil, err
			}
			from.renamed = renamed(valid(r.cells), from.header)
		}
		return r.record(from.header)
	}
}

// renamed returns the names of columns that are not as they were written.
func renamed(written, names []string) (all []string) {
	for i, name := range names {
		if name != written[i] {
			all = append(all, name)
		}
	}
	return all
}

// headerOf reads the first row.
func (o Options) headerOf(in *content) ([]string, error) {
	r := &rowReader{lines: &lines{in: in, most: int(o.MaxLength)}, comma: []byte(o.Separator), lazy: o.LazyQuotes}
	return r.names()
}

// rowReader reads CSV as RFC 4180 has it, line by line, so that it knows where each row stands, and changes no byte of
// a cell: encoding/csv takes the carriage returns out of cells.
type rowReader struct {
	lines *lines
	comma []byte
	lazy  bool

	cells  []string
	cell   []byte // that is being read
	quoted bool   // the cell has begun with a quote, which has not been closed
}

// names reads the row that names the columns.
func (r *rowReader) names() ([]string, error) {
	_, text, err := r.filled()
	switch {
	case err == nil:
		return distinct(valid(r.cells)), nil
	case text != nil:
		return nil, fmt.Errorf("the row that names the columns: %w", err)
	}
	return nil, err
}

// record reads a row whose cells are called so.
func (r *rowReader) record(names []string) (any, error) {
	at, text, err := r.filled()
	if err == nil && len(r.cells) != len(names) {
		err = fmt.Errorf("the row has %d cells, and the first has %d", len(r.cells), len(names))
	}
	if err != nil {
		return nil, bad(at, text, err)
	}
	if !utf8.Valid(text) {
		r.lines.in.invalid++
		valid(r.cells)
	}
	fields := make(pipeline.Record, len(names))
	for i, name := range names {
		fields[name] = r.cells[i]
	}
	return fields, nil
}

// filled reads the next row that is not a line without anything.
func (r *rowReader) filled() (at mark, text []byte, err error) {
	for {
		at = r.lines.in.mark
		if text, err = r.row(); err != nil || len(withoutEnd(text)) > 0 {
			return at, text, err
		}
	}
}

// row reads the cells of a row, and returns its text. A row goes on in the next line where that begins within quotes.
func (r *rowReader) row() (text []byte, err error) {
	r.cells, r.cell, r.quoted = nil, r.cell[:0], false
	before := r.lines.in.mark
	for {
		number := r.lines.in.Lines + 1
		line, err := r.lines.next()
		switch {
		case err == nil:
		case text == nil:
			return line, err
		case err == errUnfinished, err == errEnd && r.lines.waits():
			r.lines.in.back(before)
			return nil, errUnfinished
		case err == errEnd:
			return text, errOpenQuote
		default:
			return line, err
		}
		if text == nil && bytes.HasSuffix(line, []byte("\n")) && bytes.IndexByte(line, '"') < 0 {
			return line, r.plain(line)
		}
		text = append(text, line...)
		open, err := r.take(line)
		if wrong := new(columnError); errors.As(err, &wrong) {
			wrong.line = number
		}
		if err != nil || !open {
			return text, err
		}
		if len(text) > r.lines.most {
			return nil, fmt.Errorf("the row of line %d is longer than %d bytes: is there a quote without its other half?", before.Lines+1, r.lines.most)
		}
	}
}

var (
	errOpenQuote   = errors.New("a quote has no other half")
	errBareQuote   = errors.New("a quote in a cell that does not begin with one (lazy_quotes = true takes it as it is)")
	errBehindQuote = errors.New("something stands behind the quote that ends a cell (lazy_quotes = true takes it as it is)")
)

// plain reads the cells of a row that has no quotes.
func (r *rowReader) plain(line []byte) error {
	rest := string(withoutEnd(line))
	comma := string(r.comma)
	r.cells = make([]string, 0, strings.Count(rest, comma)+1)
	for {
		cell, after, more := strings.Cut(rest, comma)
		r.cells = append(r.cells, cell)
		if !more {
			return nil
		}
		rest = after
	}
}

// take reads the cells that are in a line, and reports whether the last goes on in the next one.
func (r *rowReader) take(line []byte) (open bool, err error) {
	for i := 0; ; {
		if !r.quoted && i < len(line) && line[i] == '"' {
			r.quoted = true
			i++
		}
		var end int
		if !r.quoted {
			end, err = r.bare(line, i)
		} else if end, open, err = r.inQuotes(line, i); open {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		r.cells, r.cell, r.quoted = append(r.cells, string(r.cell)), r.cell[:0], false
		if !bytes.HasPrefix(line[end:], r.comma) {
			return false, nil
		}
		i = end + len(r.comma)
	}
}

// bare reads a cell without quotes, and returns where it ends.
func (r *rowReader) bare(line []byte, from int) (end int, err error) {
	end = len(withoutEnd(line))
	end = max(end, from)
	if comma := bytes.Index(line[from:end], r.comma); comma >= 0 {
		end = from + comma
	}
	if quote := bytes.IndexByte(line[from:end], '"'); quote >= 0 && !r.lazy {
		return 0, &columnError{column: from + quote + 1, err: errBareQuote}
	}
	r.cell = append(r.cell, line[from:end]...)
	return end, nil
}

// inQuotes reads a cell behind its first quote, and returns where it ends, or that it does not.
func (r *rowReader) inQuotes(line []byte, from int) (end int, open bool, err error) {
	for {
		quote := bytes.IndexByte(line[from:], '"')
		if quote < 0 {
			r.cell = append(r.cell, line[from:]...)
			return 0, true, nil
		}
		r.cell = append(r.cell, line[from:from+quote]...)
		from += quote + 1
		switch rest := line[from:]; {
		case bytes.HasPrefix(rest, []byte(`"`)):
			r.cell = append(r.cell, '"')
			from++
		case bytes.HasPrefix(rest, r.comma), len(withoutEnd(rest)) == 0:
			return from, false, nil
		case r.lazy:
			r.cell = append(r.cell, '"')
		default:
			return 0, false, &columnError{column: from + 1, err: errBehindQuote}
		}
	}
}

// distinct makes names of columns that are used once each: the second of a name is NAME_2.
func distinct(names []string) []string {
	given := make(map[string]int, len(names)) // how many columns of the name there are so far
	for _, name := range names {
		given[name] = 0
	}
	all := make([]string, len(names))
	for i, name := range names {
		if given[name]++; given[name] == 1 {
			all[i] = name
			continue
		}
		free := fmt.Sprintf("%s_%d", name, given[name])
		for _, taken := given[free]; taken; _, taken = given[free] {
			given[name]++
			free = fmt.Sprintf("%s_%d", name, given[name])
		}
		given[free], all[i] = 1, free
	}
	return all
}

// valid replaces what is no UTF-8.
func valid(names []string) []string {
	for i, name := range names {
		names[i] = strings.ToValidUTF8(name, "\uFFFD")
	}
	return names
}

// rowOf writes names as a row.
func rowOf(names []string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(names) // to memory
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
