package scope

import (
	"fmt"
	"strings"
)

// MediaTypes determines which media types are taken: patterns in order, of which the first that matches
// decides. One that begins with ! leaves out what it matches. What none matches is taken if every pattern
// leaves something out, and is not if one of them names what to take. The zero value takes everything.
type MediaTypes struct {
	patterns []mediaPattern
	rest     bool // there is a pattern that names what to take
}

type mediaPattern struct {
	text         string
	out          bool
	before, past string // of the *, if there is one
	wild         bool
}

// ParseMediaTypes reads patterns as text/html, text/*, */*, *+xml and !image/*.
func ParseMediaTypes(list []string) (MediaTypes, error) {
	var m MediaTypes
	for _, text := range list {
		p := mediaPattern{text: text}
		pattern, out := strings.CutPrefix(strings.ToLower(strings.TrimSpace(text)), "!")
		p.out = out
		if pattern == "*" {
			pattern = "*/*"
		}
		main, sub, both := strings.Cut(pattern, "/")
		switch {
		case strings.HasPrefix(pattern, "*+"):
			p.wild, p.past = true, pattern[1:]
		case pattern == "*/*":
			p.wild = true
		case both && sub == "*":
			p.wild, p.before = true, main+"/"
		default:
			p.before = pattern
		}
		if pattern == "" || strings.Contains(p.before+p.past, "*") || p.before != "" && (main == "" || !both || sub == "") || p.past == "+" || strings.ContainsAny(pattern, " ;,\t") {
			return m, fmt.Errorf("%q is no media type (as text/html, text/*, *+xml or !image/*)", text)
		}
		m.patterns = append(m.patterns, p)
		m.rest = m.rest || !out
	}
	return m, nil
}

// Take reports whether a media type, in lower case and without parameters, is taken, and which pattern
// decided, empty for none. A document without a type is taken: what it is will be seen.
func (m MediaTypes) Take(mediaType string) (taken bool, because string) {
	if mediaType == "" {
		return true, ""
	}
	for i := range m.patterns {
		if p := &m.patterns[i]; p.matches(mediaType) {
			return !p.out, p.text
		}
	}
	return !m.rest, ""
}

func (p *mediaPattern) matches(t string) bool {
	if !p.wild {
		return t == p.before
	}
	return strings.HasPrefix(t, p.before) && strings.HasSuffix(t, p.past)
}

// Extensions is a set of file name extensions in lower case.
type Extensions map[string]struct{}

// longestExtension is how many bytes an extension may have.
const longestExtension = 8

// ParseExtensions reads extensions, with a dot before them or without.
func ParseExtensions(list []string) (Extensions, error) {
	set := make(Extensions, len(list))
	for _, text := range list {
		e := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(text), "."))
		if e == "" || len(e) > longestExtension || strings.ContainsAny(e, "./?# *") {
			return nil, fmt.Errorf("%q is no extension (as png; at most %d bytes)", text, longestExtension)
		}
		set[e] = struct{}{}
	}
	return set, nil
}

// of returns the extension of the last segment of a path if it is in the set, as it is there.
func (set Extensions) of(path string) (extension string, ok bool) {
	if len(set) == 0 {
		return "", false
	}
	var lower [longestExtension]byte
	for i := len(path) - 1; i > 0 && len(path)-i <= longestExtension+1; i-- {
		switch c := path[i]; {
		case c == '/':
			return "", false
		case c == '.':
			if path[i-1] == '/' || i == len(path)-1 {
				return "", false
			}
			for j := range len(path) - i - 1 {
				lower[j] = lowered(path[i+1+j])
			}
			if _, ok = set[string(lower[:len(path)-i-1])]; ok {
				return path[i+1:], true
			}
			return "", false
		}
	}
	return "", false
}

func lowered(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
