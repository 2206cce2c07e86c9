package sparql_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/stages/sparql/results"
)

// TestCases holds the answers of testdata/cases.txt over testdata/data.trig: each case has a name, a query and, behind
// a line of dashes, its answer.
func TestCases(t *testing.T) {
	t.Parallel()
	data := sparql.NewMemory(nil)
	body, err := os.Open("testdata/data.trig")
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	for q, err := range rdf.Parse(t.Context(), body, rdf.TriG, rdf.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		data.Add(q)
	}
	text, err := os.ReadFile("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	anew := &strings.Builder{}
	for _, one := range strings.Split(string(text), "=== ")[1:] {
		name, rest, _ := strings.Cut(one, "\n")
		query, want, _ := strings.Cut(rest, "---\n")
		got := answer(t, query, data)
		fmt.Fprintf(anew, "=== %s\n%s---\n%s", name, query, got)
		if got != want && !testutil.Update() {
			t.Errorf("%s:\n%sis\n%swant\n%s", name, query, got, want)
		}
	}
	if testutil.Update() {
		testutil.Golden(t, "testdata/cases.txt", anew.String())
	}
}

// answer returns solutions as TSV, triples as sorted lines, or a boolean.
func answer(t *testing.T, text string, data sparql.Dataset) string {
	t.Helper()
	query, err := sparql.Parse(text, "")
	if err != nil {
		return err.Error() + "\n"
	}
	got, err := query.Run(t.Context(), data, sparql.Limits{})
	if err != nil {
		return err.Error() + "\n"
	}
	switch got.Form {
	case sparql.Ask:
		return fmt.Sprintln(got.Boolean)
	case sparql.Select:
		b := &bytes.Buffer{}
		w, err := results.NewWriter(b, results.TSV, got.Vars)
		if err != nil {
			t.Fatal(err)
		}
		for row, err := range got.Solutions() {
			if err != nil {
				return err.Error() + "\n"
			}
			if err := w.Write(row); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	default:
		var lines []string
		for triple, err := range got.Triples() {
			if err != nil {
				return err.Error() + "\n"
			}
			lines = append(lines, fmt.Sprintln(triple.Subject, triple.Predicate, triple.Object))
		}
		slices.Sort(lines)
		return strings.Join(lines, "")
	}
}
