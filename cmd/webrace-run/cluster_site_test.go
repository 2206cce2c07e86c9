package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/xmlschema"
)

// federation is sites that lead to each other.
type federation struct {
	t     *testing.T
	sites []*site

	mu    sync.Mutex
	open  map[*site]int // requests that are being answered
	twice []string      // URLs that were asked for while another of their site was
}

// newFederation returns sites of seven pages each. Every page has words of its own, so that none mirrors another, and
// some of what people look for; it leads to pages of its site and to those of others, as /old does by a redirect for
// good, and /today by one for now.
func newFederation(t *testing.T, hosts int) *federation {
	t.Helper()
	f := &federation{t: t, open: make(map[*site]int)}
	for range hosts {
		f.sites = append(f.sites, newSite(t))
	}
	for i, s := range f.sites {
		random := rand.New(rand.NewPCG(1, uint64(i)))
		page := func(path string, links ...string) {
			said := make([]string, 40)
			for n := range said {
				said[n] = fmt.Sprintf("w%d", random.IntN(1_000_000))
			}
			about := []string{"tea", "storms", "harbours and tea"}[random.IntN(3)]
			s.page(path, append([]string{strings.Join(said, " "), "All about " + about + "."}, links...)...)
		}
		page("/", "/a", "/b/", f.url(i+1, "/"), f.url(7*i+3, "/a"))
		page("/a", "/a/1", "/today", f.url(3*i+1, "/b/"))
		page("/b/", "/b/1", "/a", f.url(i+11, "/a/1"))
		page("/a/1", "/a/2", "/", f.url(5*i+2, "/old"))
		page("/a/2", "/b/1")
		page("/b/1", f.url(i+23, "/b/2"))
		page("/b/2", "/b/")
		s.handle("/old", http.RedirectHandler(f.url(i+9, "/b/2"), http.StatusMovedPermanently).ServeHTTP)
		s.handle("/today", http.RedirectHandler(f.url(i+4, "/a/2"), http.StatusFound).ServeHTTP)
		for path, answer := range s.pages {
			s.handle(path, f.atWork(s, answer))
		}
	}
	return f
}

// atWork takes a moment to answer, and notes what is asked for meanwhile.
func (f *federation) atWork(s *site, answer http.HandlerFunc) http.HandlerFunc {
	count := func(more int, url string) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.open[s] += more; f.open[s] > 1 {
			f.twice = append(f.twice, url)
		}
	}
	return func(w http.ResponseWriter, r *http.Request) {
		count(1, s.URL+r.URL.Path)
		defer count(-1, "")
		select {
		case <-time.After(3 * time.Millisecond):
			answer(w, r)
		case <-r.Context().Done():
		}
	}
}

// begin forgets what the sites were asked for.
func (f *federation) begin() {
	f.requests()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.twice = nil
}

// mustBeOneAtATime wants no site asked for two things at once.
func (f *federation) mustBeOneAtATime() {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.twice) > 0 {
		f.t.Errorf("%d times, a site is asked for two things at once: %q", len(f.twice), f.twice)
	}
}

func (f *federation) url(i int, path string) string { return f.sites[i%len(f.sites)].URL + path }

// asks are requests of all scopes and many depths, some of which start at redirects to other sites.
func (f *federation) asks() (all []*xmlschema.URD) {
	ask := func(owner string, i int, path string, changes ...func(*xmlschema.URD)) {
		all = append(all, f.sites[i%len(f.sites)].asks(owner, path, changes...))
	}
	ask("ann", 0, "/", depth(4), within(xmlschema.ScopeAny), about("tea"))
	ask("ben", 17, "/a", depth(2), within(xmlschema.ScopeAny), about("storms"))
	ask("cat", 5, "/", depth(3), within(xmlschema.ScopeDomain), about("harbours"))
	ask("dan", 9, "/b/", depth(3), within(xmlschema.ScopePrefix), about("tea", "storms"))
	ask("eve", 10, "/old", depth(3), about("tea"))
	ask("fay", 12, "/today", depth(2), about("storms"))
	for i := 20; i < 32; i++ {
		ask(fmt.Sprint("owner", i), i, "/", depth(1+i%4), about("tea", "harbours"))
	}
	return all
}

// write writes requests to a file.
func (f *federation) write(urds []*xmlschema.URD) (path string) {
	path = filepath.Join(f.t.TempDir(), "urds.xml")
	writeFile(f.t, path, string(xmlschema.URDs(urds).Canonical()))
	return path
}

// requests returns what all sites were asked for since the last call.
func (f *federation) requests() (all []asked) {
	for _, s := range f.sites {
		for _, a := range s.requestsInOrder() {
			a.path = s.URL + a.path
			all = append(all, a)
		}
	}
	return all
}
