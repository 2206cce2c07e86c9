package rdf_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/testutil"
)

// What is written is read by another program as it was meant: by rapper, of Debian's raptor2-utils.
func TestRapperReadsWhatIsWritten(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("rapper"); err != nil {
		t.Skip(err)
	}
	var quads []rdf.Quad
	for _, file := range documents(t) {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		o := rdf.Options{Base: "http://base/d/e", Blank: strings.NewReplacer(".", "", "/", "").Replace(file)}
		read, err := readWith(bytes.NewReader(body), syntaxes[filepath.Ext(file)], o)
		if err != nil {
			t.Fatal(err)
		}
		quads = append(quads, read...)
	}
	quads = slices.DeleteFunc(quads, func(q rdf.Quad) bool {
		o := string(q.Object)
		return strings.Contains(o, "/./") || strings.Contains(o, `\b`) // rapper removes /./, and XML has no \b
	})
	for i := range quads {
		quads[i].Graph = ""
	}
	for name, syntax := range map[string]rdf.Syntax{"ntriples": rdf.NTriples, "nquads": rdf.NQuads, "turtle": rdf.Turtle, "rdfxml": rdf.RDFXML} {
		command := exec.CommandContext(t.Context(), "rapper", "-q", "-i", name, "-o", "ntriples", "-", "http://base/d/e")
		command.Stdin = strings.NewReader(write(quads, syntax, foafPrefixes))
		var complaints bytes.Buffer
		command.Stderr = &complaints
		text, err := command.Output()
		if err != nil {
			t.Errorf("%s: %v: %s", name, err, &complaints)
			continue
		}
		got, err := read(bytes.NewReader(text), rdf.NTriples, "")
		if err != nil {
			t.Errorf("%s: %v in what rapper writes", name, err)
			continue
		}
		if d := testutil.Isomorphic(quads, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
