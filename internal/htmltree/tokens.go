package htmltree

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltext"
)

// token is what a page is cut into.
type token uint8

const (
	noToken token = iota // the page has ended
	textToken
	commentToken // also what is taken for one
	docTypeToken
	startToken
	endToken
)

// tokens cuts a page into tokens by the rules of the HTML standard (section 13.2.5), as the tokenizer of x/net/html
// does, which copies each name and each value several times. Here they are parts of one text, that of the page, as far
// as they stand there as they are meant.
type tokens struct {
	src   []byte
	page  string // the same
	at    int
	isXML bool   // attributes are left to the reader, who reads them in raw
	dirty bool   // the page has NUL or CR
	cdata bool   // a section of CDATA is text here
	whole []byte // all of the page, while src ends where the content of noscript does; nil otherwise

	// Of the token that was read last:
	raw          string // as it is written
	text         string
	name         string // of a tag, in lower case
	attributes   []html.Attribute
	selfClosing  bool
	endsNoScript bool // it is what follows the content of noscript, mostly the end tag

	rawElement string // the element that has begun, if its content has no tags
	references htmltext.References
	decoded    []byte
	room       *Room
	free       []html.Attribute // of the room, for those of the tags to come
	keys       map[string]bool  // of a tag with many
}

// StartTag is a start tag of a page: its name in lower case, and where it begins and ends.
type StartTag struct {
	Name       string
	Start, End int
}

// StartTags yields the start tags of a page of HTML or XHTML, of which trees do not know where they stand.
func StartTags(page []byte, xhtml bool) iter.Seq[StartTag] {
	return func(yield func(StartTag) bool) {
		t := newTokens(page, new(Room))
		t.isXML, t.cdata = true, xhtml
		for {
			switch t.next() {
			case noToken:
				return
			case startToken:
				if xhtml && t.selfClosing {
					t.rawElement = ""
				}
				if !yield(StartTag{t.name, t.at - len(t.raw), t.at}) {
					return
				}
			}
		}
	}
}

func newTokens(page []byte, room *Room) *tokens {
	return &tokens{
		room: room, src: page[:len(page):len(page)], page: string(page), dirty: bytes.IndexByte(page, 0) >= 0 || bytes.IndexByte(page, '\r') >= 0,
	}
}

// next reads a token. What begins in noscript and does not end, ends with it: see [htmltext.NoScriptEnd].
func (t *tokens) next() token {
	t.endsNoScript = false
	if t.whole == nil {
		return t.read()
	}
	if t.at < len(t.src) {
		if kind := t.read(); kind != noToken {
			return kind
		}
	}
	t.src, t.whole, t.rawElement, t.endsNoScript = t.whole, nil, "", true
	return t.read()
}

// read reads a token of src.
func (t *tokens) read() token {
	start := t.at
	if name := t.rawElement; name != "" {
		t.rawElement = ""
		if t.at = htmltext.RawEnd(name, t.src, start); t.at > start {
			how := literal
			if name == "title" || name == "textarea" {
				how = inTitle
			}
			t.text = t.meant(t.src[start:t.at], how)
			return textToken
		}
	}
	t.at = t.markup(start)
	if t.at > start {
		t.text = t.meant(t.src[start:t.at], inText)
		return textToken
	}
	if t.at == len(t.src) {
		return noToken
	}
	switch c := t.src[start+1]; {
	case c == '!':
		return t.declaration()
	case c == '/':
		return t.endTag()
	case isLetter(c):
		return t.startTag()
	}
	return t.bogus()
}

