package main

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/webrace/webrace/xmlschema"
)

// The tests of this file and of rounds_test.go, alerts_test.go and politeness_test.go say what the words
// of webrace mean, a sentence each, as they can be seen from outside: by the web server that is crawled,
// and by the owners who are told.

// chain puts pages /1 to /n there, each of which links to the next, and has a text of its own on tea.
func chain(s *site, n int) {
	for i := 1; i < n; i++ {
		s.page(fmt.Sprintf("/%d", i), fmt.Sprintf("page %d speaks of tea", i), fmt.Sprintf("/%d", i+1))
	}
	s.page(fmt.Sprintf("/%d", n), "the last page speaks of tea")
}

func TestLevelOneIsTheStartAloneTwoItsLinksAsWellAndZeroHasNoLimit(t *testing.T) {
	t.Parallel()
	for levels, want := range map[int][]string{
		1: {"200 /1"},
		2: {"200 /1", "200 /2"},
		3: {"200 /1", "200 /2", "200 /3"},
		0: {"200 /1", "200 /2", "200 /3", "200 /4"},
	} {
		w := newWorld(t)
		chain(w.site, 4)
		w.run(these(w.asks("ann", "/1", depth(levels), about("tea"))))
		mustBe(t, "requests", w.requests(), want...)
		var told []string
		for _, request := range want {
			told = append(told, "ann "+request[len("200 "):])
		}
		mustBe(t, "told", w.news(), told...)
	}
}

func TestTwoOwnersWithTheSameStartAndDifferentDepthsCostOneFetchAPageAndEachGetTheirOwnPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	chain(w.site, 4)
	w.run(these(w.asks("ann", "/1", depth(2), about("tea")), w.asks("bob", "/1", depth(3), about("tea"))))
	mustBe(t, "requests", w.requests(), "200 /1", "200 /2", "200 /3")
	mustBe(t, "told", w.news(), "ann /1", "ann /2", "bob /1", "bob /2", "bob /3")
}

func TestTwoOwnersWithDifferentStartsOnOneSiteCostOneFetchAPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	chain(w.site, 4)
	w.run(these(w.asks("ann", "/1", depth(3), about("tea")), w.asks("bob", "/3", depth(2), about("tea"))))
	mustBe(t, "requests", w.requests(), "200 /1", "200 /2", "200 /3", "200 /4")
	mustBe(t, "told", w.news(), "ann /1", "ann /2", "ann /3", "bob /3", "bob /4")
}

// The long way to /target is offered first. Who is within reach by the short one only is served when it
// comes, from what was fetched by the long one.
func TestAnOfferThatLowersADistanceIsAcceptedAndServedWithoutARequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	targetServed := make(chan struct{})
	w.page("/", "/long", "/short")
	w.page("/long", "/longer")
	w.page("/longer", "/target")
	w.handle("/target", func(rw http.ResponseWriter, r *http.Request) {
		defer close(targetServed)
		serveDocument(rw, r, document("all about tea", "/beyond"))
	})
	w.handle("/short", func(rw http.ResponseWriter, r *http.Request) {
		select {
		case <-targetServed:
		case <-r.Context().Done():
		}
		serveDocument(rw, r, document("/target"))
	})
	w.page("/beyond", "more about tea")
	w.run(these(
		w.asks("ann", "/", depth(3), about("tea")),
		w.asks("bob", "/", depth(4), about("tea")),
		w.asks("eve", "/", depth(0), about("tea")),
	))
	mustBe(t, "requests", w.requests(), "200 /", "200 /long", "200 /longer", "200 /short", "200 /target", "200 /beyond")
	mustBe(t, "told", w.news(), "ann /target", "bob /target", "bob /beyond", "eve /target", "eve /beyond")
}

func TestEachPageIsFetchedOnceARoundHoweverManyLinksLeadThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "/", "/#part", "/a", "/b", "/a?utm_source=x", "/./a", "/c/../a")
	w.page("/a", "/", "/a", "/b")
	w.page("/b", "/a", "/", "/b#x")
	w.run(these(w.asks("ann", "/", depth(0))))
	mustBe(t, "requests", w.requests(), "200 /", "200 /a", "200 /b")
}

func TestARequestThatFiltersNothingIsToldOfAnyChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "a page about coffee")
	all := func(u *xmlschema.URD) { u.ProcessType = xmlschema.ProcessNonFilter }
	urds := these(w.asks("ann", "/", all, about("tea")), w.asks("bob", "/"), w.asks("eve", "/", about("tea")))
	w.run(urds)
	mustBe(t, "told at first", w.news(), "ann /", "bob /")
	w.run(urds, askAll...)
	mustBe(t, "told when nothing changed", w.news())
	w.page("/", "a page about coffee", "and about milk")
	w.run(urds, askAll...)
	mustBe(t, "told of a change", w.news(), "ann /", "bob /")
}

func TestAURIThatEndsInAStarStartsNoCrawlAndItsOwnerIsToldOfWhatOthersBring(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "tea at home", "/news/1", "/old/1")
	w.page("/news/1", "tea in the news")
	w.page("/old/1", "tea of old")
	star := func(u *xmlschema.URD) { u.URI = "*" }
	watchers := these(w.asks("ann", "/news/*", about("tea")), w.asks("bob", "/", star, about("tea")))
	w.run(watchers)
	mustBe(t, "requests for watchers alone", w.requests())
	w.run(append(watchers, w.asks("eve", "/", depth(2), about("milk"))))
	mustBe(t, "requests", w.requests(), "200 /", "200 /news/1", "200 /old/1")
	mustBe(t, "told", w.news(), "ann /news/1", "bob /", "bob /news/1", "bob /old/1")
}

