package frontier

import (
	"testing"

	"github.com/webrace/webrace"
)

// leads offers where a lease's URL was redirected, without ending the lease.
func (f *fixture) leads(l *Lease, to string, again bool) Offered {
	f.t.Helper()
	r := l.Request()
	return f.offer(webrace.Links{From: r.URL, Reach: r.Reach, Via: webrace.ViaRedirect, Redirects: r.Redirects + 1, Again: again, URLs: []string{to}})
}

// TestARedirectBackIsAskedAgainOnceItMayAnswerOtherwise: also when the process dies before it is, and whether the URL
// is still out or not.
func TestARedirectBackIsAskedAgainOnceItMayAnswerOtherwise(t *testing.T) {
	t.Parallel()
	for _, out := range []bool{false, true} {
		f := newFixture(t, QueueOptions{})
		f.start(crawlOf("a.org"), true)
		page := f.take()
		f.leads(page, "http://a.org/cookie", false)
		if !out {
			f.finish(page, f.visited(302, 0))
		}
		cookie := f.hold()
		f.wantURL(cookie, "http://a.org/cookie")
		if o := f.leads(cookie, "http://a.org/", true); o.Accepted != 1 || o.Circle != "" {
			t.Errorf("still out %v: %+v, want it accepted", out, o)
		}
		f.finish(cookie, f.visited(302, 0))
		if out {
			f.finish(page, f.visited(302, 0))
		}
		f.crash()
		f.start(crawlOf("a.org"), true)
		again := f.take()
		f.wantURL(again, "http://a.org/")
		f.wantStored(again, false)
		if n := again.Request().Redirects; n != 2 {
			t.Errorf("still out %v: it is the end of %d redirects, want 2", out, n)
		}
		f.done(again)
		f.sound()
		f.q.Seal()
		f.end()
	}
}

// TestWhatCameIsNotAskedAgainForAnotherCookie: only a redirect is.
func TestWhatCameIsNotAskedAgainForAnotherCookie(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.start(crawlOf("a.org"), true)
	page := f.take()
	f.links(page, "http://a.org/counter")
	f.finish(page, f.visited(200, 1))
	counter := f.take()
	if o := f.leads(counter, "http://a.org/", true); o.Refused[Repeat] != 1 || o.Circle != "" {
		t.Errorf("%+v, want a repeat that is no circle", o)
	}
	f.finish(counter, f.visited(302, 0))
	f.none()
}

// TestACircleIsTheRedirectThatClosesIt: told once, however many are out at once.
func TestACircleIsTheRedirectThatClosesIt(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.start(crawlOf("a.org"), true)
	start := f.take()
	f.links(start, "http://a.org/x", "http://a.org/y")
	f.finish(start, f.visited(200, 1))
	x, y := f.take(), f.take()
	if o := f.leads(x, y.Request().URL, false); o.Circle != "" {
		t.Errorf("%+v: the other has not answered yet", o)
	}
	if o := f.leads(y, x.Request().URL, false); o.Circle != y.Request().URL+", "+x.Request().URL {
		t.Errorf("%+v, want the circle of both", o)
	}
	f.finish(x, f.visited(302, 0))
	f.finish(y, f.visited(302, 0))
	f.none()
	f.sound()
}
