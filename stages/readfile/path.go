package readfile

import (
	"slices"
	"strings"
	"unicode"
)

// path selects elements by their names, and those of the elements around them.
type path struct {
	names []string // * is any
	whole bool     // from the root on
}

// pathOf reads a path, and reports whether it is one: names, with a slash between them, and none, one or two before.
func pathOf(text string) (_ path, ok bool) {
	inner, slash := strings.CutPrefix(text, "/")
	names, another := strings.CutPrefix(inner, "/")
	p := path{strings.Split(names, "/"), slash && !another}
	return p, !slices.ContainsFunc(p.names, func(name string) bool { return name != "*" && !isName(name) })
}

// isName reports whether it is a name of XML without a prefix.
func isName(text string) bool {
	for i, r := range text {
		inside := i > 0 && (unicode.IsNumber(r) || r == '.' || r == '-')
		if !inside && !unicode.IsLetter(r) && r != '_' {
			return false
		}
	}
	return text != ""
}

func (p path) selects(open []string) bool {
	above := len(open) - len(p.names)
	if above < 0 || p.whole && above > 0 {
		return false
	}
	for i, name := range p.names {
		if name != "*" && name != open[above+i] {
			return false
		}
	}
	return true
}
