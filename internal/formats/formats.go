// Package formats reads documents that are no HTML: JSON, tables (CSV, spreadsheets), Markdown, and files of offices
// and book readers (docx, xlsx, odt, ods, odp, epub). A document gives its title, its text in blocks, and the absolute
// URLs that it links to: of JSON a block is a leaf with its path, of a table a row with the names of its columns, of
// other documents a paragraph or heading.
//
// No document is an error, and none can do harm: [Limits] count what is made of it while it is made, and what is behind
// a limit is left out and said, with its cause. What is broken is read up to where it breaks. No clock is looked at, so
// a document gives the same text on every machine.
package formats

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/pdftext"
)

// Limits bound what one document may cost.
type Limits struct {
	Text     int   // bytes of text
	Blocks   int   // of it: leaves, rows, paragraphs
	Cells    int   // of tables, with the empty ones before others; one of a spreadsheet of SpreadsheetML counts as cellOfXLSX
	Depth    int   // levels of JSON and of elements
	Columns  int   // of a row
	Links    int   // URLs
	Markdown int   // bytes of Markdown
	Work     int   // steps of its reader
	Inflated int64 // bytes that the parts of an archive have together, of those that are read
}

// Default are the limits of [Read].
var Default = Limits{
	Text: 16 << 20, Blocks: 1 << 18, Cells: 1 << 22, Depth: 256, Columns: 16_384, Links: 10_000,
	Markdown: 1 << 20, Work: 1 << 28, Inflated: 64 << 20,
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

// Reserve takes bytes of memory before they are made, and waits until there are any; a negative number gives back. Its
// error is that of the caller's context. A nil Reserve has no limit.
type Reserve func(bytes int) error

// Read reads a document of a format within the default limits. JSON and tables of plain text are in UTF-8. The body is
// not changed. What a document takes beyond the length of its body is reserved.
func Read(ctx context.Context, f Format, body []byte, reserve Reserve) *Document {
	return Default.read(ctx, f, body, reserve)
}

func (l Limits) read(ctx context.Context, f Format, body []byte, reserve Reserve) *Document {
	w := &writer{ctx: ctx, limits: l, memory: memory{reserve: reserve, free: len(body)}}
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
	Calendar: (*writer).calendar, Card: (*writer).calendar,
	DOCX: (*writer).docx, XLSX: (*writer).xlsx, ODT: (*writer).odf, ODS: (*writer).odf, ODP: (*writer).odf, EPUB: (*writer).epub,
}

// writer collects what a document gives, up to the limits.
type writer struct {
	Document
	ctx    context.Context
	limits Limits
	memory memory
	cells  int    // of tables
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
	case len(t.Blocks) >= w.limits.Blocks:
		w.exceed("it has more than %d blocks of text", w.limits.Blocks)
		return false
	case !w.memory.take(len(text) + int(unsafe.Sizeof(webrace.Block{}))):
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

// ended reports whether the caller waits no longer.
func (w *writer) ended() bool {
	if w.ctx.Err() == nil {
		return false
	}
	w.refuse(pdftext.Time, "reading it was cancelled")
	return true
}

// memory is what a document may take, by steps.
type memory struct {
	reserve Reserve
	free    int // bytes that are reserved, and not taken
}

// reserved is the step in which memory is reserved.
const reserved = 1 << 20

// take takes bytes, and reports whether there are any.
func (m *memory) take(bytes int) bool {
	if m.free -= bytes; m.free < 0 && m.reserve != nil {
		more := max(reserved, -m.free)
		if m.reserve(more) != nil {
			return false
		}
		m.free += more
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
