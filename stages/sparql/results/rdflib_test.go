package results_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/stages/sparql/results"
)

// readByRdflib reads a file in each format that is named as its suffix, and writes a line a term: the variable, and
// what the term is.
const readByRdflib = `
import sys, rdflib
from rdflib.query import Result
rdflib.NORMALIZE_LITERALS = False
for name in sys.argv[1:]:
    print(name.rsplit(".", 1)[1])
    with open(name, "rb") as f:
        r = Result.parse(f, format=name.rsplit(".", 1)[1])
    for b in r.bindings:
        for v in r.vars:
            if b.get(v) is not None:
                t = b[v]
                print(v, type(t).__name__, repr(str(t)), getattr(t, "language", None), getattr(t, "datatype", None))
        print("-")
`

// rdflib reads all formats as what was written.
func TestRdflibReadsWhatIsWritten(t *testing.T) {
	t.Parallel()
	python := testutil.Python(t, "rdflib", "python3-rdflib")
	r := &testutil.Solutions{Vars: []string{"a", "b"}, Rows: [][]webrace.Term{
		{rdf.NewIRI("http://example.org/?a=b&c"), rdf.NewString("tab\t, <b> & \"quoted\"\nline \\ é")},
		{"", rdf.NewLangString("Straße", "de")},
		{rdf.NewTyped("4", rdf.XSDInteger), rdf.NewTyped("5.5", rdf.XSDDecimal)},
		{rdf.NewTyped("1.0E6", rdf.XSDDouble), rdf.NewTyped("x", "http://t/")},
	}}
	const text = `'tab\t, <b> & "quoted"\nline \\ é'`
	const want = "a URIRef 'http://example.org/?a=b&c' None None\nb Literal " + text + " None None\n-\n" +
		"b Literal 'Straße' de None\n-\n" +
		"a Literal '4' None " + rdf.XSDInteger + "\nb Literal '5.5' None " + rdf.XSDDecimal + "\n-\n" +
		"a Literal '1.0E6' None " + rdf.XSDDouble + "\nb Literal 'x' None http://t/\n-\n"
	arguments := []string{"-c", readByRdflib}
	expected := ""
	for _, f := range []struct {
		suffix string
		format results.Format
	}{{"json", results.JSON}, {"xml", results.XML}, {"tsv", results.TSV}} {
		file := filepath.Join(t.TempDir(), "results."+f.suffix)
		if err := os.WriteFile(file, write(t, f.format, r), 0o600); err != nil {
			t.Fatal(err)
		}
		arguments = append(arguments, file)
		expected += f.suffix + "\n" + want
	}
	out, err := exec.Command(python, arguments...).CombinedOutput()
	got := strings.ReplaceAll(string(out), "None "+rdf.XSDString, "None None")
	if err != nil || got != expected {
		t.Errorf("rdflib reads\n%s%v\nwant\n%s", got, err, expected)
	}
}