// markup returns where the next tag, comment or declaration begins; the end of the page if there is none.
func (t *tokens) markup(i int) int {
	for ; ; i++ {
		n := bytes.IndexByte(t.src[i:], '<')
		if n < 0 {
			return len(t.src)
		}
		i += n
		rest := t.src[i+1:]
		switch {
		case len(rest) == 0, len(rest) == 1 && rest[0] == '/':
			return len(t.src)
		case isLetter(rest[0]), rest[0] == '/', rest[0] == '!', rest[0] == '?':
			return i
		}
	}
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

const (
	docType   = "<!doctype"
	cdataOpen = "<![CDATA["
)

// declaration reads what begins with "<!".
func (t *tokens) declaration() token {
	rest := t.src[t.at:]
	switch {
	case bytes.HasPrefix(rest, []byte("<!--")):
		t.at = htmltext.CommentEnd(t.src, t.at+len("<!--"))
		return commentToken
	case len(rest) >= len(docType) && strings.EqualFold(string(rest[:len(docType)]), docType):
		t.bogus()
		return docTypeToken
	case t.cdata && bytes.HasPrefix(rest, []byte(cdataOpen)):
		end := 0
		start := t.at + len(cdataOpen)
		end, t.at = htmltext.CDATAEnd(t.src, start)
		t.text = t.meant(t.src[start:end], literal)
		return textToken
	}
	return t.bogus()
}

// bogus reads up to the next '>' what is no tag and no comment.
func (t *tokens) bogus() token {
	if n := bytes.IndexByte(t.src[t.at:], '>'); n >= 0 {
		t.at += n + 1
	} else {
		t.at = len(t.src)
	}
	return commentToken
}

// endTag reads what begins with "</".
func (t *tokens) endTag() token {
	start := t.at
	if !isLetter(t.src[start+len("</")]) {
		return t.bogus()
	}
	end := t.tagName(start + len("</"))
	next, _ := htmltext.TagEnd(t.src, end)
	return t.tag(endToken, start, next)
}

// startTag reads a start tag.
func (t *tokens) startTag() token {
	start := t.at
	at := t.tagName(start + len("<"))
	t.attributes = nil
	if t.isXML {
		at, t.selfClosing = htmltext.TagEnd(t.src, at)
	} else {
		at = t.readAttributes(at)
	}
	if htmltext.IsRaw(t.name) {
		t.rawElement = t.name
	}
	kind := t.tag(startToken, start, at)
	if kind == startToken && t.name == "noscript" && t.whole == nil && !t.cdata {
		t.whole, t.src = t.src, t.src[:htmltext.NoScriptEnd(t.src, at)]
	}
	return kind
}

// tag is a tag from start to end. One that the page ends within is none.
func (t *tokens) tag(kind token, start, end int) token {
	if end < 0 {
		t.at = len(t.src)
		return noToken
	}
	t.at = end
	t.raw = t.page[start:end]
	return kind
}

// tagName reads the name of a tag that begins at i, and returns where it ends.
func (t *tokens) tagName(i int) (end int) {
	end = htmltext.NameEnd(t.src, i)
	t.name = t.lower(t.src[i:end])
	return end
}

const mostUsual = 8 // as many attributes as most tags have at most

// readAttributes reads the attributes of a tag from i on. Of one that is given twice the first counts.
func (t *tokens) readAttributes(i int) (next int) {
	if cap(t.free)-len(t.free) < mostUsual {
		t.free = t.room.someAttributes()
	}
	from := len(t.free)
	t.keys = nil
	for {
		name, value, next, selfClosing := htmltext.NextAttribute(t.src, i)
		if name == nil {
			t.attributes, t.selfClosing = t.free[from:len(t.free):len(t.free)], selfClosing
			return next
		}
		i = next
		if key := t.lower(name); !t.hasKey(t.free[from:], key) {
			t.free = append(t.free, html.Attribute{Key: key, Val: t.meant(value, inValue)})
		}
	}
}

// hasKey reports whether a key is among those of a tag. It is to be asked once for each.
func (t *tokens) hasKey(attributes []html.Attribute, key string) bool {
	if len(attributes) < mostUsual {
		return Value(attributes, key) != nil
	}
	if t.keys == nil {
		t.keys = make(map[string]bool)
		for _, a := range attributes {
			t.keys[a.Key] = true
		}
	}
	known := t.keys[key]
	t.keys[key] = true
	return known
}

// decoding determines what becomes of character references and NUL characters.
type decoding uint8

const (
	inText  decoding = iota // references are decoded, NUL is dropped
	inTitle                 // NUL is replaced
	inValue                 // the same, by the rule of attributes
	literal                 // references are none, NUL is replaced
)

// meant returns what a part of the page means.
func (t *tokens) meant(b []byte, how decoding) string {
	changed := false
	if t.dirty && bytes.IndexByte(b, '\r') >= 0 {
		b, changed = bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n")), true
	}
	if how != literal && bytes.IndexByte(b, '&') >= 0 {
		t.decoded = t.references.Append(t.decoded[:0], b, how == inValue)
		b, changed = t.decoded, true
	}
	if t.dirty && bytes.IndexByte(b, 0) >= 0 {
		instead := "\ufffd"
		if how == inText {
			instead = ""
		}
		return strings.ReplaceAll(string(b), "\x00", instead)
	}
	if changed {
		return string(b)
	}
	return t.part(b)
}

// lower returns a name in lower case.
func (t *tokens) lower(name []byte) string {
	if !slices.ContainsFunc(name, func(c byte) bool { return c >= 'A' && c <= 'Z' || c == 0 }) { // as mostly
		return t.part(name)
	}
	lowered := bytes.ReplaceAll(name, []byte{0}, []byte("\ufffd"))
	for i, c := range lowered {
		if c >= 'A' && c <= 'Z' {
			lowered[i] |= 0x20
		}
	}
	return string(lowered)
}

// part returns a part of src as the same part of the text.
func (t *tokens) part(b []byte) string {
	start := cap(t.src) - cap(b)
	return t.page[start : start+len(b)]
}
