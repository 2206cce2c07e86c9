package frontier

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/webrace/webrace"
)

// A round that is open is divided: each part waits for its own URLs, the part in which the crawl begins for the others,
// too, and knows where the start led. The others begin with no cost. A part to which the crawl has not come does not
// know it; the crawls after it have other numbers there.
func TestARoundThatIsOpenIsDivided(t *testing.T) {
	t.Parallel()
	of := func(host string) int { return int(host[0] - 'a') }
	f := newFixture(t, QueueOptions{Fresh: -1})
	f.start(webrace.Crawl{ID: "c", Start: "http://a.org/", Scope: webrace.ScopeAny}, true)
	f.redirect(f.take(), 302, "http://b.org/x")
	l := f.take()
	f.wantURL(l, "http://b.org/x")
	f.links(l, "http://a.org/1", "http://b.org/2", "http://b.org/3", "http://c.org/4")
	f.done(l)
	f.start(webrace.Crawl{ID: "later", Start: "http://d.org/", Scope: webrace.ScopeAny}, true)
	if err := f.q.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := NewDivision(filepath.Join(t.TempDir(), "division"), of, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.s.Divide(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	waits, err := f.s.Waiting(t.Context(), of)
	slices.SortFunc(waits, func(a, b Waits) int { return a.Part - b.Part })
	if want := []Waits{{"p", 1, Pass{"c", 1}}, {"p", 2, Pass{"c", 1}}}; err != nil || !slices.Equal(waits, want) {
		t.Errorf("others wait: %v, %v; want %v", waits, err, want)
	}
	for part, want := range []struct {
		pending  int64
		left     bool
		led      string
		requests uint64
	}{{1, true, "http://b.org/x", 2}, {2, false, "", 0}, {1, false, "", 0}} {
		p := newFixture(t, f.opt)
		if err := p.q.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.s.CopyPart(t.Context(), p.s, d, part); err != nil {
			t.Fatal(err)
		}
		p.reopen()
		c := p.q.crawls.get("c")
		if c == nil || c.pending.Load() != want.pending || c.pass().left != want.left || c.pass().led != want.led || c.history.requests != want.requests || c.pass().number != 1 {
			t.Errorf("part %d: %+v, want %+v", part, c, want)
		}
		if p.q.crawls.get("later") != nil {
			t.Errorf("part %d knows a crawl that has not come to it", part)
		}
	}
	p := newFixture(t, f.opt)
	if err := p.q.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.s.CopyPart(t.Context(), p.s, d, 3); err != nil {
		t.Fatal(err)
	}
	p.reopen()
	if p.q.crawls.get("c") != nil || p.q.crawls.get("later") == nil || p.q.crawls.get("later").number != 1 {
		t.Errorf("part 3 has the crawls %+v", p.q.crawls.all())
	}
	p.start(webrace.Crawl{ID: "later", Start: "http://d.org/", Scope: webrace.ScopeAny}, false)
	p.wantURL(p.take(), "http://d.org/")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}
