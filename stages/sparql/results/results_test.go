package results_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/stages/sparql/results"
)

const awkward = "tab\there \"quoted\", a\\b\r\nnew line <&>' \u2028 \u00e9 \U0001F30D \x7f"

// solutions have each kind of term, and unbound places.
var solutions = &testutil.Solutions{
	Vars: []string{"s", "näme", "o"},
	Rows: [][]webrace.Term{
		{rdf.NewIRI("http://example.org/a?b&c'd"), rdf.NewBlank("b0"), rdf.NewString(awkward)},
		{rdf.NewLangString(awkward, "de-AT"), rdf.NewTyped("4", rdf.XSDInteger), rdf.NewTyped("5.5", rdf.XSDDecimal)},
		{rdf.NewString("\uFEFF\uFFFD\uFFFC"), rdf.NewTyped("1.0E6", rdf.XSDDouble), ""},
		{rdf.NewTyped("x", rdf.XSDInteger), rdf.NewTyped("1.", rdf.XSDDecimal), rdf.NewTyped("a7", "http://t/")},
		{"", "", ""},
		{rdf.NewTyped("true", rdf.XSDBoolean), rdf.NewString("true"), rdf.NewString("")},
	},
}

func write(t testing.TB, f results.Format, r *testutil.Solutions) []byte {
	t.Helper()
	var b bytes.Buffer
	if r.Boolean != nil {
		if err := results.WriteBoolean(&b, f, *r.Boolean); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	w, err := results.NewWriter(&b, f, r.Vars)
	for _, row := range r.Rows {
		err = errors.Join(err, w.Write(row))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// texts returns solutions as CSV has them.
func texts(r *testutil.Solutions) *testutil.Solutions {
	plain := &testutil.Solutions{Vars: r.Vars}
	for _, row := range r.Rows {
		var terms []webrace.Term
		for _, t := range row {
			switch {
			case rdf.KindOf(t) == rdf.Blank:
				terms = append(terms, t)
			case rdf.Value(t) == "": // an empty text is as one that is unbound
				terms = append(terms, "")
			default:
				terms = append(terms, rdf.NewString(rdf.Value(t)))
			}
		}
		plain.Rows = append(plain.Rows, terms)
	}
	return plain
}

func TestWhatIsWrittenReadsBackTheSame(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for _, want := range []*testutil.Solutions{
		solutions,
		{Vars: []string{"a"}},
		{Vars: []string{"a"}, Rows: [][]webrace.Term{{""}, {rdf.NewString("x")}, {""}}},
		{Rows: [][]webrace.Term{{}, {}}}, // SELECT * without a variable
		{},
		{Boolean: &yes},
		{Boolean: &no},
	} {
		for _, f := range results.Formats {
			if f == results.CSV && want.Boolean != nil {
				if err := results.WriteBoolean(new(bytes.Buffer), f, true); err == nil {
					t.Error("CSV has a boolean")
				}
				continue
			}
			written := write(t, f, want)
			got, err := testutil.ReadSolutions(t, written, string(f))
			if err != nil {
				t.Errorf("%s is not read back: %v\n%s", f, err, written)
				continue
			}
			expected := want
			if f == results.CSV {
				expected = texts(want)
			}
			if !same(got, expected) {
				t.Errorf("%s is read back as %+v, want %+v\n%s", f, got, expected, written)
			}
		}
	}
}

// same compares results; no variables or rows are as none.
func same(a, b *testutil.Solutions) bool {
	if len(a.Vars) != len(b.Vars) || len(a.Rows) != len(b.Rows) || !reflect.DeepEqual(a.Boolean, b.Boolean) {
		return false
	}
	for i := range a.Rows {
		if len(a.Rows[i])+len(b.Rows[i]) > 0 && !reflect.DeepEqual(a.Rows[i], b.Rows[i]) {
			return false
		}
	}
	return len(a.Vars) == 0 || reflect.DeepEqual(a.Vars, b.Vars)
}

func TestFormsAreThoseOfTheRecommendations(t *testing.T) {
	t.Parallel()
	r := &testutil.Solutions{Vars: []string{"x", "y"}, Rows: [][]webrace.Term{
		{rdf.NewIRI("http://a/"), rdf.NewTyped("-4", rdf.XSDInteger)},
		{"", rdf.NewLangString("a,\"b\"\x01\uFFFE", "en")},
	}}
	for f, want := range map[results.Format]string{
		results.JSON: `{"head":{"vars":["x","y"]},"results":{"bindings":[
{"x":{"type":"uri","value":"http://a/"},"y":{"type":"literal","value":"-4","datatype":"` + rdf.XSDInteger + `"}},
{"y":{"type":"literal","value":"a,\"b\"\u0001` + "\uFFFE" + `","xml:lang":"en"}}
]}}
`,
		results.XML: `<?xml version="1.0"?>
<sparql xmlns="http://www.w3.org/2005/sparql-results#">
<head><variable name="x"/><variable name="y"/></head>
<results>
<result><binding name="x"><uri>http://a/</uri></binding><binding name="y"><literal datatype="` + rdf.XSDInteger +
			`">-4</literal></binding></result>
<result><binding name="y"><literal xml:lang="en">a,&quot;b&quot;` + "\uFFFD\uFFFD" + `</literal></binding></result>
</results>
</sparql>
`,
		results.CSV: "x,y\r\nhttp://a/,-4\r\n,\"a,\"\"b\"\"\x01\uFFFE\"\r\n",
		results.TSV: "?x\t?y\n<http://a/>\t-4\n\t\"a,\\\"b\\\"\\u0001\uFFFE\"@en\n",
	} {
		if got := string(write(t, f, r)); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", f, got, want)
		}
	}
}

// A reader of JSON or XML must not take a part for the whole.
func TestAPartIsNotTakenForTheWhole(t *testing.T) {
	t.Parallel()
	for _, f := range []results.Format{results.JSON, results.XML} {
		whole := write(t, f, solutions)
		for n := range len(bytes.TrimSpace(whole)) {
			if _, err := testutil.ReadSolutions(t, whole[:n], string(f)); err == nil {
				t.Fatalf("%s is read without its last %d bytes", f, len(whole)-n)
			}
		}
	}
}

// counter counts what is written to it, and can break.
type counter struct{ calls, bytes, limit int }

var errFull = errors.New("no room")

func (c *counter) Write(b []byte) (int, error) {
	c.calls++
	c.bytes += len(b)
	if c.limit > 0 && c.bytes > c.limit {
		return 0, errFull
	}
	return len(b), nil
}

func TestRowsAreWrittenAsTheyCome(t *testing.T) { // not parallel: it counts allocations
	for _, f := range results.Formats {
		var c counter
		w, err := results.NewWriter(&c, f, []string{"a"})
		if err != nil {
			t.Fatal(err)
		}
		row := []webrace.Term{rdf.NewString(strings.Repeat("x", 100))}
		kept := testing.AllocsPerRun(2000, func() { err = errors.Join(err, w.Write(row)) })
		if err != nil || c.calls < 5 || c.calls > 100 {
			t.Errorf("%s: 2,000 rows of 100 bytes are written in %d calls, %v", f, c.calls, err)
		}
		if kept > 1 { // the text of XML
			t.Errorf("%s allocates %f times a row", f, kept)
		}
	}
	c := counter{limit: 1000}
	w, _ := results.NewWriter(&c, results.TSV, []string{"a"})
	for range 3000 {
		w.Write([]webrace.Term{`"a text"`})
	}
	if calls := c.calls; !errors.Is(w.Close(), errFull) || c.calls != calls {
		t.Error("a writer goes on after an error")
	}
	w, _ = results.NewWriter(&c, results.TSV, []string{"a"})
	if w.Write(nil) == nil || w.Close() == nil {
		t.Error("a solution without the terms of all variables is written")
	}
}

// What the files of the W3C suites have is read back the same when it is written.
func TestW3CResultFiles(t *testing.T) {
	t.Parallel()
	dir := testutil.W3CSuite(t, "rdf-tests/sparql")
	formats := map[string]results.Format{".srj": results.JSON, ".srx": results.XML, ".csv": results.CSV, ".tsv": results.TSV}
	n := 0
	for _, pattern := range []string{"sparql10/*/*.srx", "sparql11/*/*.sr[xj]", "sparql11/*/*.[ct]sv"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			f := formats[filepath.Ext(file)]
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := testutil.ReadSolutions(t, body, string(f))
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			again, err := testutil.ReadSolutions(t, write(t, f, got), string(f))
			if err != nil || !same(got, again) {
				t.Errorf("%s: is read back as %+v, %v, want %+v", file, again, err, got)
			}
			n++
		}
	}
	if n < 80 {
		t.Errorf("%d files of results, want at least 80", n)
	}
}
