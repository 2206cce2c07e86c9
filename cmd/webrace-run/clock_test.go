package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/xmlschema"
)

// crawlAhead makes another round of all crawls, as a run does whose clock is ahead and whose pages have not
// changed.
func (w *world) crawlAhead(ahead time.Duration) {
	w.t.Helper()
	now := func() time.Time { return time.Now().Add(ahead) }
	dir, err := storage.Open(w.data, storage.Options{Frontier: frontier.Options{Now: now}})
	if err != nil {
		w.t.Fatal(err)
	}
	defer dir.Close()
	requests, err := dir.Control()
	if err != nil {
		w.t.Fatal(err)
	}
	store, err := dir.Frontier()
	if err != nil {
		w.t.Fatal(err)
	}
	q, err := store.Queue("webrace", frontier.QueueOptions{Fresh: -1})
	if err != nil {
		w.t.Fatal(err)
	}
	starts := 0
	for urd, err := range requests.All(w.t.Context()) {
		starts++
		if err == nil {
			_, err = q.Start(w.t.Context(), urd.Crawl, true)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
	done := make(chan error)
	for left := starts; left > 0; left-- {
		l, err := q.Take(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		if left == 1 {
			l.Release(webrace.HostReport{NotBefore: now().Add(time.Minute)})
		}
		l.Done(frontier.Outcome{Learned: []webrace.Learned{func(v *webrace.Visit) { v.At = now() }}}, func(err error) { done <- err })
		if err := <-done; err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestAPageIsAskedForAtOnceWhenTheClockWasAYearAhead(t *testing.T) {
	t.Parallel()
	const year, month = 365 * 24 * time.Hour, 30 * 24 * time.Hour
	w := newWorld(t)
	w.page("/", "tea")
	w.page("/other", "tea")
	urds := these(w.asks("ann", "/", depth(1), about("tea"), every(month)), w.asks("bob", "/other", depth(1), every(month)))
	run := func(urds []*xmlschema.URD) string {
		t.Helper()
		p := w.start(urds)
		p.mustExit(0)
		return p.said()
	}
	run(urds[:1])
	w.requests()
	w.crawlAhead(year)
	said := run(urds)
	mustBe(t, "requests", w.requests(), "200 /other", "304 /")
	mustSay(t, said, "the clock was set back", "urls=1", "hosts=1")
	if said = run(urds); strings.Contains(said, "clock") {
		t.Errorf("it is said again:\n%s", said)
	}
	mustBe(t, "requests a moment later", w.requests())

	w.crawlAhead(year)
	p := w.start(urds, "--continuous")
	waitFor(t, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.asked) >= 2
	}, func() string { return "nothing is asked for:\n" + p.said() })
	p.waitUntil("the clock was set back")
	p.signal(os.Interrupt)
	p.mustExit(0)
	mustBe(t, "requests of the run that goes on", w.requests(), "304 /", "304 /other")
}
