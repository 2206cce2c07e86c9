package main

import (
	"strings"
	"testing"

	"github.com/webrace/webrace/xmlschema"
)

// TestAPageThatIsCutOnceIsNoNews: a page that was too long at one visit is there again at the next. What it had
// above the cut is no news before all of it is seen, nor is what it had below it news afterwards.
func TestAPageThatIsCutOnceIsNoNews(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	limit := []string{"--set", "fetch.max_body=2000"}
	whole := []string{"tea at four", "/a", "milk at five", "/b"}
	w.page("/", whole...)
	w.page("/a", "nothing")
	w.page("/b", "nothing")
	urds := []*xmlschema.URD{
		w.asks("ann", "/", depth(2), about("tea", "milk", "sugar")),
		w.asks("bob", "/", anything),
	}
	w.run(urds, limit...)
	mustBe(t, "requests", w.requests(), "200 /", "200 /a", "200 /b")
	mustBe(t, "told", w.told(), "ann / 1: «tea» at four", "bob / 1: tea at four · next · milk at five · next")

	again := append(limit, askAll...)
	w.page("/", "sugar at six", "/a", strings.Repeat("as ever ", 300), "/b")
	report := w.reported(urds, again...)
	mustBe(t, "requests when it is cut", w.requests(), "200 /", "304 /a", "304 /b")
	mustBe(t, "told when it is cut", w.told())
	counters := report.Stages["cache"].Counters
	if counters["truncated_ignored"] != 1 || counters["versions"] != 0 {
		t.Errorf("counted %v", counters)
	}

	w.page("/", whole...)
	report = w.reported(urds, again...)
	mustBe(t, "requests when it is whole again", w.requests(), "200 /", "304 /a", "304 /b")
	mustBe(t, "told when it is whole again", w.told())
	if n := len(w.versions("/")); n != 1 {
		t.Errorf("%d versions", n)
	}

	w.page("/", append(whole, "sugar at six")...)
	w.run(urds, again...)
	mustBe(t, "told of what is new", w.told(), "ann / 2: «sugar» at six", "bob / 2: «sugar at six»")
}

// Of a version that was cut, cache diff prints where: what is behind may have changed, or not.
func TestCacheDiffSaysWhereAVersionWasCut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	urds := []*xmlschema.URD{w.asks("bob", "/", anything)}
	w.page("/", "tea at four", "/a", strings.Repeat("as ever ", 300), "/b")
	w.run(urds, "--set", "fetch.max_body=2000")
	w.page("/", "milk at five", "/a", strings.Repeat("as ever ", 300), "/b")
	w.run(urds, askAll...)
	for _, flag := range []string{"--words", "--raw"} {
		said, err := webraceStore("--data", w.data, "cache", "diff", flag, w.URL+"/")
		if err == nil || !strings.Contains(said, "version 1 was cut behind line") || strings.Contains(said, "version 2 was cut") {
			t.Errorf("cache diff %s: %v\n%s", flag, err, said)
		}
	}
	said, _ := webraceStore("--data", w.data, "cache", "diff", "--json", w.URL+"/")
	if !strings.Contains(said, `"from_cut"`) || strings.Contains(said, `"to_cut"`) {
		t.Errorf("cache diff --json: %s", said)
	}
}
