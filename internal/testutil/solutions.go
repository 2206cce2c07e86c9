package testutil

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// Solutions are what a query answers, as read from one of the SPARQL 1.1 Query Results formats: by the standard
// library, and by what reads Turtle.
type Solutions struct {
	Vars    []string
	Rows    [][]webrace.Term // a term for each variable, empty where it is unbound
	Boolean *bool            // of an ASK; nil for solutions
}

// ReadSolutions reads a format by its media type. Of CSV all terms are texts, but for blank nodes.
func ReadSolutions(t testing.TB, body []byte, mediaType string) (*Solutions, error) {
	switch mediaType {
	case "application/sparql-results+json":
		return solutionsOfJSON(body)
	case "application/sparql-results+xml":
		return solutionsOfXML(body)
	case "text/csv":
		return solutionsOfCSV(body)
	case "text/tab-separated-values":
		return solutionsOfTSV(t, string(body))
	}
	return nil, fmt.Errorf("no format of results: %s", mediaType)
}

func solutionsOfJSON(body []byte) (*Solutions, error) {
	var read struct {
		Head    struct{ Vars []string }
		Results struct {
			Bindings []map[string]struct {
				Type, Value, Datatype string
				Language              string `json:"xml:lang"`
			}
		}
		Boolean *bool
	}
	if err := json.Unmarshal(body, &read); err != nil {
		return nil, err
	}
	s := &Solutions{Vars: read.Head.Vars, Boolean: read.Boolean}
	for _, bound := range read.Results.Bindings {
		s.add(func(v string) webrace.Term {
			b, ok := bound[v]
			switch {
			case !ok:
				return ""
			case b.Type == "uri":
				return rdf.NewIRI(b.Value)
			case b.Type == "bnode":
				return rdf.NewBlank(b.Value)
			}
			return literalOf(b.Value, b.Language, b.Datatype)
		})
	}
	return s, nil
}

func solutionsOfXML(body []byte) (*Solutions, error) {
	var read struct {
		XMLName xml.Name `xml:"http://www.w3.org/2005/sparql-results# sparql"`
		Vars    []struct {
			Name string `xml:"name,attr"`
		} `xml:"head>variable"`
		Boolean *bool `xml:"boolean"`
		Rows    []struct {
			Bindings []struct {
				Name    string  `xml:"name,attr"`
				URI     *string `xml:"uri"`
				Blank   *string `xml:"bnode"`
				Literal struct {
					Language string `xml:"http://www.w3.org/XML/1998/namespace lang,attr"`
					Datatype string `xml:"datatype,attr"`
					Text     string `xml:",chardata"`
				} `xml:"literal"`
			} `xml:"binding"`
		} `xml:"results>result"`
	}
	if err := xml.Unmarshal(body, &read); err != nil {
		return nil, err
	}
	s := &Solutions{Boolean: read.Boolean}
	for _, v := range read.Vars {
		s.Vars = append(s.Vars, v.Name)
	}
	for _, row := range read.Rows {
		s.add(func(v string) webrace.Term {
			for _, b := range row.Bindings {
				switch {
				case b.Name != v:
				case b.URI != nil:
					return rdf.NewIRI(*b.URI)
				case b.Blank != nil:
					return rdf.NewBlank(*b.Blank)
				default:
					return literalOf(b.Literal.Text, b.Literal.Language, b.Literal.Datatype)
				}
			}
			return ""
		})
	}
	return s, nil
}

// csvField is a field, and what ends it. The package encoding/csv passes over empty lines, which are solutions here.
var csvField = regexp.MustCompile(`^(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)`)

func solutionsOfCSV(body []byte) (*Solutions, error) {
	var lines [][]string
	for ended := true; len(body) > 0; {
		m := csvField.FindSubmatch(body)
		if m == nil {
			return nil, fmt.Errorf("no field of CSV: %.80q", body)
		}
		if ended {
			lines = append(lines, nil)
		}
		last := len(lines) - 1
		lines[last] = append(lines[last], strings.ReplaceAll(string(m[1]), `""`, `"`)+string(m[2]))
		ended = string(m[3]) != ","
		body = body[len(m[0]):]
	}
	s := &Solutions{Vars: lines[0]}
	if len(s.Vars) == 1 && s.Vars[0] == "" {
		s.Vars = nil
	}
	for _, fields := range lines[1:] {
		row := make([]webrace.Term, len(s.Vars))
		for i := range row {
			switch field := fields[i]; {
			case strings.HasPrefix(field, "_:"):
				row[i] = webrace.Term(field)
			case field != "":
				row[i] = rdf.NewString(field)
			}
		}
		s.Rows = append(s.Rows, row)
	}
	return s, nil
}

func solutionsOfTSV(t testing.TB, body string) (*Solutions, error) {
	lines := strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n")
	if value := lines[0] == "true"; value || lines[0] == "false" {
		return &Solutions{Boolean: &value}, nil
	}
	s := &Solutions{}
	for v := range strings.SplitSeq(lines[0], "\t") {
		if v != "" {
			s.Vars = append(s.Vars, v[1:])
		}
	}
	for _, line := range lines[1 : len(lines)-1] {
		row := make([]webrace.Term, len(s.Vars))
		fields := strings.Split(line, "\t")
		for i := range row {
			var err error
			if row[i], err = termOfTurtle(t, fields[i]); err != nil {
				return nil, err
			}
		}
		s.Rows = append(s.Rows, row)
	}
	return s, nil
}

func termOfTurtle(t testing.TB, field string) (term webrace.Term, err error) {
	if field == "" || strings.HasPrefix(field, "_:") {
		return webrace.Term(field), nil
	}
	triple := bytes.NewReader([]byte("<s:s> <p:p> " + field + " ."))
	for q, err := range rdf.Parse(t.Context(), triple, rdf.Turtle, rdf.Options{}) {
		if err != nil {
			return "", err
		}
		term = q.Object
	}
	return term, nil
}

// add adds a solution.
func (s *Solutions) add(term func(variable string) webrace.Term) {
	row := make([]webrace.Term, len(s.Vars))
	for i, v := range s.Vars {
		row[i] = term(v)
	}
	s.Rows = append(s.Rows, row)
}

func literalOf(text, language, datatype string) webrace.Term {
	switch {
	case language != "":
		return rdf.NewLangString(text, language)
	case datatype != "":
		return rdf.NewTyped(text, datatype)
	}
	return rdf.NewString(text)
}
