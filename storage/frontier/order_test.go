package frontier

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/testutil"
)

// score offers urls at a distance of one from the start of a crawl.
func (f *fixture) score(crawl string, score uint8, urls ...string) {
	f.t.Helper()
	f.offer(webrace.Links{
		From: "http://x/", Reach: []webrace.Reach{{Crawl: crawl}}, Via: webrace.ViaLink, URLs: urls, Score: score,
	})
}

func TestTheNewestDiscoveryComesFirstInDepthFirstOrder(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Order: DepthFirst})
	f.seed(1, pages("a", 40)...)
	var got []string
	for i := range 60 {
		l := f.take()
		got = append(got, l.Request().URL)
		if i < 20 { // each page has a link that was not known
			f.links(l, fmt.Sprintf("http://a/new%d", i))
		}
		f.done(l)
	}
	want := []string{"http://a/39"}
	for i := range 20 {
		want = append(want, fmt.Sprintf("http://a/new%d", i))
	}
	for i := 38; i >= 0; i-- {
		want = append(want, fmt.Sprintf("http://a/%d", i))
	}
	if !slices.Equal(got, want) {
		t.Errorf("taken %v, want %v", got, want)
	}
}

func TestTheBestComesFirstAndThenWhatWasDiscoveredFirst(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Order: BestFirst})
	f.seed(1)
	f.score("urgency-1", 10, "http://a/10", "http://a/10b")
	f.score("urgency-1", 200, "http://a/200")
	f.wantURL(f.take(), "http://a/200")
	f.score("urgency-1", 100, "http://a/100") // after the first ones were read into memory
	f.score("urgency-1", 255, "http://a/255")
	for _, want := range []string{"255", "100", "10", "10b"} {
		f.wantURL(f.take(), "http://a/"+want)
	}
	f.score("urgency-1", 0, "http://a/deep/down/below", "http://a/x?query=1", "http://a/top")
	for _, want := range []string{"top", "deep/down/below", "x?query=1"} {
		f.wantURL(f.take(), "http://a/"+want)
	}
}

// TestABetterScoreRaisesAURLThatWaits is what importance needs, which adds up while a URL waits: a score that is no
// better leaves it where it is, and one that was offered with it before does not reach the disk.
func TestABetterScoreRaisesAURLThatWaits(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Order: BestFirst})
	f.seed(1)
	f.score("urgency-1", 100, "http://a/first", "http://a/second", "http://a/third")
	f.score("urgency-1", 150, "http://a/fourth")
	f.score("urgency-1", 90, "http://a/first") // no better
	f.score("urgency-1", 200, "http://a/third")
	f.score("urgency-1", 0, "http://a/third") // not known
	f.score("urgency-1", 120, "http://a/third")
	f.wantURL(f.take(), "http://a/third")
	f.score("urgency-1", 255, "http://a/third") // while it is out
	f.score("urgency-1", 160, "http://a/second")
	before := f.q.Stats().Queued
	f.score("urgency-1", 160, "http://a/second")
	f.score("urgency-1", 150, "http://a/second", "http://a/fourth")
	if after := f.q.Stats().Queued; after != before {
		t.Errorf("%d URLs are queued, and were %d before", after, before)
	}
	for _, want := range []string{"second", "fourth", "first"} {
		f.wantURL(f.take(), "http://a/"+want)
	}
	f.none()
}

// TestAScoreThatIsKnownDoesNotReachTheDisk holds offers to being decided in memory: those of a score that the URL was
// offered with, and in other orders those of any.
func TestAScoreThatIsKnownDoesNotReachTheDisk(t *testing.T) {
	t.Parallel()
	for order, want := range map[Order]int{BestFirst: 1, BreadthFirst: 0} {
		f := newFixture(t, QueueOptions{Order: order})
		f.seed(1)
		f.score("urgency-1", 100, "http://a/1")
		for score, candidates := range map[uint8]int{100: 0, 0: 0, 101: want} {
			l := &webrace.Links{
				From: "http://x/", Reach: []webrace.Reach{{Crawl: "urgency-1"}}, Via: webrace.ViaLink, URLs: []string{"http://a/1"}, Scores: []uint8{score},
			}
			if o := f.q.newOffer(l, 0); len(o.candidates) != candidates {
				t.Errorf("%s, offered with %d after 100: %d candidates, want %d", order, score, len(o.candidates), candidates)
			}
		}
	}
}

