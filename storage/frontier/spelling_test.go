package frontier

import (
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

const (
	spelledStart = "http://a.test/"
	spelledUpper = "http://a.test/%7Ejoe/%C3%A9"
	spelledLower = "http://a.test/%7ejoe/%c3%a9"
	spelledBare  = "http://a.test/~joe/%C3%A9" // the identity
)

var spelledCrawl = webrace.Crawl{ID: "c", Start: spelledStart, Levels: 3}

// begun is a fixture with a crawl of which the start is leased.
func begun(t *testing.T) (*fixture, *Lease) {
	f := newFixture(t, QueueOptions{Fresh: -1})
	f.start(spelledCrawl, true)
	return f, f.take()
}

// sound wants a store in which there is nothing to repair.
func (f *fixture) sound() {
	f.t.Helper()
	f.must(f.q.Close())
	f.must(f.s.Check(f.t.Context(), false, func(found fsck.Finding) { f.t.Errorf("%+v", found) }))
	f.reopen()
}

func TestSpellingsAreOneDocumentAskedForAsFirstSeen(t *testing.T) {
	t.Parallel()
	all := []string{spelledUpper, spelledLower, spelledBare}
	for i, first := range all {
		f, start := begun(t)
		rest := slices.Delete(slices.Clone(all), i, i+1)
		if o := f.links(start, append([]string{first}, rest...)...); o.Accepted != 1 || o.Refused[Repeat] != 2 {
			t.Fatalf("offered %s first: %+v", first, o)
		}
		f.done(start)
		page := f.take()
		if r := page.Request(); r.URL != first || r.Visit != nil {
			t.Fatalf("asks for %+v, want %s", r, first)
		}
		f.finish(page, Outcome{Learned: []webrace.Learned{func(v *webrace.Visit) { v.At, v.Status, v.Version, v.ETag = f.now(), 200, 1, "e" }}})
		f.q.Seal()
		f.end()
		f.sound()

		f.start(spelledCrawl, true) // pages spell it otherwise in the next round, and in one offer each
		start = f.take()
		if a, b := f.links(start, rest[0]), f.links(start, rest[1]); a.Accepted != 1 || b.Refused[Repeat] != 1 {
			t.Fatalf("%s, then %+v and %+v", first, a, b)
		}
		f.done(start)
		page = f.take()
		if r := page.Request(); r.URL != first || r.Visit == nil || r.Visit.ETag != "e" {
			t.Errorf("asks for %+v, want %s with what is known of it", r, first)
		}
		f.done(page)
		f.q.Seal()
		f.end()
		if n := f.q.Stats().Known; n != 2 {
			t.Errorf("%d URLs are known, want 2", n)
		}
		for _, url := range all {
			why, err := f.q.Why(url)
			if err != nil || len(why) != 1 || why[0].URL != first || why[0].State != Completed {
				t.Errorf("of %s is said %+v, %v", url, why, err)
			}
			if v, err := f.s.LastVisit("p", "", url); err != nil || v == nil || v.ETag != "e" {
				t.Errorf("the last visit of %s is %+v, %v", url, v, err)
			}
		}
		f.sound()
	}
}

// What an earlier release knew by another spelling than the identity is not asked for as if it were new.
func TestASpellingThatAnEarlierReleaseKnewStays(t *testing.T) {
	t.Parallel()
	f, start := begun(t)
	f.links(start, spelledLower)
	f.done(start)
	f.done(f.take())
	f.q.Seal()
	f.end()
	f.must(f.s.db.Delete(f.q.keys.url(kindSeen, identify("", spelledBare)), pebbledb.Sync)) // which that release did not write
	f.sound()
	if why, err := f.q.Why(spelledLower); err != nil || why[0].State != Completed {
		t.Fatalf("%+v, %v", why, err)
	}
	f.start(spelledCrawl, true)
	start = f.take()
	if o := f.links(start, spelledLower); o.Accepted != 1 {
		t.Fatalf("%+v", o)
	}
	if o := f.links(start, spelledBare, spelledUpper); o.Refused[Repeat] != 2 {
		t.Fatalf("%+v", o)
	}
	f.done(start)
	page := f.take()
	if r := page.Request(); r.URL != spelledLower || r.Visit == nil || r.Visit.Version != 1 {
		t.Errorf("asks for %+v, want %s as it was", r, spelledLower)
	}
	f.done(page)
	f.sound()
}

// A server that redirects from one spelling to another is given what it wants, in each round, and no circle.
func TestARedirectToAnotherSpellingIsFollowed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to string }{
		{spelledLower, spelledBare}, {spelledBare, spelledLower}, {spelledLower, spelledUpper},
	} {
		f, _ := begun(t)
		f.must(f.q.Close())
		f.reopen()
		for round := range 3 {
			if round > 0 {
				f.start(spelledCrawl, true)
			} else {
				f.start(spelledCrawl, false)
			}
			start := f.take()
			f.links(start, c.from, spelledBare, spelledLower, spelledUpper)
			f.done(start)
			f.q.Seal()
			documents := 0
			var asked []string
			for {
				l, err := f.q.Take(t.Context())
				if err != nil {
					break
				}
				r := l.Request()
				asked = append(asked, r.URL)
				if r.URL == c.to {
					documents++
					if want := min(round, 1); (r.Visit != nil) != (want == 1) {
						t.Errorf("round %d: %s has visit %+v", round, r.URL, r.Visit)
					}
					f.done(l)
					continue
				}
				f.offer(webrace.Links{From: r.URL, Reach: r.Reach, Via: webrace.ViaRedirect, Redirects: r.Redirects + 1, URLs: []string{c.to}})
				f.finish(l, f.visited(301, 0))
			}
			if documents != 1 || len(asked) > 2 {
				t.Errorf("%s redirects to %s: asked for %s", c.from, c.to, strings.Join(asked, ", "))
			}
			f.sound()
		}
	}
}

func TestACircleOfSpellingsEnds(t *testing.T) {
	t.Parallel()
	f, start := begun(t)
	f.links(start, spelledLower)
	f.done(start)
	f.q.Seal()
	other := map[string]string{spelledLower: spelledBare, spelledBare: spelledUpper, spelledUpper: spelledLower}
	for n := 0; ; n++ {
		l, err := f.q.Take(t.Context())
		if err != nil {
			break
		}
		if n > 10 {
			t.Fatal("it does not end")
		}
		r := l.Request()
		f.offer(webrace.Links{From: r.URL, Reach: r.Reach, Via: webrace.ViaRedirect, Redirects: r.Redirects + 1, URLs: []string{other[r.URL]}})
		f.finish(l, f.visited(301, 0))
	}
	f.sound()
}

func TestRulesAndScopesCompareIdentities(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.start(webrace.Crawl{ID: "c", Start: "http://a.test/~joe/", Scope: webrace.ScopePrefix}, true)
	if o := f.links(f.take(), "http://a.test/%7Ejoe/x", "http://a.test/%7ejack/x"); o.Accepted != 1 || o.Refused[Scope] != 1 {
		t.Errorf("%+v", o)
	}
}
