package results_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/stages/sparql/results"
)

// What is read is written, and reads back the same: of XML and CSV, but for what they have no place for.
func fuzzReader(f *testing.F, format results.Format, seeds ...string) {
	for _, s := range append(seeds, string(write(f, format, solutions))) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := results.Read(bytes.NewReader(text), format)
		if err != nil {
			return
		}
		written := write(t, format, got)
		again, err := results.Read(bytes.NewReader(written), format)
		if err != nil || !same(got, again) {
			t.Errorf("%+v is read back as %+v, %v, from\n%s", got, again, err, written)
		}
	})
}

func FuzzJSON(f *testing.F) {
	fuzzReader(f, results.JSON, `{"head":{},"boolean":true}`, `{"results":{"bindings":[{}]},"head":{"vars":["a"]}}`)
}

func FuzzXML(f *testing.F) {
	fuzzReader(f, results.XML, `<sparql xmlns="http://www.w3.org/2005/sparql-results#"><boolean>true</boolean></sparql>`)
}

func FuzzCSV(f *testing.F) { fuzzReader(f, results.CSV, "a\n\n_:b\n\"\"\"\"\n") }

func FuzzTSV(f *testing.F) { fuzzReader(f, results.TSV, "true", "?a\n\n'x'@en\n1e5\n<\\u0061>\n") }

// Any text comes back from all formats as it was, in any kind of term.
func FuzzTexts(f *testing.F) {
	f.Add(awkward, "http://t/")
	f.Add("1.0e0", rdf.XSDDouble)
	f.Add("+.5", rdf.XSDDecimal)
	f.Add("_:a", rdf.XSDBoolean)
	f.Add("true", "http://t/")
	f.Fuzz(func(t *testing.T, text, datatype string) {
		if !utf8.ValidString(text) || !utf8.ValidString(datatype) || !rdf.ValidIRI(datatype) || datatype == "" {
			return
		}
		r := &results.Results{Vars: []string{"a", "b", "c"}, Rows: [][]webrace.Term{
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
			got, err := results.Read(bytes.NewReader(write(t, format, r)), format)
			if err != nil || !same(got, want) {
				t.Errorf("%s reads %+v, %v, want %+v", format, got, err, want)
			}
		}
	})
}

func notInXML(c rune) bool {
	return c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0xFFFE || c == 0xFFFF
}
