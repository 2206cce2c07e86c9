// Package formats reads documents that are no HTML: JSON, tables (CSV, spreadsheets), Markdown, and files of offices
// and book readers (docx, xlsx, odt, ods, odp, epub). A document gives its title, its text in blocks, and the absolute
// URLs that it links to: of JSON a block is a leaf with its path, of a table a row with the names of its columns, of
// other documents a paragraph or heading.
//
// No document is an error, and none can do harm: depth, text, rows and what an archive holds are bounded by [Limits],
// and what is behind a limit is left out and said, with its cause. What is broken is read up to where it breaks. A
// document gives the same text every time, unless it is so slow that the limit of time ends it.
package formats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/pdftext"
)

// Limits bound what one document may cost.
type Limits struct {
	Text     int           // bytes of text
	Depth    int           // levels of JSON and of elements
	Columns  int           // of a row
	Links    int           // URLs
	Markdown int           // bytes of Markdown, whose reader cannot be interrupted
	Work     int           // steps
	Inflated int64         // bytes that the parts of an archive have together, of those that are read
	Time     time.Duration // for a spreadsheet, whose rows may be longer than what is written of them
}

// Default are the limits of [Read].
var Default = Limits{
	Text: 16 << 20, Depth: 256, Columns: 16_384, Links: 10_000, Markdown: 1 << 20, Work: 1 << 28, Inflated: 64 << 20, Time: 20 * time.Second,
}

// Document is what a document gave.
type Document struct {
	Title    string // as it declares it, or else its first heading of the first level; white space collapsed
	Named    bool   // the title is declared
	Language string // as it declares it
	Text     webrace.Text
	Links    []string // absolute URLs of http and https, as they are written, in order
	Unread   pdftext.Unread
}

// Read reads a document of a format within the default limits. JSON and tables of plain text are in UTF-8. The body is
// not changed.
func Read(ctx context.Context, f Format, body []byte) *Document { return Default.read(ctx, f, body) }

func (l Limits) read(ctx context.Context, f Format, body []byte) *Document {
	w := &writer{ctx: ctx, limits: l}
	if read := readers[f]; read != nil {
		read(w, body)
	}
	switch {
	case w.Unread.Cause != "":
	case w.over != "":
		w.Unread = pdftext.Unread{Cause: pdftext.TooLong, Reason: w.over}
	case w.broken != "":
		w.Unread = pdftext.Unread{Cause: pdftext.Broken, Reason: w.broken}
	}
	return &w.Document
}

var readers = map[Format]func(*writer, []byte){
	JSON: (*writer).json, JSONLines: (*writer).jsonLines, CSV: (*writer).csv, TSV: (*writer).tsv,
	DOCX: (*writer).docx, XLSX: (*writer).xlsx, ODT: (*writer).odf, ODS: (*writer).odf, ODP: (*writer).odf, EPUB: (*writer).epub,
}

// writer collects what a document gives, up to the limits.
type writer struct {
	Document
	ctx    context.Context
	limits Limits
	over   string // the first limit that was reached
	broken string // what could not be read
}

// exceed notes that a limit was reached.
func (w *writer) exceed(format string, args ...any) {
	if w.over == "" {
		w.over = fmt.Sprintf(format, args...)
	}
}

// spoil notes that something cannot be read.
func (w *writer) spoil(format string, args ...any) {
	if w.broken == "" {
		w.broken = fmt.Sprintf(format, args...)
	}
}

// refuse ends the document with a cause.
func (w *writer) refuse(cause pdftext.Cause, format string, args ...any) {
	w.Unread = pdftext.Unread{Cause: cause, Reason: fmt.Sprintf(format, args...)}
}

const space = " \t\n\f\r"

// block adds a block of text, trimmed, in UTF-8 and without NUL, unless it is empty. It reports whether there is place
// for more.
func (w *writer) block(text []byte, field webrace.Field) bool {
	if bytes.IndexByte(text, 0) >= 0 {
		text = bytes.ReplaceAll(text, []byte{0}, nil)
	}
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\ufffd"))
	}
	text = bytes.Trim(text, space)
	t := &w.Text
	switch {
	case len(text) == 0:
		return true
	case len(t.Bytes)+1+len(text) > w.limits.Text:
		w.exceed("it has more than %d MiB of text", w.limits.Text>>20)
		return false
	case len(t.Bytes) > 0:
		t.Bytes = append(t.Bytes, '\n')
	}
	start := len(t.Bytes)
	t.Bytes = append(t.Bytes, text...)
	t.Blocks = append(t.Blocks, webrace.Block{Start: int32(start), End: int32(len(t.Bytes)), Field: field})
	return true
}

// name sets the title that the document declares, and writes it as the first block.
func (w *writer) name(title string) {
	title = collapse(title)
	if title == "" || w.Title != "" {
		return
	}
	w.Title, w.Named = title, true
	w.block([]byte(title), webrace.FieldTitle)
}

// longestLink is how many bytes of a URL are looked at.
const longestLink = 8 << 10

// link adds a URL, if it is absolute: one within an archive leads nowhere else.
func (w *writer) link(url string) {
	url = strings.TrimSpace(url)
	switch {
	case len(url) > longestLink || !hasPrefixFold(url, "http://") && !hasPrefixFold(url, "https://"):
	case len(w.Links) >= w.limits.Links:
		w.exceed("it has more than %d links", w.limits.Links)
	default:
		w.Links = append(w.Links, strings.ToValidUTF8(url, "\ufffd"))
	}
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// ended reports whether the caller waits no longer, or there has been time enough.
func (w *writer) ended(ctx context.Context) bool {
	if ctx.Err() == nil {
		return false
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		w.refuse(pdftext.Time, "reading it was cancelled")
	} else {
		w.refuse(pdftext.Time, "reading it takes longer than %v: what is read up to there counts", w.limits.Time)
	}
	return true
}

// collapse makes one line of a text.
func collapse(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "")), " ")
}

// shorten leaves the middle out of a text that is longer than so many bytes.
func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	half := most/2 - len("…")
	return strings.ToValidUTF8(text[:half], "") + "…" + strings.ToValidUTF8(text[len(text)-half:], "")
}
