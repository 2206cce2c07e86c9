package rdf_test

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/testutil"
)

// The suites of the W3C, every test of their manifests.
func TestW3C(t *testing.T) {
	t.Parallel()
	for _, suite := range []struct {
		folder string
		syntax rdf.Syntax
	}{
		{"rdf-n-triples", rdf.NTriples},
		{"rdf-n-quads", rdf.NQuads},
		{"rdf-turtle", rdf.Turtle},
		{"rdf-trig", rdf.TriG},
		{"rdf-xml", rdf.RDFXML},
	} {
		t.Run(suite.folder, func(t *testing.T) {
			t.Parallel()
			dir := testutil.W3CSuite(t, "rdf-tests/rdf/rdf11/"+suite.folder)
			cases := testutil.W3CManifest(t, filepath.Join(dir, "manifest.ttl"))
			passed := 0
			for _, c := range cases {
				passed += w3c(t, c, suite.syntax)
			}
			t.Logf("%s: %d of %d", suite.folder, passed, len(cases))
		})
	}
}

// w3c returns 1 if a test passes.
func w3c(t *testing.T, c testutil.W3CCase, syntax rdf.Syntax) int {
	body := testutil.W3CRead(t, c.Action)
	got, err := read(bytes.NewReader(body), syntax, c.Base(c.Action))
	_, name, _ := strings.Cut(c.Type, "#")
	switch {
	case strings.HasSuffix(name, "NegativeSyntax") || strings.HasSuffix(name, "NegativeEval"):
		if err == nil {
			t.Errorf("%s: no error in\n%s", c.Name, body)
			return 0
		}
	case err != nil:
		t.Errorf("%s: %v in\n%s", c.Name, err, body)
		return 0
	case c.Result != "":
		want, err := read(bytes.NewReader(testutil.W3CRead(t, c.Result)), rdf.NQuads, "")
		if err != nil {
			t.Errorf("%s: the expected result: %v", c.Name, err)
			return 0
		}
		if d := testutil.Isomorphic(want, got); d != "" {
			t.Errorf("%s: %s\nin %s", c.Name, d, body)
			return 0
		}
	}
	return 1
}

func read(r io.Reader, syntax rdf.Syntax, base string) ([]rdf.Quad, error) {
	return readWith(r, syntax, rdf.Options{Base: base})
}

func readWith(r io.Reader, syntax rdf.Syntax, o rdf.Options) ([]rdf.Quad, error) {
	var quads []rdf.Quad
	for q, err := range rdf.Parse(context.Background(), r, syntax, o) {
		if err != nil {
			return quads, err
		}
		quads = append(quads, q)
	}
	return quads, nil
}
