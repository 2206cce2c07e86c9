// Package urdimport reads what people watch with other programs, and makes URDs of it: lists of URLs, the
// subscriptions of feed readers (OPML), and the watches of changedetection.io.
//
// Reading is pure, and bounded by the limits below. What an entry asks for and a URD cannot express is a
// warning; an entry that makes no valid URD is a problem, with its place, and the others are read
// nevertheless. What is probably not meant of an entry is said once, at the first that it is true of. Values that may
// be secret, such as headers and addresses of notifications, are in no message.
package urdimport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/charsets"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/xmlschema"
)

// The formats of files.
const (
	XML             = "xml" // our own, which package xmlschema reads
	URLs            = "urls"
	OPML            = "opml"
	ChangeDetection = "changedetection"
)

const (
	maxBytes   = 64 << 20  // of a file
	maxEntries = 1_000_000 // in a file
	maxDepth   = 64        // of what is nested in it
)

// Defaults are what a URD has where an entry gives nothing.
type Defaults struct {
	Owner    string
	Timing   time.Duration
	At       string // instead of Timing; empty for none
	Depth    int    // levels of pages
	Feeds    int    // levels of feeds, of which the entries are the second
	Keywords []xmlschema.Keyword
}

// Note is something about an entry: where it is, and what is the matter.
type Note struct {
	Line, Column int    // from 1; 0 where the place is a path
	Path         string // in a JSON document
	Message      string
}

// String gives the note as line:column: message, or path: message.
func (n Note) String() string {
	if n.Path != "" {
		return n.Path + ": " + n.Message
	}
	return fmt.Sprintf("%d:%d: %s", n.Line, n.Column, n.Message)
}

// Result is what a file gave.
type Result struct {
	URDs     []*xmlschema.URD // valid ones
	Problems []Note           // entries that made no URD
	Warnings []Note           // what was not taken over of entries that did, or is probably not meant
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

// Read reads a file of one of the formats other than [XML]. The error tells why it cannot be read at all.
func Read(in io.Reader, format string, defaults Defaults) (*Result, error) {
	read := map[string]func(*reader, []byte) error{URLs: (*reader).urls, OPML: (*reader).opml, ChangeDetection: (*reader).changeDetection}[format]
	if read == nil {
		return nil, fmt.Errorf("format %q is not %s, %s or %s", format, URLs, OPML, ChangeDetection)
	}
	content, err := io.ReadAll(io.LimitReader(in, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxBytes {
		return nil, fmt.Errorf("the file has more than %d MiB", maxBytes>>20)
	}
	contentType := "text/plain; charset=utf-8"
	if format == OPML {
		contentType = "text/xml"
	}
	if content, _, err = charsets.ToUTF8(content, contentType); err != nil {
		return nil, err
	}
	r := &reader{defaults: defaults, Result: &Result{}, advised: make(map[string]bool)}
	if err := read(r, content); err != nil {
		return nil, err
	}
	if len(r.URDs)+len(r.Problems) == 0 {
		return nil, errors.New(nothing[format])
	}
	return r.Result, nil
}

// nothing tells of a file of each format that there is nothing in it to import, and how that would look.
var nothing = map[string]string{
	URLs:            "there is no URL in it: each stands on a line of its own, https://example.org/news",
	OPML:            `there is no subscription in it: a feed is <outline xmlUrl="…"/>, a page <outline htmlUrl="…"/>`,
	ChangeDetection: `there is no watch in it: they are in "watching", by their ids`,
}

// reader is the work on one file.
type reader struct {
	*Result
	defaults Defaults
	entries  int
	advised  map[string]bool // what was said that is probably not meant
}

var errEntries = fmt.Errorf("the file has more than %d entries", maxEntries)

// urd begins the request that an entry makes.
func (r *reader) urd(url string) *xmlschema.URD {
	u := xmlschema.NewURD(r.defaults.Owner, url)
	u.Timing, u.At, u.Depth = r.defaults.Timing, r.defaults.At, r.defaults.Depth
	return u
}

// add takes a request over if it is valid. It may have keywords of its own.
func (r *reader) add(u *xmlschema.URD, own []xmlschema.Keyword, at Note) error {
	if r.entries++; r.entries > maxEntries {
		return errEntries
	}
	if keywords := append(own, r.defaults.Keywords...); len(keywords) > 0 {
		u.Keywords = xmlschema.NewKeywords(keywords...)
	}
	if at.Message = fault(u); at.Message != "" {
		r.Problems = append(r.Problems, at)
		return nil
	}
	r.URDs = append(r.URDs, u)
	for _, advice := range u.Advice() {
		if !r.advised[advice] {
			r.advised[advice] = true
			r.warn(at, "%s", advice)
		}
	}
	return nil
}

// fault returns why a request cannot be stored; nothing when it can.
func fault(u *xmlschema.URD) string {
	if err := u.Validate(); err != nil {
		return strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	if _, watches := u.Prefix(); !watches {
		if _, err := urlnorm.Parse(u.URI); err != nil {
			return fmt.Sprintf("%.200q: %v", u.URI, err)
		}
	}
	if _, err := cli.CheckInterest(u); err != nil {
		return err.Error()
	}
	return ""
}

// urls reads a list: a URL a line, perhaps with keywords behind it, WORD or WORD:WEIGHT between commas.
// Empty lines and those that begin with # are passed over.
func (r *reader) urls(content []byte) error {
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(string(content), "\ufeff")) {
		number++
		text := strings.TrimSpace(line)
		if text == "" || text[0] == '#' {
			continue
		}
		column := utf8.RuneCountInString(line[:strings.Index(line, text)]) + 1
		url, rest := text, ""
		if i := strings.IndexAny(text, " \t"); i >= 0 {
			url, rest = text[:i], text[i:]
		}
		if err := r.add(r.urd(url), listed(rest), Note{Line: number, Column: column}); err != nil {
			return err
		}
	}
	return nil
}

// listed reads keywords between commas.
func listed(text string) (keywords []xmlschema.Keyword) {
	for part := range strings.SplitSeq(text, ",") {
		k := xmlschema.Keyword{Key: strings.TrimSpace(part)}
		if i := strings.LastIndexByte(k.Key, ':'); i >= 0 {
			if weight, err := strconv.Atoi(k.Key[i+1:]); err == nil && weight > 0 {
				k.Key, k.Weight = k.Key[:i], weight
			}
		}
		if k.Key != "" {
			keywords = append(keywords, k)
		}
	}
	return keywords
}
