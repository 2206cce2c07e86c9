package transform

import (
	"regexp"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// times are the datatypes of times, by the lexical forms that Microdata to RDF and HTML+RDFa take for them.
var times = []struct {
	form     *regexp.Regexp
	datatype string
}{
	{regexp.MustCompile(`^-?\d{4,}-\d\d-\d\d` + zone + `?$`), "date"},
	{regexp.MustCompile(`^-?\d{4,}-\d\d-\d\dT` + clock + zone + `?$`), "dateTime"},
	{regexp.MustCompile(`^` + clock + zone + `?$`), "time"},
	{regexp.MustCompile(`^-?\d{4,}$`), "gYear"},
	{regexp.MustCompile(`^-?\d{4,}-\d\d` + zone + `?$`), "gYearMonth"},
	// The suites have months and days with two digits, and D behind the date even where it should not be.
	{regexp.MustCompile(`^-?P(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?$`), "duration"},
}

const (
	clock = `\d\d:\d\d:\d\d(?:\.\d+)?`
	zone  = `(?:Z|[+-]\d\d:\d\d)`
)

// longestTime is how long a time or a number may be.
const longestTime = 100

// timeTerm returns the literal of a time by its form; false for a text that is none.
func timeTerm(text string) (webrace.Term, bool) {
	if text == "" || len(text) > longestTime || text[len(text)-1] == 'P' || text[len(text)-1] == 'T' {
		return "", false
	}
	for _, t := range times {
		if t.form.MatchString(text) {
			return rdf.NewTyped(text, rdf.XSD+t.datatype), true
		}
	}
	return "", false
}

var (
	integer = regexp.MustCompile(`^[+-]?\d{1,100}$`)
	double  = regexp.MustCompile(`^[+-]?(?:\d{1,100}(?:\.\d{0,100})?|\.\d{1,100})(?:[eE][+-]?\d{1,10})?$`)
)

// numberTerm returns the literal of a number by its form; false for a text that is none.
func numberTerm(text string) (webrace.Term, bool) {
	switch {
	case len(text) > longestTime:
	case integer.MatchString(text):
		return rdf.NewTyped(text, rdf.XSDInteger), true
	case double.MatchString(text):
		return rdf.NewTyped(text, rdf.XSDDouble), true
	}
	return "", false
}
