package results

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

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

func readTSV(src []byte) (*Results, error) {
	if !utf8.Valid(src) {
		return nil, wrongAt(src, 0, "this is not UTF-8")
	}
	if s := strings.TrimSpace(string(src)); s == "true" || s == "false" {
		value := s == "true"
		return &Results{Boolean: &value}, nil
	}
	var results Results
	at := 0
	for first := true; at < len(src) || first; first = false {
		line, _, _ := bytes.Cut(src[at:], []byte("\n"))
		var fields []string
		if text := strings.TrimSuffix(string(line), "\r"); text != "" || len(results.Vars) == 1 && !first {
			fields = strings.Split(text, "\t")
		}
		var err error
		if first {
			results.Vars, err = tsvVariables(src, fields)
		} else {
			err = results.tsvRow(src, at, fields)
		}
		if err != nil {
			return nil, err
		}
		at += len(line) + 1
	}
	return &results, nil
}

func tsvVariables(src []byte, fields []string) (vars []string, err error) {
	for _, field := range fields {
		if !strings.HasPrefix(field, "?") && !strings.HasPrefix(field, "$") {
			return nil, wrongAt(src, 0, "the first line has variables, as ?name, not %q", field)
		}
		if strings.ContainsFunc(field, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }) {
			return nil, wrongAt(src, 0, "the variable %q has a space or a control character in its name", field)
		}
		vars = append(vars, field[1:])
	}
	return vars, checkVariables(src, vars)
}

func (r *Results) tsvRow(src []byte, at int, fields []string) error {
	if len(fields) != len(r.Vars) {
		return wrongAt(src, at, "a solution has %d fields, but there are %d variables", len(fields), len(r.Vars))
	}
	row := make([]webrace.Term, len(fields))
	for i, field := range fields {
		t, err := tsvTerm(field)
		if err != nil {
			return wrongAt(src, at, "%v", err)
		}
		row[i] = t
		at += len(field) + 1
	}
	r.Rows = append(r.Rows, row)
	return nil
}

// quotedText is a text in one kind of quotation marks, and what may follow it.
var quotedText = regexp.MustCompile(`^(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')` +
	`(?:@([a-zA-Z]+(?:-[a-zA-Z0-9]+)*)|\^\^<([^<>]*)>)?$`)

// tsvTerm reads a term as queries write it.
func tsvTerm(s string) (webrace.Term, error) {
	switch {
	case s == "":
		return "", nil
	case s == "true" || s == "false":
		return rdf.NewTyped(s, rdf.XSDBoolean), nil
	case s[0] == '<' && s[len(s)-1] == '>':
		iri, err := iriOf(s[1 : len(s)-1])
		return rdf.NewIRI(iri), err
	case strings.HasPrefix(s, "_:") && len(s) > 2 && rdf.ValidIRI(s):
		return webrace.Term(s), nil
	}
	if datatype := numberType(s); datatype != "" {
		return rdf.NewTyped(s, datatype), nil
	}
	m := quotedText.FindStringSubmatch(s)
	if m == nil {
		return "", fmt.Errorf("%.80q is no term: expected <iri>, \"text\", \"text\"@en, \"1\"^^<iri>, 1, true or _:a", s)
	}
	text, err := unescape(m[1] + m[2])
	if err != nil {
		return "", err
	}
	switch {
	case m[3] != "":
		return rdf.NewLangString(text, m[3]), nil
	case m[4] != "":
		datatype, err := iriOf(m[4])
		return rdf.NewTyped(text, datatype), err
	case strings.HasSuffix(s, "^^<>"):
		return "", fmt.Errorf("%.80q has an empty datatype", s)
	}
	return rdf.NewString(text), nil
}

func iriOf(s string) (string, error) {
	iri, err := unescape(s)
	if err == nil && (iri == "" || !rdf.ValidIRI(iri)) {
		err = fmt.Errorf("%.80q is no IRI", iri)
	}
	return iri, err
}

// unescape replaces the escapes of queries: those of one letter, \uXXXX and \UXXXXXXXX.
func unescape(s string) (string, error) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		if i == len(s) {
			return "", fmt.Errorf("a backslash stands before nothing")
		}
		if letter := strings.IndexByte(`tbnrf"'\`, s[i]); letter >= 0 {
			b.WriteByte("\t\b\n\r\f\"'\\"[letter])
			continue
		}
		length := map[byte]int{'u': 4, 'U': 8}[s[i]]
		if length == 0 || i+length >= len(s) {
			return "", fmt.Errorf(`\%c is no escape`, s[i])
		}
		c, err := strconv.ParseUint(s[i+1:i+1+length], 16, 32)
		if err != nil || !utf8.ValidRune(rune(c)) {
			return "", fmt.Errorf("\\%s is no character", s[i:i+1+length])
		}
		b.WriteRune(rune(c))
		i += length
	}
	return b.String(), nil
}
