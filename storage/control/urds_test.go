package control_test

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/xmlschema"
)

// urd makes a URD with an id.
func urd(id, owner, uri string, keywords ...string) *xmlschema.URD {
	u := xmlschema.NewURD(owner, uri)
	u.ID = id
	for _, k := range keywords {
		u.Keywords = xmlschema.NewKeywords(append(u.Keywords.Keywords, xmlschema.Keyword{Key: k})...)
	}
	return u
}

func put(t *testing.T, s *control.Store, urds ...*xmlschema.URD) []control.Change {
	t.Helper()
	changes, err := s.Put(t.Context(), urds)
	ok(t, err)
	return changes
}

func ids(urds []control.URD) []string {
	all := make([]string, len(urds))
	for i, u := range urds {
		all[i] = u.ID
	}
	return all
}

func revision(t *testing.T, s *control.Store) int64 {
	t.Helper()
	r, err := s.Revision(t.Context())
	ok(t, err)
	return r
}

func TestWhatIsPutIsStoredAcrossRestarts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "control.db")
	s := openAt(t, path)
	u := urd("u1", "eleni", "http://a.example/dir/page.html?q=1", "ibm", "\"two words\"", "λευκωσία")
	u.Timing, u.Urgency, u.Depth, u.Secret = 10*time.Minute, 3, 4, "bank"
	put(t, s, u, urd("u2", "andreas", "http://b.example/"))
	ok(t, s.Close())
	s = openAt(t, path)
	got, err := s.Get(t.Context(), "u1")
	ok(t, err)
	if diff := cmp.Diff(u, got.URD); diff != "" {
		t.Error(diff)
	}
	if got.Revision != 1 || got.Crawl.Start != u.URI || got.Crawl.Levels != 4 || got.Crawl.Secret != "bank" {
		t.Errorf("revision %d, crawl %+v", got.Revision, got.Crawl)
	}
	if all := ids(gather(t, s.All(t.Context()))); !slices.Equal(all, []string{"u1", "u2"}) {
		t.Errorf("all: %v", all)
	}
	if mine := ids(gather(t, s.ByOwner(t.Context(), "andreas"))); !slices.Equal(mine, []string{"u2"}) {
		t.Errorf("by owner: %v", mine)
	}
	if _, err := s.Get(t.Context(), "u3"); !errors.Is(err, control.ErrNotFound) || !strings.Contains(err.Error(), "u3") {
		t.Errorf("got %v, want not found", err)
	}
}

func TestTheRevisionGrowsWithChangesAlone(t *testing.T) {
	t.Parallel()
	s := open(t)
	a, b := urd("a", "eleni", "http://a.example/", "ibm"), urd("b", "eleni", "http://b.example/")
	steps := []struct {
		name   string
		do     func() []control.Change
		effect []control.Effect
		want   int64
	}{
		{"nothing", func() []control.Change { return put(t, s) }, nil, 0},
		{"add two", func() []control.Change { return put(t, s, a, b) }, []control.Effect{control.Added, control.Added}, 2},
		{"import again", func() []control.Change { return put(t, s, a, b) }, []control.Effect{control.Unchanged, control.Unchanged}, 2},
		{"a later check of the source", func() []control.Change {
			again := *a
			again.LastCheck = time.Unix(1e9, 0)
			return put(t, s, &again)
		}, []control.Effect{control.Unchanged}, 2},
		{"change one of two", func() []control.Change {
			b.Urgency = 2
			return put(t, s, a, b)
		}, []control.Effect{control.Unchanged, control.Changed}, 3},
		{"remove", func() []control.Change {
			ok(t, s.Delete(t.Context(), "a"))
			return nil
		}, nil, 4},
		{"remove what is not there", func() []control.Change {
			if err := s.Delete(t.Context(), "a"); !errors.Is(err, control.ErrNotFound) {
				t.Errorf("got %v, want not found", err)
			}
			return nil
		}, nil, 4},
		{"add again", func() []control.Change { return put(t, s, a) }, []control.Effect{control.Added}, 5},
		{"ACIs, cursors and letters", func() []control.Change {
			putACIs(t, s, aci(1))
			ok(t, s.SetCursor(t.Context(), "x", 9))
			return nil
		}, nil, 5},
	}
	for _, step := range steps {
		var effects []control.Effect
		for _, c := range step.do() {
			effects = append(effects, c.Effect)
		}
		if !slices.Equal(effects, step.effect) {
			t.Errorf("%s: %v, want %v", step.name, effects, step.effect)
		}
		if got := revision(t, s); got != step.want {
			t.Errorf("%s: revision %d, want %d", step.name, got, step.want)
		}
	}
}

func TestPutIsAllOrNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	put(t, s, urd("kept", "eleni", "http://a.example/"))
	for name, bad := range map[string]*xmlschema.URD{
		"no owner":  urd("x", "", "http://a.example/"),
		"no scheme": urd("x", "eleni", "a.example"),
		"bad level": func() *xmlschema.URD { u := urd("x", "eleni", "http://a.example/"); u.Depth = -1; return u }(),
	} {
		changed := urd("kept", "eleni", "http://changed.example/")
		if _, err := s.Put(t.Context(), []*xmlschema.URD{changed, urd("new", "eleni", "http://n.example/"), bad}); err == nil {
			t.Errorf("%s: accepted", name)
		}
		all := gather(t, s.All(t.Context()))
		if len(all) != 1 || all[0].URI != "http://a.example/" || revision(t, s) != 1 {
			t.Errorf("%s: left %v at revision %d", name, ids(all), revision(t, s))
		}
	}
}

func TestAURDWithoutIDGetsTheSameOneEachTime(t *testing.T) {
	t.Parallel()
	s := open(t)
	u := urd("", "eleni", "http://a.example/", "ibm")
	first := put(t, s, u)
	again := put(t, s, u)
	if u.ID != "" {
		t.Error("the argument was changed")
	}
	if first[0].ID == "" || first[0].ID != again[0].ID || again[0].Effect != control.Unchanged {
		t.Errorf("first %v, then %v", first, again)
	}
}

// A follower that applies what Revised returns, from time to time, always has what All returns.
func TestAFollowerSeesEveryChange(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	mirror := make(map[string]string)
	var at int64
	for step := range 60 {
		id := fmt.Sprintf("u%d", step*7%11)
		if step%4 == 3 {
			if err := s.Delete(ctx, id); err != nil && !errors.Is(err, control.ErrNotFound) {
				t.Fatal(err)
			}
		} else {
			put(t, s, urd(id, "eleni", fmt.Sprintf("http://a.example/%d", step%5)))
		}
		if step%3 != 0 {
			continue
		}
		for r, err := range s.Revised(ctx, at) {
			ok(t, err)
			if r.Number <= at {
				t.Fatalf("revision %d after %d", r.Number, at)
			}
			at = r.Number
			if r.URD == nil {
				delete(mirror, r.ID)
			} else {
				mirror[r.ID] = r.URD.URI
			}
		}
		want := make(map[string]string)
		for _, u := range gather(t, s.All(ctx)) {
			want[u.ID] = u.URI
		}
		if !maps.Equal(mirror, want) || at != revision(t, s) {
			t.Fatalf("step %d, revision %d of %d: mirror %v, want %v", step, at, revision(t, s), mirror, want)
		}
	}
}

