package frontier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/testutil"
)

// seed queues urls for a crawl of the given urgency.
func (f *fixture) seed(urgency int, urls ...string) {
	f.t.Helper()
	id := fmt.Sprint("urgency-", urgency)
	c := webrace.Crawl{ID: id, Start: "http://" + id + "/", Scope: webrace.ScopeAny, Urgency: urgency}
	f.start(c, true)
	f.done(f.take())
	f.offer(webrace.Links{From: c.Start, Reach: []webrace.Reach{{Crawl: id}}, Via: webrace.ViaLink, URLs: urls})
}

func hostName(l *Lease) string {
	var host, rest string
	fmt.Sscanf(l.Request().URL, "http://%1s%s", &host, &rest)
	return host
}

func TestAHostGivesItsURLsInTheOrderOfTheirDiscovery(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	urls := pages("a", 100)
	f.seed(1, urls[:50]...)
	f.offer(webrace.Links{From: "http://a/", Reach: []webrace.Reach{{Crawl: "urgency-1"}}, Via: webrace.ViaLink, URLs: urls[50:]})
	if got := f.drain(); !slices.Equal(got, urls) {
		t.Errorf("taken %v", got)
	}
}

func TestHostsTakeTurns(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.seed(1, slices.Concat(pages("a", 30), pages("b", 10), pages("c", 10))...)
	for range 10 {
		var hosts []string
		for range 3 {
			hosts = append(hosts, hostName(f.take()))
		}
		slices.Sort(hosts)
		if !slices.Equal(hosts, []string{"a", "b", "c"}) {
			t.Fatalf("a turn goes to %v", hosts)
		}
	}
}

func TestUrgenciesShareEightToThreeToOne(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	for u, host := range []string{"", "a", "b", "c"} {
		if u > 0 {
			f.seed(u, pages(host, 100)...)
		}
	}
	count := map[string]int{}
	for range 120 {
		count[hostName(f.take())]++
	}
	if count["c"] != 80 || count["b"] != 30 || count["a"] != 10 {
		t.Errorf("of 120 URLs, by urgency: %v, want 80, 30 and 10", count)
	}
}

func TestAHostHasOneRequestInFlightUntilItsReportSaysMore(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.seed(1, pages("a", 10)...)
	first := f.hold()
	f.none()
	first.Release(webrace.HostReport{Parallel: 3})
	first.Release(webrace.HostReport{Parallel: 9})
	for range 3 {
		f.hold()
	}
	f.none()
	f.done(first) // frees no slot: it was released
	f.none()
	f.crash()
	f.start(webrace.Crawl{ID: "urgency-1", Start: "http://urgency-1/", Scope: webrace.ScopeAny}, false)
	for range 3 {
		f.hold()
	}
	f.none()
}

func TestDoneReleasesTheHost(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.seed(1, pages("a", 2)...)
	l := f.hold()
	f.none()
	f.done(l)
	f.hold()
}

func TestLeasesAreBounded(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{MaxLeases: 2})
	f.seed(1, "http://a/", "http://b/", "http://c/")
	l := f.take()
	f.take()
	f.none()
	f.done(l)
	f.take()
	f.none()
}

// inBubble runs with a fake clock.
func inBubble(t *testing.T, o QueueOptions, test func(t *testing.T, f *fixture)) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, o)
		f.patience = time.Hour
		test(t, f)
	})
}

func TestAWaitingHostHoldsNobodyUp(t *testing.T) {
	for _, wait := range []time.Duration{time.Second, time.Hour} { // in memory, and on disk
		inBubble(t, QueueOptions{Window: 2, Wait: 2 * time.Hour}, func(t *testing.T, f *fixture) {
			f.seed(1, slices.Concat(pages("a", 2), pages("b", 20), pages("c", 20), pages("d", 20))...)
			due := time.Time{}
			n := 0
			f.q.Seal()
			for {
				l, err := f.q.Take(context.Background())
				if errors.Is(err, io.EOF) {
					break
				}
				n++
				report := webrace.HostReport{}
				if hostName(l) == "a" {
					if time.Now().Before(due) {
						t.Errorf("the host was asked %v early", time.Until(due))
					}
					if due.IsZero() {
						due = time.Now().Add(wait)
						report.NotBefore = due
					} else if n != 62 {
						t.Errorf("the waiting host came as number %d", n)
					}
				}
				l.Release(report)
				f.done(l)
			}
			if n != 62 {
				t.Errorf("%d URLs were taken, want 62", n)
			}
		})
	}
}

func TestAHostsWaitSurvivesACrash(t *testing.T) {
	for _, wait := range []time.Duration{5 * time.Second, 30 * time.Second} {
		inBubble(t, QueueOptions{}, func(t *testing.T, f *fixture) {
			f.seed(1, pages("a", 3)...)
			l := f.hold()
			due := time.Now().Add(wait)
			l.Release(webrace.HostReport{NotBefore: due})
			f.done(l)
			synctest.Wait()
			f.crash()
			f.start(webrace.Crawl{ID: "urgency-1", Start: "http://urgency-1/", Scope: webrace.ScopeAny}, false)
			f.none()
			if why, err := f.q.Why("http://a/1"); err != nil || !why[0].Host.Equal(due) || why[0].State != Queued {
				t.Errorf("why: %+v, %v", why, err)
			}
			f.q.Seal()
			f.hold()
			if time.Now() != due {
				t.Errorf("the host was asked %v late", time.Since(due))
			}
		})
	}
}

