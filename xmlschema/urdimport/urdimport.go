// Package urdimport reads what people ask for in files: URDs as XML, and what they watch with other programs, of
// which it makes URDs: lists of URLs, the subscriptions of feed readers (OPML), and the watches of changedetection.io.
//
// Reading is pure, stores nothing, and is bounded by the limits below. It returns the file entry by entry: what is
// taken over, what is not, and why. What an entry asks for and a URD cannot express is lost, and named; an entry that
// makes no valid URD has problems, and the others are read nevertheless. What is probably not meant of an entry of
// another program is said once, at the first that it is true of. Values that may be secret, such as headers and
// addresses of notifications, are in no message.
package urdimport

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/charsets"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/xmlschema"
)

// The formats of files.
const (
	XML             = "xml" // our own
	URLs            = "urls"
	OPML            = "opml"
	ChangeDetection = "changedetection"
)

const (
	maxBytes   = 64 << 20  // of a file of another program
	maxEntries = 1_000_000 // in a file
	maxDepth   = 64        // of what is nested in a file of another program
)

// Options determine how a file is read.
type Options struct {
	Name     string // what the file is called, for problems
	Format   string // one of the formats; empty: as [Detect] takes it
	Most     int    // a file with more entries is not read; 0: a million
	Defaults Defaults

	// Check looks at each URD, for what only the caller knows: a fault refuses the entry, unless it is a warning. It
	// may fill in what the URD leaves open. Keywords of other programs are tried by it one by one, in a URD that has
	// the one alone, and are lost if it finds fault with the keywords. Nil finds nothing.
	Check func(*xmlschema.URD) []xmlschema.Fault
}

// Defaults are what a URD has where an entry gives nothing. Of XML it is the owner alone, for each URD there says the
// rest itself.
type Defaults struct {
	Owner    string
	Timing   time.Duration
	At       string // instead of Timing; empty for none
	Depth    int    // levels of pages
	Feeds    int    // levels of feeds, of which the entries are the second
	Keywords []xmlschema.Keyword
}

// Result is what a file gave.
type Result struct {
	Format  string  // that it was read as
	Entries []Entry // in the order of their places; those of changedetection.io in that of their ids
}

// URDs returns what is taken over.
func (r *Result) URDs() (all []*xmlschema.URD) {
	for _, e := range r.Entries {
		if e.URD != nil {
			all = append(all, e.URD)
		}
	}
	return all
}

// Problems returns why entries are not taken over.
func (r *Result) Problems() (all xmlschema.Problems) {
	for _, e := range r.Entries {
		all = append(all, e.Problems...)
	}
	return all
}

// Entry is one of what a file lists.
type Entry struct {
	Line, Column int            // where it begins, from 1; 0 in a JSON document
	Path         string         // where it is in a JSON or XML document; empty in others
	URI          string         // what it asks for, as the file has it; empty if that cannot be read
	URD          *xmlschema.URD // what is taken over, which is valid; nil if nothing is

	Problems xmlschema.Problems // why nothing is taken over
	Lost     []string           // what the entry specifies and is not taken over, by the names that it has there
	Warnings xmlschema.Problems // what is valid, and probably not meant
}

// Place gives where the entry is, as line:column or as a path.
func (e *Entry) Place() string {
	if e.Line == 0 {
		return e.Path
	}
	return fmt.Sprintf("%d:%d", e.Line, e.Column)
}

// Detect returns the format of a file that begins like this.
func Detect(head []byte) string {
	head = bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")))
	switch {
	case len(head) == 0:
		return URLs
	case head[0] == '{', head[0] == '[':
		return ChangeDetection
	case head[0] == '<' && bytes.Contains(bytes.ToLower(head), []byte("<opml")):
		return OPML
	case head[0] == '<', !utf8.Valid(head[:min(len(head), 4)]): // UTF-16
		return XML
	}
	return URLs
}

// DetectBytes is how many bytes of a file [Detect] is shown.
const DetectBytes = 4096

// Read reads a file. The error tells why it cannot be read at all; of a document of XML that is not well-formed it is
// [xmlschema.Problems].
func Read(in io.Reader, o Options) (*Result, error) {
	if o.Format == "" {
		buffer := bufio.NewReaderSize(in, DetectBytes)
		head, _ := buffer.Peek(DetectBytes) // an error is met again
		o.Format, in = Detect(head), buffer
	}
	if o.Most == 0 {
		o.Most = maxEntries
	}
	r := &reader{Result: &Result{Format: o.Format}, options: o, advised: make(map[string]bool)}
	read := r.foreign
	if o.Format == XML {
		read = r.xml
	}
	if err := read(in); err != nil {
		return nil, err
	}
	return r.Result, nil
}

