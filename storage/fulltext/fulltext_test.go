package fulltext

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var day = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// library has one document for each thing that queries tell apart; its keys are the hosts.
var library = map[string]Document{
	"english": {Language: "en-GB", Type: "text/html", Date: day, Title: "The state of the art", Body: "Annotations of crawled documents, by Dijkstra's algorithm. Café."},
	"greek":   {Language: "el", Type: "text/html", Date: day.AddDate(0, 0, 1), Title: "Θεσσαλονίκη", Body: "Οι υπολογιστές της Θεσσαλονίκης και η ΈΡΕΥΝΑ."},
	"plain":   {Type: "text/plain", Headings: "Pebbles", Body: "state art of the. documents crawled"},
	"number":  {Body: "In 2001 there were 17 of them. omega" + BlockEnd + "psi", Navigation: "sidebar"},

	"german": {Language: "de", Body: "Häuser und Drucker"},

	"example.org": {}, "www.example.org": {},
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
	r, err := s.Search(t.Context(), Query{Text: text, Now: day.AddDate(0, 0, 2)})
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
		"annotation":                      "english", // another form
		"ANNOTATED":                       "english",
		"cafe":                            "english",
		"dijkstra":                        "english",
		"documents":                       "english plain",
		"θεσσαλονικη":                     "greek", // accents, and the title's nominative
		"ΘΕΣΣΑΛΟΝΊΚΗΣ":                    "greek", // capitals, and a final sigma
		"υπολογιστής":                     "greek",
		"έρευνας":                         "greek",
		`"state of the art"`:              "english",
		"“state of the art”":              "english",
		`"state art"`:                     "plain",
		`"crawled documents"`:             "english",
		`"crawling document"`:             "english",
		`"documents crawled"`:             "plain",
		"state-of-the-art":                "english",
		"documents art":                   "english plain",
		"documents pebbles":               "plain",
		"documents AND pebbles":           "plain",
		"dijkstra pebble":                 "english plain", // none has both
		"dijkstra AND pebble":             "",
		"dijkstra OR pebble":              "english plain",
		"dijkstra pebble -café":           "plain",
		"dijkstra pebble lang:en":         "english",
		"+documents pebble":               "english plain",
		"+documents +pebble":              "plain",
		"+documents -pebbles":             "english",
		"documents NOT pebbles":           "english",
		"documents -(pebbles OR nothing)": "english",
		"(dijkstra OR pebble) documents":  "english plain",
		"(dijkstra OR έρευνα) documents":  "english",
		"annotat*":                        "english", // longer than the stem
		"υπολογιστ*":                      "greek",
		"ΥΠΟΛΟΓΊΣΤ*":                      "greek",
		"title:sta*":                      "english",
		"dijkstar~2":                      "english",
		"dijkstar~":                       "english", // two letters in the wrong order
		"dikjstar~":                       "",
		"dijkstr~":                        "english",
		"title:art":                       "english",
		"title:(art state)":               "english",
		`title:"the state"`:               "english",
		"body:art":                        "plain",
		"body:(state OR dijkstra)":        "english plain",
		"headings:pebble":                 "plain",
		"heading:pebble":                  "plain",
		"host:GREEK":                      "greek",
		"host:*.example.org":              "example.org www.example.org",
		"host:example.org":                "example.org",
		"lang:el":                         "greek",
		"language:en-gb":                  "english",
		"lang:EN":                         "english",
		"lang:e":                          "",
		`type:"text/plain"`:               "plain",
		"type:text/*":                     "english greek plain",
		"type:html":                       "english greek",
		"type:text":                       "",
		`url:"http://greek/A?b=c"`:        "greek",
		"url:http://greek/*":              "greek",
		"url:greek/a":                     "greek",
		"date:2026-11-21":                 "greek",
		"date:2026":                       "english greek",
		"date:2025":                       "",
		"after:2026-11-21":                "greek",
		"before:2026-11-21":               "english",
		"after:2026 before:2027":          "english greek",
		"after:1d":                        "greek",
		"before:2d":                       "",
		"2001":                            "number",
		"17":                              "number",
		"haus":                            "german", // by the rules of the language of the text
		"druckern":                        "german",
		"häuser":                          "german",
		"*":                               "english example.org german greek number plain www.example.org",
		"-documents":                      "example.org german greek number www.example.org",
		"NOT documents host:greek":        "greek",
		"nowhere":                         "",
		"of":                              "english", // a stop word alone: titles have it
		"the of dijkstra":                 "english",
		`"dijkstra's algorithm"`:          "english",
		"documents: - pebbles":            "plain",
		"std::documents":                  "",
		"documents()":                     "english plain",
		"17 them":                         "number",
		"sidebar":                         "number",
		"omega psi":                       "number",
		`"omega psi"`:                     "", // in two blocks
		"or and not documents":            "english plain",
	} {
		if got := find(t, s, query); got != want {
			t.Errorf("%s finds %q, want %q", query, got, want)
		}
	}
}

