package storecmd

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/terminal"
)

// listing is how a kind of thing is listed: as a row under a header, or as JSON.
type listing[T any] struct {
	header []string
	row    func(T) []any
	view   func(T) any // nil where there is no --json
}

// print lists what a sequence yields, up to its first error, and returns how many there were. Rows have a
// tab between their fields; on a terminal they are aligned under the header.
func (l listing[T]) print(c *cobra.Command, asJSON bool, values iter.Seq2[T, error]) (n int, err error) {
	out := newRows(c.OutOrStdout(), l.header, asJSON)
	for v, err := range values {
		if err != nil {
			out.flush()
			return n, err
		}
		n++
		if asJSON {
			err = out.json.Encode(l.view(v))
		} else {
			err = out.row(l.row(v)...)
		}
		if err != nil {
			return n, err
		}
	}
	return n, out.flush()
}

// rows writes lines, and says nothing until the first.
type rows struct {
	w      io.Writer
	json   *json.Encoder
	flush  func() error
	header []string
}

func newRows(w io.Writer, header []string, asJSON bool) *rows {
	buffer := bufio.NewWriter(w)
	r := &rows{w: buffer, json: newEncoder(buffer), flush: buffer.Flush}
	if cli.IsTerminal(w) && !asJSON {
		aligned := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		r.w, r.flush, r.header = aligned, aligned.Flush, header
	}
	return r
}

func newEncoder(w io.Writer) *json.Encoder {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder
}

func (r *rows) row(fields ...any) error {
	if r.header != nil {
		header := strings.ToUpper(strings.Join(r.header, "\t"))
		r.header = nil
		if _, err := fmt.Fprintln(r.w, header); err != nil {
			return err
		}
	}
	texts := make([]string, len(fields))
	for i, f := range fields {
		texts[i] = field(f)
	}
	_, err := fmt.Fprintln(r.w, strings.Join(texts, "\t"))
	return err
}

// field writes one field of a row. No text brings tabs or lines of its own, nor what a terminal would obey, to
// which pipes lead as well.
func field(value any) string {
	switch v := value.(type) {
	case time.Time:
		return moment(v)
	case int, uint64, bool:
		return fmt.Sprint(v)
	}
	return terminal.Line(fmt.Sprint(value))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// plural counts things: 1 URD, 2 URDs.
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// moment is a time as programs read it; empty for never.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
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

// each is a sequence of values that are all there.
func each[T any](values []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range values {
			if !yield(v, nil) {
				return
			}
		}
	}
}