func TestScopeIsTheHostAndPortOfTheStartUnlessWidenedOrNarrowed(t *testing.T) {
	t.Parallel()
	for scope, want := range map[string]struct{ here, there int }{
		"":                    {here: 4, there: 0},
		xmlschema.ScopeHost:   {here: 4, there: 0},
		xmlschema.ScopePrefix: {here: 2, there: 0},
		xmlschema.ScopeDomain: {here: 4, there: 1},
		xmlschema.ScopeAny:    {here: 4, there: 1},
	} {
		w, other := newWorld(t), newSite(t)
		w.page("/a/start", "/a/below", "/b/aside", "/c/aside", other.URL+"/")
		w.page("/a/below", "below")
		w.page("/b/aside", "aside")
		w.page("/c/aside", "aside")
		other.page("/", "another port of the same host")
		w.run(these(w.asks("ann", "/a/start", depth(2), within(scope))))
		if here, there := len(w.requests()), len(other.requests()); here != want.here || there != want.there {
			t.Errorf("scope %q: %d requests to the start's host and port and %d to another, want %d and %d", scope, here, there, want.here, want.there)
		}
	}
}

func TestRulesNarrowTheScope(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "/open", "/closed/1")
	w.page("/open", "/closed/2", "/closed/but/not/this")
	w.page("/closed/but/not/this", "here")
	w.run(these(w.asks("ann", "/", depth(0))), "--set", "frontier.rules=allow path /closed/but, deny path /closed")
	mustBe(t, "requests", w.requests(), "200 /", "200 /open", "200 /closed/but/not/this")
}

func TestARedirectLeadsToTheSameDistance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.redirect("/", "/moved")
	w.redirect("/moved", "/home")
	w.page("/home", "tea at home", "/next")
	w.page("/next", "tea next door")
	w.run(these(w.asks("ann", "/", depth(1), about("tea")), w.asks("bob", "/", depth(2), about("tea"))))
	mustBe(t, "requests", w.requests(), "302 /", "302 /moved", "200 /home", "200 /next")
	mustBe(t, "told", w.news(), "ann /home", "bob /home", "bob /next")
}

func TestARedirectOutOfScopeIsNotFollowed(t *testing.T) {
	t.Parallel()
	w, other := newWorld(t), newSite(t)
	other.page("/", "another port")
	w.page("/", "/away")
	w.redirect("/away", other.URL+"/")
	w.run(these(w.asks("ann", "/", depth(0))))
	mustBe(t, "requests to the other host", other.requests())
}

func TestWhoJoinsLaterIsServedFromTheCacheAndTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	chain(w.site, 4)
	first := w.asks("ann", "/1", depth(3), about("tea"))
	w.run(these(first))
	w.requests()
	w.news()
	w.run(these(first, w.asks("bob", "/1", depth(2), about("tea"))))
	mustBe(t, "requests", w.requests())
	mustBe(t, "told", w.news(), "bob /1", "bob /2")

	w.run(these(w.asks("eve", "/2", depth(0), about("tea"))))
	mustBe(t, "requests of another start", w.requests(), "200 /4")
	mustBe(t, "told of another start", w.news(), "eve /2", "eve /3", "eve /4")
}

func TestWhoAsksForMoreLevelsLaterIsToldOfTheNewOnes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	chain(w.site, 4)
	w.run(these(w.asks("ann", "/1", depth(1), about("tea"))))
	mustBe(t, "told at first", w.news(), "ann /1")
	w.requests()
	w.run(these(w.asks("ann", "/1", depth(3), about("tea"))))
	mustBe(t, "requests", w.requests(), "200 /2", "200 /3")
	mustBe(t, "told of the new levels", w.news(), "ann /2", "ann /3")
}

// The pages were there all the time, for another owner of the same crawl.
func TestWhoAsksForMoreLevelsLaterIsToldOfWhatOthersBroughtFromThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	chain(w.site, 3)
	bob := w.asks("bob", "/1", depth(3), about("tea"))
	w.run(these(w.asks("ann", "/1", depth(1), about("tea")), bob))
	mustBe(t, "told at first", w.news(), "ann /1", "bob /1", "bob /2", "bob /3")
	w.requests()
	w.run(these(w.asks("ann", "/1", depth(3), about("tea")), bob))
	mustBe(t, "requests", w.requests())
	mustBe(t, "told of the new levels", w.news(), "ann /2", "ann /3")
}

func TestTheAudienceIsWhoseCrawlsCameThereOrEveryone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/a", "tea")
	w.page("/b", "tea")
	ann, bob := w.asks("ann", "/a", about("tea")), w.asks("bob", "/b", about("tea"))
	w.run(these(bob))
	w.news()
	w.run(these(ann))
	mustBe(t, "told among requesters", w.news(), "ann /a")

	w.page("/a", "tea", "more tea")
	w.run(these(ann), append(askAll, "--set", "keyword-filter.audience=everyone")...)
	mustBe(t, "told among everyone", w.news(), "ann /a", "bob /a")
}

func TestDocumentsFetchedWithCredentialsGoToTheirRequestersAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "tea")
	w.secret("account", hush)
	w.run(these(w.asks("ann", "/", as("account"), about("tea")), w.asks("bob", "/*", about("tea"))), "--set", "keyword-filter.audience=everyone")
	mustBe(t, "told of what is private", w.news(), "ann /")
}
