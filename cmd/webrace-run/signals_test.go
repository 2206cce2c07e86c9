package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/xmlschema"
)

// start starts the pipeline webrace for these URDs.
func (w *world) start(urds []*xmlschema.URD, more ...string) *command {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "urds.xml")
	writeFile(w.t, file, string(xmlschema.URDs(urds).Canonical()))
	args := append([]string{"webrace", "--urds", file, "--data", w.data, "--set", "fetch.allow_networks=loopback"}, more...)
	return startCommand(w.t, args...)
}

// slowSite puts pages there that wait, once they were asked for, until they are let go: /1 to /n, all linked
// to by the start.
func slowSite(s *site, n int) (arrived <-chan struct{}, letGo func()) {
	waiting, open := make(chan struct{}, 10*n), make(chan struct{})
	var links []string
	for i := range n {
		path := fmt.Sprintf("/%d", i+1)
		links = append(links, path)
		s.handle(path, func(rw http.ResponseWriter, r *http.Request) {
			waiting <- struct{}{}
			select {
			case <-open:
				serveDocument(rw, r, document("page "+path+" speaks of tea"))
			case <-r.Context().Done():
				rw.WriteHeader(http.StatusRequestTimeout) // the client does not read it
			}
		})
	}
	s.page("/", links...)
	return waiting, sync.OnceFunc(func() { close(open) })
}

// awaitEnds waits until so many requests have ended, and forgets them.
func (w *world) awaitEnds(n int) {
	w.t.Helper()
	ended := 0
	waitFor(w.t, func() bool {
		ended += len(w.requestsInOrder())
		return ended >= n
	}, func() string { return fmt.Sprintf("%d requests have ended, want %d", ended, n) })
}

// slowPages is how many pages a slowCrawl has besides its start, and slowInFlight how many of them it asks for at once.
const slowPages, slowInFlight = 12, 4

// slowCrawl starts a crawl of a slowSite, and waits until as many pages have been asked for as may be at once.
func (w *world) slowCrawl() (urds []*xmlschema.URD, p *command, letGo func()) {
	w.t.Helper()
	arrived, letGo := slowSite(w.site, slowPages)
	w.t.Cleanup(letGo)
	urds = these(w.asks("ann", "/", depth(2), about("tea")))
	p = w.start(urds, "--set", fmt.Sprintf("frontier.leases=%d", slowInFlight))
	await(w.t, arrived, slowInFlight)
	return urds, p, letGo
}

// await receives n times.
func await(t *testing.T, arrived <-chan struct{}, n int) {
	t.Helper()
	for range n {
		select {
		case <-arrived:
		case <-time.After(patience):
			t.Fatal("the site is not asked for what it was to be asked for")
		}
	}
}

func TestASignalFinishesWhatIsInFlightAndTheNextRunFetchesTheRestOnly(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		w := newWorld(t)
		urds, p, letGo := w.slowCrawl()
		p.signal(signal)
		p.waitUntil("finishing what is in flight (fetch)")
		letGo()
		p.mustExit(cli.OK)
		first := w.requests()
		if len(first) != 1+slowInFlight {
			t.Errorf("%v: %d requests, want the start and the %d in flight: %v", signal, len(first), slowInFlight, first)
		}
		mustSay(t, p.said(), fmt.Sprintf("%d URLs left for the next run", slowPages-slowInFlight))
		w.mustTellOf(fmt.Sprint("those in flight at ", signal), slowInFlight)
		w.run(urds, askAll...)
		mustBeDisjoint(t, first, w.requests(), 1+slowPages)
		w.mustTellOf(fmt.Sprint("the others, after ", signal), slowPages-slowInFlight)
	}
}

// mustBeDisjoint wants requests that are all different, and so many of them.
func mustBeDisjoint(t *testing.T, first, second []string, n int) {
	t.Helper()
	times := make(map[string]int)
	for _, request := range append(first, second...) {
		times[request]++
	}
	for request, n := range times {
		if n > 1 {
			t.Errorf("%s was asked for %d times", request, n)
		}
	}
	if len(times) != n {
		t.Errorf("%d different requests, want %d", len(times), n)
	}
}

func TestASecondSignalStopsAtOnceAndTheNextRunRepeatsWhatWasInFlight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	urds, p, letGo := w.slowCrawl()
	p.signal(os.Interrupt)
	p.waitUntil("finishing what is in flight")
	p.signal(os.Interrupt)
	p.mustExit(cli.Interrupted) // while no page has been served
	mustSay(t, p.said(), "the next run goes on from here")
	mustBe(t, "told by what was interrupted", w.news())
	w.awaitEnds(1 + slowInFlight)
	letGo()
	w.run(urds, askAll...)
	var want []string
	for i := range slowPages {
		want = append(want, fmt.Sprintf("200 /%d", i+1))
	}
	mustBe(t, "requests of the next run", w.requests(), want...)
	w.mustTellOf("the next run", slowPages)
}

func TestKill9LosesNothingThatWasAcceptedAndRepeatsWhatWasInFlight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	urds, p, letGo := w.slowCrawl()
	p.signal(os.Kill)
	p.Wait()
	w.awaitEnds(1 + slowInFlight)
	letGo()
	w.run(urds, askAll...)
	found := make(map[string]int)
	for _, request := range w.requests() {
		found[request]++
	}
	for i := range slowPages {
		if request := fmt.Sprintf("200 /%d", i+1); found[request] != 1 {
			t.Errorf("%s %d times in the next run, want once", request, found[request])
		}
	}
	w.mustTellOf("the next run", slowPages)
}
