package results

import (
	"slices"
	"strings"
	"unicode/utf8"

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

// csvReader reads records of RFC 4180, whose lines may end with a line feed alone. The package encoding/csv passes over
// empty lines, which are solutions here: of one variable that is unbound.
type csvReader struct {
	src []byte
	at  int
}

func readCSV(src []byte) (*Results, error) {
	r := csvReader{src: src}
	var results Results
	head, err := r.record()
	if err != nil {
		return nil, err
	}
	if len(head) > 1 || head[0] != "" {
		results.Vars = head
	}
	if err := checkVariables(src, results.Vars); err != nil {
		return nil, err
	}
	for r.at < len(src) {
		start := r.at
		fields, err := r.record()
		if err != nil {
			return nil, err
		}
		if len(results.Vars) == 0 && len(fields) == 1 && fields[0] == "" {
			fields = nil
		}
		if len(fields) != len(results.Vars) {
			return nil, wrongAt(src, start, "a solution has %d fields, but there are %d variables",
				len(fields), len(results.Vars))
		}
		row := make([]webrace.Term, len(fields))
		for i, s := range fields {
			row[i] = csvTerm(s)
		}
		results.Rows = append(results.Rows, row)
	}
	return &results, nil
}

// checkVariables reports a variable that is named twice in the first line.
func checkVariables(src []byte, vars []string) error {
	for i, v := range vars {
		if v == "" || slices.Contains(vars[:i], v) {
			return wrongAt(src, 0, "the variable %q has no name, or one that there was before", v)
		}
	}
	return nil
}

func csvTerm(s string) webrace.Term {
	switch {
	case s == "":
		return ""
	case strings.HasPrefix(s, "_:") && len(s) > 2 && rdf.ValidIRI(s):
		return webrace.Term(s)
	default:
		return rdf.NewString(s)
	}
}

// record reads a line's fields.
func (r *csvReader) record() ([]string, error) {
	var fields []string
	for {
		field, err := r.field()
		if err != nil {
			return nil, err
		}
		fields = append(fields, field)
		if r.at == len(r.src) {
			return fields, nil
		}
		c := r.src[r.at]
		r.at++
		switch {
		case c == ',':
		case c == '\n':
			return fields, nil
		case c == '\r' && r.at < len(r.src) && r.src[r.at] == '\n':
			r.at++
			return fields, nil
		default:
			return nil, wrongAt(r.src, r.at-1, "after a field there must be a comma or the end of the line, not %q", c)
		}
	}
}

func (r *csvReader) field() (string, error) {
	start := r.at
	if r.at < len(r.src) && r.src[r.at] == '"' {
		return r.quoted()
	}
	for ; r.at < len(r.src); r.at++ {
		switch r.src[r.at] {
		case '"':
			return "", wrongAt(r.src, r.at, "a quotation mark stands inside of a field that does not begin with one")
		case ',', '\r', '\n':
			return r.text(start, string(r.src[start:r.at]))
		}
	}
	return r.text(start, string(r.src[start:r.at]))
}

func (r *csvReader) quoted() (string, error) {
	start := r.at
	var b strings.Builder
	for r.at++; r.at < len(r.src); r.at++ {
		if c := r.src[r.at]; c != '"' {
			b.WriteByte(c)
			continue
		}
		r.at++
		if r.at == len(r.src) || r.src[r.at] != '"' {
			return r.text(start, b.String())
		}
		b.WriteByte('"')
	}
	return "", wrongAt(r.src, start, "a quotation mark has no end")
}

func (r *csvReader) text(start int, s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", wrongAt(r.src, start, "this is not UTF-8")
	}
	return s, nil
}
