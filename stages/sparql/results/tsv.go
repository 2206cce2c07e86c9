package results

import (
	"strconv"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// tsvForm writes SPARQL 1.1 Query Results TSV: terms as in queries. Canonical N-Triples are such, and have no
// tabulator.
type tsvForm struct{}

func (tsvForm) name(string) string { return "" }

func (tsvForm) head(b []byte, vars []string) []byte {
	for i, v := range vars {
		if i > 0 {
			b = append(b, '\t')
		}
		b = append(append(b, '?'), v...)
	}
	return append(b, '\n')
}

func (tsvForm) row(b []byte, _ []string, row []webrace.Term, _ bool) []byte {
	for i, t := range row {
		if i > 0 {
			b = append(b, '\t')
		}
		b = appendTSV(b, t)
	}
	return append(b, '\n')
}

// appendTSV appends a term: numbers without their datatype, where a reader knows it from how they are written.
func appendTSV(b []byte, t webrace.Term) []byte {
	if t != "" && t[0] == '"' && t[len(t)-1] == '>' {
		quoted, _, datatype := splitLiteral(t)
		if number := quoted[1 : len(quoted)-1]; datatype == numberType(number) {
			return append(b, number...)
		}
	}
	return append(b, t...)
}

// numberType returns the datatype of a number as queries write it; empty for what is none.
func numberType(s string) string {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	whole := digits(s)
	s = s[whole:]
	datatype, fraction := rdf.XSDInteger, 0
	if s != "" && s[0] == '.' {
		fraction = digits(s[1:])
		s = s[1+fraction:]
		if datatype = rdf.XSDDecimal; fraction == 0 && s == "" {
			return "" // 1. is two tokens
		}
	}
	if whole+fraction == 0 {
		return ""
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		n := digits(s)
		if datatype = rdf.XSDDouble; n == 0 {
			return ""
		}
		s = s[n:]
	}
	if s != "" {
		return ""
	}
	return datatype
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

func (tsvForm) end(b []byte) []byte { return b }

func (tsvForm) boolean(b []byte, value bool) []byte {
	return append(strconv.AppendBool(b, value), '\n')
}
