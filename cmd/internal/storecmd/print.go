package storecmd

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/internal/wording"
)

// listing is how a kind of thing is listed: as a row under a header, or as JSON.
type listing[T any] struct {
	header []string
	row    func(T) []any
	json   func(T) any // nil where there is no --json
	screen *view[T]    // what a terminal shows instead of header and row; nil: the same
}

// view is how a kind of thing is listed for a person.
type view[T any] struct {
	header []string
	row    func(T) []any
}

// print lists what a sequence yields, up to its first error, and returns how many there were. Rows have a
// tab between their fields; on a terminal they are aligned under the header.
func (l listing[T]) print(c *cobra.Command, asJSON bool, values iter.Seq2[T, error]) (n int, err error) {
	if part := partOf(c); part != nil && part.Rows {
		return l.write(c, values)
	}
	header, row := l.header, l.row
	if l.screen != nil && cli.IsTerminal(c.OutOrStdout()) {
		header, row = l.screen.header, l.screen.row
	}
	out := newRows(c.OutOrStdout(), header, asJSON)
	for v, err := range values {
		if err != nil {
			out.flush()
			return n, err
		}
		n++
		if asJSON {
			err = out.json.Encode(l.json(v))
		} else {
			err = out.row(row(v)...)
		}
		if err != nil {
			return n, err
		}
	}
	return n, out.flush()
}

// list prints what a sequence yields, and a remark if that is nothing.
func (l listing[T]) list(c *cobra.Command, asJSON bool, values iter.Seq2[T, error], none string) error {
	n, err := l.print(c, asJSON, values)
	if n == 0 && err == nil {
		note(c, "%s", none)
	}
	return err
}

// rows writes lines; for a terminal it gathers them, to align them under their header. Without any it prints nothing.
type rows struct {
	w      *bufio.Writer
	json   *json.Encoder
	screen bool // a terminal
	header []string
	table  [][]string // gathered
	width  int
}

func newRows(w io.Writer, header []string, asJSON bool) *rows {
	buffer := bufio.NewWriter(w)
	return &rows{w: buffer, json: cli.NewEncoder(buffer), screen: cli.IsTerminal(w) && !asJSON, header: header, width: cli.Columns(w)}
}

// WriteTable writes rows as all commands here do: aligned under a header on a terminal, with tabs between the fields
// elsewhere.
func WriteTable(w io.Writer, header []string, fields [][]any) error {
	out := newRows(w, header, false)
	for _, row := range fields {
		if err := out.row(row...); err != nil {
			return err
		}
	}
	return out.flush()
}

// flush writes what was gathered.
func (r *rows) flush() error {
	if len(r.table) > 0 {
		most := 0 // fields at the end that no row has need no name
		for _, row := range r.table {
			most = max(most, len(row))
		}
		var header []string
		for _, name := range r.header[:min(most, len(r.header))] {
			header = append(header, strings.ToUpper(name))
		}
		r.w.WriteString(terminal.Table(header, r.table, r.width)) // Flush has its error
		r.table, r.header = nil, nil
	}
	return r.w.Flush()
}

func (r *rows) row(fields ...any) error {
	texts := make([]string, len(fields))
	for i, f := range fields {
		if texts[i] = field(f); r.screen {
			texts[i] = shortened(f, texts[i])
		}
	}
	if r.screen {
		r.table = append(r.table, texts)
		return nil
	}
	_, err := fmt.Fprintln(r.w, strings.Join(texts, "\t"))
	return err
}

// shownDigits is how many digits of a digest a person needs to tell it from others.
const shownDigits = 12

// shortened is a field as a person reads it.
func shortened(value any, text string) string {
	if _, isDigest := value.(webrace.Digest); isDigest && text != "" {
		return strings.TrimPrefix(text, "sha256:")[:shownDigits]
	}
	return text
}

// field writes one field of a row. No text brings tabs or lines of its own, nor what a terminal would obey, to
// which pipes lead as well.
func field(value any) string {
	switch v := value.(type) {
	case time.Time:
		return wording.Moment(v)
	case int, uint64, bool:
		return fmt.Sprint(v)
	}
	return terminal.Line(fmt.Sprint(value))
}

// counted counts what a sequence yields.
func counted[T any](n *int, values iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v, err := range values {
			if err == nil {
				*n++
			}
			if !yield(v, err) {
				return
			}
		}
	}
}
