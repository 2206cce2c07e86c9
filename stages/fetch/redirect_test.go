package fetch

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/webrace/webrace"
)

// TestLocationsAreReadAsBrowsersDo: bytes beyond ASCII are encoded one by one.
func TestLocationsAreReadAsBrowsersDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ locations, want string }{
		{"/caf\xc3\xa9", "http://h.example/caf%C3%A9"},
		{"/caf\xe9", "http://h.example/caf%E9"},
		{"/a?q=\xe4\xf6&r=\xc3\xbc", "http://h.example/a?q=%E4%F6&r=%C3%BC"},
		{"/a#\xe9", "http://h.example/a"},
		{"http://b\xc3\xbccher.example/\xfc", "http://xn--bcher-kva.example/%FC"},
		{"http://b\xfccher.example/", ""},
		{"caf\xe9/%e9", "http://h.example/d/caf%E9/%e9"},
		{" /blanks around ", "http://h.example/blanks%20around"},
		{"/a|/a", "http://h.example/a"},
		{"/a|/b", ""},
		{"", ""},
	} {
		header := http.Header{"Location": strings.Split(c.locations, "|")}
		got, err := location("http://h.example/d/e", header)
		if (err != nil) != (c.want == "") || !strings.EqualFold(got, c.want) {
			t.Errorf("%q: %q, %v, want %q", c.locations, got, err, c.want)
		}
	}
}

// TestARedirectInBytesIsFollowed: from the wire to the links that go out.
func TestARedirectInBytesIsFollowed(t *testing.T) {
	t.Parallel()
	for wire, want := range map[string]string{"/caf\xe9": "/caf%E9", "/caf\xc3\xa9": "/caf%C3%A9"} {
		url := says(t, "HTTP/1.1 302 Found\r\nX-Bad\r\nLocation: "+wire+"\r\nContent-Length: 0\r\n\r\n")
		r, all := one(t, local(), get(url))
		if len(r.links) != 1 || !strings.HasSuffix(r.links[0].URLs[0], want) || all.counters["redirects"] != 1 {
			t.Errorf("%q: %+v, counters %v", wire, r, all.counters)
		}
	}
}

// TestAPageThatIsLeftIsAskedOnlyWhetherItHasMoved: no answer but a redirect for good leads to anything.
func TestAPageThatIsLeftIsAskedOnlyWhetherItHasMoved(t *testing.T) {
	t.Parallel()
	for status, leads := range map[int]bool{200: false, 304: false, 404: false, 302: false, 307: false, 301: true, 308: true} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/new")
			w.WriteHeader(status)
		}))
		t.Cleanup(server.Close)
		request := get(server.URL)
		request.Left, request.Visit = true, &webrace.Visit{Status: 200, ETag: `"e"`, Version: 1}
		r, _ := one(t, local(), request)
		if len(r.documents) > 0 || len(r.links) > 0 != leads || r.outcome.Err != nil || len(r.reports) != 1 {
			t.Errorf("%d: %d documents, links %+v, %v", status, len(r.documents), r.links, r.outcome.Err)
		}
	}
}

// TestWhatIsGoneIsTold: what holds for the moment alone, and a robots.txt that cannot be had, make nothing gone.
func TestWhatIsGoneIsTold(t *testing.T) {
	t.Parallel()
	robots := map[string]int{"/rule": 200, "/no-robots": 500, "/any": 404}
	for _, c := range []struct {
		status int
		path   string // which decides what robots.txt is
		reason string // empty: it is not gone
	}{
		{200, "/any", ""}, {304, "/any", ""}, {302, "/any", ""}, {303, "/any", ""}, {307, "/any", ""}, {401, "/any", ""}, {403, "/any", ""},
		{404, "/any", "404 Not Found"}, {410, "/any", "410 Gone"}, {451, "/any", ""}, {500, "/any", ""}, {502, "/any", ""}, {503, "/any", ""},
		{301, "/any", "301 Moved Permanently to URL/new"}, {308, "/any", "308 Permanent Redirect to URL/new"},
		{200, "/rule", "refused by robots.txt: Disallow: /rule (line 2)"}, {404, "/no-robots", ""},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				w.WriteHeader(robots[c.path])
				fmt.Fprint(w, "User-agent: *\nDisallow: /rule\n")
				return
			}
			w.Header().Set("Location", "/new")
			w.WriteHeader(c.status)
		}))
		t.Cleanup(server.Close)
		for name, change := range map[string]func(*webrace.Request){
			"first": func(*webrace.Request) {}, "again": func(r *webrace.Request) { r.Visit = &webrace.Visit{Status: 200, ETag: `"e"`, Version: 1} },
			"left": func(r *webrace.Request) { r.Left, r.Visit = true, &webrace.Visit{Status: 200, ETag: `"e"`, Version: 1} },
		} {
			request := get(server.URL + c.path)
			change(&request)
			r, _ := one(t, obedient(), request)
			told := ""
			for _, g := range r.gone {
				told += strings.ReplaceAll(g.Reason, server.URL, "URL")
				if g.At.IsZero() || g.URL != request.URL {
					t.Errorf("%+v", g)
				}
			}
			if told != c.reason {
				t.Errorf("%d %s, %s: gone by %q, want %q", c.status, c.path, name, told, c.reason)
			}
		}
	}
	again := obedient()
	again.Retry = []int{404}
	if r, _ := one(t, again, get(serve(t, http.NotFound)+"/")); len(r.gone) > 0 || r.outcome.Err == nil {
		t.Errorf("a status that is asked for again: %+v", r)
	}
}

// FuzzLocation: what a location leads to is ASCII, and goes through net/http and back unchanged.
func FuzzLocation(f *testing.F) {
	for _, s := range []string{"/caf\xe9", "//b\xc3\xbc.example/", "?\xff", "http://[::1]/%zz"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		to, err := location("http://h.example/d/e", http.Header{"Location": {s}})
		if err != nil {
			return
		}
		if strings.IndexFunc(to, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
			t.Fatalf("%q leads to %q", s, to)
		}
		again, err := location("http://other.example/", http.Header{"Location": {to}})
		if err != nil || again != to {
			t.Fatalf("%q leads to %q, and that to %q, %v", s, to, again, err)
		}
	})
}
