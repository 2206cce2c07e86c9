package htmltext

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/webrace/webrace/internal/swar"
)

// attributes are the values that the scanner may need of one start tag, as written; nil when absent.
type attributes struct {
	href, src, action, rel, content, name, httpEquiv, lang, xmlLang, xlink []byte

	tell bool // there are others that may say that the element is not shown
}

// read reads the attributes of the tag from i on and returns where the tag ends, -1 if it does not,
// and whether it closes itself. Of an attribute that is given twice the first counts.
func (a *attributes) read(src []byte, i int) (next int, selfClosing bool) {
	*a = attributes{}
	for {
		if beginsClass(src, i) { // which is not needed
			if n := quoted(src[i+8:], '"'); n >= 0 {
				i += 8 + n + 1
				continue
			}
		}
		name, value, n, slash := nextAttribute(src, i)
		if name == nil {
			return n, slash
		}
		if p := a.named(name); p == nil {
			a.tell = a.tell || tells(name)
		} else if *p == nil {
			*p = value
		}
		i = n
	}
}

// named returns where the value of an attribute belongs, nil for one that is not needed.
func (a *attributes) named(name []byte) *[]byte {
	is := func(key string) bool { return equalFold(name, key) }
	switch len(name) { // which tells most from one another
	case len("src"):
		if is("src") {
			return &a.src
		} else if is("rel") {
			return &a.rel
		}
	case len("href"):
		switch {
		case is("href"):
			return &a.href
		case is("name"):
			return &a.name
		case is("lang"):
			return &a.lang
		}
	case len("action"):
		if is("action") {
			return &a.action
		}
	case len("content"):
		if is("content") {
			return &a.content
		}
	case len("xml:lang"):
		if is("xml:lang") {
			return &a.xmlLang
		}
	case len("http-equiv"):
		if is("http-equiv") {
			return &a.httpEquiv
		} else if is("xlink:href") {
			return &a.xlink
		}
	}
	return nil
}

// nextAttribute reads one attribute from i on. At the end of the tag the name is nil and next is where
// the tag ends, or -1 if the page ends first. A value, even an empty one, is never nil.
func nextAttribute(src []byte, i int) (name, value []byte, next int, selfClosing bool) {
	slash := false
	for ; i < len(src) && (isSpace(src[i]) || src[i] == '/'); i++ {
		slash = src[i] == '/'
	}
	if i >= len(src) {
		return nil, nil, -1, false
	}
	if src[i] == '>' {
		return nil, nil, i + 1, slash
	}
	start := i
	i++ // whatever it is: a '=' may begin a name
	for i < len(src) && !endsKey[src[i]] {
		i++
	}
	name = src[start:i]
	i = skipSpace(src, i)
	if i >= len(src) || src[i] != '=' {
		return name, name[:0], i, false
	}
	i = skipSpace(src, i+1)
	if i >= len(src) {
		return nil, nil, -1, false
	}
	if quote := src[i]; quote == '"' || quote == '\'' {
		n := quoted(src[i+1:], quote)
		if n < 0 {
			return nil, nil, -1, false
		}
		return name, src[i+1 : i+1+n], i + n + 2, false
	}
	start = i
	for i < len(src) && !endsValue[src[i]] {
		i++
	}
	return name, src[start:i], i, false
}

// skipAttributes is [attributes.read] for tags whose attributes do not matter, unless they tell that the element is not
// shown.
func skipAttributes(src []byte, i int) (next int, selfClosing, tell bool) {
	if i < len(src) && src[i] == '>' { // most tags have none
		return i + 1, false, false
	}
	return skipAny(src, i)
}

func skipAny(src []byte, i int) (next int, selfClosing, tell bool) {
	i, tell = skipQuoted(src, i)
	if i < len(src) && src[i] == '>' {
		return i + 1, false, tell
	}
	for {
		name, _, n, slash := nextAttribute(src, i)
		if name == nil {
			return n, slash, tell
		}
		tell = tell || tells(name)
		i = n
	}
}

// skipQuoted skips attributes that are written as most are: a space, a name of letters, an equals sign and
// a value in double quotes.
func skipQuoted(src []byte, i int) (next int, tell bool) {
	for i < len(src) && src[i] == ' ' {
		j := i + 1
		if beginsClass(src, i) {
			j += len("class")
		} else {
			for j < len(src) && isLetter(src[j]) {
				j++
			}
			if j == i+1 || j+1 >= len(src) || src[j] != '=' || src[j+1] != '"' {
				return i, tell
			}
			tell = tell || tells(src[i+1:j])
		}
		n := quoted(src[j+2:], '"')
		if n < 0 {
			return i, tell
		}
		i = j + 2 + n + 1
	}
	return i, tell
}

// beginsClass reports whether the commonest attribute is next.
func beginsClass(src []byte, i int) bool {
	return i+8 <= len(src) && binary.LittleEndian.Uint64(src[i:]) == class8
}

var class8 = binary.LittleEndian.Uint64([]byte(` class="`))

// quoted returns where the closing quotation mark is, -1 if there is none. Most values are too short for a search by
// the standard library to pay.
func quoted(b []byte, quote byte) int {
	const short = 32
	i, mark := 0, uint64(quote)*swar.Each
	for ; i < short && i+8 <= len(b); i += 8 {
		if at := swar.Zeroes(binary.LittleEndian.Uint64(b[i:]) ^ mark); at != 0 {
			return i + bits.TrailingZeros64(at)/8
		}
	}
	if n := bytes.IndexByte(b[i:], quote); n >= 0 {
		return i + n
	}
	return -1
}

func skipSpace(src []byte, i int) int {
	for i < len(src) && isSpace(src[i]) {
		i++
	}
	return i
}
