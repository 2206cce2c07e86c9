package fetch

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/stages/internal/httpclient"
)

func TestTheSenderIsTheMailAddressThatIsKnown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, userAgent, want string }{
		{"me@example.net", "webrace/1 (+mailto:you@example.net)", "me@example.net"},
		{"", "webrace/1 (+mailto:you@example.net)", "you@example.net"},
		{"", "webrace/1 (+MAILTO:you@example.net?subject=webrace)", "you@example.net"},
		{"", "webrace/1 (you@example.net)", "you@example.net"},
		{"", "webrace/1 (+https://example.net/; you+crawler@example.net)", "crawler@example.net"},
		{"", "webrace/1 (+https://example.net/about)", ""},
		{"", "webrace/1 (+https://me@example.net/about)", ""},
		{"", "webrace/1 @example.net x@", ""},
	} {
		if got := (Options{From: c.from, UserAgent: c.userAgent}).sender(); got != c.want {
			t.Errorf("from %q, user agent %q: %q, want %q", c.from, c.userAgent, got, c.want)
		}
	}
}

// Whatever is asked for, the operator of a server learns from its log whom to write to.
func TestEveryRequestSaysWhoAsks(t *testing.T) {
	t.Parallel()
	o := local()
	o.Robots, o.UserAgent = true, "test/1 (+mailto:me@example.net)"
	var mu sync.Mutex
	seen := map[string]bool{}
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen[r.URL.Path] = true
		if r.UserAgent() != o.UserAgent || r.Header.Get("From") != "me@example.net" {
			t.Errorf("%s: asked by %q, from %q", r.URL, r.UserAgent(), r.Header.Get("From"))
		}
		switch r.URL.Path {
		case "/robots.txt":
			http.Redirect(w, r, "/other/robots.txt", http.StatusFound)
		case "/other/robots.txt":
			fmt.Fprintf(w, "Sitemap: http://%s/sitemap.xml", r.Host)
		case "/moved":
			http.Redirect(w, r, "/there", http.StatusFound)
		}
	})
	conditional := get(url + "/again")
	conditional.Visit = &webrace.Visit{Version: 1, ETag: `"1"`}
	run(t, o, get(url+"/moved"), conditional, get(url+"/sitemap.xml"))
	if _, err := getSingle(t.Context(), o, url+"/moved"); err != nil {
		t.Error(err)
	}
	// A script that a page loads cannot give itself out for another client.
	if _, err := newSharedStage(t, o).Subresource(t.Context(), httpclient.SubresourceRequest{URL: url + "/script.js", Header: http.Header{"Accept": {"*/*"}}, Limit: 100}); err != nil {
		t.Error(err)
	}
	if len(seen) != 7 {
		t.Errorf("asked for %v", seen)
	}
}

// No crawler without a contact comes to a public server by a detour: over a redirect, for its robots.txt or its
// sitemap, or for a subresource of a page.
func TestNoDetourLeadsToThePublicWebWithoutAContact(t *testing.T) {
	t.Parallel()
	o := local()
	o.Robots = true
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
		default:
			http.Redirect(w, r, "http://8.8.8.8/there", http.StatusFound)
		}
	})
	var anonymous *httpclient.ContactError
	if _, err := getSingle(t.Context(), o, url+"/moved"); err == nil || !strings.Contains(err.Error(), "names no contact") {
		t.Errorf("a redirect: %v", err)
	}
	if _, err := newSharedStage(t, o).Subresource(t.Context(), httpclient.SubresourceRequest{URL: "http://8.8.8.8/script.js", Limit: 100}); !errors.As(err, &anonymous) || !httpclient.IsRefusal(err) {
		t.Errorf("a subresource: %v", err)
	}
	all := run(t, o, get("http://8.8.8.8/sitemap.xml"))
	if all.counters["contact_refused"] != 1 || all.counters["robots_fetched"] > 1 {
		t.Errorf("a sitemap: %v", all.counters)
	}
}
