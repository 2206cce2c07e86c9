package frontier

import (
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/webrace/webrace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestACrawlGoesFromItsStartToTheEnd(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.start(crawlOf("a.org"), true)
	f.q.Seal()
	l := f.take()
	f.wantURL(l, "http://a.org/")
	f.wantReach(l, webrace.Reach{Crawl: "a.org"})
	if o := f.links(l, "http://a.org/", "http://a.org/x", "http://b.org/y"); o.Accepted != 2 || o.Refused[Repeat] != 1 {
		t.Errorf("offered: %+v, want 2 accepted and 1 repeat", o)
	}
	f.done(l)
	got := f.drain()
	slices.Sort(got)
	if want := []string{"http://a.org/x", "http://b.org/y"}; !slices.Equal(got, want) {
		t.Errorf("taken %v, want %v", got, want)
	}
	if s := f.q.Stats(); s.Queued != 0 || s.Due != 0 || s.Done != 3 || s.Known != 3 || s.Leased != 0 || s.Hosts != 0 {
		t.Errorf("stats at the end: %+v", s)
	}
}
