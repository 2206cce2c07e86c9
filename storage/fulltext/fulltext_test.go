package fulltext

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var day = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// library has one document for each thing that queries tell apart; its keys are the hosts.
var library = map[string]Document{
	"english": {Language: "en-GB", Type: "text/html", Date: day, Title: "The state of the art", Body: "Annotations of crawled documents, by Dijkstra's algorithm. Café."},
	"greek":   {Language: "el", Type: "text/html", Date: day.AddDate(0, 0, 1), Title: "Θεσσαλονίκη", Body: "Οι υπολογιστές της Θεσσαλονίκης και η ΈΡΕΥΝΑ."},
	"plain":   {Type: "text/plain", Headings: "Pebbles", Body: "state art of the. documents crawled"},
	"number":  {Body: "In 2001 there were 17 of them"},
}

func urlOf(name string) string { return "http://" + name + "/A?b=c" }

func filled(t *testing.T) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "fulltext"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	var all []Document
	for name, d := range library {
		d.URL, d.Version = urlOf(name), 1
		all = append(all, d)
	}
	if err := s.Index(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	return s
}

// find returns the hosts of the hits, sorted.
func find(t *testing.T, s *Store, text string) string {
	t.Helper()
	r, err := s.Search(t.Context(), Query{Text: text})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var hosts []string
	for _, hit := range r.Hits {
		hosts = append(hosts, strings.TrimSuffix(strings.TrimPrefix(hit.URL, "http://"), "/A?b=c"))
	}
	slices.Sort(hosts)
	if int(r.Total) != len(hosts) {
		t.Errorf("%s: %d hits of %d", text, len(hosts), r.Total)
	}
	return strings.Join(hosts, " ")
}

func TestQueries(t *testing.T) {
	s := filled(t)
	for query, want := range map[string]string{
		"annotation":               "english", // another form
		"ANNOTATED":                "english",
		"cafe":                     "english",
		"dijkstra":                 "english",
		"documents":                "english plain",
		"θεσσαλονικη":              "greek", // accents, and the title's nominative
		"ΘΕΣΣΑΛΟΝΊΚΗΣ":             "greek", // capitals, and a final sigma
		"υπολογιστής":              "greek",
		"έρευνας":                  "greek",
		`"state of the art"`:       "english",
		`"state art"`:              "plain",
		`"crawled documents"`:      "english",
		`"crawling document"`:      "english",
		`"documents crawled"`:      "plain",
		"+documents -pebbles":      "english",
		"+documents +café":         "english",
		"dijkstra pebble":          "english plain",
		"annotat*":                 "english", // longer than the stem
		"υπολογιστ*":               "greek",
		"ΥΠΟΛΟΓΊΣΤ*":               "greek",
		"di?kstra":                 "english",
		"dijkstar~2":               "english",
		"title:art":                "english",
		"body:art":                 "plain",
		"headings:pebble":          "plain",
		"host:GREEK":               "greek",
		"language:el":              "greek",
		"language:en-gb":           "english",
		"language:en*":             "english",
		`type:"text/plain"`:        "plain",
		"type:text*":               "english greek plain",
		`url:"http://greek/A?b=c"`: "greek",
		`date:>="2026-11-21"`:      "greek",
		`date:<"2026-11-21"`:       "english",
		"2001":                     "number",
		"17":                       "number",
		"version:1":                "english greek number plain",
		"version:>1":               "",
		"*":                        "english greek number plain",
		"-documents":               "greek number",
		"nowhere":                  "",
		"the":                      "", // a stop word alone
		"title:art^3 documents":    "english plain",
		`"dijkstra's algorithm"`:   "english",
	} {
		if got := find(t, s, query); got != want {
			t.Errorf("%s finds %q, want %q", query, got, want)
		}
	}
}

func TestBadQueriesSayWhatIsWrong(t *testing.T) {
	s := filled(t)
	for query, want := range map[string]string{
		"":                           "empty",
		" \n":                        "empty",
		`"open phrase`:               "",
		"+":                          "",
		"foo:bar":                    "there is no field foo",
		"http://example.org/":        "there is no field http",
		"a*":                         "at least 2 letters",
		"*bc":                        "at least 2 letters",
		"α*":                         "at least 2 letters",
		"/a.*/":                      "regular expressions",
		"abc~7":                      "at most 2 letters",
		`date:>"yesterday"`:          "invalid time",
		"host:*":                     "at least 2 letters",
		strings.Repeat("word ", 999): "longer than",
	} {
		_, err := s.Search(t.Context(), Query{Text: query})
		if !errors.Is(err, ErrQuery) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.50q: %v, want %q", query, err, want)
		}
	}
	for _, q := range []Query{{Size: -1}, {From: -1}, {Size: 1, From: maxReach}, {Size: 1 << 62, From: 1 << 62}, {Facets: -1}} {
		q.Text = "documents"
		if _, err := s.Search(t.Context(), q); !errors.Is(err, ErrQuery) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

func TestResults(t *testing.T) {
	s := filled(t)
	r, err := s.Search(t.Context(), Query{Text: "art", Facets: 5})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Hits) != 2 || r.Hits[0].URL != urlOf("english") || r.Hits[0].Title != "The state of the art" || r.Hits[0].Version != 1 ||
		r.Hits[0].Score <= r.Hits[1].Score {
		t.Errorf("hits are %+v, want the one with the word in its title first", r.Hits)
	}
	want := map[string][]Count{
		"host": {{"english", 1}, {"plain", 1}}, "language": {{"en-gb", 1}}, "type": {{"text/html", 1}, {"text/plain", 1}},
	}
	if fmt.Sprint(r.Facets) != fmt.Sprint(want) {
		t.Errorf("facets are %v, want %v", r.Facets, want)
	}
	second, err := s.Search(t.Context(), Query{Text: "art", Size: 1, From: 1})
	if err != nil || len(second.Hits) != 1 || second.Hits[0] != r.Hits[1] || second.Total != 2 || second.Facets != nil {
		t.Errorf("second page is %+v, %v", second, err)
	}
}

