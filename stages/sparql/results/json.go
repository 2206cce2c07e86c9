package results

import (
	"fmt"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// jsonForm writes SPARQL 1.1 Query Results JSON Format. The escapes of canonical N-Triples are also those of JSON, so
// texts go through as they are.
type jsonForm struct{}

func (jsonForm) head(b []byte, vars []string) []byte {
	b = append(b, `{"head":{"vars":[`...)
	for i, v := range vars {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, rdf.NewString(v)...)
	}
	return append(b, "]},\"results\":{\"bindings\":["...)
}

func (jsonForm) name(variable string) string {
	return string(rdf.NewString(variable)) + ":{\"type\":\""
}

func (jsonForm) row(b []byte, names []string, row []webrace.Term, first bool) []byte {
	if !first {
		b = append(b, ',')
	}
	b = append(b, "\n{"...)
	bound := false
	for i, t := range row {
		if t == "" {
			continue
		}
		if bound {
			b = append(b, ',')
		}
		bound = true
		b = append(b, names[i]...)
		b = appendJSON(b, t)
	}
	return append(b, '}')
}

func appendJSON(b []byte, t webrace.Term) []byte {
	switch rdf.KindOf(t) {
	case rdf.IRI:
		b = append(b, `uri","value":"`...)
		b = append(b, t[1:len(t)-1]...)
		return append(b, `"}`...)
	case rdf.Blank:
		b = append(b, `bnode","value":"`...)
		b = append(b, t[2:]...)
		return append(b, `"}`...)
	}
	quoted, tag, datatype := splitLiteral(t)
	b = append(b, `literal","value":`...)
	b = append(b, quoted...)
	switch {
	case tag != "":
		b = append(b, `,"xml:lang":"`...)
		b = append(b, tag...)
		b = append(b, '"')
	case datatype != "":
		b = append(b, `,"datatype":"`...)
		b = append(b, datatype...)
		b = append(b, '"')
	}
	return append(b, '}')
}

func (jsonForm) end(b []byte) []byte { return append(b, "\n]}}\n"...) }

func (jsonForm) boolean(b []byte, value bool) []byte {
	return fmt.Appendf(b, "{\"head\":{},\"boolean\":%t}\n", value)
}
