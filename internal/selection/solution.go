package selection

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// A solution of a query is written as the names of its variables and their values, in the order of SELECT, or else of
// the query: "name: Chair · price: 90". IRIs and texts are written as they are, numbers without exponents and needless
// zeros. A blank node is known by nothing that would stay the same, and is left out, unless there is nothing else.
const (
	betweenValues = " · "
	behindName    = ": "
	blankNode     = "[]"
)

// solution is one, and what it is sorted by.
type solution struct {
	text   string
	values []value
}

// value is that of a variable.
type value struct {
	text     string
	number   float64
	isNumber bool
}

func newSolution(names []string, terms []webrace.Term) solution {
	s := solution{values: make([]value, len(terms))}
	var text, blanks strings.Builder
	for i, t := range terms {
		into := &text
		if s.values[i] = newValue(t); rdf.KindOf(t) == rdf.Blank {
			into = &blanks
		}
		if s.values[i].text == "" {
			continue
		}
		if into.Len() > 0 {
			into.WriteString(betweenValues)
		}
		into.WriteString(names[i] + behindName + s.values[i].text)
	}
	if s.text = text.String(); s.text == "" {
		s.text = blanks.String()
	}
	return s
}

func newValue(t webrace.Term) value {
	switch rdf.KindOf(t) {
	case rdf.Blank:
		return value{text: blankNode}
	case rdf.Literal:
		if numeric[rdf.Datatype(t)] {
			return newNumber(strings.TrimSpace(rdf.Value(t)))
		}
	}
	text := strings.ReplaceAll(strings.ToValidUTF8(rdf.Value(t), "\ufffd"), "\x00", "")
	return value{text: strings.Join(strings.Fields(text), " ")}
}

// numeric are the types of numbers, but for those derived from them, which are hardly used.
var numeric = map[string]bool{rdf.XSDInteger: true, rdf.XSDDecimal: true, rdf.XSDDouble: true, rdf.XSD + "float": true}

// newNumber reads a number as XML Schema writes it. One that is none stays as it is.
func newNumber(lexical string) value {
	if !isNumber.MatchString(lexical) {
		return value{text: strings.Join(strings.Fields(lexical), " ")}
	}
	n, err := strconv.ParseFloat(lexical, 64)
	if err != nil { // too large
		return value{text: lexical}
	}
	v := value{number: n, isNumber: true}
	if v.text = strings.TrimPrefix(lexical, "+"); strings.ContainsAny(lexical, "eE") {
		v.text = strconv.FormatFloat(n, 'f', -1, 64)
	}
	if strings.Contains(v.text, ".") {
		v.text = strings.TrimSuffix(strings.TrimRight(v.text, "0"), ".")
	}
	if n == 0 { // which may be written as .0
		v.text = "0"
	}
	return v
}

// isNumber are decimal numbers, with or without an exponent.
var isNumber = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// compareSolutions sorts by the values of the variables, one after the other: numbers by size, before texts.
func compareSolutions(a, b solution) int {
	return slices.CompareFunc(a.values, b.values, compareValues)
}

func compareValues(a, b value) int {
	switch {
	case a.isNumber && b.isNumber:
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.text, b.text))
	case a.isNumber != b.isNumber:
		if a.isNumber {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.text, b.text)
}

// Number returns the number that stands in the part which a rule in SPARQL selects: the first value that is a number as
// a whole. If there is none, rest is the values that are no IRIs, in which one may stand as people write it.
func (s *Selection) Number(text *webrace.Text) (n float64, rest string, found bool) {
	var others []string
	for _, block := range text.Blocks {
		for _, v := range s.values(string(text.Slice(block))) {
			if v := newNumber(v); v.isNumber {
				return v.number, "", true
			}
			if !isIRI.MatchString(v) {
				others = append(others, v)
			}
		}
	}
	return 0, strings.Join(others, "\n"), false
}

var isIRI = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:[^ ]+$`)

// values takes a block apart that a solution was written as. What rules ignore may be cut out of it.
func (s *Selection) values(block string) (all []string) {
	for _, r := range s.rules {
		if r.sparql == nil {
			continue
		}
		names := r.sparql.Vars()
		for _, field := range strings.Split(block, betweenValues) {
			name, rest, ok := strings.Cut(field, behindName)
			switch {
			case ok && slices.Contains(names, name):
				all = append(all, rest)
			case len(all) > 0:
				all[len(all)-1] += betweenValues + field
			default:
				all = append(all, field)
			}
		}
		return all
	}
	return []string{block}
}
