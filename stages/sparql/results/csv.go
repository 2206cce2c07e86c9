package results

import (
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// csvForm writes SPARQL 1.1 Query Results CSV: texts without what they are of, by RFC 4180.
type csvForm struct{}

func (csvForm) name(string) string { return "" }

func (csvForm) head(b []byte, vars []string) []byte {
	for i, v := range vars {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendCSV(b, v)
	}
	return append(b, "\r\n"...)
}

func (csvForm) row(b []byte, _ []string, row []webrace.Term, _ bool) []byte {
	for i, t := range row {
		if i > 0 {
			b = append(b, ',')
		}
		if rdf.KindOf(t) == rdf.Blank {
			b = appendCSV(b, string(t))
		} else {
			b = appendCSV(b, rdf.Value(t))
		}
	}
	return append(b, "\r\n"...)
}

func appendCSV(b []byte, s string) []byte {
	if !strings.ContainsAny(s, "\",\r\n") {
		return append(b, s...)
	}
	b = append(b, '"')
	for i := range len(s) {
		if s[i] == '"' {
			b = append(b, '"')
		}
		b = append(b, s[i])
	}
	return append(b, '"')
}

func (csvForm) end(b []byte) []byte { return b }

func (csvForm) boolean([]byte, bool) []byte { return nil }
