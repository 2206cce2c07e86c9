package results_test

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/stages/sparql/results"
)

// Any text comes back from all formats as it was, in any kind of term.
func FuzzTexts(f *testing.F) {
	f.Add(awkward, "http://t/")
	f.Add("1.0e0", rdf.XSDDouble)
	f.Add("+.5", rdf.XSDDecimal)
	f.Add("_:a", rdf.XSDBoolean)
	f.Add("true", "http://t/")
	f.Fuzz(func(t *testing.T, text, datatype string) {
		if iri, err := url.Parse(datatype); !utf8.ValidString(text+datatype) || !rdf.ValidIRI(datatype) || err != nil || !iri.IsAbs() {
			return
		}
		r := &testutil.Solutions{Vars: []string{"a", "b", "c"}, Rows: [][]webrace.Term{
			{rdf.NewString(text), rdf.NewTyped(text, datatype), rdf.NewLangString(text, "en")}}}
		for _, format := range results.Formats {
			want := r
			switch format {
			case results.XML:
				if strings.ContainsFunc(text+datatype, notInXML) {
					continue
				}
			case results.CSV:
				if want = texts(r); strings.HasPrefix(text, "_:") {
					continue // is taken for a blank node
				}
			}
			got, err := testutil.ReadSolutions(t, write(t, format, r), string(format))
			if err != nil || !same(got, want) {
				t.Errorf("%s reads %+v, %v, want %+v", format, got, err, want)
			}
		}
	})
}

func notInXML(c rune) bool {
	return c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0xFFFE || c == 0xFFFF
}
