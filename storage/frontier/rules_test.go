package frontier

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/scope"
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
	want := []string{"deny path /3 1 true", "deny path /1 # too many 0 true", "allow path /1 1 false", "deny path /2 1 false"}
	f.wantRules(want...)
	for _, again := range []func(){f.crash, f.reopen} {
		f.opt.Gate = gateOf(t, "allow path /1", "deny path /2")
		if again(); t.Failed() {
			return
		}
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
	if all, _ := f.q.Rules(); len(all) != 1 {
		t.Errorf("the same rule stands there %d times", len(all))
	}
}

func TestWhatRulesDecideIsKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Gate: gateOf(t, "deny path /1", "deny path /2")})
	f.start(crawlOf("a"), true)
	f.addRule("deny path /3", false)
	f.links(f.take(), "http://a/1", "http://a/1?", "http://a/2", "http://a/3")
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
