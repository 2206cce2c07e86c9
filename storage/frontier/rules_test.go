package frontier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

func gateOf(t *testing.T, rules ...string) *scope.Gate {
	t.Helper()
	parsed, err := scope.ParseRules(rules)
	if err != nil {
		t.Fatal(err)
	}
	return scope.NewGate(parsed)
}

func (f *fixture) addRule(line string, first bool) {
	f.t.Helper()
	r, err := scope.ParseRule(line)
	if err == nil {
		err = f.q.AddRule(context.Background(), r, first)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) wantRules(want ...string) {
	f.t.Helper()
	all, added := f.q.Rules()
	var got []string
	for i, r := range all {
		got = append(got, fmt.Sprintf("%s %d %v", r.Line(), r.Hits(), i < added))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		f.t.Errorf("the rules are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestARuleThatIsAddedHoldsAtOnceAndStays(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Gate: gateOf(t, "allow path /1", "deny path /2")})
	f.start(crawlOf("a"), true)
	l := f.take()
	f.links(l, "http://a/1", "http://a/2")
	f.addRule("deny path /1 # too many", false)
	f.addRule("deny path /3", true)
	if o := f.links(l, "http://a/3", "http://a/4"); o.Accepted != 1 || o.Refused[Rule] != 1 {
		t.Errorf("after rules were added: %+v", o)
	}
	f.done(l)
	want := []string{"deny path /3 1 true", "deny path /1 # too many 0 true", "allow path /1 1 false", "deny path /2 1 false"}
	f.wantRules(want...)
	for _, again := range []func(){f.crash, f.reopen} {
		f.opt.Gate = gateOf(t, "allow path /1", "deny path /2")
		again()
		f.wantRules(want...)
	}
	f.opt.Gate = gateOf(t, "deny path /2")
	f.reopen()
	if removed, err := f.q.RemoveRule(context.Background(), "deny path /1"); !removed || err != nil {
		t.Errorf("removed: %v, %v", removed, err)
	}
	if removed, err := f.q.RemoveRule(context.Background(), "deny path /2"); removed || err != nil {
		t.Errorf("a rule of the configuration is removed: %v, %v", removed, err)
	}
	all, added := f.q.Rules()
	if added != 1 || len(all) != 2 || all[0].Text() != "deny path /3" || all[1].Text() != "deny path /2" {
		t.Errorf("%d of %d rules were added", added, len(all))
	}
	f.opt.Gate = nil
	f.reopen()
	f.addRule("deny path /3", false) // moves it, and keeps its hits
	f.wantRules("deny path /3 1 true")
}

func TestWhatRulesDecideIsKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Gate: gateOf(t, "deny path /1", "deny path /2")})
	f.start(crawlOf("a"), true)
	f.addRule("deny path /3", false)
	l := f.take()
	f.links(l, "http://a/1", "http://a/1?", "http://a/2", "http://a/3")
	f.done(l)
	f.opt.Gate = gateOf(t, "deny path /2", "deny path /1")
	f.reopen()
	f.wantRules("deny path /3 1 true", "deny path /2 1 false", "deny path /1 2 false")
	f.opt.Gate = nil // as a command opens it that does not know the configuration
	f.reopen()
	f.addRule("deny path /4", false)
	f.opt.Gate = gateOf(t, "deny path /1")
	f.reopen()
	f.wantRules("deny path /3 1 true", "deny path /4 0 true", "deny path /1 2 false")
}

