package charsets

import (
	"bytes"
	"strings"
)

const (
	prescanned = 1024 // bytes that the standard searches for a declaration
	headOnly   = 4096 // bytes that are searched as long as they belong to the head of a page
)

// byMeta returns the encoding that a page declares; empty if it declares none.
//
// In the first kilobyte this is the HTML standard's "prescan a byte stream to determine its encoding". Behind it,
// browsers go on: Chromium and WebKit tokenize on until something stands there that is not of a head, Firefox
// takes the meta element that its parser meets. So a page without a declaration in its first kilobyte is read
// again, without what only looks like markup within scripts and the like, up to the end of its head or 4 KB.
func byMeta(page []byte) string {
	p := prescan{b: page[:min(len(page), prescanned)]}
	name := p.meta()
	if name == "" && len(page) > prescanned {
		p = prescan{b: page[:min(len(page), headOnly)], head: true}
		name = p.meta()
	}
	return name
}

// prescan is a position in the bytes that are searched. Each of its methods stops at their end.
type prescan struct {
	b    []byte
	at   int
	head bool // stop where the head of a page ends, and pass over the text of scripts
}

// meta returns the encoding of the first meta element that declares one.
func (p *prescan) meta() string {
	for ; p.at < len(p.b); p.at++ {
		i := bytes.IndexByte(p.b[p.at:], '<')
		if i < 0 {
			return ""
		}
		p.at += i
		rest := p.b[p.at:]
		switch {
		case bytes.HasPrefix(rest, []byte("<!--")):
			p.pass(len("<!"), "-->") // whose hyphens may be those it began with
			p.at--
		case isMeta(rest):
			p.at += len("<meta")
			if name := p.declared(); name != "" {
				return name
			}
		case isTag(rest):
			start := p.at + 1
			p.at += p.until(isTagNameEnd)
			name := p.b[start:p.at]
			p.attributes()
			if p.head && !p.inHead(name) {
				return ""
			}
		case len(rest) > 1 && (rest[1] == '!' || rest[1] == '/' || rest[1] == '?'):
			p.at += p.until(func(c byte) bool { return c == '>' })
		}
	}
	return ""
}

// pass moves behind a delimiter that is looked for from n bytes on.
func (p *prescan) pass(n int, delimiter string) {
	i := bytes.Index(p.b[p.at+n:], []byte(delimiter))
	if i < 0 {
		p.at = len(p.b)
		return
	}
	p.at += n + i + len(delimiter)
}

// until returns how far away the first byte is that ends something, or else the end.
func (p *prescan) until(ends func(c byte) bool) (n int) {
	for p.at+n < len(p.b) && !ends(p.b[p.at+n]) {
		n++
	}
	return n
}

func isMeta(b []byte) bool {
	const meta = "<meta"
	return len(b) > len(meta) && equalFold(b[:len(meta)], meta) && (isSpace(b[len(meta)]) || b[len(meta)] == '/')
}

// isTag reports whether a tag, of a beginning or an end, begins here.
func isTag(b []byte) bool {
	if len(b) > 1 && b[1] == '/' {
		b = b[1:]
	}
	return len(b) > 1 && isLetter(b[1])
}

