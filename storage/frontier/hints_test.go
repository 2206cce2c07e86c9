package frontier

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/schedule"
)

// watched is a frontier that goes on and on, with a clock of its own, and a site of a start and pages that a
// sitemap lists.
type watched struct {
	*fixture
	at    time.Time
	pages int
}

func newWatched(t *testing.T, o QueueOptions, pages int) *watched {
	w := &watched{at: time.Unix(1e9, 0), pages: pages}
	o.Fresh, o.Continuous, o.Revisit = -1, true, schedule.Bounds{Min: time.Hour, Max: 100 * time.Hour}
	w.fixture = newFixtureAt(t, o, func() time.Time { return w.at })
	return w
}

func (w *watched) page(i int) string { return fmt.Sprintf("http://a.org/%d", i) }

// round opens a round some time later. The start's sitemap lists times of change; what is asked for is found to
// have changed or not. It returns what was asked for, and the hint that decided over each page.
func (w *watched) round(later time.Duration, listed func(page int) time.Time, changed func(page int) bool, expires time.Duration) (asked map[string]bool, hints map[string]Hint) {
	w.t.Helper()
	w.at = w.at.Add(later)
	w.start(crawlOf("a.org"), true)
	start := w.take()
	links := webrace.Links{From: "http://a.org/", Reach: start.Request().Reach, Via: webrace.ViaSitemap}
	for i := range w.pages {
		links.URLs = append(links.URLs, w.page(i))
		links.Changed = append(links.Changed, listed(i))
	}
	w.links(start, links.URLs...) // the page leads there, too, without a word of when they were changed
	w.offer(links)
	w.done(start)
	asked, hints = map[string]bool{}, map[string]Hint{}
	for range w.pages {
		l := w.take()
		url := l.Request().URL
		hints[url] = l.Hint()
		if l.Request().Stored {
			w.finish(l, Outcome{})
			continue
		}
		asked[url] = true
		var page int
		fmt.Sscanf(url, "http://a.org/%d", &page)
		was := webrace.Digest{1}
		if v := l.Request().Visit; v != nil {
			was = v.Digest
		}
		if changed(page) {
			was[1]++
		}
		o := w.visited(200, 1)
		o.Learned = append(o.Learned, func(v *webrace.Visit) {
			v.Digest = was
			if expires > 0 {
				v.Expires = v.At.Add(expires)
			}
		})
		w.finish(l, o)
	}
	return asked, hints
}

func unchanging(int) bool { return false }
func always(int) bool     { return true }
func same(int) time.Time  { return time.Unix(9e8, 0) }

// What a sitemap lists as changed is asked for before its interval has passed, and what it does not is left alone
// up to the longest interval, once it has proved to tell of changes.
func TestListedChangesDecideWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	w := newWatched(t, QueueOptions{TrustLastmod: true}, 6)
	w.round(0, same, unchanging, 0) // the intervals are an hour
	listed := func(int) time.Time { return time.Unix(9e8+1, 0) }
	asked, hints := w.round(time.Minute, listed, always, 0)
	if len(asked) != 6 || hints[w.page(0)] != LastmodChanged {
		t.Fatalf("listed as changed: asked for %v, by %v", asked, hints)
	}
	asked, hints = w.round(50*time.Hour, listed, unchanging, 0)
	if len(asked) != 0 || hints[w.page(0)] != LastmodUnchanged {
		t.Fatalf("not listed as changed: asked for %v, by %v", asked, hints)
	}
	w.reopen() // what is known of the host is kept
	if asked, hints = w.round(49*time.Hour, listed, unchanging, 0); len(asked) != 0 || hints[w.page(0)] != LastmodUnchanged {
		t.Fatalf("after another start: asked for %v, by %v", asked, hints)
	}
	if asked, hints = w.round(2*time.Hour, listed, always, 0); len(asked) != 6 || hints[w.page(0)] != NoHint {
		t.Fatalf("after the longest interval: asked for %v, by %v", asked, hints)
	}
	// Six changes were not listed: from now on, the intervals count.
	if asked, _ = w.round(30*time.Hour, listed, unchanging, 0); len(asked) != 6 {
		t.Errorf("after changes that were not listed: asked for %v", asked)
	}
}

func TestListedChangesCountOnlyIfAskedTo(t *testing.T) {
	t.Parallel()
	w := newWatched(t, QueueOptions{}, 6)
	w.round(0, same, unchanging, 0)
	if asked, _ := w.round(time.Minute, func(int) time.Time { return w.at }, always, 0); len(asked) != 0 {
		t.Errorf("asked for %v", asked)
	}
}

// A site that claims of all its pages that they changed just now is found out, and asked as often as any other.
func TestAListThatAlwaysSaysNowIsNotBelieved(t *testing.T) {
	t.Parallel()
	w := newWatched(t, QueueOptions{TrustLastmod: true}, 6)
	now := func(int) time.Time { return w.at }
	early := 0
	for range 10 {
		asked, _ := w.round(time.Minute, now, unchanging, 0)
		early += len(asked)
	}
	if early -= 6; early < 8 || early > 16 { // the first visits are none of them
		t.Errorf("asked for %d pages before their time", early)
	}
}

// Time that a server gives caches is kept, if wanted: up to a limit, and not for starts.
func TestFreshnessIsHonouredUpToALimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		honor, expires, later time.Duration
		asked                 bool
	}{
		{0, 50 * time.Hour, 3 * time.Hour, true},
		{10 * time.Hour, 50 * time.Hour, 3 * time.Hour, false},
		{10 * time.Hour, 50 * time.Hour, 11 * time.Hour, true},
		{10 * time.Hour, 2 * time.Hour, 3 * time.Hour, true},
		{10 * time.Hour, 0, 3 * time.Hour, true},
	} {
		w := newWatched(t, QueueOptions{HonorFreshness: c.honor}, 1)
		w.round(0, same, unchanging, c.expires)
		asked, hints := w.round(c.later, same, unchanging, 0)
		if asked[w.page(0)] != c.asked || (hints[w.page(0)] == HonoredFreshness) == c.asked {
			t.Errorf("%+v: asked for %v, by %v", c, asked, hints)
		}
	}
}

// Whatever a host lists and whatever is found, the counts of what was right stay small, and tell of lately.
func TestBeliefInListings(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 1))
	var s listings
	for range 10_000 {
		if s.note(rng.IntN(2) == 0, rng.IntN(2) == 0); s.right >= 64 || s.wrong >= 64 || s.silent >= 64 {
			t.Fatalf("%+v", s)
		}
	}
	for range 1000 {
		s.note(true, false)
	}
	if s.announces() {
		t.Errorf("%+v: a thousand changes that were none are believed", s)
	}
	for range 1000 {
		s.note(true, true)
	}
	if !s.announces() || !s.complete() {
		t.Errorf("%+v: a thousand changes that were right are not believed", s)
	}
	for range 1000 {
		s.note(false, true)
	}
	if s.complete() {
		t.Errorf("%+v: that nothing is listed is believed after a thousand changes without a word", s)
	}
}
