package frontier

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
)

// Busy hosts, of which none ever waits or runs out of URLs, share a window that holds few of them.
func TestHostsBeyondTheWindowGetTheirTurn(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	const rounds = 3
	for order, hosts := range map[Order]int{BreadthFirst: 100, DepthFirst: 12, BestFirst: 12} {
		f := newFixture(t, QueueOptions{Window: 4, Order: order})
		var urls []string
		for i := range hosts {
			urls = append(urls, pages(fmt.Sprintf("h%d", i), 3*turn)...)
		}
		f.seed(2, urls...)
		served := map[string]int{}
		most := 0
		for n := range hosts * turn * rounds {
			l := f.take()
			var host string
			var page int
			fmt.Sscanf(l.Request().URL, "http://h%d/%d", &page, new(int))
			host = fmt.Sprintf("h%d", page)
			served[host]++
			f.q.Offer(&webrace.Links{
				From: l.Request().URL, Reach: l.Request().Reach, Via: webrace.ViaLink,
				URLs: []string{fmt.Sprintf("http://%s/%d", host, 1000+n)},
			}, nil)
			l.Done(f.visited(200, 1), nil)
			most = max(most, f.q.Stats().Hosts)
		}
		counts := slices.Sorted(maps.Values(served))
		if len(served) != hosts || counts[0] < (rounds-1)*turn || counts[hosts-1] > (rounds+1)*turn || most > 4 {
			t.Errorf("order %s: %d hosts were served, %v to %v times, with up to %d in memory", order, len(served), counts[0], counts[len(counts)-1], most)
		}
	}
}

// A turn ends after as many URLs as it has, also where those that came meanwhile stand first and had the
// others read anew.
func TestATurnHasAnEndInEveryOrder(t *testing.T) {
	t.Parallel()
	for _, order := range Orders {
		f := newFixture(t, QueueOptions{Window: 1, Order: order})
		f.seed(2, append(pages("h0", 3*turn), pages("h1", 3*turn)...)...)
		inARow, last := 0, ""
		for n := range 4 * turn {
			l := f.take()
			host, _, _ := strings.Cut(l.Request().URL[len("http://"):], "/")
			if host != last {
				inARow, last = 0, host
			}
			if inARow++; inARow > turn {
				t.Fatalf("order %s: %d URLs of %s in a row, a turn has %d", order, inARow, host, turn)
			}
			f.links(l, fmt.Sprintf("http://%s/new/%d", host, 3*n), fmt.Sprintf("http://%s/new/%d", host, 3*n+1), fmt.Sprintf("http://%s/new/%d", host, 3*n+2))
			f.done(l)
		}
	}
}

func TestUrgenciesShareAlsoWhereHostsRotate(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	f := newFixture(t, QueueOptions{Window: 2})
	for u := 1; u <= 3; u++ {
		var urls []string
		for i := range 20 {
			urls = append(urls, pages(fmt.Sprintf("%d-%d", u, i), 60)...)
		}
		f.seed(u, urls...)
	}
	count := map[string]int{}
	for range 1200 {
		l := f.take()
		count[l.Request().URL[len("http://"):][:1]]++
		f.done(l)
	}
	if count["3"] != 800 || count["2"] != 300 || count["1"] != 100 {
		t.Errorf("of 1200 URLs, by urgency: %v, want 800, 300 and 100", count)
	}
}

// What was delayed is due although another host is busy.
func TestBusyHostsDoNotKeepOthersWaiting(t *testing.T) {
	t.Parallel()
	at := time.Unix(1e9, 0)
	f := newFixtureAt(t, QueueOptions{}, func() time.Time { return at })
	f.seed(1, append(pages("a", 100), "http://b/1", "http://b/2")...)
	waiting := 0
	for range 90 {
		at = at.Add(time.Second)
		l := f.take()
		if hostName(l) == "b" {
			f.rest(l, at.Add(20*time.Second), waiting == 0)
			waiting++
			continue
		}
		f.done(l)
		if err := f.q.waitForCommit(); err != nil {
			t.Fatal(err)
		}
	}
	if waiting != 3 {
		t.Errorf("the host that waits was served %d times, want a try, a second one, and the other page", waiting)
	}
}

// rest gives a lease back with a host that wants to be left alone, and perhaps a failure.
func (f *fixture) rest(l *Lease, until time.Time, failed bool) *Lease {
	f.t.Helper()
	f.q.mu.Lock()
	l.release(webrace.HostReport{NotBefore: until})
	f.q.mu.Unlock()
	if failed {
		f.finish(l, Outcome{RetryAt: until})
	} else {
		f.done(l)
	}
	return l
}

// A host that gets its first URL while the window is full, behind where the search for others has come to, is
// found when that search ends with nothing.
func TestAHostMissedBehindTheSearchIsFound(t *testing.T) {
	t.Parallel()
	hosts := []string{"h0", "h1", "h2"}
	slices.SortFunc(hosts, func(a, b string) int { return cmp.Compare(hostOf(a), hostOf(b)) })
	behind, now, ahead := hosts[0], hosts[1], hosts[2]
	f := newFixture(t, QueueOptions{Window: 1})
	f.start(crawlOf(now), true)
	l := f.take()
	f.links(l, "http://"+now+"/1", "http://"+now+"/2", "http://"+ahead+"/1")
	f.done(l)
	f.reopen()
	f.start(crawlOf(now), false)
	f.q.Seal()
	l = f.take()
	f.wantURL(l, "http://"+now+"/1") // the window is full, and the search goes on at the host ahead
	if _, err := f.s.Drop(t.Context(), "p", ahead); err != nil {
		t.Fatal(err)
	}
	f.links(l, "http://"+behind+"/1")
	f.done(l)
	if got, want := f.drain(), []string{"http://" + now + "/2", "http://" + behind + "/1"}; !slices.Equal(got, want) {
		t.Errorf("took %q, want %q", got, want)
	}
}
