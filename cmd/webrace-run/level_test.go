package main

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
)

// raw puts a page of this HTML at a path, with a header field for each pair of more.
func (w *world) raw(path, html string, more ...string) {
	w.handle(path, func(rw http.ResponseWriter, r *http.Request) {
		for i := 0; i < len(more); i += 2 {
			rw.Header().Add(more[i], more[i+1])
		}
		serveDocument(rw, r, []byte(html))
	})
}

// sendsOn puts a page at a path that sends its reader to another at once.
func (w *world) sendsOn(path, to string) {
	w.raw(path, fmt.Sprintf(`<title>%s</title><meta http-equiv=refresh content="0; url=%s">`, path, to))
}

// declares puts a page at a path that declares another address for itself.
func (w *world) declares(path, address, text string) {
	w.raw(path, fmt.Sprintf(`<title>%s</title><link rel=canonical href="%s"><p>%s`, path, address, text))
}

// What is found on the level of a page is found again when the page is not sent, and when nothing is asked.
func TestPagesThatAreOnlyReachedOnALevelAreReachedInEveryRound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "start", "/duplicate", "/header", "/stub", "/hidden")
	w.declares("/duplicate", "/canonical?utm_source=x", "tea")
	w.page("/canonical", "tea with milk", "/too-deep")
	w.raw("/header", "<p>water", "Link", `</style.css>; rel=preload, </declared>; rel="canonical"`)
	w.page("/declared", "tea of its own")
	w.sendsOn("/stub", "/after")
	w.page("/after", "tea afterwards")
	w.raw("/hidden", `<meta name=robots content=noindex><meta http-equiv=refresh content="1;/shown">`)
	w.page("/shown", "tea shown")
	ann := w.asks("ann", "/", depth(2), about("tea"))
	report := w.reported(these(ann))
	mustBe(t, "requests", w.requests(), "200 /", "200 /after", "200 /canonical", "200 /declared", "200 /duplicate",
		"200 /header", "200 /hidden", "200 /shown", "200 /stub")
	mustBe(t, "told", w.news(), "ann /after", "ann /canonical", "ann /declared", "ann /duplicate", "ann /shown")
	if c := report.Stages["normalize"].Counters; c["canonical"] != 2 || c["refreshes"] != 2 {
		t.Errorf("counted %v", c)
	}
	w.run(these(ann), askAll...)
	mustBe(t, "requests of another round", w.requests(), "200 /hidden", "304 /", "304 /after", "304 /canonical",
		"304 /declared", "304 /duplicate", "304 /header", "304 /shown", "304 /stub")
	bob := w.asks("bob", "/", depth(2), within("domain"), about("tea"))
	w.run(these(bob))
	mustBe(t, "requests of another crawl from the store", w.requests())
	mustBe(t, "told by another crawl from the store", w.news(), "bob /after", "bob /canonical", "bob /declared", "bob /duplicate", "bob /shown")
}

func TestCanonicalURLsAreIgnoredAtChoice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.declares("/", "/canonical", long("Monday"))
	w.page("/canonical", long("Monday"))
	urds := these(w.asks("ann", "/", depth(1), about("ferry")))
	w.run(urds, "--set", "normalize.canonical=ignore")
	mustBe(t, "requests", w.requests(), "200 /")
	w.run(urds)
	mustBe(t, "requests when they are followed again", w.requests(), "200 /canonical")
	mustBe(t, "told of one text", w.news(), "ann /")
}

// An owner who watches the address of a duplicate is told of it, though its text is known from elsewhere.
func TestADuplicateIsStillADocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "start", "/copy/a")
	w.declares("/copy/a", "/original", long("Monday"))
	w.declares("/original", "/original", long("Monday"))
	w.run(these(w.asks("ann", "/", depth(2), about("ferry")), w.asks("eve", "/copy/*", about("ferry"))))
	told := w.news()
	if len(told) != 2 || told[1] != "eve /copy/a" {
		t.Errorf("told %q, want eve to be told of /copy/a and ann of the text once", told)
	}
}

