// Package linkfield reads the header field Link (RFC 8288).
package linkfield

import "strings"

// First returns the target of the first link of a relation in a Link field, as it is written; of one that is declared
// to lead to that media type, if it is not empty. A link that is not the document's own, having an anchor, is passed
// over, and so is whatever follows a fault.
func First(field, relation, mediaType string) (target string, found bool) {
	l := linkField{field}
	for {
		target, ok := l.target()
		if !ok {
			return "", false
		}
		if l.parameters(relation, mediaType) {
			return target, true
		}
	}
}

// linkField is what is left of a Link field.
type linkField struct{ rest string }

const blank = " \t"

func (l *linkField) skip(what string) { l.rest = strings.TrimLeft(l.rest, what) }

// target takes the target that the next link begins with.
func (l *linkField) target() (target string, ok bool) {
	l.skip(blank + ",")
	if !strings.HasPrefix(l.rest, "<") {
		return "", false
	}
	target, l.rest, ok = strings.Cut(l.rest[1:], ">")
	return target, ok
}

// parameters takes the parameters of a link, and reports whether they give it that relation to the document, and that
// media type. The first of each name counts.
func (l *linkField) parameters(relation, mediaType string) bool {
	is, seen, elsewhere := false, false, false
	isType, typed := mediaType == "", false
	for l.skip(blank); strings.HasPrefix(l.rest, ";"); l.skip(blank) {
		l.rest = l.rest[1:]
		name, value := l.parameter()
		switch {
		case strings.EqualFold(name, "anchor"):
			elsewhere = true
		case strings.EqualFold(name, "rel") && !seen:
			seen, is = true, hasWord(value, relation)
		case strings.EqualFold(name, "type") && !typed:
			typed, isType = true, isType || strings.EqualFold(value, mediaType)
		}
	}
	return is && isType && !elsewhere
}

// parameter takes a name and, if it has one, its value: a token or a quoted string.
func (l *linkField) parameter() (name, value string) {
	name = l.until("=;,")
	if !strings.HasPrefix(l.rest, "=") {
		return name, ""
	}
	l.rest = l.rest[1:]
	l.skip(blank)
	if !strings.HasPrefix(l.rest, `"`) {
		return name, l.until(";,")
	}
	l.rest = l.rest[1:]
	return name, l.quoted()
}

// until takes what stands before any of the characters, without the blanks around it.
func (l *linkField) until(any string) string {
	end := strings.IndexAny(l.rest, any)
	if end < 0 {
		end = len(l.rest)
	}
	taken := strings.Trim(l.rest[:end], blank)
	l.rest = l.rest[end:]
	return taken
}

// quoted takes what is left of a quoted string, in which a backslash makes the next character an ordinary
// one. One that does not end goes on to the end of the field.
func (l *linkField) quoted() string {
	var b strings.Builder
	for i := 0; i < len(l.rest); i++ {
		switch c := l.rest[i]; {
		case c == '"':
			l.rest = l.rest[i+1:]
			return b.String()
		case c == '\\' && i+1 < len(l.rest):
			i++
			b.WriteByte(l.rest[i])
		default:
			b.WriteByte(c)
		}
	}
	l.rest = ""
	return b.String()
}

func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}
