package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/webrace/webrace/xmlschema"
)

// A start that answers is enough, with whatever it answers.
func TestARunFailsOnlyIfNoStartCouldBeAsked(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	other := &site{Server: gone}
	for _, c := range []struct {
		name   string
		starts func(w *world) []*xmlschema.URD
		status int
	}{
		{"no server", func(*world) []*xmlschema.URD { return these(other.asks("ann", "/")) }, 1},
		{"no such page", func(w *world) []*xmlschema.URD { return these(w.asks("ann", "/none")) }, 0},
		{"one of two", func(w *world) []*xmlschema.URD { return these(other.asks("ann", "/"), w.asks("bob", "/")) }, 0},
		{"a redirect to no server", func(w *world) []*xmlschema.URD { return these(w.asks("ann", "/away")) }, 1},
		{"forbidden by robots.txt", func(w *world) []*xmlschema.URD {
			w.handle("/robots.txt", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "User-agent: *\nDisallow: /") })
			return these(w.asks("ann", "/"))
		}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.page("/", "tea")
			w.handle("/away", http.RedirectHandler(gone.URL+"/", http.StatusMovedPermanently).ServeHTTP)
			p := w.start(c.starts(w), "--set", "fetch.backoff=1ms", "--set", "frontier.attempts=1")
			p.mustExit(c.status)
			if said := strings.Contains(p.said(), "the start could not be asked"); said != (c.status == 1) {
				t.Errorf("it says\n%s", p.said())
			}
		})
	}
}
