package hostile

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

const docs = "../../../../docs/hostile.md"

const intro = `# Hostile sites

%d ways in which web sites misbehave, by accident or by intent. A crawl of each ends by itself, fetches every other page
of the site exactly once (by the site's own record), and counts in its [report](command-line.md#the-report) what
happened; ` + "`webrace-store why URL`" + ` says it of the URL. The crawler's tests try all of them; then nearly all at once on one
site, among 300 good pages, with a crawl that is killed in the middle and started again; and a name that moves to a
forbidden address once it was admitted (DNS rebinding).

The counters are those that the misbehaviour adds, beside the good pages; where the limits of the crawl were set lower than they
are by default, the options are listed with them.

| name | the server … | counters |
|---|---|---|
`

// table is docs/hostile.md.
func table() []byte {
	var b bytes.Buffer
	cases := Cases()
	fmt.Fprintf(&b, intro, len(cases))
	for _, c := range cases {
		var counted []string
		for _, name := range slices.Sorted(maps.Keys(c.Expect.Counters)) {
			counted = append(counted, fmt.Sprintf("`%s` %d", name, c.Expect.Counters[name]))
		}
		text := strings.Join(counted, ", ")
		if text == "" {
			text = "none"
		}
		if len(c.Options) > 0 {
			text += "; with `" + strings.Join(c.Options, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", c.Name, c.Does, text)
	}
	return b.Bytes()
}

func TestDocsListEveryCase(t *testing.T) {
	t.Parallel()
	testutil.Golden(t, docs, string(table()))
}

func TestEachCaseHasANameOfItsOwnAndExpectsSomething(t *testing.T) {
	t.Parallel()
	names := make(map[string]bool)
	wellFormed := regexp.MustCompile(`^[a-z0-9]+([-.][a-z0-9]+)*$`)
	for _, c := range Cases() {
		if !wellFormed.MatchString(c.Name) || names[c.Name] {
			t.Errorf("the name %q is taken, or none", c.Name)
		}
		names[c.Name] = true
		if c.Does == "" || strings.HasSuffix(c.Does, ".") || c.Lay == nil {
			t.Errorf("%s: does %q", c.Name, c.Does)
		}
	}
	if len(names) < 60 {
		t.Errorf("%d cases", len(names))
	}
}

// TestASiteNotesWhatItIsAskedFor: everything else that is tested with sites depends on their record.
func TestASiteNotesWhatItIsAskedFor(t *testing.T) {
	t.Parallel()
	s := NewSite(3, Case{Lay: func(s *Site) {
		s.handle(bad, page("<p>bad"))
		s.another().hide("/there", page("<p>there"))
	}})
	defer s.Close()
	get := func(url string) string {
		t.Helper()
		response, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(response.StatusCode, " ", string(text))
	}
	start := get(s.URL + "/")
	for _, path := range []string{"/good/0", "/good/1", "/good/2", bad} {
		if !strings.Contains(start, `"`+path+`"`) {
			t.Errorf("the start page does not lead to %s:\n%s", path, start)
		}
	}
	for _, url := range []string{"/good/1", "/good/1", "/good/1?x", "/robots.txt", "/missing", bad, "other:/there"} {
		get(s.Resolve(url))
	}
	if got, want := s.Good(), map[string]int{"/": 1, "/good/0": 0, "/good/1": 2, "/good/2": 0}; !maps.Equal(got, want) {
		t.Errorf("good pages %v, want %v", got, want)
	}
	if n := s.Asked(); n != 4 {
		t.Errorf("%d other requests, want 4", n)
	}
	s.Forget()
	if n := s.Asked(); n != 0 || s.Good()["/good/1"] != 0 {
		t.Errorf("%d other requests after it was to forget them, and %v", n, s.Good())
	}
}

// TestMixedCasesLieApart: each is below its own name, and leads there.
func TestMixedCasesLieApart(t *testing.T) {
	t.Parallel()
	mixable := Mixable()
	if all := len(Cases()); len(mixable) < all*3/4 || len(mixable) == all {
		t.Errorf("%d of %d cases can be mixed", len(mixable), all)
	}
	s := NewSite(2, mixable...)
	defer s.Close()
	front := s.front(2)
	for _, c := range mixable {
		if c.Name == "robots-html" || c.Name == "cookie-flood" {
			t.Errorf("%s concerns the whole site", c.Name)
		}
	}
	for url, want := range map[string]string{
		"/refresh-loop/bad":              `url=/refresh-loop/bad-2"`,
		"/framed-for-ever/frame?x":       `src="/framed-for-ever/frame?xx"`,
		"/nested-comments/bad":           `href="/nested-comments/behind"`,
		"/calendar/calendar/2026/02":     `href="/calendar/calendar/2026/03"`,
		"/sitemap-of-itself/bad-2.xml":   "<loc>" + s.URL + "/sitemap-of-itself/bad.xml</loc>",
		"/redirect-oddly-spelt/behind/2": "behind /behind/2",
		"/parameter-explosion/list?f0=1": `href="/parameter-explosion/list?f0=1`,
		"/session-in-path/(S(1))/shop":   `href="/session-in-path/(S(`,
		"/charset-mislabelled/bad":       `href="/charset-mislabelled/behind"`,
	} {
		w := httptest.NewRecorder()
		s.serve(w, httptest.NewRequest(http.MethodGet, url, nil))
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %.300q, want %q", url, w.Code, w.Body.String(), want)
		}
		if path, _, _ := strings.Cut(url, "?"); strings.HasSuffix(path, bad) && !strings.Contains(front, `"`+path+`"`) {
			t.Errorf("the start page does not lead to %s", path)
		}
	}
	w := httptest.NewRecorder()
	s.serve(w, httptest.NewRequest(http.MethodGet, "/redirect-loop/bad-2", nil))
	if to := w.Header().Get("Location"); to != "/redirect-loop/bad" {
		t.Errorf("redirected to %s", to)
	}
	if n := s.Asked(); n != 10 {
		t.Errorf("%d requests were noted, want 10", n)
	}
}