func TestIndexingAgainChangesNothingAndTheNewestVersionStays(t *testing.T) {
	s := filled(t)
	v := func(n int, body string) Document { return Document{URL: "http://x/", Version: n, Body: body} }
	for _, batch := range [][]Document{
		{v(1, "alpha"), v(3, "gamma"), v(2, "beta")},
		{v(2, "beta")}, {v(1, "alpha"), v(2, "beta")}, {v(3, "gamma")}, {},
	} {
		if err := s.Index(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Count(); err != nil || int(n) != len(library)+1 {
			t.Errorf("%d documents, %v", n, err)
		}
		r, err := s.Search(t.Context(), Query{Text: "alpha beta gamma"})
		if err != nil || len(r.Hits) != 1 || r.Hits[0].Version != 3 {
			t.Fatalf("found %+v, %v", r.Hits, err)
		}
	}
	if err := s.Delete(t.Context(), []string{"http://x/", "http://never/"}); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Count(); err != nil || int(n) != len(library) {
		t.Errorf("%d documents after deleting, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Index(ctx, []Document{v(9, "x")}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled Index: %v", err)
	}
}

// copyAtOneMoment copies a directory in which files come and go, as the index merges its segments: until
// none has done so meanwhile.
func copyAtOneMoment(t *testing.T, to, from string) {
	t.Helper()
	for range 1000 {
		before := listing(t, from)
		err := os.CopyFS(to, os.DirFS(from))
		if err == nil && slices.Equal(before, listing(t, from)) {
			return
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the index never comes to rest")
}

func listing(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if info, err := d.Info(); err == nil {
			files = append(files, fmt.Sprint(path, info.Size(), info.ModTime()))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// What Index acknowledged is on the disk, not on its way there: a copy of the files made right after it
// is what kill -9 would leave.
func TestWhatWasIndexedSurvivesAKill(t *testing.T) {
	s := filled(t)
	for i := range 5 {
		if err := s.Index(t.Context(), []Document{{URL: fmt.Sprint("http://more/", i), Body: "more"}}); err != nil {
			t.Fatal(err)
		}
		left := filepath.Join(t.TempDir(), "copy")
		copyAtOneMoment(t, left, s.path)
		after, err := Open(left, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := after.Count(); err != nil || int(n) != len(library)+i+1 {
			t.Errorf("%d documents, %v", n, err)
		}
		if got := find(t, after, "+annotations"); got != "english" {
			t.Errorf("found %q", got)
		}
		after.Close()
	}
}

func TestReopen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fulltext")
	for i := range 3 {
		s, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := s.Count(); err != nil || int(n) != i {
			t.Errorf("%d documents, %v", n, err)
		}
		if err := s.Index(t.Context(), []Document{{URL: fmt.Sprint("http://", i), Body: "same"}}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOpenMakesAnIndexWhereACrashLeftHalfOfOne(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fulltext")
	for _, half := range []string{dir, dir + ".new/store"} { // an empty directory, and one that was being made
		if err := os.MkdirAll(half, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

func TestADamagedIndexIsRefusedWithAClearError(t *testing.T) {
	for name, damage := range map[string]func(dir string) error{
		"no metadata":  func(dir string) error { return os.Remove(filepath.Join(dir, "index_meta.json")) },
		"bad metadata": func(dir string) error { return os.WriteFile(filepath.Join(dir, "index_meta.json"), []byte("{"), 0o644) },
		"no root": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "store", "root.bolt"), []byte("garbage"), 0o644)
		},
		"no segments":   func(dir string) error { return eachSegment(dir, os.Remove) },
		"torn segments": func(dir string) error { return eachSegment(dir, func(p string) error { return os.Truncate(p, 10) }) },
	} {
		t.Run(name, func(t *testing.T) {
			s := filled(t)
			dir := filepath.Join(t.TempDir(), "copy")
			copyAtOneMoment(t, dir, s.path)
			if err := damage(dir); err != nil {
				t.Fatal(err)
			}
			opened, err := Open(dir, Options{})
			if err == nil {
				opened.Close()
			}
			if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), dir) {
				t.Errorf("opened: %v", err)
			}
		})
	}
}

func eachSegment(dir string, do func(path string) error) error {
	paths, err := filepath.Glob(filepath.Join(dir, "store", "*.zap"))
	if len(paths) == 0 {
		err = errors.Join(err, errors.New("there are no segments"))
	}
	for _, p := range paths {
		err = errors.Join(err, do(p))
	}
	return err
}

func TestAnotherFormatIsRefused(t *testing.T) {
	s := filled(t)
	if err := s.index.SetInternal(formatKey, []byte("0")); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, err := Open(s.path, Options{}); !errors.Is(err, ErrFormat) {
		t.Errorf("opened: %v", err)
	}
}

func TestFragment(t *testing.T) {
	far := strings.Repeat("nothing here ", 40)
	for _, c := range []struct{ text, query, want string }{
		{"Annotations of the documents.", "annotate", "«Annotations» of the documents."},
		{"Οι υπολογιστές της Θεσσαλονίκης", "ΘΕΣΣΑΛΟΝΙΚΗ", "Οι υπολογιστές της «Θεσσαλονίκης»"},
		{"one two three", `"two three" -one`, "one «two» «three»"},
		{"crawlers and craws", "crawl*", "«crawlers» and craws"},
		{"one\n\n two", "host:one +two", "one «two»"},
		{"the words", "the", "the words"},
		{"no hit", "other", "no hit"},
		{"bad query", `"bad`, "bad query"},
		{"", "x", ""},
		{"...", "x", ""},
	} {
		if got := Fragment(c.text, c.query); got != c.want {
			t.Errorf("Fragment(%q, %q) is %q, want %q", c.text, c.query, got, c.want)
		}
	}
	got := Fragment(far+"alpha "+far+"the alpha and the beta "+far, "alpha beta")
	if !strings.Contains(got, "the «alpha» and the «beta» nothing") || !strings.HasPrefix(got, "… ") || !strings.HasSuffix(got, " …") {
		t.Errorf("of two places, %q is shown", got)
	}
	if got := Fragment(far, "beta"); got != strings.Join(strings.Fields(far)[:fragmentWords], " ")+" …" {
		t.Errorf("without a hit: %q", got)
	}
}

func FuzzFragment(f *testing.F) {
	f.Add("Annotations of the documents in Θεσσαλονίκη 東京都", `annotate "of the" 東京 θεσσ* x~1 host:y`)
	f.Add(strings.Repeat("a b ", 99), "+b^2 -a")
	f.Fuzz(func(t *testing.T, text, query string) {
		if strings.ContainsAny(text, "«»…") {
			return
		}
		got := Fragment(text, query)
		plain := strings.NewReplacer("«", "", "»", "", "… ", "", " …", "").Replace(got)
		if !strings.Contains(strings.Join(strings.Fields(text), " "), strings.TrimSpace(plain)) {
			t.Errorf("%q is no part of %q", plain, text)
		}
		if strings.Count(got, "«") != strings.Count(got, "»") || utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("fragment is %q", got)
		}
	})
}

// FuzzParse: no query panics, and each is either refused as one or can be searched with.
func FuzzParse(f *testing.F) {
	s, err := Open(filepath.Join(f.TempDir(), "fulltext"), Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	if err := s.Index(f.Context(), []Document{{URL: "http://a/", Version: 1, Body: "alpha beta"}}); err != nil {
		f.Fatal(err)
	}
	for _, q := range []string{`+a -b "c d"~2 e*^3 title:f 17 date:>"2026-01-01" version:<=3 x~1`, "*", `\:`, "host:a*", `""`} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := s.Search(t.Context(), Query{Text: text}); err != nil && !errors.Is(err, ErrQuery) {
			t.Errorf("%q: %v", text, err)
		}
	})
}

func TestEachListsAllInOrderAndDeleteVersionsSparesNewerOnes(t *testing.T) {
	t.Parallel()
	s, err := Open(filepath.Join(t.TempDir(), "fulltext"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const n = 2*eachPage + 7
	var documents []Document
	for i := range n {
		documents = append(documents, Document{URL: fmt.Sprintf("http://x/%05d", n-i), Version: 1 + i%3, Body: "tea"})
	}
	if err := s.Index(t.Context(), documents); err != nil {
		t.Fatal(err)
	}
	list := func() (all []Indexed) {
		for d, err := range s.Each(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, d)
		}
		return all
	}
	for i, d := range list() {
		if want := documents[n-1-i]; d.URL != want.URL || d.Version != want.Version {
			t.Fatalf("at %d: %+v, want %s version %d", i, d, want.URL, want.Version)
		}
	}
	highest := map[string]int{"http://never/": 9}
	for _, d := range documents {
		highest[d.URL] = 2
	}
	if err := s.DeleteVersions(t.Context(), highest); err != nil {
		t.Fatal(err)
	}
	left := list()
	if len(left) != n/3 {
		t.Errorf("%d documents are left, want %d", len(left), n/3)
	}
	for _, d := range left {
		if d.Version != 3 {
			t.Errorf("%+v is left", d)
		}
	}
}
