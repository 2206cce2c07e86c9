package frontier

import (
	"testing"
)

func TestAQueueThatIsReopenedGoesOnAsTheSameRun(t *testing.T) {
	f := newFixture(t, QueueOptions{})
	f.start(crawlOf("other.org"), true)
	f.reopen() // other.org is of another run
	f.start(crawlOf("a.org"), true)
	l := f.take()
	f.links(l, "http://a.org/1", "http://a.org/2", "http://other.org/", "http://a.org/denied")
	f.done(l)
	f.q.Seal()
	before := f.q.Stats()

	old, o := f.q, f.opt
	o.Gate, o.Order = gateOf(t, "deny path /denied"), DepthFirst
	next, err := old.Reopen(o)
	if err != nil {
		t.Fatal(err)
	}
	f.q = next
	if after := f.q.Stats(); after.Done != before.Done || after.Due != before.Due || after.Refused != before.Refused {
		t.Errorf("it counts %+v after, %+v before", after, before)
	}
	if _, err := old.Reopen(o); err == nil {
		t.Error("a queue that is closed can be reopened beside the one that is open")
	}
	asked := make(map[string]int)
	for range 3 {
		l := f.take()
		asked[l.Request().URL]++
		f.links(l, "http://a.org/denied/too")
		f.done(l)
	}
	f.end() // it is sealed, as it was
	for _, url := range []string{"http://a.org/1", "http://a.org/2", "http://other.org/"} {
		if asked[url] != 1 {
			t.Errorf("%s was handed out %d times; asked for %v", url, asked[url], asked)
		}
	}
}
