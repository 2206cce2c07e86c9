// Package pdftext reads the text of PDF files, with PDFium in WebAssembly. A file gives its title, and page by page
// the blocks of text in the order in which they are drawn: paragraphs, headings, and as navigation the lines that
// pages have in common.
//
// No file is an error, and none can do harm: PDFium runs without files, network or clock, with so much memory and work
// as [Limits] allow, and each file has an instance of its own. What cannot be read is said with its cause. A file gives
// the same text every time and on every machine, since its work is counted.
//
// PDFium is compiled when the first PDF comes, for all that read them in the process.
package pdftext

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/webrace/webrace"
)

// MediaType is the type of what this package reads.
const MediaType = "application/pdf"

// Is reports whether a body begins as PDF files do.
func Is(body []byte) bool { return bytes.HasPrefix(body, []byte("%PDF-")) }

// Limits bound what one file may cost.
type Limits struct {
	Pages     int   // that are read
	Text      int   // bytes
	Links     int   // URLs
	Memory    int   // bytes that an instance of PDFium may have
	Work      int64 // calls and rounds of loops within PDFium, for each file; it may have workPerByte more for each byte
	Instances int   // files that are read at once, if there are as many processors
}

// Default are the limits of [Read]. A processor does 150 to 200 million units of work in a second; a page of 4000
// characters takes about a million.
var Default = Limits{Pages: 1000, Text: 8 << 20, Links: 100_000, Memory: 128 << 20, Work: 128 << 20, Instances: 4}

// What a file may take beside its limits in proportion to its length.
const (
	workPerByte   = 256
	leastMemory   = 48 << 20 // of which PDFium takes 17 before it has read anything
	memoryPerByte = 8
)

func (l Limits) work(body []byte) int64 { return l.Work + workPerByte*int64(len(body)) }

func (l Limits) memory(body []byte) int { return min(l.Memory, leastMemory+memoryPerByte*len(body)) }

// Document is what a file gave.
type Document struct {
	Title  string // as the file declares it, or else its first page's largest heading; white space collapsed
	Named  bool   // the title is declared
	Blocks []Block
	Links  []string // URLs that its links lead to, as they are written, in order
	Pages  int      // how many it has
	Unread Unread
}

// Block is a piece of text: valid UTF-8 in one line, never empty, without white space around it.
type Block struct {
	Text  string
	Field webrace.Field // heading, body or navigation
	Page  int           // from 1
}

// Unread tells why the text of a file was not read, or not whole. The zero value means that it was.
type Unread struct {
	Cause  Cause
	Reason string // a sentence for a person
}

// Cause is why the text of a file was not read, in a word.
type Cause string

const (
	Encrypted Cause = "encrypted"  // it needs a password
	Broken    Cause = "broken"     // it is no PDF, or is damaged
	Textless  Cause = "no_text"    // it has pages, but no text
	Time      Cause = "time"       // nobody waited for it any longer
	Memory    Cause = "memory"     // it needs too much
	TooLong   Cause = "over_limit" // what is behind a limit is left out
	Engine    Cause = "engine"     // PDFium could not be started
)

// header is how deep in a file readers look for its beginning.
const header = 1024

// Read reads a file within the default limits. The body is not changed. The result is read-only: it may be another
// caller's as well, since stages read a document one after another.
//
// Reserve takes bytes of memory before they are made, and waits until there are any; a negative number gives back. Its
// error is that of the context. Nil has no limit. What PDFium took is given back in the end, the text is not.
func Read(ctx context.Context, body []byte, reserve func(bytes int) error) *Document {
	if !bytes.Contains(body[:min(len(body), header)], []byte("%PDF-")) { // pages of errors have that type
		return unread(Broken, "it is no PDF file")
	}
	digest := sha256.Sum256(body)
	if d := latest.get(digest); d != nil {
		return d
	}
	e, err := started()
	if err != nil {
		return unread(Engine, err.Error())
	}
	d := e.read(ctx, body, Default, reserve)
	if ctx.Err() == nil && d.Unread.Cause != Engine {
		latest.put(digest, d)
	}
	return d
}

func unread(cause Cause, reason string) *Document {
	return &Document{Unread: Unread{cause, reason}}
}

// read reads a file when an instance is free.
func (e *engine) read(ctx context.Context, body []byte, limits Limits, reserve func(bytes int) error) *Document {
	select {
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
	case <-ctx.Done():
		return unread(Time, "reading it was cancelled")
	}
	r := &reading{limits: limits, taken: budget{reserve: reserve}}
	failed := r.run(ctx, e, body)
	switch {
	case failed == nil:
	case failed.cause == TooLong:
		r.cut("work")
	case failed.cause == Memory && r.done.pages > 0:
		r.cut("memory")
	default:
		return unread(failed.cause, limits.explain(failed, body))
	}
	return r.document()
}

