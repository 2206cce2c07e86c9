package rdf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/testutil"
)

var syntaxes = map[string]rdf.Syntax{
	".nt": rdf.NTriples, ".nq": rdf.NQuads, ".ttl": rdf.Turtle, ".trig": rdf.TriG, ".rdf": rdf.RDFXML,
}

// documents returns the files of testdata, which have every production of each syntax.
func documents(t testing.TB) []string {
	t.Helper()
	var files []string
	for extension := range syntaxes {
		found, _ := filepath.Glob("testdata/*" + extension)
		files = append(files, found...)
	}
	if len(files) < 5 {
		t.Fatal("the documents of testdata are missing")
	}
	return files
}

// outcome is what a document states, as canonical N-Quads, and the error.
func outcome(r io.Reader, syntax rdf.Syntax, o rdf.Options) string {
	quads, err := readWith(r, syntax, o)
	text := write(quads, rdf.NQuads, nil)
	if err != nil {
		text += err.Error() + "\n"
	}
	return text
}

func write(quads []rdf.Quad, syntax rdf.Syntax, prefixes map[string]string) string {
	var b bytes.Buffer
	w := rdf.NewWriter(&b, syntax, prefixes)
	for _, q := range quads {
		w.Write(q)
	}
	if err := w.Close(); err != nil {
		return "error: " + err.Error()
	}
	return b.String()
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	for _, file := range documents(t) {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		testutil.Golden(t, file+".out", outcome(bytes.NewReader(body), syntaxes[filepath.Ext(file)], rdf.Options{Base: "http://base/d/e"}))
	}
}

func TestDocumentsThatComeByteByByteAreReadAlike(t *testing.T) {
	t.Parallel()
	for _, file := range documents(t) {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		readAlike(t, body, syntaxes[filepath.Ext(file)])
		for cut := 0; cut < len(body); cut += 1 + len(body)/100 {
			readAlike(t, body[:cut], syntaxes[filepath.Ext(file)])
		}
	}
}

// readAlike sees that a document is read the same way, with the same error at the same place, however its bytes arrive.
func readAlike(t testing.TB, body []byte, syntax rdf.Syntax) {
	t.Helper()
	o := rdf.Options{Base: "http://base/d/e"}
	want := outcome(bytes.NewReader(body), syntax, o)
	if got := outcome(iotest.OneByteReader(bytes.NewReader(body)), syntax, o); got != want {
		t.Fatalf("%s, byte by byte:\n%s\nat once:\n%s\nof %q", syntax, got, want, body)
	}
	if got := outcome(iotest.DataErrReader(bytes.NewReader(body)), syntax, o); got != want {
		t.Fatalf("%s, with the end at once:\n%s\nat once:\n%s\nof %q", syntax, got, want, body)
	}
}

func TestErrorsOfTheReaderArePassedOn(t *testing.T) {
	t.Parallel()
	broken := errors.New("the line is broken")
	for name, syntax := range syntaxes {
		starts := []string{"", "<", "<http://a", "# a", "<http://a> <http://b> \"c"}
		if syntax == rdf.RDFXML {
			starts = []string{"", "<", "<a", "<!-- a", "<a b='c", "<!DOCTYPE a [ <!ENTITY b 'c", "<?xml "}
		}
		for _, start := range starts {
			_, err := read(io.MultiReader(strings.NewReader(start), iotest.ErrReader(broken)), syntax, "http://a/")
			if !errors.Is(err, broken) {
				t.Errorf("%s after %q: %v", name, start, err)
			}
		}
	}
}

func TestLabelsAndTheirPrefixes(t *testing.T) {
	t.Parallel()
	const doc = "_:z <http://p> _:y .\n_:y <http://p> _:z .\n"
	for _, c := range []struct {
		o    rdf.Options
		want string
	}{
		{rdf.Options{}, "_:b0 <http://p> _:b1 .\n_:b1 <http://p> _:b0 .\n"},
		{rdf.Options{Blank: "x1n"}, "_:x1n0 <http://p> _:x1n1 .\n_:x1n1 <http://p> _:x1n0 .\n"},
		{rdf.Options{Blank: "x1n", KeepLabels: true}, doc},
	} {
		if got := outcome(strings.NewReader(doc), rdf.NTriples, c.o); got != c.want {
			t.Errorf("%+v: %s", c.o, got)
		}
	}
}

func TestParseEndsWhenItsCallerDoes(t *testing.T) {
	t.Parallel()
	for range rdf.Parse(t.Context(), strings.NewReader(strings.Repeat("_:a <http://p> _:b .\n", 3)+"wrong"), rdf.NQuads, rdf.Options{}) {
		break
	}
	for _, err := range rdf.Parse(t.Context(), strings.NewReader(""), "text/html", rdf.Options{}) {
		if err == nil || !strings.Contains(err.Error(), "text/html") {
			t.Errorf("HTML is read: %v", err)
		}
	}
	if _, err := read(strings.NewReader(""), rdf.Turtle, "a/b"); err == nil {
		t.Error("a relative base is taken")
	}
}

func ExampleParse() {
	doc := strings.NewReader("@prefix foaf: <http://xmlns.com/foaf/0.1/> .\n<#me> foaf:name \"Ελένη\"@el .\n<#me> foaf:knows #you")
	for q, err := range rdf.Parse(context.Background(), doc, rdf.Turtle, rdf.Options{Base: "https://example.org/card"}) {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(q.Subject, q.Predicate, q.Object)
	}
	// Output:
	// <https://example.org/card#me> <http://xmlns.com/foaf/0.1/name> "Ελένη"@el
	// line 3, column 22: expected an object, found the end of the document
}