// What is queued when a rule denies it is dropped when its turn comes, and is accepted anew in the same
// round once the rule is gone: neither the record nor the memory of repeats hides it.
func TestWhatIsQueuedIsHeldAgainstTheRulesOfItsTurn(t *testing.T) {
	t.Parallel()
	var dropped []Reason
	f := newFixture(t, QueueOptions{Dropped: func(r Reason) { dropped = append(dropped, r) }})
	f.start(crawlOf("a"), true)
	f.start(crawlOf("b"), true)
	l := f.take()
	links := webrace.Links{From: "http://x/", Reach: []webrace.Reach{{Crawl: "a", Distance: 1}, {Crawl: "b"}}, Via: webrace.ViaLink, URLs: []string{"http://a/1", "http://a/2"}}
	f.offer(links)
	f.addRule("deny url http://a/1", false)
	f.done(l)
	f.done(f.take())
	f.wantURL(f.take(), "http://a/2")
	f.none()
	if err := f.q.do(context.Background(), step{apply: func(*changes) error { return nil }}); err != nil { // after all before it
		t.Fatal(err)
	}
	if s := f.q.Stats(); len(dropped) != 1 || dropped[0] != Rule || s.Refused[Rule] != 1 || s.Queued != 1 {
		t.Errorf("%v are dropped, %+v", dropped, s)
	}
	if why, err := f.q.Why("http://a/1"); err != nil || why[0].State != Dropped || why[0].Refused != Rule || why[0].Gate.Number != 1 {
		t.Errorf("why: %+v, %v", why, err)
	}
	if o := f.offer(links); o.Refused[Rule] != 1 || o.Refused[Repeat] != 1 {
		t.Errorf("while it is denied: %+v", o)
	}
	if _, err := f.q.RemoveRule(context.Background(), "deny url http://a/1"); err != nil {
		t.Fatal(err)
	}
	if o := f.offer(links); o.Accepted != 1 || o.Refused[Repeat] != 1 {
		t.Errorf("once it is not denied any more: %+v", o)
	}
	f.wantURL(f.take(), "http://a/1")
}

func TestABlockedListHoldsForStartsAndWhatIsQueued(t *testing.T) {
	t.Parallel()
	gate := gateOf(t, "trust path /good")
	f := newFixture(t, QueueOptions{Gate: gate})
	f.start(crawlOf("a"), true)
	l := f.take()
	f.links(l, "http://b.bad.example/", "http://c.example/1")
	domains, err := scope.ReadBlockedDomains(strings.NewReader("bad.example"))
	if err != nil {
		t.Fatal(err)
	}
	urls, err := scope.ReadBlockedURLs(strings.NewReader("http://c.example/1\nhttp://c.example/2"))
	if err != nil {
		t.Fatal(err)
	}
	gate.Block(domains, urls)
	if o := f.links(l, "http://c.bad.example/", "http://c.bad.example/good", "http://c.example/2"); o.Accepted != 1 || o.Refused[BlockedDomain] != 1 || o.Refused[BlockedURL] != 1 {
		t.Errorf("with lists: %+v", o)
	}
	f.done(l)
	f.wantURL(f.take(), "http://c.bad.example/good")
	f.none()
	if s := f.q.Stats(); s.Refused[BlockedDomain] != 2 || s.Refused[BlockedURL] != 2 {
		t.Errorf("%+v", s)
	}
	if r := f.start(webrace.Crawl{ID: "bad", Start: "http://bad.example/"}, true); r.Refused != BlockedDomain || r.Pending != 0 {
		t.Errorf("a blocked start: %+v", r)
	}
}

