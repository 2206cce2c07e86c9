package jsonld_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/jsonld"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/testutil"
)

// w3cCase is an entry of the manifest.
type w3cCase struct {
	ID     string   `json:"@id"`
	Types  []string `json:"@type"`
	Name   string   `json:"name"`
	Input  string   `json:"input"`
	Expect string   `json:"expect"`
	Code   string   `json:"expectErrorCode"`
	Option struct {
		Base           string `json:"base"`
		ExpandContext  string `json:"expandContext"`
		ProcessingMode string `json:"processingMode"`
		SpecVersion    string `json:"specVersion"`
		RDFDirection   string `json:"rdfDirection"`
	} `json:"option"`
}

// TestW3C runs the suite of "Deserialize JSON-LD to RDF". The tests for JSON-LD 1.0 alone are left out.
func TestW3C(t *testing.T) {
	t.Parallel()
	dir := testutil.W3CSuite(t, "json-ld-api/tests")
	var manifest struct {
		BaseIRI  string    `json:"baseIri"`
		Sequence []w3cCase `json:"sequence"`
	}
	if err := json.Unmarshal(readFile(t, filepath.Join(dir, "toRdf-manifest.jsonld")), &manifest); err != nil {
		t.Fatal(err)
	}
	documents := map[string][]byte{}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonld"))
	deeper, err2 := filepath.Glob(filepath.Join(dir, "*", "*", "*.jsonld"))
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for _, file := range append(files, deeper...) {
		name, err := filepath.Rel(dir, file)
		if err != nil {
			t.Fatal(err)
		}
		documents[manifest.BaseIRI+filepath.ToSlash(name)] = readFile(t, file)
	}
	contexts := jsonld.NewContexts(documents)
	run, left := 0, 0
	for _, c := range manifest.Sequence {
		if c.Option.SpecVersion == "json-ld-1.0" || c.Option.ProcessingMode == "json-ld-1.0" {
			left++
			continue
		}
		run++
		t.Run(c.ID[1:], func(t *testing.T) {
			t.Parallel()
			o := jsonld.Options{Base: manifest.BaseIRI + c.Input, Contexts: contexts, Direction: c.Option.RDFDirection}
			if c.Option.Base != "" {
				o.Base = c.Option.Base
			}
			if c.Option.ExpandContext != "" {
				o.Context = manifest.BaseIRI + c.Option.ExpandContext
			}
			got, err := quads(documents[manifest.BaseIRI+c.Input], o)
			c.check(t, dir, got, err)
		})
	}
	if run != 448 || left != 19 {
		t.Errorf("%d tests were run and %d left out, want 448 and 19", run, left)
	}
}

func (c w3cCase) check(t *testing.T, dir string, got []rdf.Quad, err error) {
	t.Helper()
	if c.Code != "" {
		if wrong := (*jsonld.Error)(nil); !errors.As(err, &wrong) || wrong.Code != c.Code {
			t.Errorf("%s: want the error %q, got %v and %v", c.Name, c.Code, err, got)
		} else if wrong.Line == 0 || wrong.Column == 0 {
			t.Errorf("%s: the error says no place: %#v", c.Name, wrong)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	if c.Expect == "" {
		return // a test of syntax alone
	}
	file := readFile(t, filepath.Join(dir, c.Expect))
	var want []rdf.Quad
	for q, err := range rdf.Parse(t.Context(), bytes.NewReader(file), rdf.NQuads, rdf.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, q)
	}
	if difference := testutil.Isomorphic(want, got); difference != "" {
		t.Errorf("%s: %s", c.Name, difference)
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func quads(body []byte, o jsonld.Options) (all []rdf.Quad, err error) {
	for q, err := range jsonld.ToRDF(context.Background(), body, o) {
		if err != nil {
			return all, err
		}
		all = append(all, q)
	}
	return all, nil
}

func text(quads []rdf.Quad) string {
	var b strings.Builder
	w := rdf.NewWriter(&b, rdf.NQuads, nil)
	for _, q := range quads {
		if err := w.Write(q); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}