// explain describes for a person what a failure is.
func (l Limits) explain(f *failure, body []byte) string {
	switch f.cause {
	case Encrypted:
		return "it is encrypted: its text needs a password"
	case Time:
		return "reading it was cancelled"
	case Memory:
		return fmt.Sprintf("reading it needs more than %d MiB of memory", l.memory(body)>>20)
	case Engine:
		return f.err.Error()
	}
	return fmt.Sprintf("it is damaged: %v", f.err)
}

// reading is the work on one file.
type reading struct {
	limits Limits
	*instance
	handle uint64 // of the document

	title   string
	pages   int     // of the file
	lines   []line  // of all pages, in order
	size    int     // bytes of them
	taken   budget  // for the lines
	broken  int     // pages that cannot be read
	outline outline // titles of chapters
	// onStructure is the work on the tree of the file's structure.
	onStructure int64
	links       []string
	done        done
	over        string // the limit that was reached
}

// done is how much there was when a page was done with.
type done struct{ pages, lines, links int }

// run reads the file with an instance of its own, which it closes, and returns why that failed.
func (r *reading) run(ctx context.Context, e *engine, body []byte) (failed *failure) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *failure:
			failed = p
		default:
			panic(p)
		}
	}()
	memory := &linearMemory{budget: budget{reserve: r.taken.reserve}, most: r.limits.memory(body)}
	in, err := e.start(ctx, r.limits.work(body), memory)
	defer in.close()
	switch {
	case ctx.Err() != nil:
		return &failure{Time, ctx.Err()}
	case err != nil:
		return &failure{Engine, fmt.Errorf("start PDFium: %w", err)}
	}
	r.instance = in
	r.call("FPDF_InitLibrary")
	r.scratch = r.allocate(scratchSize)
	if failed = r.open(body); failed == nil {
		r.readAll()
	}
	return failed
}

// Numbers of FPDF_GetLastError.
const (
	errorPassword = 4
	errorSecurity = 5
)

// open loads the file.
func (r *reading) open(body []byte) *failure {
	if len(body) > r.memory.most/2 {
		return &failure{Memory, errors.New("the file alone fills it")}
	}
	r.handle = r.call("FPDF_LoadMemDocument", uint64(r.store(body)), uint64(len(body)), 0)
	if r.handle != 0 {
		return nil
	}
	switch r.call("FPDF_GetLastError") {
	case errorPassword, errorSecurity:
		return &failure{Encrypted, nil}
	}
	return &failure{Broken, errors.New("its structure makes no PDF")}
}

// readAll reads what the file declares of itself and then its pages, up to a limit.
func (r *reading) readAll() {
	r.title = collapse(r.utf16From("FPDF_GetMetaText", r.handle, uint64(r.store([]byte("Title")))))
	r.outline = r.readOutline()
	r.pages = int(int32(r.call("FPDF_GetPageCount", r.handle)))
	tagged := r.call("FPDFCatalog_IsTagged", r.handle) != 0
	for i := range r.pages {
		if i == r.limits.Pages {
			r.over = fmt.Sprintf("only the first %d of its %d pages are read", i, r.pages)
			return
		}
		if page := r.call("FPDF_LoadPage", r.handle, uint64(i)); page != 0 {
			r.readPage(page, i+1, tagged)
			r.call("FPDF_ClosePage", page)
		} else {
			r.broken++
		}
		if r.over != "" {
			return
		}
		r.done = done{i + 1, len(r.lines), len(r.links)}
	}
}

// cut leaves out the page that takes too much of something, and what is behind it.
func (r *reading) cut(what string) {
	r.lines, r.links = r.lines[:r.done.lines], r.links[:r.done.links]
	r.over = "reading even its first page takes too much " + what
	if r.done.pages > 0 {
		r.over = fmt.Sprintf("only the first %d of its %d pages are read: the next takes too much %s", r.done.pages, r.pages, what)
	}
}

// document makes blocks of the lines.
func (r *reading) document() *Document {
	d := &Document{Title: r.title, Named: r.title != "", Pages: r.pages, Links: r.links}
	d.Blocks = layOut(r.lines, r.outline)
	if d.Title == "" {
		d.Title = titleOf(r.lines)
	}
	switch {
	case r.over != "":
		d.Unread = Unread{TooLong, r.over}
	case r.broken > 0:
		d.Unread = Unread{Broken, fmt.Sprintf("%d of its %d pages are damaged", r.broken, r.pages)}
	case len(d.Blocks) == 0:
		d.Unread = Unread{Textless, "its pages have no text: pictures of text are not read"}
	}
	return d
}

// collapse makes one line of a text, of what a reader sees of it.
func collapse(text string) string {
	return strings.Join(strings.Fields(strings.Map(visible, text)), " ")
}

// visible leaves out what has no form: controls, and code points that are no characters.
func visible(r rune) rune {
	switch {
	case r == '\t', r == '\n', r == '\r', r == '\f', r == '\v', r == 0xa0:
		return ' '
	case r < ' ', r >= 0x7f && r < 0xa0, r == utf8.RuneError, r&0xfffe == 0xfffe, r == 0xad, r == 0xfeff, r == 0x200b:
		return -1
	}
	return r
}