// However often a process is killed, between whatever steps of its work, each URL that a rule decides about counts
// once: what is not done is done again.
func TestHitsAreExactThroughCrashes(t *testing.T) {
	t.Parallel()
	const pages = 40
	rules := []string{"deny path /denied", "allow path /a", "trust path /trusted", "deny host b.org"}
	linksOf := func(url string) (links []string) {
		n := 0
		fmt.Sscanf(url, "http://a.org/a%d", &n)
		for _, next := range []int{2*n + 1, 2*n + 2} {
			if next < pages {
				links = append(links, fmt.Sprintf("http://a.org/a%d", next))
			}
		}
		for i := range n % 4 {
			links = append(links, fmt.Sprintf("http://a.org/denied%d", i), fmt.Sprintf("http://b.org/%d", i))
		}
		return append(links, "http://a.org/a0", fmt.Sprintf("http://a.org/trusted%d", n%7))
	}
	for seed := range testutil.Seeds(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 5))
			f := newFixture(t, QueueOptions{Gate: gateOf(t, rules...)})
			cr := webrace.Crawl{ID: "c", Start: "http://a.org/a0", Scope: webrace.ScopeAny}
			crash := func() {
				f.opt.Gate = gateOf(t, rules...)
				f.crash()
				f.start(cr, false)
			}
			f.start(cr, true)
			f.addRule("deny path /denied2", true)
			crashes, worked, want := 0, map[string]bool{}, map[string]int{}
			for f.q.crawls.pending.Load() > 0 {
				var out []*Lease
				for range 1 + random.IntN(3) {
					if l := f.tryTake(); l != nil {
						out = append(out, l)
					}
				}
				for _, l := range out {
					r := l.Request()
					f.q.Offer(&webrace.Links{From: r.URL, Reach: r.Reach, Via: webrace.ViaLink, URLs: linksOf(r.URL)}, nil)
					worked[r.URL] = true
					if random.IntN(4) > 0 {
						l.Done(f.visited(200, 1), nil) // which may be lost
					}
				}
				if random.IntN(2) == 0 {
					f.waitForCommit()
				}
				crash()
				crashes++
			}
			for url := range worked {
				for _, link := range linksOf(url) {
					rule, _ := f.q.opt.Gate.Rules().Find(link)
					if rule != nil {
						want[rule.Text()]++
					}
				}
			}
			want["allow path /a"]++ // the start
			all, _ := f.q.Rules()
			for _, r := range all {
				if int(r.Hits()) != want[r.Text()] || want[r.Text()] == 0 {
					t.Errorf("after %d crashes, %q has %d hits, want %d", crashes, r.Text(), r.Hits(), want[r.Text()])
				}
			}
			if crashes < 10 || len(worked) < pages {
				t.Errorf("%d crashes, %d pages", crashes, len(worked))
			}
		})
	}
}

// tryTake takes what is to be had once everything handed in is durable, or returns nil.
func (f *fixture) tryTake() *Lease {
	f.t.Helper()
	f.waitForCommit()
	f.q.mu.Lock()
	defer f.q.mu.Unlock()
	l, _, err := f.q.try(f.s.now())
	if err != nil && !errors.Is(err, io.EOF) {
		f.t.Fatal(err)
	}
	return l
}

// A URL that a rule refuses when its turn comes is a hit, once.
func TestHitsOfWhatIsQueuedAreExact(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.start(crawlOf("a"), true)
	l := f.take()
	f.links(l, "http://a/1", "http://a/2", "http://b/1")
	f.done(l)
	f.addRule("deny path /1", false)
	for range 3 {
		if l := f.tryTake(); l != nil && l.Request().URL != "http://a/2" {
			t.Fatalf("%s is handed out", l.Request().URL)
		}
	}
	f.wantRules("deny path /1 2 true")
	f.crash()
	f.start(crawlOf("a"), false)
	f.done(f.take())
	f.wantRules("deny path /1 2 true")
}

// What an earlier release has counted goes on from there, whether the rules are changed first by a command that does
// not know the configuration, or not.
func TestHitsOfAnEarlierReleaseGoOn(t *testing.T) {
	t.Parallel()
	for _, changed := range []bool{false, true} {
		f := newFixture(t, QueueOptions{})
		w := newWriter(64)
		w.Uint(1)
		w.Text("deny path /1 # why")
		w.Uint(5)
		w.Uint(2)
		for _, text := range []string{"deny path /2", "deny path /gone"} {
			w.Text(text)
			w.Uint(7)
		}
		if err := f.s.db.Set(f.q.keys.start(kindRules), w, pebbledb.Sync); err != nil {
			t.Fatal(err)
		}
		f.reopen()
		want := []string{"deny path /1 # why 6 true", "deny path /2 8 false"}
		if changed {
			f.addRule("deny path /3", false)
			want = slices.Insert(want, 1, "deny path /3 0 true")
		}
		f.opt.Gate = gateOf(t, "deny path /2")
		f.reopen()
		f.start(crawlOf("a"), true)
		l := f.take()
		f.links(l, "http://a/1", "http://a/2")
		f.done(l)
		f.wantRules(want...)
		f.opt.Gate = gateOf(t, "deny path /gone", "deny path /2")
		f.crash()
		f.wantRules(slices.Insert(want, len(want)-1, "deny path /gone 0 false")...)
	}
}
