package cluster

import (
	"fmt"
	"strings"
)

// statement is one that changes several tables. Of what there is nothing to change, the server need not think of it:
// to plan a statement takes more of it than to execute it.
type statement struct {
	parts []string
	args  []any
}

// add adds a part, in which each ? is one of the arguments.
func (s *statement) add(part string, args ...any) {
	var text strings.Builder
	for i, piece := range strings.Split(part, "?") {
		if i > 0 {
			s.args = append(s.args, args[i-1])
			fmt.Fprintf(&text, "$%d", len(s.args))
		}
		text.WriteString(piece)
	}
	s.parts = append(s.parts, text.String())
}

// text is the statement with all parts, of which none sees what another changes.
func (s *statement) text() string {
	last := len(s.parts) - 1
	if last == 0 {
		return s.parts[0]
	}
	var with []string
	for i, part := range s.parts[:last] {
		with = append(with, fmt.Sprintf("part%d AS (%s)", i, part))
	}
	return "WITH " + strings.Join(with, ", ") + " " + s.parts[last]
}