func TestFiltersBesideTheQuery(t *testing.T) {
	s := filled(t)
	for _, c := range []struct {
		query Query
		want  int
	}{
		{Query{Hosts: []string{"greek", "plain"}}, 2},
		{Query{Hosts: []string{"greek", "plain"}, Types: []string{"html"}}, 1},
		{Query{Languages: []string{"el", "en"}}, 2},
		{Query{Languages: []string{"fr"}}, 0},
	} {
		c.query.Text = "*"
		if r, err := s.Search(t.Context(), c.query); err != nil || int(r.Total) != c.want {
			t.Errorf("%+v finds %d, want %d: %v", c.query, r.Total, c.want, err)
		}
	}
}

func TestBadQueriesSayWhatIsWrongAndWhere(t *testing.T) {
	s := filled(t)
	for query, want := range map[string]string{
		"":                            "column 1: it is empty",
		" \n":                         "column 1: it is empty",
		"\xff":                        "column 1: it is no UTF-8",
		`ü "open phrase`:              "column 3: this quote is not closed",
		"+":                           "column 1: there is no word",
		"()":                          "column 1: there is no word",
		"foo:bar":                     "column 1: there is no field foo (fields are title",
		"a tilte:bar":                 "column 3: there is no field tilte, did you mean title?",
		`foo:"bar"`:                   "column 1: there is no field foo",
		"title: x":                    "column 1: title: wants a value right behind the colon, as in title:word",
		"a*":                          "column 1: at least 2 letters",
		"α*":                          "column 1: at least 2 letters",
		"x ab*c":                      "column 5: * can only stand at the end",
		"abc~7":                       "column 4: ~7: at least 1 and at most 2 letters",
		"abc~0":                       "column 4: ~0",
		"a.bc~1":                      "column 5: ~ belongs behind a single word",
		`"a b"~2`:                     "column 6: ~ belongs behind a single word",
		"date:yesterday":              "column 1: date:yesterday: write date:2026",
		"date:2026-13":                "column 1: date:2026-13: write",
		"after:soon":                  "column 1: after:soon: write after:2026-01-31 or after:7d",
		"host:*":                      "column 1: host:*: write host:www.example.org",
		"lang:(en OR el)":             "column 6: lang: takes one value",
		"title:(a body:b)":            "column 10: body: stands within another field",
		"(a":                          "column 1: this ( is not closed",
		"a OR (b c":                   "column 6: this ( is not closed",
		"a) b":                        "column 2: this ) closes nothing",
		"a OR":                        "column 5: OR stands between",
		"OR a":                        "column 1: OR stands between",
		"a OR OR b":                   "column 6: OR stands between",
		"AND a":                       "column 1: AND stands between",
		"a AND":                       "column 3: AND stands between",
		"a AND AND b":                 "column 7: AND stands between",
		"a AND OR b":                  "column 3: AND stands between",
		"(a AND) b":                   "column 4: AND stands between",
		"a NOT":                       "column 3: NOT wants something",
		strings.Repeat("(", 40) + "a": "column 33: more than 32 levels",
		strings.Repeat("NOT ", 40):    "column 129: more than 32 levels",
		strings.Repeat("word ", 65):   "column 321: more than 64 words",
		strings.Repeat("word ", 999):  "column 1: it is longer than",
	} {
		_, err := s.Search(t.Context(), Query{Text: query})
		var wrong *QueryError
		if !errors.Is(err, ErrQuery) || !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.50q: %v, want %q", query, err, want)
		}
	}
	for _, q := range []Query{
		{Size: -1}, {From: -1}, {Size: 1, From: maxReach}, {Size: 1 << 62, From: 1 << 62}, {Facets: -1}, {Sort: "size"},
		{Hosts: []string{""}}, {Languages: []string{"?"}},
	} {
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
		!r.Hits[0].Date.Equal(day) || r.Hits[0].Type != "text/html" || r.Hits[0].Language != "en-gb" || r.Hits[0].Superseded ||
		r.Hits[0].Score <= r.Hits[1].Score {
		t.Errorf("hits are %+v, want the one with the word in its title first", r.Hits)
	}
	want := map[string]Facet{
		"host": {[]Count{{"english", 1}, {"plain", 1}}, 0}, "language": {[]Count{{"en-gb", 1}}, 0},
		"type": {[]Count{{"text/html", 1}, {"text/plain", 1}}, 0}, "date": {[]Count{{"2026-11-20", 1}}, 0},
	}
	if fmt.Sprint(r.Facets) != fmt.Sprint(want) {
		t.Errorf("facets are %v, want %v", r.Facets, want)
	}
	second, err := s.Search(t.Context(), Query{Text: "art", Size: 1, From: 1})
	if err != nil || len(second.Hits) != 1 || second.Hits[0] != r.Hits[1] || second.Total != 2 || second.Facets != nil {
		t.Errorf("second page is %+v, %v", second, err)
	}
	if r, err := s.Search(t.Context(), Query{Text: "dijkstra pebble"}); err != nil || !r.Relaxed {
		t.Errorf("some words are found for all: %+v, %v", r, err)
	}
	if r, err := s.Search(t.Context(), Query{Text: "documents pebble"}); err != nil || r.Relaxed {
		t.Errorf("all words are found for some: %+v, %v", r, err)
	}
}