// TestURLsOfOneSetHaveScoresOfTheirOwn includes a set that has fewer scores than URLs, as another program may write it.
func TestURLsOfOneSetHaveScoresOfTheirOwn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Order: BestFirst})
	f.seed(1)
	f.offer(webrace.Links{
		From: "http://x/", Reach: []webrace.Reach{{Crawl: "urgency-1"}}, Via: webrace.ViaLink, Score: 100,
		URLs: []string{"http://a/10", "http://a/200", "http://a/100"}, Scores: []uint8{10, 200},
	})
	for _, want := range []string{"200", "100", "10"} {
		f.wantURL(f.take(), "http://a/"+want)
	}
}

func TestATryKeepsItsScore(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Order: BestFirst})
	f.seed(1)
	f.score("urgency-1", 250, "http://a/failing")
	f.score("urgency-1", 240, "http://a/good")
	l := f.take()
	f.finish(l, Outcome{Err: errors.New("reset"), RetryAt: f.now()})
	f.wantURL(f.take(), "http://a/good")
	f.none() // brings it back
	f.score("urgency-1", 245, "http://a/better")
	if err := f.q.waitForCommit(); err != nil {
		t.Fatal(err)
	}
	f.wantURL(f.take(), "http://a/failing")
}

// Whatever order each run of a pipeline has, nothing is lost and nothing comes twice.
func TestTheOrderMayChangeFromRunToRun(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a crawl in every order: not in short mode")
	}
	t.Parallel()
	for seed := range testutil.Seeds(12) {
		rng := rand.New(rand.NewPCG(seed, 3))
		f := newFixture(t, QueueOptions{Window: 1 + rng.IntN(3), Repeats: 10})
		want, got := map[string]bool{}, map[string]bool{}
		f.seed(1)
		for run := range 5 {
			f.opt.Order = Orders[rng.IntN(len(Orders))]
			f.reopen()
			f.start(webrace.Crawl{ID: "urgency-1", Start: "http://urgency-1/", Scope: webrace.ScopeAny}, false)
			for range 10 {
				var urls []string
				for i := range rng.IntN(40) {
					urls = append(urls, fmt.Sprintf("http://h%d/%d-%d-%d", rng.IntN(4), run, len(want), i))
				}
				for _, u := range urls {
					want[u] = true
				}
				f.score("urgency-1", uint8(rng.IntN(256)), urls...)
				for range rng.IntN(25) {
					f.takeAny(got)
				}
			}
		}
		for f.takeAny(got) {
		}
		if len(got) != len(want) || f.q.Stats().Queued != 0 {
			t.Errorf("seed %d: %d of %d URLs were taken; %+v", seed, len(got), len(want), f.q.Stats())
		}
	}
}

// takeAny takes what there is now, and reports whether there was anything.
func (f *fixture) takeAny(got map[string]bool) bool {
	f.t.Helper()
	f.q.mu.Lock()
	l, _, err := f.q.try(f.now())
	f.q.mu.Unlock()
	if err != nil {
		f.t.Fatal(err)
	}
	if l == nil {
		return false
	}
	if got[l.Request().URL] {
		f.t.Errorf("%s is taken twice", l.Request().URL)
	}
	got[l.Request().URL] = true
	f.done(l)
	return true
}

func TestAnUnknownOrderIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	if _, err := f.s.Queue("other", QueueOptions{Order: "random"}); err == nil {
		t.Error("a queue opens in an order that there is not")
	}
}

// Joined stretches hold every order that any of them held, are sorted, and are few.
func FuzzStretches(f *testing.F) {
	f.Add([]byte{1, 3, 2, 9, 40, 1, 30, 2, 80, 1, 90, 1, 100, 1, 110, 1, 120, 1, 130, 1})
	f.Fuzz(func(t *testing.T, steps []byte) {
		var list []stretch
		var held [512]bool
		for ; len(steps) >= 2; steps = steps[2:] {
			s := stretch{uint64(steps[0]), uint64(steps[0]) + uint64(steps[1])}
			for n := s.first; n <= s.last; n++ {
				held[n] = true
			}
			list = join(list, s)
			if len(list) > mostStretches {
				t.Fatalf("%d stretches: %v", len(list), list)
			}
			for i := range list {
				if list[i].first > list[i].last || i > 0 && list[i-1].last >= list[i].first {
					t.Fatalf("stretches are %v", list)
				}
			}
			for n, h := range held {
				in := slices.ContainsFunc(list, func(s stretch) bool { return s.first <= uint64(n) && uint64(n) <= s.last })
				if h && !in {
					t.Fatalf("%d is in none of %v", n, list)
				}
			}
		}
	})
}