// reader is the work on one file.
type reader struct {
	*Result
	options Options
	advised map[string]bool // what was said that is probably not meant
}

// foreign reads a file of another program.
func (r *reader) foreign(in io.Reader) error {
	read := map[string]func(*reader, []byte) error{URLs: (*reader).urls, OPML: (*reader).opml, ChangeDetection: (*reader).changeDetection}[r.Format]
	if read == nil {
		return fmt.Errorf("format %q is not %s, %s, %s or %s", r.Format, XML, URLs, OPML, ChangeDetection)
	}
	content, err := io.ReadAll(io.LimitReader(in, maxBytes+1))
	if err != nil {
		return err
	}
	if len(content) > maxBytes {
		return fmt.Errorf("the file has more than %d MiB", maxBytes>>20)
	}
	contentType := "text/plain; charset=utf-8"
	if r.Format == OPML {
		contentType = "text/xml"
	}
	if content, _, err = charsets.ToUTF8(content, contentType); err != nil {
		return err
	}
	if err := read(r, content); err != nil {
		return err
	}
	if len(r.Entries) == 0 {
		return errors.New(nothing[r.Format])
	}
	return nil
}

// nothing tells of a file of each format that there is nothing in it to import, and how that would look.
var nothing = map[string]string{
	URLs:            "there is no URL in it: each stands on a line of its own, https://example.org/news",
	OPML:            `there is no subscription in it: a feed is <outline xmlUrl="…"/>, a page <outline htmlUrl="…"/>`,
	ChangeDetection: `there is no watch in it: they are in "watching", by their ids`,
}

// urd begins the request that an entry makes.
func (r *reader) urd(url string) *xmlschema.URD {
	d := r.options.Defaults
	u := xmlschema.NewURD(d.Owner, url)
	u.Timing, u.At, u.Depth = d.Timing, d.At, d.Depth
	return u
}

// add takes a request over if it is valid, for the entry that makes it. It may have keywords of its own.
func (r *reader) add(e Entry, u *xmlschema.URD, own []xmlschema.Keyword) error {
	if keywords := append(own, r.options.Defaults.Keywords...); len(keywords) > 0 {
		u.Keywords = xmlschema.NewKeywords(keywords...)
	}
	e.URI = u.URI
	r.judge(&e, u)
	if len(e.Problems) > 0 {
		e.Lost, e.Warnings = nil, nil // nothing at all is taken over
		return r.enter(e)
	}
	e.URD = u
	for _, advice := range u.Advice() {
		if !r.advised[advice] {
			r.advised[advice] = true
			e.Warnings = append(e.Warnings, r.problem(e, xmlschema.Fault{Message: advice, Warning: true}))
		}
	}
	return r.enter(e)
}

// enter adds an entry to those of the file.
func (r *reader) enter(e Entry) error {
	if len(r.Entries) == r.options.Most {
		return fmt.Errorf("the file has more than %d entries", r.options.Most)
	}
	r.Entries = append(r.Entries, e)
	return nil
}

// judge finds why a request cannot be stored, and what of it is probably not meant.
func (r *reader) judge(e *Entry, u *xmlschema.URD) {
	if err := u.Validate(); err != nil {
		e.Problems = append(e.Problems, r.problem(*e, xmlschema.Fault{Message: strings.ReplaceAll(err.Error(), "\n", "; ")}))
		return
	}
	if _, watches := u.Prefix(); !watches {
		if _, err := urlnorm.Parse(u.URI); err != nil {
			e.Problems = append(e.Problems, r.problem(*e, xmlschema.Fault{Message: fmt.Sprintf("%.200q: %v", u.URI, err)}))
			return
		}
	}
	for _, f := range r.check(u) {
		if f.Warning {
			e.Warnings = append(e.Warnings, r.problem(*e, f))
		} else {
			e.Problems = append(e.Problems, r.problem(*e, f))
		}
	}
}

// problem is a fault of an entry, which has no place within it.
func (r *reader) problem(e Entry, f xmlschema.Fault) xmlschema.Problem {
	return xmlschema.Problem{File: r.options.Name, Line: e.Line, Column: e.Column, Path: e.Path, Message: f.Message, Hint: f.Hint, Warning: f.Warning}
}

func (r *reader) check(u *xmlschema.URD) []xmlschema.Fault {
	if r.options.Check == nil {
		return nil
	}
	return r.options.Check(u)
}
