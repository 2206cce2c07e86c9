package rdf_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/webrace/webrace/internal/rdf"
)

// fuzz sees that a document is read alike however its bytes come, and that what it states can be written and read
// again.
func fuzz(f *testing.F, extension string) {
	for _, file := range documents(f) {
		if filepath.Ext(file) == extension {
			body, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(body)
			for _, line := range bytes.SplitAfter(body, []byte(".\n")) {
				f.Add(line)
			}
		}
	}
	for _, c := range mistakes {
		if c.syntax == syntaxes[extension] {
			f.Add([]byte(c.doc))
		}
	}
	prefixes := map[string]string{"": "http://a/", "x": "http://a/x#", "b": "http://b/", "p": "http://é/"}
	syntax := syntaxes[extension]
	f.Fuzz(func(t *testing.T, body []byte) {
		readAlike(t, body, syntax)
		quads, err := read(bytes.NewReader(body), syntax, "http://base/d/e")
		if err != nil {
			return
		}
		readBack(t, quads, syntax, prefixes)
		readBack(t, quads, rdf.NQuads, nil)
		if syntax != rdf.RDFXML {
			readBack(t, quads, rdf.RDFXML, prefixes)
		}
		for _, q := range quads {
			for _, term := range []string{string(q.Subject), string(q.Predicate), string(q.Object)} {
				if again := canonical(t, term); again != term {
					t.Fatalf("%s is not canonical, but %s", term, again)
				}
			}
		}
	})
}

// canonical makes a term anew from its parts.
func canonical(t *testing.T, term string) string {
	q := quad(term, "", "", "")
	switch value := rdf.Value(q.Subject); rdf.KindOf(q.Subject) {
	case rdf.IRI:
		if !rdf.ValidIRI(value) {
			t.Fatalf("%s is no IRI", term)
		}
		return string(rdf.NewIRI(value))
	case rdf.Blank:
		return string(rdf.NewBlank(value))
	default:
		if language := rdf.Language(q.Subject); language != "" {
			return string(rdf.NewLangString(value, language))
		}
		return string(rdf.NewTyped(value, rdf.Datatype(q.Subject)))
	}
}

func FuzzNTriples(f *testing.F) { fuzz(f, ".nt") }
func FuzzNQuads(f *testing.F)   { fuzz(f, ".nq") }
func FuzzTurtle(f *testing.F)   { fuzz(f, ".ttl") }
func FuzzTriG(f *testing.F)     { fuzz(f, ".trig") }
func FuzzRDFXML(f *testing.F)   { fuzz(f, ".rdf") }