func TestAHostThatDrainedWhileItWaitsIsNotAskedEarly(t *testing.T) {
	inBubble(t, QueueOptions{}, func(t *testing.T, f *fixture) {
		f.seed(1, "http://a/1")
		l := f.hold()
		due := time.Now().Add(time.Minute)
		l.Release(webrace.HostReport{NotBefore: due})
		f.done(l)
		synctest.Wait()
		if s := f.q.Stats(); s.Hosts != 0 {
			t.Errorf("stats: %+v, want no host in memory", s)
		}
		f.offer(webrace.Links{From: "http://a/1", Reach: l.Request().Reach, Via: webrace.ViaLink, URLs: []string{"http://a/2", "http://b/"}})
		f.wantURL(f.hold(), "http://b/")
		f.none()
		time.Sleep(time.Minute) // by the clock of the bubble
		f.wantURL(f.hold(), "http://a/2")
	})
}

// A host that is put aside while others are before it in their turns is known once only when it comes back: else its
// URLs are handed out twice, and to more at once than it allows.
func TestAHostThatWasPutAsideInTheMiddleOfItsTurnComesBackOnce(t *testing.T) {
	inBubble(t, QueueOptions{Wait: time.Minute}, func(t *testing.T, f *fixture) {
		f.seed(1, pages("a", 8)...)
		f.q.Seal()
		l := f.hold()
		l.Release(webrace.HostReport{Parallel: 2})
		f.done(l)
		first, second := f.hold(), f.hold()
		first.Release(webrace.HostReport{}) // so the host is among those whose turn comes
		second.Release(webrace.HostReport{NotBefore: time.Now().Add(20 * time.Second)})
		f.done(first)
		f.done(second)
		synctest.Wait()
		if s := f.q.Stats(); s.Hosts != 0 {
			t.Fatalf("stats: %+v, want the host to be put aside", s)
		}
		time.Sleep(20 * time.Second) // by the clock of the bubble
		var out []*Lease
		for range 2 {
			out = append(out, f.hold())
		}
		synctest.Wait() // what was put aside is back
		f.none()
		for _, l := range out {
			f.done(l)
		}
		if urls := f.drain(); len(urls) != 3 {
			t.Errorf("then came %q, want the 3 that are left of 8", urls)
		}
		if s := f.q.Stats(); s.Due != 0 || s.Queued != 0 || s.Done != s.Known {
			t.Errorf("stats: %+v, want each done once and nothing left", s)
		}
	})
}

func TestASealedQueueWaitsForShortDelaysAndDefersLongOnes(t *testing.T) {
	inBubble(t, QueueOptions{Wait: 10 * time.Second}, func(t *testing.T, f *fixture) {
		f.seed(1, slices.Concat(pages("a", 5), pages("b", 5))...)
		f.q.Seal()
		began := time.Now()
		var got []string
		for {
			l, err := f.q.Take(context.Background())
			if errors.Is(err, io.EOF) {
				break
			}
			got = append(got, hostName(l))
			wait := 5 * time.Second // five of these take longer than the limit of one
			if hostName(l) == "b" {
				wait = time.Minute
			}
			l.Release(webrace.HostReport{NotBefore: time.Now().Add(wait)})
			f.done(l)
		}
		if s := f.q.Stats(); len(got) != 6 || s.Due != 4 {
			t.Errorf("taken %v, deferred %d, want all of a, one of b, and 4", got, s.Due)
		}
		if took := time.Since(began); took > 21*time.Second {
			t.Errorf("the end came after %v", took)
		}
		f.reopen()
		if r := f.start(webrace.Crawl{ID: "urgency-1", Start: "http://urgency-1/", Scope: webrace.ScopeAny}, true); !r.Resumed || r.Pending != 4 {
			t.Errorf("the next run's round is %+v, want the 4 deferred", r)
		}
	})
}

func TestARetryWaitsForItsTimeAcrossACrash(t *testing.T) {
	inBubble(t, QueueOptions{}, func(t *testing.T, f *fixture) {
		f.start(crawlOf("a.org"), true)
		due := time.Now().Add(20 * time.Second)
		f.finish(f.take(), Outcome{Err: errors.New("reset"), RetryAt: due})
		if s := f.q.Stats(); s.Delayed != 1 || s.Queued != 1 {
			t.Errorf("stats: %+v", s)
		}
		f.crash()
		f.start(crawlOf("a.org"), true)
		if why, _ := f.q.Why("http://a.org/"); why[0].State != Delayed || !why[0].Due.Equal(due) {
			t.Errorf("why: %+v", why)
		}
		f.q.Seal()
		l := f.take()
		if time.Now() != due {
			t.Errorf("tried again %v late", time.Since(due))
		}
		f.done(l)
		f.end()
	})
}

