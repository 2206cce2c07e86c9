package results

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// resultsNS is the namespace of the elements.
const resultsNS = "http://www.w3.org/2005/sparql-results#"

// xmlForm writes SPARQL Query Results XML Format.
type xmlForm struct{}

func (xmlForm) head(b []byte, vars []string) []byte {
	b = append(b, "<?xml version=\"1.0\"?>\n<sparql xmlns=\""+resultsNS+"\">\n<head>"...)
	for _, v := range vars {
		b = append(b, `<variable name="`...)
		b = append(appendXML(b, v), `"/>`...)
	}
	return append(b, "</head>\n<results>\n"...)
}

func (xmlForm) name(variable string) string {
	return string(append(appendXML([]byte(`<binding name="`), variable), `">`...))
}

func (xmlForm) row(b []byte, names []string, row []webrace.Term, _ bool) []byte {
	b = append(b, "<result>"...)
	for i, t := range row {
		if t != "" {
			b = append(b, names[i]...)
			b = appendXMLTerm(b, t)
			b = append(b, "</binding>"...)
		}
	}
	return append(b, "</result>\n"...)
}

func appendXMLTerm(b []byte, t webrace.Term) []byte {
	switch rdf.KindOf(t) {
	case rdf.IRI:
		b = appendXML(append(b, "<uri>"...), string(t[1:len(t)-1]))
		return append(b, "</uri>"...)
	case rdf.Blank:
		b = appendXML(append(b, "<bnode>"...), string(t[2:]))
		return append(b, "</bnode>"...)
	}
	_, tag, datatype := splitLiteral(t)
	b = append(b, "<literal"...)
	switch {
	case tag != "":
		b = append(b, ` xml:lang="`...)
		b = append(append(b, tag...), '"')
	case datatype != "":
		b = append(b, ` datatype="`...)
		b = append(appendXML(b, datatype), '"')
	}
	b = appendXML(append(b, '>'), rdf.Value(t))
	return append(b, "</literal>"...)
}

// appendXML appends a text, of an element or attribute. XML has no place for most control characters, not even escaped.
func appendXML(b []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !specialInXML[c] {
			continue
		}
		escaped, size := xmlEscapes[c], 1
		if c == 0xEF { // U+FFFE and U+FFFF are no characters of XML, and alone begin so
			if !strings.HasPrefix(s[i:], "\uFFFE") && !strings.HasPrefix(s[i:], "\uFFFF") {
				continue
			}
			size = len("\uFFFE")
		}
		if escaped == "" {
			escaped = "\uFFFD"
		}
		b = append(append(b, s[start:i]...), escaped...)
		start = i + size
		i = start - 1
	}
	return append(b, s[start:]...)
}

// xmlEscapes are what stands for characters; readers would make a carriage return a line feed.
var xmlEscapes = [256]string{'&': "&amp;", '<': "&lt;", '>': "&gt;", '"': "&quot;", '\r': "&#xD;"}

// specialInXML are the bytes that may not stand in XML as they are.
var specialInXML = func() (special [256]bool) {
	for c := range special {
		special[c] = c < ' ' && c != '\t' && c != '\n' || xmlEscapes[c] != "" || c == 0xEF
	}
	return special
}()

func (xmlForm) end(b []byte) []byte { return append(b, "</results>\n</sparql>\n"...) }

func (xmlForm) boolean(b []byte, value bool) []byte {
	b = append(b, "<?xml version=\"1.0\"?>\n<sparql xmlns=\""+resultsNS+"\">\n<head/>\n"...)
	return fmt.Appendf(b, "<boolean>%t</boolean>\n</sparql>\n", value)
}

// xmlReader reads results element by element.
type xmlReader struct {
	src     []byte
	d       *xml.Decoder
	results Results
	found   bool // results or a boolean
}

func readXML(src []byte) (*Results, error) {
	r := xmlReader{src: src, d: xml.NewDecoder(bytes.NewReader(src))}
	for {
		t, err := r.token()
		if err != nil {
			return nil, err
		}
		if start, ok := t.(xml.StartElement); ok {
			if start.Name != (xml.Name{Space: resultsNS, Local: "sparql"}) {
				return nil, r.wrong("the root is the element sparql of %s, not %s of %q",
					resultsNS, start.Name.Local, start.Name.Space)
			}
			break
		}
	}
	if err := r.children("sparql", r.part); err != nil {
		return nil, err
	}
	if !r.found {
		return nil, r.wrong("the results have neither results nor a boolean")
	}
	for {
		switch t, err := r.d.Token(); t.(type) {
		case xml.StartElement:
			return nil, r.wrong("an element stands after the end of the results")
		case nil:
			if err == io.EOF {
				return &r.results, nil
			}
			return nil, r.wrong("not XML: %v", err)
		}
	}
}