func TestReadingAndWritingGoTogether(t *testing.T) {
	t.Parallel()
	s := open(t)
	for i := range 20 {
		put(t, s, urd(fmt.Sprint("u", i), "eleni", "http://a.example/"))
	}
	seen := 0
	for u, err := range s.All(t.Context()) {
		ok(t, err)
		seen++
		u.Urgency = 3
		put(t, s, u.URD, urd("new"+u.ID, "eleni", "http://b.example/"))
	}
	if seen != 20 {
		t.Errorf("read %d URDs of the 20 that were there", seen)
	}
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := range 5 {
				if _, err := s.Put(t.Context(), []*xmlschema.URD{urd(fmt.Sprint(w, "-", i), "a", "http://a.example/")}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	if got := revision(t, s); got != 20+40+20 {
		t.Errorf("revision %d, want 80", got)
	}
}

func TestAnIteratorMayBeLeftAtAnyPoint(t *testing.T) {
	t.Parallel()
	s := open(t)
	put(t, s, urd("a", "eleni", "http://a.example/"), urd("b", "eleni", "http://b.example/"))
	for range 50 { // more often than there are readers
		for u, err := range s.All(t.Context()) {
			ok(t, err)
			if u.ID != "a" {
				t.Fatalf("began with %s", u.ID)
			}
			break
		}
	}
}

func TestURDsThatAgreeOnTheStartShareACrawl(t *testing.T) {
	t.Parallel()
	base := func(change func(*xmlschema.URD)) string {
		u := urd("x", "eleni", "http://A.example:80/x/../a#top", "ibm")
		change(u)
		c, starts, err := control.CrawlOf(u)
		ok(t, err)
		if !starts {
			return ""
		}
		return c.ID
	}
	first := base(func(*xmlschema.URD) {})
	for name, change := range map[string]func(*xmlschema.URD){
		"owner":    func(u *xmlschema.URD) { u.Owner = "andreas" },
		"depth":    func(u *xmlschema.URD) { u.Depth = 0 },
		"keywords": func(u *xmlschema.URD) { u.Keywords = xmlschema.Keywords{} },
		"timing":   func(u *xmlschema.URD) { u.Timing = time.Hour },
		"urgency":  func(u *xmlschema.URD) { u.Urgency = 3 },
		"spelling": func(u *xmlschema.URD) { u.URI = "HTTP://A.EXAMPLE/./a" },
		"port 80":  func(u *xmlschema.URD) { u.URI, u.Port = "http://a.example/a", 80 },
	} {
		if got := base(change); got != first {
			t.Errorf("%s: crawl %s, want the shared %s", name, got, first)
		}
	}
	different := map[string]string{first: "the first"}
	for name, change := range map[string]func(*xmlschema.URD){
		"start":  func(u *xmlschema.URD) { u.URI = "http://a.example/b" },
		"scheme": func(u *xmlschema.URD) { u.URI = "https://a.example/a" },
		"port":   func(u *xmlschema.URD) { u.URI, u.Port = "http://a.example/a", 8080 },
		"scope":  func(u *xmlschema.URD) { u.Scope = xmlschema.ScopeDomain },
		"secret": func(u *xmlschema.URD) { u.Secret = "bank" },
		"login":  func(u *xmlschema.URD) { u.Login = "bank" },
		"both":   func(u *xmlschema.URD) { u.Login, u.Secret = "ba", "nk" },
	} {
		got := base(change)
		if other, taken := different[got]; taken || got == "" {
			t.Errorf("%s: crawl %q, which is that of %s", name, got, other)
		}
		different[got] = name
	}
	for name, c := range map[string]struct {
		uri  string
		port int
		want string
	}{
		"a host by name":              {"mail.example", 110, "pop3://mail.example/"},
		"an address":                  {"pop3://[2001:db8::1]/", 1110, "pop3://[2001:db8::1]:1110/"},
		"no port":                     {"mail.example", 0, "pop3s://mail.example/"},
		"what is no source, as it is": {"pop3://mail.example/inbox", 110, "pop3://mail.example/inbox"},
		"ports that disagree":         {"pop3://mail.example:995/", 110, "pop3://mail.example:995/"},
	} {
		u := urd("x", "eleni", c.uri)
		u.Protocol, u.Port = xmlschema.ProtocolPOP3, c.port
		if crawl, starts, err := control.CrawlOf(u); crawl.Start != c.want || !starts || err != nil {
			t.Errorf("%s: start %q, %v, want %q", name, crawl.Start, err, c.want)
		}
	}
	for _, prefix := range []string{"*", "http://a.example/*"} {
		if got := base(func(u *xmlschema.URD) { u.URI = prefix }); got != "" {
			t.Errorf("%s starts crawl %s", prefix, got)
		}
	}
}

func TestAMergedCrawlServesAllItsURDs(t *testing.T) {
	t.Parallel()
	s := open(t)
	with := func(id, uri string, levels, urgency int, timing time.Duration) *xmlschema.URD {
		u := urd(id, "eleni", uri)
		u.Depth, u.Urgency, u.Timing = levels, urgency, timing
		return u
	}
	put(t, s,
		with("a1", "http://a.example/", 2, 1, time.Hour), with("a2", "http://a.example/", 4, 3, 0), with("a3", "http://a.example/", 1, 2, time.Minute),
		with("b1", "http://b.example/", 2, 1, 0), with("b2", "http://b.example/", 0, 1, 0), with("b3", "http://b.example/", 5, 1, 0),
		with("p", "http://a.example/*", 9, 3, time.Second))
	got := make(map[string]webrace.Crawl)
	var crawls []string
	for _, c := range control.Crawls(gather(t, s.All(t.Context()))) {
		crawls = append(crawls, c.ID)
		c.ID = ""
		got[c.Start] = c
	}
	want := map[string]webrace.Crawl{
		"http://a.example/": {Start: "http://a.example/", Scope: webrace.ScopeHost, Levels: 4, Urgency: 3, Timing: time.Minute},
		"http://b.example/": {Start: "http://b.example/", Scope: webrace.ScopeHost, Levels: 0, Urgency: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !slices.IsSorted(crawls) {
		t.Errorf("not sorted: %v", crawls)
	}
	sharing := ids(gather(t, s.ByCrawl(t.Context(), crawls...)))
	if want := []string{"a1", "a2", "a3", "b1", "b2", "b3"}; !slices.Equal(sharing, want) {
		t.Errorf("sharing: %v, want %v", sharing, want)
	}
	if one := gather(t, s.ByCrawl(t.Context(), crawls[0])); len(one) != 3 {
		t.Errorf("%d URDs share one crawl, want 3", len(one))
	}
	if none := gather(t, s.ByCrawl(t.Context())); len(none) != 0 {
		t.Errorf("%d URDs share no crawl", len(none))
	}
}

func TestInterestIsOfTheChangeThatMattersToAnnotations(t *testing.T) {
	t.Parallel()
	s, ctx := open(t), t.Context()
	u := xmlschema.NewURD("eleni", "http://example.org/")
	u.ID, u.Keywords = "u", xmlschema.NewKeywords(xmlschema.Keyword{Key: "ibm"})
	want := int64(0)
	for _, step := range []struct {
		name    string
		change  func()
		matters bool
	}{
		{"added", func() {}, true},
		{"urgency", func() { u.Urgency = 3 }, false},
		{"timing", func() { u.Timing = time.Hour }, false},
		{"title and labels", func() { u.Title, u.Labels = "News", []string{"work"} }, false},
		{"paused", func() { u.Paused = true }, false},
		{"resumed", func() { u.Paused = false }, false},
		{"times", func() { u.Timing, u.At = 0, "0 8 * * *" }, false},
		{"threshold", func() { u.Keywords.Threshold = 1 }, true},
		{"keyword", func() { u.Keywords.Keywords[0].Weight = 5 }, true},
		{"scope of change", func() { u.Change = xmlschema.ChangePage }, true},
		{"depth", func() { u.Depth = 2 }, true},
		{"scope", func() { u.Scope = xmlschema.ScopeAny }, true},
		{"start", func() { u.URI = "http://example.org/other" }, true},
		{"urgency again", func() { u.Urgency = 1 }, false},
	} {
		step.change()
		_, err := s.Put(ctx, []*xmlschema.URD{u})
		ok(t, err)
		stored, err := s.Get(ctx, "u")
		ok(t, err)
		if step.matters {
			want = stored.Revision
		}
		if stored.Interest != want {
			t.Errorf("after %s the interest is of revision %d, want %d", step.name, stored.Interest, want)
		}
	}
}

// The times of a URD count since it was given them, whatever else of it is changed, and as long as it has them.
func TestTimesCountSinceTheyWereGiven(t *testing.T) {
	t.Parallel()
	s, ctx := open(t), t.Context()
	long := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	u := urd("a/b", "eleni", "http://a.example/")
	backdated := func() { ok(t, s.SetCursor(ctx, "urd/times/a/b", long.UnixNano())) }
	for _, step := range []struct {
		name   string
		change func()
		want   string
	}{
		{"none", func() {}, "none"},
		{"given", func() { u.At = "0 8 * * *" }, "now"},
		{"kept", func() {
			backdated()
			u.Urgency, u.Keywords = 3, xmlschema.NewKeywords(xmlschema.Keyword{Key: ` at="x"`})
		}, "long ago"},
		{"changed", func() { u.At = "0 9 * * *" }, "now"},
		{"the same again", backdated, "long ago"},
		{"taken away", func() { u.At = "" }, "none"},
		{"given again", func() { u.At = "0 9 * * *" }, "now"},
	} {
		step.change()
		began := time.Now()
		put(t, s, u)
		since, err := s.TimesSince(ctx, "a/b")
		ok(t, err)
		all, err := s.AllTimesSince(ctx)
		ok(t, err)
		got := "none"
		switch {
		case since.Equal(long):
			got = "long ago"
		case !since.Before(began.Round(0)) && !since.After(time.Now()):
			got = "now"
		case !since.IsZero():
			got = since.String()
		}
		if got != step.want || !all["a/b"].Equal(since) {
			t.Errorf("%s: they count since %s, want %s; all: %v", step.name, got, step.want, all)
		}
	}
	ok(t, s.Check(ctx, false, func(f fsck.Finding) { t.Errorf("found %v", f) }))
	ok(t, s.Delete(ctx, "a/b"))
	if all, err := s.AllTimesSince(ctx); len(all) > 0 || err != nil {
		t.Errorf("of a URD that is removed: %v, %v", all, err)
	}
}
