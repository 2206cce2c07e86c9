package jsonld

import "strings"

// passOver passes over something between values that is no JSON, and reports whether there was any.
func (r *reader) passOver() bool {
	what, size := foreign(r.body[r.at:])
	if size == 0 {
		return false
	}
	r.note(int32(r.at), readAs, what+" is passed over", "")
	r.at += size
	return true
}

// foreign returns what a text begins with that pages have between the values of JSON, and how long it is; zero for
// nothing. Of what keeps a script from readers of HTML or XML that know none, only the marks are passed over.
func foreign(text string) (what string, size int) {
	const open, end = "<!--", "-->"
	switch {
	case strings.HasPrefix(text, "//"):
		if size = strings.IndexAny(text, "\r\n"); size < 0 {
			size = len(text)
		}
		return "a comment", size
	case strings.HasPrefix(text, "/*"):
		if size = strings.Index(text[len("/*"):], "*/"); size >= 0 {
			return "a comment", size + len("/**/")
		}
	case strings.HasPrefix(text, open):
		if inside := strings.TrimLeft(text[len(open):], " \t\r\n"); inside != "" && (inside[0] == '{' || inside[0] == '[') {
			return "the mark of a comment", len(open)
		}
		if size = strings.Index(text, end); size >= 0 {
			return "a comment", size + len(end)
		}
	case strings.HasPrefix(text, end):
		return "the mark of a comment", len(end)
	case strings.HasPrefix(text, "<![CDATA["):
		return "the mark of a section of text", len("<![CDATA[")
	case strings.HasPrefix(text, "]]>"):
		return "the mark of a section of text", len("]]>")
	case text != "" && text[0] < ' ':
		return "a control character", 1
	}
	return "", 0
}

// endAfterComma reports whether an array or object ends where another value should come.
func (r *reader) endAfterComma(c byte) bool {
	at := int32(r.at)
	if !r.lenient || !r.end(c) {
		return false
	}
	r.note(at, readAs, "a comma behind the last value is passed over", "")
	return true
}

// hint returns that the options can have what is where the reader is passed over.
func (r *reader) hint() string {
	what, size := foreign(r.body[r.at:])
	if before := strings.TrimRight(r.body[:r.at], " \t\r\n"); size == 0 && strings.HasSuffix(before, ",") &&
		r.at < len(r.body) && strings.IndexByte("]}", r.body[r.at]) >= 0 {
		what = "a comma behind the last value"
	}
	if what == "" || r.lenient {
		return ""
	}
	return " (" + what + ", which the option lenient allows)"
}
