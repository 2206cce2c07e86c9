package results_test

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/stages/sparql/results"
)

var benchRow = []webrace.Term{rdf.NewIRI("http://example.org/event/12"), rdf.NewLangString("Wetter am Bodensee", "de"),
	rdf.NewTyped("120", rdf.XSDInteger)}

// A row in each format, and what the standard library takes for the same in JSON and XML.
func BenchmarkRows(b *testing.B) {
	for _, f := range results.Formats {
		b.Run(string(f), func(b *testing.B) {
			w, err := results.NewWriter(io.Discard, f, []string{"s", "title", "n"})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				w.Write(benchRow)
			}
		})
	}
	type binding struct {
		Type     string `json:"type" xml:"type,attr"`
		Value    string `json:"value" xml:",chardata"`
		Language string `json:"xml:lang,omitempty" xml:"lang,attr,omitempty"`
		Datatype string `json:"datatype,omitempty" xml:"datatype,attr,omitempty"`
	}
	row := func() []binding {
		list := make([]binding, len(benchRow))
		for i, t := range benchRow {
			list[i] = binding{"literal", rdf.Value(t), rdf.Language(t), rdf.Datatype(t)}
		}
		return list
	}
	b.Run("encoding/json", func(b *testing.B) {
		e := json.NewEncoder(io.Discard)
		for b.Loop() {
			e.Encode(row())
		}
	})
	b.Run("encoding/xml", func(b *testing.B) {
		e := xml.NewEncoder(io.Discard)
		for b.Loop() {
			e.Encode(row())
		}
	})
}
