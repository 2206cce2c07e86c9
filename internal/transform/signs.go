package transform

import (
	"bytes"
	"strings"

	"github.com/webrace/webrace/internal/htmltext"
)

// signs are the syntaxes that a page may have something of, a bit each.
type signs uint8

const (
	signJSONLD signs = 1 << iota
	signMicrodata
	signRDFa
	signMeta
	signMicroformats
	signRole // which is RDFa only if it is asked for
)

// Syntaxes returns which syntaxes a page of HTML has signs of, by the names that problems have, in the order in which
// they are read: JSON-LD, Microdata, RDFa, meta (Dublin Core, and Open Graph that is written as a name), microformats.
// The text is in UTF-8, or in an encoding that has ASCII as it is. A sign may be in none of the page's elements.
func Syntaxes(page []byte) (names []string) {
	found := look(page, 0)
	for _, syntax := range []struct {
		sign signs
		name string
	}{
		{signJSONLD, "JSON-LD"}, {signMicrodata, "Microdata"}, {signRDFa, "RDFa"}, {signMeta, "meta"}, {signMicroformats, "microformats"},
	} {
		if found&syntax.sign != 0 {
			names = append(names, syntax.name)
		}
	}
	return names
}

const every = signJSONLD | signMicrodata | signRDFa | signMeta | signMicroformats | signRole

// look reads the attributes of a page's tags for signs of what its syntaxes begin with: a page without any needs no
// tree, and most have none. It may see a sign that is in none of the page's elements, and misses none that is. It ends
// with the first of those that are enough.
func look(page []byte, enough signs) signs {
	l := looker{page: page[:len(page):len(page)], text: string(page), enough: enough}
	l.look(0, false)
	return l.found
}

type looker struct {
	page   []byte
	text   string // the same
	enough signs
	found  signs
}

// look reads tags from a place on; within drawings and formulas, no element's content is raw, and there is CDATA.
func (l *looker) look(at int, foreign bool) {
	for drawn := foreign; at >= 0 && l.found&l.enough == 0; {
		n := bytes.IndexByte(l.page[at:], '<')
		if n < 0 || at+n+1 == len(l.page) {
			return
		}
		at += n + 1
		switch c := l.page[at]; {
		case isLetter(c):
			end := htmltext.NameEnd(l.page, at)
			var name [longestRaw]byte
			tag := string(name[:fold(name[:], l.page[at:end])])
			at = l.tag(end)
			switch {
			case at < 0:
			case !drawn && (tag == "svg" || tag == "math"):
				drawn = true // where it ends only a tree tells: what follows is read both ways
				l.look(at, true)
			case !foreign && htmltext.IsRaw(tag):
				at = htmltext.RawEnd(tag, l.page, at)
			case !foreign && tag == "noscript": // what is in it goes on no further
				page := l.page
				l.page = page[:htmltext.NoScriptEnd(page, at)]
				l.look(at, false)
				at, l.page = len(l.page), page
			}
		case c == '/' && at+1 < len(l.page) && isLetter(l.page[at+1]):
			at, _ = htmltext.TagEnd(l.page, htmltext.NameEnd(l.page, at+1))
		case c == '!' && bytes.HasPrefix(l.page[at:], []byte("!--")):
			at = htmltext.CommentEnd(l.page, at+len("!--"))
		case c == '!' && foreign && bytes.HasPrefix(l.page[at:], []byte("![CDATA[")):
			_, at = htmltext.CDATAEnd(l.page, at+len("![CDATA["))
		case c == '!', c == '?', c == '/':
			n := bytes.IndexByte(l.page[at:], '>')
			if n < 0 {
				return
			}
			at += n + 1
		}
	}
}

const longestRaw = len("plaintext")

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// fold writes a name in lower case, and returns its length; zero for one that does not fit.
func fold(to, name []byte) int {
	if len(name) > len(to) {
		return 0
	}
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		to[i] = c
	}
	return len(name)
}

// tag reads the attributes of a tag, and returns where it ends; -1 if it does not.
func (l *looker) tag(at int) int {
	for {
		name, value, next, _ := htmltext.NextAttribute(l.page, at)
		if name == nil {
			return next
		}
		var key [longestKey]byte
		start := cap(l.page) - cap(value)
		l.found |= signOf(string(key[:fold(key[:], name)]), l.text[start:start+len(value)])
		at = next
	}
}

const longestKey = len("itemscope")

// signOf returns what an attribute is a sign of, whose value may have character references.
func signOf(key, value string) signs {
	switch key {
	case "itemscope":
		return signMicrodata
	case "property", "typeof", "vocab":
		return signRDFa
	case "rel", "rev":
		found := signs(0)
		if contains(value, "schema.") || namesProperty(value) {
			found |= signMeta
		}
		if strings.Contains(value, ":") || namesTerm(value) {
			found |= signRDFa
		}
		if strings.Contains(value, "&") {
			found |= signMeta | signRDFa
		}
		return found
	case "role":
		return signRole
	case "type":
		if contains(value, "ld+json") || strings.Contains(value, "&") {
			return signJSONLD
		}
	case "name":
		if namesProperty(value) {
			return signMeta
		}
	case "class":
		if strings.Contains(value, "&") || namesRoot(value) {
			return signMicroformats
		}
	}
	return 0
}

// namesTerm reports whether a value has one of the terms that RDFa knows without a prefix.
func namesTerm(value string) bool {
	return contains(value, "license") || contains(value, "describedby") || contains(value, "role")
}

// contains reports whether a value contains a word in lower case, in whatever case.
func contains(value, word string) bool {
	return len(value) >= len(word) && strings.Contains(strings.ToLower(value), word)
}

// namesProperty reports whether a name has a prefix that elements meta need not declare. Other prefixes are declared by
// links.
func namesProperty(name string) bool {
	name = strings.TrimLeft(name, white)
	end := strings.IndexAny(name, ".:")
	if end < 0 {
		return strings.Contains(name, "&")
	}
	prefix := strings.ToLower(name[:end])
	return dublinCore[prefix] != "" || openGraph[prefix] != "" || prefix == "og" || strings.Contains(prefix, "&")
}

// namesRoot reports whether a class is that of an item of microformats.
func namesRoot(class string) bool {
	for word := range strings.FieldsSeq(class) {
		if isRoot(word) {
			return true
		}
	}
	return false
}