func TestTakeWaitsForAnOfferUntilItsContextEnds(t *testing.T) {
	inBubble(t, QueueOptions{}, func(t *testing.T, f *fixture) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if _, err := f.q.Take(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("take: %v", err)
		}
		got := make(chan *Lease)
		for range 4 {
			go func() {
				l, _ := f.q.Take(context.Background())
				got <- l
			}()
		}
		synctest.Wait()
		f.start(crawlOf("a.org"), true)
		l := <-got
		f.links(l, "http://b/", "http://c/")
		f.wantReach(<-got, webrace.Reach{Crawl: "a.org", Distance: 1})
		other := <-got
		f.done(other)
		f.q.Seal()
		synctest.Wait()
		f.close() // ends the last one
		<-got
		f.open()
	})
}

// Many hosts pass through a small window, and memory holds no more than that.
func TestManyHostsPassThroughASmallWindow(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	f := newFixture(t, QueueOptions{Window: 8})
	var urls []string
	for i := range 3000 {
		urls = append(urls, fmt.Sprintf("http://h%d/%d", i%1000, i/1000))
	}
	f.seed(2, urls...)
	f.q.Seal()
	n, most := 0, 0
	for {
		l, err := f.q.Take(context.Background())
		if errors.Is(err, io.EOF) {
			break
		}
		n++
		most = max(most, f.q.Stats().Hosts)
		f.done(l)
	}
	if n != 3000 || most > 3*8 {
		t.Errorf("%d URLs were taken with up to %d hosts in memory", n, most)
	}
}

func TestAHostWithManyURLsKeepsAFewInMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	f := newFixture(t, QueueOptions{MaxLeases: 1 << 20})
	f.seed(2, pages("a", 20_000)...)
	f.hold()
	f.q.mu.Lock()
	defer f.q.mu.Unlock()
	for _, h := range f.q.window.hosts {
		for i := range h.queues {
			if n := len(h.queues[i].items); n > prefetch {
				t.Errorf("%d items are in memory", n)
			}
		}
	}
}

// Whatever hosts ask for, and however few of them are in memory: each URL is handed out once, none before its host may
// be asked again, and no more of a host at once than it allows.
func TestHostsAreAskedOnlyAsTheyAllow(t *testing.T) {
	const hosts, each = 6, 30
	for seed := range testutil.Seeds(30) {
		rng := rand.New(rand.NewPCG(seed, 2))
		inBubble(t, QueueOptions{Window: 1 + int(seed%8), Wait: time.Hour}, func(t *testing.T, f *fixture) {
			var urls []string
			for i := range hosts {
				urls = append(urls, pages(string(rune('a'+i)), each)...)
			}
			f.seed(1, urls...)
			f.q.Seal()
			parallel, inFlight, notBefore := map[string]int{}, map[string]int{}, map[string]time.Time{}
			taken := map[string]bool{}
			var out []*Lease
			answer := func() {
				i := rng.IntN(len(out))
				l := out[i]
				out = slices.Delete(out, i, i+1)
				host := hostName(l)
				var report webrace.HostReport
				switch rng.IntN(4) {
				case 0:
					report.Parallel = 1 + rng.IntN(3)
					parallel[host] = report.Parallel
				case 1:
					report.NotBefore = time.Now().Add(time.Duration(rng.IntN(int(3 * parkAfter))))
					if report.NotBefore.After(notBefore[host]) {
						notBefore[host] = report.NotBefore
					}
				}
				inFlight[host]--
				l.Release(report)
				f.done(l)
				if rng.IntN(4) == 0 { // nobody takes anything meanwhile
					time.Sleep(time.Duration(rng.IntN(int(3 * parkAfter))))
				}
			}
			for {
				if len(out) > 0 && rng.IntN(2) == 0 {
					answer()
					continue
				}
				ctx, cancel := context.WithTimeout(t.Context(), 2*3*parkAfter)
				l, err := f.q.Take(ctx)
				cancel()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil && len(out) == 0 {
					t.Fatal(err)
				}
				if err != nil { // it waits for an answer
					answer()
					continue
				}
				host, url := hostName(l), l.Request().URL
				inFlight[host]++
				switch {
				case taken[url]:
					t.Fatalf("seed %d: %s is handed out again", seed, url)
				case inFlight[host] > max(parallel[host], 1):
					t.Fatalf("seed %d: %s is number %d in flight, want at most %d", seed, url, inFlight[host], max(parallel[host], 1))
				case time.Now().Before(notBefore[host]):
					t.Fatalf("seed %d: %s comes %v early", seed, url, time.Until(notBefore[host]))
				}
				taken[url] = true
				out = append(out, l)
			}
			if s := f.q.Stats(); len(taken) != len(urls) || s.Due != 0 || s.Queued != 0 {
				t.Errorf("seed %d: %d of %d URLs were taken; stats: %+v", seed, len(taken), len(urls), s)
			}
		})
	}
}
