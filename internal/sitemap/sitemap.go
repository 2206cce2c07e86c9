// Package sitemap reads what a site lists of itself for robots (sitemaps.org): sitemaps, indexes of sitemaps, and
// sitemaps in plain text. It keeps no tree, and no broken document is an error: what is listed before the break, or
// after it, is found; an address at whose end the document ends is none, since it may go on. On well-formed
// documents what is listed is what encoding/xml finds. Time is linear in the input, and nothing grows: no entity is
// expanded.
package sitemap

import (
	"bytes"
	"strings"
	"time"
	"unicode"

	"github.com/webrace/webrace/internal/xmltoken"
)

// Entry is one address that a sitemap lists. What it holds is valid until the reader goes on.
type Entry struct {
	URL        []byte    // as written, without white space around it
	Changed    time.Time // the last moment at which it may have changed, as the sitemap tells; zero if it does not
	Alternates []string  // the same page in other languages (xhtml:link), as written
}

// IsRoot reports whether an element of that name, as written, is the root of a sitemap.
func IsRoot(name []byte) bool {
	_, local := split(name)
	return equal(local, "urlset") || equal(local, "sitemapindex")
}

// head is how much of a document is looked at to find its root: comments and declarations come before it.
const head = 4 << 10

// IsXML reports, by how a document begins, whether it is a sitemap in XML. It may be cut off anywhere.
func IsXML(text []byte) bool {
	text = text[:min(len(text), head)]
	if text = trim(text); len(text) == 0 || text[0] != '<' {
		return false
	}
	if !bytes.Contains(text, []byte("urlset")) && !bytes.Contains(text, []byte("sitemapindex")) { // as of nearly all
		return false
	}
	r := xmltoken.NewReader(text)
	for {
		switch r.Next() {
		case xmltoken.None:
			return false
		case xmltoken.Start:
			return IsRoot(r.Name)
		}
	}
}

// IsList reports whether a plain text is a sitemap: a list of addresses of the web, one a line, and nothing
// else.
func IsList(text []byte) bool {
	found := false
	for line := range bytes.Lines(text) {
		if line = trim(line); len(line) == 0 {
			continue
		}
		if found = isAddress(line); !found {
			return false
		}
	}
	return found
}

func isAddress(line []byte) bool {
	for _, scheme := range []string{"http://", "https://"} {
		if len(line) > len(scheme) && equal(line[:len(scheme)], scheme) {
			return !bytes.ContainsAny(line, " \t<>\"")
		}
	}
	return false
}

// List calls f with each line of a sitemap in plain text, until it returns false.
func List(text []byte, f func(Entry) bool) {
	for line := range bytes.Lines(text) {
		if line = trim(line); len(line) > 0 && !f(Entry{URL: line}) {
			return
		}
	}
}

// XML calls f with each entry of a sitemap, or of an index of sitemaps, in UTF-8, until it returns false.
func XML(text []byte, f func(Entry) bool) {
	r := reader{tokens: xmltoken.NewReader(text), found: f}
	for r.next() {
	}
}

// reader is the work on one document. Text is collected from tag to tag, so that only that of elements
// without others within counts, as sitemaps have it.
type reader struct {
	tokens *xmltoken.Reader
	found  func(Entry) bool

	prefix  string // of the elements of sitemaps, which that of the root tells: image:loc is no loc
	rooted  bool
	element []byte // the innermost element, if no tag has come since it began
	text    []byte
	entry   Entry
}

// next reads a token, and reports whether to go on.
func (r *reader) next() bool {
	switch r.tokens.Next() {
	case xmltoken.Text:
		if r.element != nil {
			r.text = append(r.text, r.tokens.Text...)
		}
	case xmltoken.Start:
		return r.start()
	case xmltoken.End:
		return r.take() && (!r.isEntry(r.tokens.Name) || r.end())
	case xmltoken.None: // text that no tag has ended is cut off
		r.end()
		return false
	}
	return true
}

func (r *reader) start() bool {
	if !r.take() {
		return false
	}
	name := r.tokens.Name
	if !r.rooted {
		r.rooted = true
		prefix, _ := split(name)
		r.prefix = string(prefix)
	}
	if r.isEntry(name) && !r.end() {
		return false
	}
	if _, local := split(name); equal(local, "link") {
		r.alternate()
	}
	if !r.tokens.Empty {
		r.element = name
	}
	return true
}

// isEntry reports whether an element holds an entry.
func (r *reader) isEntry(name []byte) bool {
	return r.is(name, "url") || r.is(name, "sitemap")
}

// is reports whether an element is that one of sitemaps.
func (r *reader) is(name []byte, want string) bool {
	prefix, local := split(name)
	return string(prefix) == r.prefix && equal(local, want)
}

// take handles the text of an element that has ended, or has another within.
func (r *reader) take() bool {
	name, text := r.element, trim(r.text)
	r.element, r.text = nil, r.text[:0]
	if len(text) == 0 || name == nil {
		return true
	}
	_, local := split(name)
	switch {
	case r.is(name, "loc"):
		if len(r.entry.URL) > 0 && !r.end() { // two in one, or the end of the first is missing
			return false
		}
		r.entry.URL = bytes.Clone(text)
	case r.is(name, "lastmod"):
		r.entry.Changed = ParseTime(string(text))
	case equal(local, "publication_date") && r.entry.Changed.IsZero(): // of news, which have nothing else
		r.entry.Changed = ParseTime(string(text))
	}
	return true
}

// alternate notes the address of a page in another language.
func (r *reader) alternate() {
	var rel, href string
	for key, value := range r.tokens.Attributes() {
		switch strings.ToLower(string(key)) {
		case "rel":
			rel = string(value)
		case "href":
			href = string(value)
		}
	}
	if strings.EqualFold(rel, "alternate") && href != "" {
		r.entry.Alternates = append(r.entry.Alternates, href)
	}
}

// end ends an entry. One without an address lists nothing.
func (r *reader) end() bool {
	e := r.entry
	r.entry = Entry{}
	return len(e.URL) == 0 || r.found(e)
}

// split returns the prefix of a name, and what follows.
func split(name []byte) (prefix, local []byte) {
	if i := bytes.IndexByte(name, ':'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return nil, name
}

func equal(name []byte, want string) bool {
	return len(name) == len(want) && strings.EqualFold(string(name), want)
}

// trim takes off white space of any kind, such as that which word processors put around addresses, and the mark
// that some programs begin files with.
func trim(b []byte) []byte {
	return bytes.TrimFunc(b, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
}
