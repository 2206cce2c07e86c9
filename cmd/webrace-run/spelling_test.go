package main

import (
	"net/http"
	"testing"
)

// A server that knows one spelling of a URL alone, and pages that spell it otherwise in each round.
func TestAPageIsAskedForByTheSpellingSeenFirstAndFoundByEach(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.handle("/~joe", func(rw http.ResponseWriter, r *http.Request) {
		if r.RequestURI != "/%7ejoe" {
			http.NotFound(rw, r)
			return
		}
		serveDocument(rw, r, document("tea of Joe"))
	})
	w.page("/", "home", "/%7ejoe", "/~joe")
	urds := these(w.asks("ann", "/", depth(2), about("tea")), w.asks("bob", "/~joe*", about("tea")))
	w.run(urds)
	mustBe(t, "requests", w.requests(), "200 /", "200 /%7ejoe")
	mustBe(t, "told", w.news(), "ann /%7ejoe", "bob /%7ejoe")
	w.page("/", "home", "as it is now", "/%7Ejoe", "/~joe")
	w.run(urds, askAll...)
	mustBe(t, "requests of another round", w.requests(), "200 /", "304 /%7ejoe")
	mustBe(t, "told then", w.news())
	for _, spelling := range []string{"/%7ejoe", "/%7Ejoe", "/~joe"} {
		said, _ := w.store("why", w.URL+spelling)
		mustSay(t, said, "status 304; version 1 is stored")
		said, _ = w.store("cache", "cat", w.URL+spelling)
		mustSay(t, said, "tea of Joe")
		said, _ = w.store("explain", w.URL+spelling, "bob")
		mustSay(t, said, "it lies under what the URD watches")
	}
}