func (r *xmlReader) wrong(format string, args ...any) error {
	return wrongAt(r.src, int(r.d.InputOffset()), format, args...)
}

func (r *xmlReader) token() (xml.Token, error) {
	t, err := r.d.Token()
	var syntax *xml.SyntaxError
	switch {
	case err == nil:
		return t, nil
	case errors.As(err, &syntax):
		return nil, r.wrong("not XML: %s", syntax.Msg)
	case err == io.EOF:
		return nil, r.wrong("not XML: unexpected end")
	default:
		return nil, r.wrong("not XML: %v", err)
	}
}

// children reads the elements to the end of one; child reads each.
func (r *xmlReader) children(of string, child func(xml.StartElement) error) error {
	for {
		t, err := r.token()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if err := child(t); err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		case xml.CharData:
			if strings.Trim(string(t), " \t\r\n") != "" {
				return r.wrong("a text stands in the element %s", of)
			}
		}
	}
}

// text reads the text of an element to its end.
func (r *xmlReader) text(of string) (string, error) {
	var b strings.Builder
	for {
		t, err := r.token()
		if err != nil {
			return "", err
		}
		switch t := t.(type) {
		case xml.StartElement:
			return "", r.wrong("an element %s stands in the element %s", t.Name.Local, of)
		case xml.EndElement:
			return b.String(), nil
		case xml.CharData:
			b.Write(t)
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (r *xmlReader) part(e xml.StartElement) error {
	if e.Name.Local != "head" && r.found {
		return r.wrong("the element %s stands after the results", e.Name.Local)
	}
	switch e.Name.Local {
	case "head":
		if r.found || r.results.Vars != nil {
			return r.wrong("there is a second head, or one after the results")
		}
		return r.children("head", r.variable)
	case "boolean":
		s, err := r.text("boolean")
		if err != nil {
			return err
		}
		value := strings.Trim(s, " \t\r\n") == "true"
		if !value && strings.Trim(s, " \t\r\n") != "false" {
			return r.wrong("a boolean is true or false, not %q", s)
		}
		r.results.Boolean, r.found = &value, true
		return nil
	case "results":
		r.found = true
		return r.children("results", r.solution)
	}
	return r.skip()
}

// skip passes over an element. Its depth is no matter: nothing is kept.
func (r *xmlReader) skip() error {
	for depth := 1; depth > 0; {
		t, err := r.token()
		if err != nil {
			return err
		}
		switch t.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
	}
	return nil
}

func (r *xmlReader) variable(e xml.StartElement) error {
	if e.Name.Local == "variable" {
		name := attribute(e, "name")
		if name == "" || slices.Contains(r.results.Vars, name) {
			return r.wrong("the variable %q has no name, or one that there was before", name)
		}
		r.results.Vars = append(r.results.Vars, name)
	}
	return r.skip()
}

func (r *xmlReader) solution(e xml.StartElement) error {
	if e.Name.Local != "result" {
		return r.wrong("expected a result, not the element %s", e.Name.Local)
	}
	row := make([]webrace.Term, len(r.results.Vars))
	r.results.Rows = append(r.results.Rows, row)
	return r.children("result", func(e xml.StartElement) error {
		if e.Name.Local != "binding" {
			return r.wrong("expected a binding, not the element %s", e.Name.Local)
		}
		name := attribute(e, "name")
		i := slices.Index(r.results.Vars, name)
		if i < 0 {
			return r.wrong("the variable %q is not in the head", name)
		}
		return r.children("binding", func(e xml.StartElement) (err error) {
			if row[i] != "" {
				return r.wrong("the variable %s has two terms", name)
			}
			row[i], err = r.term(e)
			return err
		})
	})
}

func (r *xmlReader) term(e xml.StartElement) (webrace.Term, error) {
	text, err := r.text(e.Name.Local)
	if err != nil {
		return "", err
	}
	t, wrong := newTerm(e.Name.Local, text, attribute(e, "lang"), attribute(e, "datatype"))
	if wrong != "" {
		return "", r.wrong("%s", wrong)
	}
	return t, nil
}