func TestCanonicalURLsThatLie(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "start", "/gone", "/a", "/elsewhere", "/1")
	w.declares("/gone", "/nothing-here", "tea is gone")
	w.declares("/a", "/b", "tea of a")
	w.declares("/b", "/a", "tea of b")
	w.declares("/elsewhere", w.other("/x"), "tea is elsewhere")
	w.page("/x", "out of scope")
	want := []string{"200 /", "200 /a", "200 /b", "200 /elsewhere", "200 /gone", "404 /nothing-here"}
	for i := range 20 { // each declares the next
		w.declares(fmt.Sprintf("/%d", i+1), fmt.Sprintf("/%d", i+2), fmt.Sprintf("tea %d", i+1))
		if i <= 10 {
			want = append(want, fmt.Sprintf("200 /%d", i+1))
		}
	}
	report := w.reported(these(w.asks("ann", "/", depth(2), about("tea"))))
	mustBe(t, "requests", w.requests(), slices.Sorted(slices.Values(want))...)
	c := report.Stages["frontier"].Counters
	if c["refused_scope"] != 1 || c["refused_redirects"] != 1 || c["dead"] != 1 {
		t.Errorf("counted %v", c)
	}
}

func TestPagesThatSendTheirReaderOnAreRedirects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "start", "/self", "/a", "/1", "/later", "/moved")
	w.sendsOn("/self", "/self#again")
	w.sendsOn("/a", "/b")
	w.sendsOn("/b", "/a")
	w.raw("/later", `<meta http-equiv=refresh content="60; url=/too-deep">`)
	w.redirect("/moved", "/stub") // a chain of both kinds is one chain
	w.sendsOn("/stub", "/end")
	w.page("/end", "tea")
	want := []string{"200 /", "200 /a", "200 /b", "200 /end", "200 /later", "200 /self", "200 /stub", "302 /moved"}
	for i := range 20 {
		w.sendsOn(fmt.Sprintf("/%d", i+1), fmt.Sprintf("/%d", i+2))
		if i <= 10 {
			want = append(want, fmt.Sprintf("200 /%d", i+1))
		}
	}
	report := w.reported(these(w.asks("ann", "/", depth(2), about("tea"))))
	mustBe(t, "requests", w.requests(), slices.Sorted(slices.Values(want))...)
	c := report.Stages["frontier"].Counters
	if c["refused_redirects"] != 1 || c["refused_depth"] != 1 {
		t.Errorf("counted %v", c)
	}
	if n := report.Stages["normalize"].Counters["refreshes"]; n != 2+1+11 {
		t.Errorf("%d refreshes", n)
	}
}

func TestAStartThatSendsItsReaderOnTakesItsCrawlAlong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sendsOn("/", "/home")
	w.page("/home", "tea", "/deep")
	w.page("/deep", "deep tea")
	urds := these(w.asks("ann", "/", depth(2), about("tea")))
	w.run(urds)
	mustBe(t, "requests", w.requests(), "200 /", "200 /deep", "200 /home")
	w.run(urds, askAll...)
	mustBe(t, "requests of another round", w.requests(), "304 /", "304 /deep", "304 /home")
}

func TestAStartThatSendsItsReaderElsewhereIsNotFollowedOutOfItsDomain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sendsOn("/", w.other("/home"))
	w.page("/home", "tea", "/deep")
	w.page("/deep", "deep tea")
	urds := these(w.asks("ann", "/", depth(2), about("tea")))
	w.run(urds)
	mustBe(t, "requests", w.requests(), "200 /")
	w.run(urds, append(askAll, "--set", "frontier.start_redirects=any")...)
	mustBe(t, "requests when that is wanted", w.requests(), "200 /deep", "200 /home", "304 /")
	w.run(urds, append(askAll, "--set", "frontier.start_redirects=any")...)
	mustBe(t, "requests of another round", w.requests(), "304 /", "304 /deep", "304 /home")
}
