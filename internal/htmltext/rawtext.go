package htmltext

import (
	"bytes"

	"github.com/webrace/webrace"
)

const cdataOpen = "[CDATA["

// after returns the place after the next c from i on, or the end.
func after(src []byte, i int, c byte) int {
	if n := bytes.IndexByte(src[i:], c); n >= 0 {
		return i + n + 1
	}
	return len(src)
}

// commentEnd returns the place after the comment whose "<!--" ends at i. Besides "-->" and "--!>", a
// ">" or "->" right at the beginning closes it.
func commentEnd(src []byte, i int) int {
	rest := src[i:]
	if bytes.HasPrefix(rest, []byte(">")) {
		return i + 1
	}
	if bytes.HasPrefix(rest, []byte("->")) {
		return i + 2
	}
	for {
		n := bytes.Index(src[i:], []byte("--"))
		if n < 0 {
			return len(src)
		}
		for i += n; i < len(src) && src[i] == '-'; i++ {
		}
		switch {
		case bytes.HasPrefix(src[i:], []byte(">")):
			return i + 1
		case bytes.HasPrefix(src[i:], []byte("!>")):
			return i + 2
		}
	}
}

// cdataEnd returns where the content of the CDATA section that starts at i ends, and the place after it.
func cdataEnd(src []byte, i int) (end, next int) {
	if n := bytes.Index(src[i:], []byte("]]>")); n >= 0 {
		return i + n, i + n + len("]]>")
	}
	return len(src), len(src)
}

// rawText consumes the content of an element of raw text, up to its end tag.
func (s *Scanner) rawText(el *element) {
	start := s.pos
	switch el.raw {
	case rawRest:
		s.pos = len(s.src)
	case rawScript:
		s.pos = scriptEnd(s.src, start)
	default:
		s.pos = endTagOf(el.name, s.src, start)
	}
	content := s.src[start:s.pos]
	switch {
	case el.id == elemTitle:
		s.title(content)
	case el.raw == rawDecoded:
		s.decoded(content)
	case el.raw == rawShown || el.raw == rawRest:
		s.literal(content)
	}
}

// title makes the content of a title element a block of its own.
func (s *Scanner) title(content []byte) {
	if s.hidden() {
		return
	}
	s.endBlock()
	field := s.field
	s.field = webrace.FieldTitle
	s.decoded(content)
	s.endBlock()
	s.field = field
	if s.titled {
		return
	}
	s.titled = true
	if n := len(s.Text.Blocks); n > 0 && s.Text.Blocks[n-1].Field == webrace.FieldTitle {
		start := len(s.scratch)
		s.scratch = appendCollapsed(s.scratch, s.Text.Slice(s.Text.Blocks[n-1]))
		s.Title = s.scratch[start:len(s.scratch):len(s.scratch)]
	}
}

func appendCollapsed(dst, b []byte) []byte {
	for i, c := range b {
		if !isSpace(c) {
			dst = append(dst, c)
		} else if i == 0 || !isSpace(b[i-1]) {
			dst = append(dst, ' ')
		}
	}
	return dst
}

// endTagOf returns where the end tag of the named element begins, from i on; the end if it never does.
func endTagOf(name string, src []byte, i int) int {
	for {
		n := bytes.Index(src[i:], []byte("</"))
		if n < 0 {
			return len(src)
		}
		i += n
		if isTag(name, src[i+len("</"):]) {
			return i
		}
		i += len("</")
	}
}

// isTag reports whether b begins with the name, in any case, and something that ends a name.
func isTag(name string, b []byte) bool {
	if len(b) <= len(name) || !endsName[b[len(name)]] {
		return false
	}
	for i := range len(name) {
		if lower[b[i]] != name[i] {
			return false
		}
	}
	return true
}

// scriptEnd returns where the end tag of the script whose content starts at i begins. Within "<!--" and
// "-->" a nested "<script" hides one "</script" (section 13.2.5.15 and following).
func scriptEnd(src []byte, i int) int {
	const name = "script"
	escaped, nested := false, false
	for i < len(src) {
		c := src[i]
		rest := src[i+1:]
		switch {
		case c == '-' && escaped && bytes.HasPrefix(rest, []byte("->")):
			escaped, nested = false, false
			i += len("-->")
			continue
		case c != '<':
		case !escaped && bytes.HasPrefix(rest, []byte("!--")):
			escaped = true
			i += len("<!") // its dashes may be those of "-->"
			continue
		case len(rest) > 0 && rest[0] == '/' && isTag(name, rest[1:]):
			if !nested {
				return i
			}
			nested = false
		case escaped && !nested && isTag(name, rest):
			nested = true
		}
		i++
		if escaped {
			continue
		}
		n := bytes.IndexByte(src[i:], '<')
		if n < 0 {
			break
		}
		i += n
	}
	return len(src)
}
