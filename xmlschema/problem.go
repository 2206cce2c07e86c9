package xmlschema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one finding in a document.
type Problem struct {
	File         string // the name given with [Name]; may be empty
	Line, Column int    // from 1; columns count characters. 0 when the document was not read from text
	Path         string // of the element or attribute: /urds/urd[2]/depth/@level
	Message      string
	Hint         string // a name that may have been meant; empty for none
	Warning      bool   // the document is valid, but probably not what was meant
}

// String gives the problem as file:line:column: message (did you mean "hint"?).
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File + ":")
	}
	if p.Line > 0 {
		fmt.Fprintf(&b, "%d:%d:", p.Line, p.Column)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	if p.Warning {
		b.WriteString("warning: ")
	}
	b.WriteString(p.Message)
	if p.Hint != "" {
		fmt.Fprintf(&b, " (did you mean %q?)", p.Hint)
	}
	return b.String()
}

// Problems are the findings in one document, in the order of their places. As an error it holds no
// warnings and at least one problem.
type Problems []Problem

// Error gives one problem a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

func (ps Problems) sorted() Problems {
	ps = slices.Clone(ps)
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return ps
}