func isTagNameEnd(c byte) bool { return isSpace(c) || c == '>' }
func isSpace(c byte) bool      { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r' }
func isLetter(c byte) bool     { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func equalFold(b []byte, s string) bool { return len(b) == len(s) && strings.EqualFold(string(b), s) }

// inHead reports whether a tag belongs to a head, as Chromium has it, and moves to the end of the text of those
// elements that have nothing else. The name of an end tag begins with a slash.
func (p *prescan) inHead(name []byte) bool {
	switch n := strings.ToLower(strings.TrimSuffix(string(name), "/")); n {
	case "script", "style", "title":
		p.passText(n)
		return true
	case "html", "head", "meta", "link", "base", "object", "noscript",
		"/script", "/style", "/title", "/meta", "/link", "/base", "/object", "/noscript":
		return true
	}
	return false
}

// passText moves to before the end tag of an element that holds text alone.
func (p *prescan) passText(name string) {
	for {
		i := bytes.Index(p.b[p.at:], []byte("</"))
		if i < 0 {
			p.at = len(p.b)
			return
		}
		p.at += i + 1
		if rest := p.b[p.at+1:]; len(rest) >= len(name) && equalFold(rest[:len(name)], name) {
			p.at -= 2
			return
		}
	}
}

// attributes passes the attributes of a tag.
func (p *prescan) attributes() {
	for {
		if _, _, ok := p.attribute(); !ok {
			return
		}
	}
}

// declared returns the encoding that the meta element declares whose attributes come next.
func (p *prescan) declared() string {
	const (
		undecided = iota
		pragma    // what "content" says counts if there is http-equiv
		plain
	)
	var seen [][]byte
	need, gotPragma, name := undecided, false, ""
	for {
		key, value, ok := p.attribute()
		if !ok {
			break
		}
		if contains(seen, key) {
			continue
		}
		seen = append(seen, key)
		switch string(key) {
		case "http-equiv":
			gotPragma = gotPragma || string(value) == "content-type"
		case "content":
			if found := standardName(charsetIn(string(value))); found != "" && need == undecided {
				need, name = pragma, found
			}
		case "charset":
			need, name = plain, standardName(string(value))
		}
	}
	if p.at >= len(p.b) || need == undecided || need == pragma && !gotPragma {
		return "" // the end of what is searched may have cut the element
	}
	return readable(name)
}

func contains(keys [][]byte, key []byte) bool {
	for _, k := range keys {
		if bytes.Equal(k, key) {
			return true
		}
	}
	return false
}

// readable returns the encoding that a declaration means which could be read before it was known: not UTF-16.
func readable(name string) string {
	switch name {
	case "utf-16le", "utf-16be":
		return "utf-8"
	case "x-user-defined":
		return "windows-1252"
	}
	return name
}

// attribute is the standard's "get an attribute": names and values come in lower case.
func (p *prescan) attribute() (key, value []byte, ok bool) {
	p.at += p.until(func(c byte) bool { return !isSpace(c) && c != '/' })
	if p.at >= len(p.b) || p.b[p.at] == '>' {
		return nil, nil, false
	}
	start := p.at
	if p.b[p.at] == '=' { // is part of the name where that begins
		p.at++
	}
	p.at += p.until(func(c byte) bool { return isSpace(c) || c == '/' || c == '>' || c == '=' })
	key = lower(p.b[start:p.at])
	p.at += p.until(func(c byte) bool { return !isSpace(c) })
	if p.at >= len(p.b) || p.b[p.at] != '=' {
		return key, nil, true
	}
	p.at++
	p.at += p.until(func(c byte) bool { return !isSpace(c) })
	if p.at >= len(p.b) {
		return key, nil, true
	}
	start = p.at
	if quote := p.b[p.at]; quote == '"' || quote == '\'' {
		p.at++
		p.at += p.until(func(c byte) bool { return c == quote })
		value = p.b[start+1 : p.at]
		p.at = min(p.at+1, len(p.b))
	} else {
		p.at += p.until(func(c byte) bool { return isSpace(c) || c == '>' })
		value = p.b[start:p.at]
	}
	return key, lower(value), true
}

// lower returns a copy with the letters of ASCII in lower case, and no others, some of which turn into ASCII.
func lower(b []byte) []byte {
	b = bytes.Clone(b)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return b
}

// charsetIn is the standard's "extracting a character encoding from a meta element": the label in an attribute
// such as "text/html; charset=x", which is in lower case.
func charsetIn(content string) string {
	const word = "charset"
	for {
		i := strings.Index(content, word)
		if i < 0 {
			return ""
		}
		content = strings.TrimLeft(content[i+len(word):], "\t\n\f\r ")
		if strings.HasPrefix(content, "=") {
			break
		}
	}
	content = strings.TrimLeft(content[1:], "\t\n\f\r ")
	if content == "" {
		return ""
	}
	if quote := content[:1]; quote == `"` || quote == "'" {
		label, _, closed := strings.Cut(content[1:], quote)
		if !closed {
			return ""
		}
		return label
	}
	if end := strings.IndexAny(content, "\t\n\f\r ;"); end >= 0 {
		content = content[:end]
	}
	return content
}

// byXMLDeclaration is the standard's "get an XML encoding". Where two bytes make a letter, the declaration itself
// tells.
func byXMLDeclaration(body []byte) string {
	rest, ok := bytes.CutPrefix(body[:min(len(body), prescanned)], []byte("<?xml"))
	if !ok {
		return ""
	}
	end := bytes.IndexByte(rest, '>')
	if end < 0 {
		return ""
	}
	_, rest, ok = bytes.Cut(rest[:end], []byte("encoding"))
	rest = trimControls(rest)
	if !ok || len(rest) == 0 || rest[0] != '=' {
		return ""
	}
	rest = trimControls(rest[1:])
	if len(rest) == 0 || rest[0] != '"' && rest[0] != '\'' {
		return ""
	}
	label, _, closed := bytes.Cut(rest[1:], rest[:1])
	if !closed || bytes.ContainsFunc(label, func(r rune) bool { return r <= ' ' }) {
		return ""
	}
	name := standardName(string(label))
	if strings.HasPrefix(name, "utf-16") {
		return "utf-8"
	}
	return name
}

// trimControls takes off leading white space, and what the standard takes for that in XML declarations.
func trimControls(b []byte) []byte {
	for len(b) > 0 && b[0] <= ' ' {
		b = b[1:]
	}
	return b
}
