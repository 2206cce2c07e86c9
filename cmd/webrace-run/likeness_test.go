package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// essay is a long text, the same for each seed.
func essay(seed uint64) string {
	random := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for range 3000 {
		fmt.Fprintf(&b, "w%d ", random.IntN(30000))
	}
	return b.String()
}

// duplicates is a world of one essay at five addresses, with a clock that never stands still, of an essay of
// its own, and of twelve addresses at which the server answers in many words, and with 200, that nothing is there.
func duplicates(t *testing.T) *world {
	w := newWorld(t)
	var seconds atomic.Int64
	var paths []string
	for i := range 5 {
		paths = append(paths, fmt.Sprintf("/copy/%d", i))
		w.handle(paths[i], func(out http.ResponseWriter, r *http.Request) {
			out.Header().Set("Content-Type", "text/html")
			out.Write(document(fmt.Sprintf("It is %d.", seconds.Add(1)), essay(1), fmt.Sprintf("/behind/%d", i)))
		})
		w.page(fmt.Sprintf("/behind/%d", i), "tea")
	}
	for i := range 12 {
		paths = append(paths, fmt.Sprintf("/missing/%d", i))
		w.page(paths[len(paths)-1], "There is nothing here. "+essay(2))
	}
	paths = append(paths, "/own")
	w.page("/own", essay(3))
	w.page("/", paths...)
	return w
}

func TestNearDuplicatesAndSoft404sAreReported(t *testing.T) {
	t.Parallel()
	w := duplicates(t)
	report := w.reported(these(w.asks("ann", "/", depth(3))), "--set", "normalize.likeness=true")
	c := report.Stages["normalize"].Counters
	if c["near_duplicates"] != 4+11 || c["soft_404"] != 2 || c["near_duplicates_filtered"] != 0 {
		t.Errorf("counters %v", c)
	}
	if n := report.Stages["cache"].Counters["versions"]; n != 1+5+5+12+1 {
		t.Errorf("%d of 24 pages kept", n)
	}
}

func TestAPageThatIsConfirmedIsKnownAmongItsDuplicates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/copy/0", essay(1))
	w.page("/", "/copy/0")
	urds := these(w.asks("ann", "/", depth(2)))
	filter := []string{"--set", "normalize.likeness=true", "--set", "normalize.near_duplicates=filter", "--set", "frontier.leases=1"}
	w.run(urds, filter...)
	w.requests()
	w.page("/copy/1", "It is later. "+essay(1))
	w.page("/", "/copy/0", "/copy/1")
	report := w.reported(urds, append(filter, askAll...)...)
	mustBe(t, "requests", w.requests(), "200 /", "200 /copy/1", "304 /copy/0")
	if n := report.Stages["normalize"].Counters["near_duplicates_filtered"]; n != 1 {
		t.Errorf("%d near duplicates are left out, want 1", n)
	}
}

func TestNearDuplicatesAreFilteredAtWill(t *testing.T) {
	t.Parallel()
	w := duplicates(t)
	report := w.reported(these(w.asks("ann", "/", depth(3))), "--set", "normalize.likeness=true", "--set", "normalize.near_duplicates=filter")
	c := report.Stages["normalize"].Counters
	if c["near_duplicates"] != 4+11 || c["near_duplicates_filtered"] != 4+11 || c["soft_404"] != 2 {
		t.Errorf("counters %v", c)
	}
	if n := report.Stages["cache"].Counters["versions"]; n != 1+1+5+1+1 { // what lies behind the copies is short
		t.Errorf("%d pages kept of 9 that are no copies", n)
	}
	if n := len(w.requests()); n != 1+5+5+12+1 {
		t.Errorf("%d requests of 24", n)
	}
}
