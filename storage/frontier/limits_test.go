package frontier

import (
	"fmt"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/scope"
)

func TestTrapsAreRefusedByReason(t *testing.T) {
	t.Parallel()
	gate := gateOf(t, "trust path /trusted", "allow path /allowed")
	gate.Ignore, _ = scope.ParseExtensions([]string{"png"})
	gate.Traps = scope.Traps{Length: 50, Depth: 6, Repeats: 3, Parameters: 3}
	f := newFixture(t, QueueOptions{Gate: gate})
	f.start(crawlOf("a"), true)
	l := f.take()
	for path, want := range map[string]Reason{
		"x.png": IgnoredType, "allowed/x.PNG?1": IgnoredType, "trusted.png": accepted,
		"1234567890123456789012345678901234567890123456789": TrapLength,
		"1/2/3/4/5/6/7": TrapDepth, "xy/xy/xy": TrapRepeats, "trusted/xy/xy/xy": accepted, "?a&b&c&d": TrapParameters, "x/y/z?a&b": accepted,
	} {
		o := f.links(l, "http://a/"+path)
		if want == accepted && o.Accepted != 1 || want != accepted && o.Refused[want] != 1 {
			t.Errorf("%s: %+v, want %v", path, o, want)
		}
		why, err := f.q.Why("http://a/" + path)
		if err != nil || why[0].Refused != want {
			t.Errorf("why of %s: %v, %v, want %v", path, why[0].Refused, err, want)
		}
	}
	if r := f.start(webrace.Crawl{ID: "start", Start: "http://b/xy/xy/xy.png"}, true); r.Refused != 0 || r.Pending != 1 {
		t.Errorf("a start that looks like a trap: %+v", r)
	}
}

func TestFamiliesHaveNoMoreMembersThanTheyMay(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	gate := gateOf(t)
	gate.Traps = scope.Traps{Queries: 3, Dates: 4, FarDates: 2}
	f := newFixtureAt(t, QueueOptions{Gate: gate}, func() time.Time { return now })
	f.start(crawlOf("a"), true)
	offer := func(format string, from, to int) Offered {
		var urls []string
		for i := from; i < to; i++ {
			urls = append(urls, fmt.Sprintf("http://a/"+format, i))
		}
		return f.offer(webrace.Links{From: "http://a/", Reach: []webrace.Reach{{Crawl: "a"}}, Via: webrace.ViaLink, URLs: urls})
	}
	if o := offer("list?sort=1&order=2&page=%d", 0, 5); o.Accepted != 3 || o.Refused[TrapQueries] != 2 {
		t.Errorf("queries of one path: %+v", o)
	}
	if o := offer("one?id=1&page=%d", 0, 9); o.Accepted != 9 {
		t.Errorf("queries of two parameters: %+v", o)
	}
	if o := offer("%d/11/", 2001, 2008); o.Accepted != 4 || o.Refused[TrapDates] != 3 {
		t.Errorf("dates: %+v", o)
	}
	if o := offer("%d/11/", 2030, 2035); o.Accepted != 2 || o.Refused[TrapFarDates] != 3 {
		t.Errorf("far dates: %+v", o)
	}
	f.crash()
	f.start(crawlOf("a"), true)
	if o := offer("list?sort=1&order=2&page=%d", 0, 5); o.Refused[Repeat] != 3 || o.Refused[TrapQueries] != 2 {
		t.Errorf("after a crash: %+v", o)
	}
	f.drain()
	f.reopen()
	f.start(crawlOf("a"), true)
	if o := offer("list?sort=1&order=2&page=%d", 0, 5); o.Accepted != 3 || o.Refused[TrapQueries] != 2 {
		t.Errorf("in the next round: %+v, want what is known, and no others", o)
	}
	if why, err := f.q.Why("http://a/list?sort=1&order=2&page=4"); err != nil || why[0].Refused != TrapQueries {
		t.Errorf("why: %+v, %v", why, err)
	}
	if why, err := f.q.Why("http://a/2033/11/"); err != nil || why[0].Refused != TrapFarDates {
		t.Errorf("why: %+v, %v", why, err)
	}
}

func TestACrawlComesToNoMoreURLsThanItMay(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{CrawlURLs: 4})
	f.start(crawlOf("a"), true)
	f.start(crawlOf("b"), true)
	offer := func(crawls string, urls ...string) Offered {
		var reach []webrace.Reach
		for _, id := range crawls {
			reach = append(reach, webrace.Reach{Crawl: string(id)})
		}
		return f.offer(webrace.Links{From: "http://x/", Reach: reach, Via: webrace.ViaLink, URLs: urls})
	}
	if o := offer("a", pages("x", 5)...); o.Accepted != 3 || o.Refused[CrawlFull] != 2 {
		t.Errorf("one crawl: %+v", o)
	}
	if o := offer("ab", "http://x/0", "http://x/9"); o.Accepted != 2 {
		t.Errorf("another one has room: %+v", o)
	}
	f.crash()
	f.start(crawlOf("a"), true)
	f.start(crawlOf("b"), true)
	if o := offer("ab", "http://x/8", "http://x/7"); o.Accepted != 1 || o.Refused[CrawlFull] != 1 {
		t.Errorf("after a crash: %+v", o)
	}
	if why, err := f.q.Why("http://x/6"); err != nil || why[0].Refused != CrawlFull {
		t.Errorf("why: %+v, %v", why, err)
	}
	f.drain()
	f.reopen()
	f.start(crawlOf("a"), true)
	if o := offer("a", pages("x", 5)...); o.Accepted != 3 || o.Refused[CrawlFull] != 2 {
		t.Errorf("in the next round: %+v, want what is known, and no others", o)
	}
}
