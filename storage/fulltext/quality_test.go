package fulltext

import (
	"context"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
)

const (
	pythonDocs = "/usr/share/doc/python3.11/html"
	pythonHome = "https://docs.example.org/3.11/"
)

// pages calls yield for each page of the documentation of Python as a crawl would bring it.
func pages(t testing.TB, yield func(Document)) {
	t.Helper()
	if _, err := os.Stat(pythonDocs); err != nil {
		t.Skip("needs the documentation of Python: apt-get install python3.11-doc")
	}
	err := filepath.WalkDir(pythonDocs, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || filepath.Ext(path) != ".html" {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(pythonDocs, path)
		if err != nil {
			return err
		}
		d, _, err := FromDocument(&webrace.Document{
			URL: pythonHome + filepath.ToSlash(name), Version: 1, Body: body, At: day,
			Header: http.Header{"Content-Type": {"text/html"}},
		})
		if err == nil {
			yield(d)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// known are queries of which the best page is known, or those of several that are.
var known = map[string]string{
	"list comprehension":         "tutorial/datastructures.html",
	"asyncio event loop":         "library/asyncio-eventloop.html",
	"json dumps indent":          "library/json.html",
	"with statement":             "reference/compound_stmts.html",
	"for statement":              "tutorial/controlflow.html reference/compound_stmts.html",
	"regular expression":         "library/re.html howto/regex.html",
	"regular expression syntax":  "library/re.html",
	"read csv file":              "library/csv.html",
	"context manager":            "library/contextlib.html",
	"garbage collector":          "library/gc.html",
	"subprocess popen":           "library/subprocess.html",
	"abstract base class":        "library/abc.html",
	"namedtuple":                 "library/collections.html",
	"logging handlers":           "library/logging.handlers.html",
	"unicode":                    "howto/unicode.html",
	"decimal rounding":           "library/decimal.html",
	"virtual environment":        "library/venv.html tutorial/venv.html",
	"parsing command line":       "library/argparse.html",
	"http server":                "library/http.server.html",
	"sorting":                    "howto/sorting.html",
	"operator precedence":        "reference/expressions.html",
	"os.path join":               "library/os.path.html",
	"reference counting":         "c-api/refcounting.html",
	"formatted string literals":  "reference/lexical_analysis.html",
	"temporary file":             "library/tempfile.html",
	"thread lock":                "library/threading.html",
	"exception hierarchy":        "library/exceptions.html",
	"installing modules":         "installing/index.html",
	"what's new in python 3.9":   "whatsnew/3.9.html",
	"datetime strftime format":   "library/datetime.html",
	"sqlite3":                    "library/sqlite3.html",
	"generator expression":       "reference/expressions.html",
	"type hints":                 "library/typing.html",
	"random numbers":             "library/random.html",
	"garbage collection weakref": "library/weakref.html",
	"itertools permutations":     "library/itertools.html",
	"global interpreter lock":    "glossary.html c-api/init.html",
}

func TestTheBestPagesOfRealDocumentationAreAmongTheFirst(t *testing.T) {
	if testing.Short() {
		t.Skip("a lot to compute, in one goroutine: not in short mode")
	}
	t.Parallel()
	s, err := Open(filepath.Join(t.TempDir(), "fulltext"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	fillWithPages(t, s)
	first, reciprocal := 0, 0.0
	for query, best := range known {
		place, found := placeOf(t.Context(), t, s, query, strings.Fields(best))
		if place > 5 {
			t.Errorf("%s: %s is number %d of %s", query, best, place, strings.Join(found, " "))
		}
		if place == 1 {
			first++
		}
		reciprocal += 1 / float64(place) / float64(len(known))
	}
	t.Logf("the best page is the first for %d of %d queries; mean reciprocal rank %.2f", first, len(known), reciprocal)
}

func fillWithPages(t testing.TB, s *Store) {
	t.Helper()
	var all []Document
	pages(t, func(d Document) { all = append(all, d) })
	if err := s.Index(t.Context(), all); err != nil {
		t.Fatal(err)
	}
}

// placeOf returns at which place of the answer one of some pages is, and what the first are.
func placeOf(ctx context.Context, t testing.TB, s *Store, query string, best []string) (place int, found []string) {
	t.Helper()
	r, err := s.Search(ctx, Query{Text: query, Size: 100})
	if err != nil {
		t.Fatal(err)
	}
	place = 1000
	for i, hit := range r.Hits {
		name := strings.TrimPrefix(hit.URL, pythonHome)
		if i < 5 {
			found = append(found, name)
		}
		if place == 1000 && slices.Contains(best, name) {
			place = i + 1
		}
	}
	return place, found
}
