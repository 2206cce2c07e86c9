package jsonld_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/jsonld"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/testutil"
)

// caseContexts are what the documents in testdata name.
func caseContexts() *jsonld.Contexts {
	return jsonld.NewContexts(map[string][]byte{
		"https://example.org/self":         []byte(`{"@context": "self"}`),
		"https://example.org/other-self":   []byte(`{"@context": ["another-self"]}`),
		"https://example.org/another-self": []byte(`{"@context": ["other-self"]}`),
		"https://example.org/scoped-self":  []byte(`{"@context": {"p": {"@id": "v:p", "@context": "scoped-self"}}}`),
		"https://example.org/importing":    []byte(`{"@context": {"@import": "import"}}`),
		"https://example.org/import":       []byte(`{"@context": {"a": "v:a", "b": "v:b"}}`),
		"https://example.org/nothing":      []byte(`{}`),
		"https://example.org/list":         []byte(`{"@context": []}`),
		"https://example.org/broken":       []byte(`{"@context": `),
	})
}

// TestErrors has each code word of the standard that reading to RDF can end with, and what it is said of.
func TestErrors(t *testing.T) {
	t.Parallel()
	contexts, code, n := caseContexts(), "", 0
	for line := range strings.Lines(string(readFile(t, "testdata/errors.txt"))) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "#"):
			continue
		case !strings.ContainsAny(line, "{["):
			code = line
			continue
		}
		n++
		got, err := quads([]byte(line), jsonld.Options{Contexts: contexts})
		wrong := (*jsonld.Error)(nil)
		if !errors.As(err, &wrong) || wrong.Code != code || wrong.Says == "" || wrong.Column == 0 || len(got) > 0 {
			t.Errorf("%s: want %q, got %v; %s", line, code, err, text(got))
		}
	}
	if n < 100 {
		t.Errorf("there are %d documents", n)
	}
}

// TestDocuments has a document for each part of the language.
func TestDocuments(t *testing.T) {
	t.Parallel()
	contexts := caseContexts()
	for _, c := range strings.Split(string(readFile(t, "testdata/documents.txt")), "\n== ")[1:] {
		name, rest, _ := strings.Cut(c, "\n")
		body, expected, ok := strings.Cut(rest, "\n----\n")
		if !ok {
			t.Fatalf("%s has no line of dashes", name)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := quads([]byte(body), jsonld.Options{Base: "https://example.org/d/", Contexts: contexts})
			if err != nil {
				if !strings.Contains(err.Error(), strings.TrimSpace(expected)) {
					t.Error(err)
				}
				return
			}
			var want []rdf.Quad
			for q, err := range rdf.Parse(t.Context(), strings.NewReader(expected), rdf.NQuads, rdf.Options{}) {
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, q)
			}
			if difference := testutil.Isomorphic(want, got); difference != "" {
				t.Error(difference)
			}
		})
	}
}
