package fetch

import (
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
