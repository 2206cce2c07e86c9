package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

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

// jsonReader reads results token by token, so that it knows where something is wrong.
type jsonReader struct {
	src     []byte
	d       *json.Decoder
	results Results
	hasVars bool
	found   bool // results or a boolean
	again   bool // the results stand before the head, and are read a second time
}

func readJSON(src []byte) (*Results, error) {
	r := jsonReader{src: src, d: json.NewDecoder(bytes.NewReader(src))}
	if err := r.object("the results", r.member); err != nil {
		return nil, err
	}
	if _, err := r.d.Token(); err != io.EOF {
		return nil, r.wrong("something stands after the end of the results")
	}
	if r.again && r.hasVars && !r.found {
		r.d = json.NewDecoder(bytes.NewReader(src))
		if err := r.object("the results", r.member); err != nil {
			return nil, err
		}
	}
	if !r.found {
		return nil, r.wrong(`the results have neither "results", with "vars" in the "head", nor "boolean"`)
	}
	return &r.results, nil
}

func (r *jsonReader) wrong(format string, args ...any) error {
	return wrongAt(r.src, int(r.d.InputOffset()), format, args...)
}

func (r *jsonReader) token() (json.Token, error) {
	t, err := r.d.Token()
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return t, nil
	case errors.As(err, &syntax):
		return nil, r.wrong("not JSON: %s", syntax.Error())
	default:
		return nil, r.wrong("not JSON: unexpected end")
	}
}

// expect reads a delimiter.
func (r *jsonReader) expect(what string, d json.Delim) error {
	t, err := r.token()
	if err != nil {
		return err
	}
	if t != d {
		return r.wrong("expected %s: %s, not %v", what, d, t)
	}
	return nil
}

// object reads an object; member reads the value of each name.
func (r *jsonReader) object(what string, member func(name string) error) error {
	if err := r.expect(what, '{'); err != nil {
		return err
	}
	for r.d.More() {
		t, err := r.token()
		if err != nil {
			return err
		}
		name, ok := t.(string)
		if !ok {
			return r.wrong("expected a name, not %v", t)
		}
		if err := member(name); err != nil {
			return err
		}
	}
	return r.expect(what, '}')
}

// array reads an array; element reads each value.
func (r *jsonReader) array(what string, element func() error) error {
	if err := r.expect(what, '['); err != nil {
		return err
	}
	for r.d.More() {
		if err := element(); err != nil {
			return err
		}
	}
	return r.expect(what, ']')
}

func (r *jsonReader) text(what string) (string, error) {
	t, err := r.token()
	if err != nil {
		return "", err
	}
	s, ok := t.(string)
	if !ok {
		return "", r.wrong("expected %s: a string, not %v", what, t)
	}
	return s, nil
}

// skip passes over a value.
func (r *jsonReader) skip() error {
	for depth := 0; ; {
		t, err := r.token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

func (r *jsonReader) member(name string) error {
	switch name {
	case "head":
		if r.hasVars && r.again {
			return r.skip()
		}
		return r.object("the head", r.head)
	case "boolean":
		if r.found {
			return r.wrong("there are results, and a boolean")
		}
		t, err := r.token()
		if err != nil {
			return err
		}
		value, ok := t.(bool)
		if !ok {
			return r.wrong(`"boolean" is true or false, not %v`, t)
		}
		r.results.Boolean, r.found = &value, true
		return nil
	case "results":
		if r.found {
			return r.wrong("there are results twice, or with a boolean")
		}
		if !r.hasVars {
			r.again = true
			return r.skip()
		}
		r.found = true
		return r.object("the results", func(name string) error {
			if name != "bindings" {
				return r.skip()
			}
			return r.array("the bindings", r.solution)
		})
	default:
		return r.skip()
	}
}

func (r *jsonReader) head(name string) error {
	if name != "vars" {
		return r.skip()
	}
	if r.hasVars {
		return r.wrong(`"vars" stands there twice`)
	}
	r.hasVars = true
	return r.array("the variables", func() error {
		v, err := r.text("a variable")
		if err == nil && slices.Contains(r.results.Vars, v) {
			return r.wrong("the variable %s is named twice", v)
		}
		r.results.Vars = append(r.results.Vars, v)
		return err
	})
}

func (r *jsonReader) solution() error {
	row := make([]webrace.Term, len(r.results.Vars))
	r.results.Rows = append(r.results.Rows, row)
	return r.object("a solution", func(name string) error {
		i := slices.Index(r.results.Vars, name)
		if i < 0 {
			return r.wrong("the variable %s is not in the head", name)
		}
		if row[i] != "" {
			return r.wrong("the variable %s has two terms", name)
		}
		t, err := r.term()
		row[i] = t
		return err
	})
}

func (r *jsonReader) term() (webrace.Term, error) {
	var kind, text, tag, datatype string
	err := r.object("a term", func(name string) (err error) {
		switch name {
		case "type":
			kind, err = r.text("the type of a term")
		case "value":
			text, err = r.text("the value of a term")
		case "xml:lang":
			tag, err = r.text("a language")
		case "datatype":
			datatype, err = r.text("a datatype")
		default:
			err = r.skip()
		}
		return err
	})
	if err != nil {
		return "", err
	}
	t, wrong := newTerm(kind, text, tag, datatype)
	if wrong != "" {
		return "", r.wrong("%s", wrong)
	}
	return t, nil
}