func TestDatesAreCountedInAsLongSpansAsItTakes(t *testing.T) {
	days := []Count{{"2026-01-31", 5}, {"2025-12-01", 2}, {"2026-01-01", 1}, {"2024-01-01", 1}}
	for size, want := range map[int]string{
		4: "[{2026-01-31 5} {2026-01-01 1} {2025-12-01 2} {2024-01-01 1}] 0", 3: "[{2026-01 6} {2025-12 2} {2024-01 1}] 0",
		2: "[{2026 6} {2025 2}] 1", 1: "[{2026 6}] 3",
	} {
		if f := spans(days, size); fmt.Sprint(f.Counts, f.Others) != want {
			t.Errorf("%d: %v, want %s", size, f, want)
		}
	}
}

func TestSuggestions(t *testing.T) {
	s := filled(t)
	for query, want := range map[string]string{
		"documnets": "documents", "dijkstar algoritm": "dijkstra algorithm", `"staet of the art"`: `"state of the art"`,
		"Documnets -art": "documents -art", "documents": "", "zzzzzzzz": "", "art dcouments* foo~1": "", "υπολογιστης": "",
		"υπολογυστες": "υπολογιστεσ",
	} {
		if got, err := s.Suggest(t.Context(), query); got != want || err != nil {
			t.Errorf("for %s: %q, want %q: %v", query, got, want, err)
		}
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
	for _, q := range []string{`+a -b "c d" ee* title:f (17 OR date:2026-01) x~1 NOT url:y`, "*", `\:`, "host:*.a lang:en", `""`, "a AND (b OR c)", "f(x) ( y )"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := s.Search(t.Context(), Query{Text: text}); err != nil && !errors.Is(err, ErrQuery) {
			t.Errorf("%q: %v", text, err)
		}
	})
}

func TestEachListsAllInOrder(t *testing.T) {
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
}
