package sparql

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// SyntaxError tells where a query is no SPARQL 1.1, and what was expected there.
type SyntaxError struct {
	Line, Column int // from 1; columns count characters
	Says         string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("SPARQL: line %d, column %d: %s", e.Line, e.Column, e.Says)
}

// LimitError tells which of a query's limits it went beyond.
type LimitError struct {
	Limit string // what was limited, and to how much
}

func (e *LimitError) Error() string { return "SPARQL: the query ended at a limit: " + e.Limit }

// fail ends the reading of a query. Parse recovers it.
func (l *lexer) fail(at int, says string) {
	before := l.text[:min(at, len(l.text))]
	line := 1 + strings.Count(before, "\n")
	column := 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	panic(&SyntaxError{Line: line, Column: column, Says: says})
}
