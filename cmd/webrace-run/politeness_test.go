package main

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/xmlschema"
)

// A barrier lets no request through before so many are there.
func barrier(n int) http.HandlerFunc {
	var together sync.WaitGroup
	together.Add(n)
	return func(rw http.ResponseWriter, r *http.Request) {
		together.Done()
		together.Wait()
		serveDocument(rw, r, document("through"))
	}
}

func TestAddressesAdmittedByAllowNetworksAreAskedInParallelByAllWorkers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const workers = 12
	var links []string
	wall := barrier(workers)
	for i := range workers {
		path := fmt.Sprintf("/%d", i)
		links = append(links, path)
		w.handle(path, wall)
	}
	w.page("/", links...)
	report := w.reported(these(w.asks("ann", "/", depth(2))), "--set", fmt.Sprintf("fetch.workers=%d", workers), "--set", "fetch.timeout=20s")
	if report.Pages != workers+1 || report.Stages["fetch"].Retried != 0 {
		t.Errorf("%d pages with %d further attempts, want %d at the first: fewer than %d were in flight at once",
			report.Pages, report.Stages["fetch"].Retried, workers+1, workers)
	}
}

func TestAddressesThatAreNotAdmittedAreRefusedNamingTheOptionThatAdmitsThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "tea")
	said := w.runInVain(these(w.asks("ann", "/")), "--set", "fetch.allow_networks=")
	mustBe(t, "requests", w.requests())
	mustSay(t, said, w.URL+"/: ", "127.0.0.1", "allow_networks", "1 error")
}

func TestAPublicAddressIsNotAskedWithoutAContact(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	start := func(u *xmlschema.URD) { u.URI = "http://192.0.2.1/" } // TEST-NET-1: routed nowhere
	said := w.runInVain(these(w.asks("ann", "/", start)))
	mustSay(t, said, "192.0.2.1")
}

func TestWhatRobotsTxtForbidsIsNotAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.handle("/robots.txt", func(rw http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(rw, "User-agent: *\nDisallow: /private\nAllow: /private/open\n")
	})
	w.page("/", "/private/closed", "/private/open", "/public", "/way")
	w.page("/private/closed", "closed")
	w.page("/private/open", "open")
	w.page("/public", "public")
	w.redirect("/way", "/private/by/redirect")
	w.page("/private/by/redirect", "closed as well")
	urds := these(w.asks("ann", "/", depth(2)))
	said := w.run(urds)
	mustBe(t, "requests", w.requests(), "200 /", "200 /private/open", "200 /public", "302 /way")
	mustSay(t, said, w.URL+"/private/closed: refused by robots.txt")
	w.run(urds, append(askAll, "--set", "fetch.robots=false")...)
	mustBe(t, "requests regardless", w.requests(), "304 /", "304 /private/open", "304 /public", "302 /way", "200 /private/closed", "200 /private/by/redirect")
}

func TestACrawlDelayIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.handle("/robots.txt", func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, "User-agent: *\nCrawl-delay: 1\n") })
	w.page("/", "/a")
	w.page("/a", "a page")
	w.run(these(w.asks("ann", "/", depth(2))))
	asked := w.requestsInOrder()
	if len(asked) != 2 {
		t.Fatalf("%d requests, want 2", len(asked))
	}
	if pause := asked[1].at.Sub(asked[0].at); pause < time.Second {
		t.Errorf("%v between two requests, want 1s at least", pause)
	}
}

func TestAMissingPageIsListedAndNobodyIsToldUntilItComesBack(t *testing.T) {
	t.Parallel()
	for _, gone := range []int{http.StatusNotFound, http.StatusGone} {
		w := newWorld(t)
		w.page("/", "start", "/here")
		w.page("/here", "tea was here", "/child")
		w.page("/child", "a child")
		urds := these(w.asks("ann", "/", depth(3), about("tea")))
		w.run(urds)
		mustBe(t, "told at first", w.news(), "ann /here")
		w.requests()

		w.status("/here", gone)
		said := w.run(urds, askAll...)
		mustBe(t, "requests when it is gone", w.requests(), "304 /", fmt.Sprintf("%d /here", gone))
		mustBe(t, "told when it is gone", w.news())
		mustSay(t, said, "1 error", fmt.Sprintf("%s/here: %d %s", w.URL, gone, http.StatusText(gone)))
		said = w.run(urds)
		mustBe(t, "requests for what was found to be gone a moment ago", w.requests())
		mustSay(t, said, fmt.Sprintf("%s/here: %d", w.URL, gone))

		w.page("/here", "tea was here", "tea is back", "/child")
		w.run(urds, askAll...)
		mustBe(t, "requests when it is back", w.requests(), "304 /", "200 /here", "304 /child")
		acis := w.acis()
		if len(acis) != 1 || acis[0].Summary != "«tea» is back" {
			t.Errorf("told %v when it came back, want of what is new", acis)
		}
	}
}

// The site's own clock tells when it was asked, and when it said it wanted to be asked again.
func TestRetryAfterIsHonoured(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]func(now time.Time) string{
		"seconds": func(time.Time) string { return strconv.Itoa(1) },
		"date":    func(now time.Time) string { return now.Add(2 * time.Second).UTC().Format(http.TimeFormat) },
	} {
		for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
			t.Run(fmt.Sprintf("%s %d", name, status), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				var refused sync.Once
				var until time.Time
				w.page("/", "start", "/busy", "/other")
				w.page("/other", "another page of the host")
				w.handle("/busy", func(rw http.ResponseWriter, r *http.Request) {
					refused.Do(func() {
						after := header(time.Now())
						until, _ = http.ParseTime(after)
						if seconds, err := strconv.Atoi(after); err == nil {
							until = time.Now().Add(time.Duration(seconds) * time.Second)
						}
						rw.Header().Set("Retry-After", after)
						rw.WriteHeader(status)
					})
					if len(rw.Header()) == 0 {
						serveDocument(rw, r, document("tea after all"))
					}
				})
				w.run(these(w.asks("ann", "/", depth(2), about("tea"))))
				var busy []asked
				for _, a := range w.requestsInOrder() {
					if a.path == "/busy" {
						busy = append(busy, a)
					}
				}
				if len(busy) != 2 || busy[0].status != status || busy[1].status != http.StatusOK {
					t.Fatalf("requests %v, want %d and then 200", busy, status)
				}
				if busy[1].at.Before(until) {
					t.Errorf("asked again %v too early", until.Sub(busy[1].at))
				}
				mustBe(t, "told", w.news(), "ann /busy")
			})
		}
	}
}

func TestWhatDoesNotFitIsCutAndToldAllTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "tea comes first", strings.Repeat("and much more follows ", 10_000))
	urds := these(w.asks("ann", "/", about("tea")))
	w.run(urds, "--set", "fetch.max_body=10kB")
	mustBe(t, "told", w.news(), "ann /")
	w.run(urds, askAll...)
	for _, a := range w.requestsInOrder() {
		if a.conditional {
			t.Errorf("%v was asked for conditionally: the rest of it would never come", a)
		}
	}
}
