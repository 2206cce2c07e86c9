package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// TestPaused has the built program watch a site for two who ask the same of a page, and one of them besides of another
// page that nobody else watches, and pauses all that this one asks for.
func TestPaused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const before, meanwhile, since = "tea at first", "tea in the pause", "tea behind it"
	say := func(paragraphs ...string) {
		w.page("/news", paragraphs...)
		w.page("/shop", append(paragraphs, "of the shop")...)
	}
	round := func(what string, want ...string) {
		t.Helper()
		startCommand(t, append([]string{"webrace", "--data", w.data, "--set", "fetch.allow_networks=loopback"}, askAll...)...).mustExit(0)
		var told []string
		for _, aci := range w.acis() {
			told = append(told, aci.URD+strings.TrimPrefix(aci.URI, w.URL)+": "+aci.Summary)
		}
		slices.Sort(told)
		mustBe(t, "told "+what, told, want...)
	}
	store := func(args ...string) string {
		t.Helper()
		p := startCommand(t, append(append([]string{"store"}, args...), "--data", w.data)...)
		p.mustExit(0)
		return p.said()
	}
	var urds xmlschema.URDs
	urds = append(urds, w.asks("ann", "/news", about("tea")), w.asks("bob", "/news", about("tea")), w.asks("ann", "/shop", id("shop"), about("tea")))
	file := t.TempDir() + "/urds.xml"
	writeFile(t, file, string(urds.Canonical()))

	say(before)
	startCommand(t, "webrace", "--urds", file, "--data", w.data, "--set", "fetch.allow_networks=loopback").mustExit(0)
	mustBe(t, "told at first", w.news(), "ann /news", "ann /shop", "bob /news")
	mustSay(t, store("urd", "pause", "ann", "shop"), "ann\tpaused\n", "shop\tpaused\n")
	w.requests()
	say(before, meanwhile)
	round("in the pause", "bob/news: «tea» in the pause")
	mustBe(t, "requests in the pause", w.requests(), "200 /news")
	said := store("explain", w.URL+"/news", "ann")
	mustSay(t, said, "no further alert: the URD is paused, and is asked about nothing: webrace-store urd resume ann")
	if strings.Contains(said, "matched now") {
		t.Errorf("of a paused URD is said what it would be told:\n%s", said)
	}
	store("urd", "resume", "ann", "shop")
	round("of what its crawl did not look at", "shop/shop: «tea» in the pause")
	say(before, meanwhile, since)
	round("behind the pause", "ann/news: «tea» behind it", "bob/news: «tea» behind it", "shop/shop: «tea» behind it")
	round("in the end")
	store("urd", "pause", "ann", "bob", "shop")
	w.requests()
	say("tea of nobody")
	round("when all are paused")
	mustBe(t, "requests when all are paused", w.requests())
}

// While a run goes on, a URD is paused and resumed as well.
func TestPausedWhileARunGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/news", "tea at first")
	often := every(20 * time.Millisecond)
	ann := func(paused bool) *xmlschema.URD {
		u := w.asks("ann", "/news", about("tea"), often)
		u.Paused = paused
		return u
	}
	l := w.goOn(these(ann(false), w.asks("bob", "/news", about("tea"), often)))
	l.untilTold("ann /news", "bob /news")
	set := func(paused bool, interests int64) {
		t.Helper()
		l.put(ann(paused))
		l.until("the matcher knows", func() bool {
			return l.runs[0].Snapshot().Stages["keyword-filter"].Counters["interests"] == interests
		})
	}
	set(true, 1)
	w.page("/news", "tea at first", "tea in the pause")
	l.untilTold("ann /news", "bob /news", "bob /news")
	set(false, 2)
	l.untilAsked("/news", 2)
	l.untilTold("ann /news", "bob /news", "bob /news")
	w.page("/news", "tea at first", "tea in the pause", "tea behind it")
	l.untilTold("ann /news", "ann /news", "bob /news", "bob /news", "bob /news")
	for aci, err := range l.store.ACIs(t.Context(), control.Filter{Owner: "ann"}) {
		if err != nil || strings.Contains(aci.Summary, "in the pause") {
			t.Errorf("ann is told %q, %v", aci.Summary, err)
		}
	}
	l.drain()
}
