package frontier

import (
	"errors"
	"io/fs"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
)

var seeding = webrace.Crawl{ID: "urgency-1", Start: "http://urgency-1/", Scope: webrace.ScopeAny, Urgency: 1}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func TestAPausedHostWaitsUntilItIsResumed(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{true, false} {
		f := newFixture(t, QueueOptions{})
		f.seed(1, append(pages("a", 20), "http://b/")...)
		taken := f.hold()
		for hostName(taken) != "a" {
			taken = f.hold()
		}
		if !open {
			f.must(f.q.Close())
		}
		f.must(f.s.Pause(t.Context(), "p", "A"))
		f.must(f.s.Pause(t.Context(), "p", "a")) // as it was
		if open {
			f.links(taken, taken.Request().URL, "http://a/new") // the one to a page that is out already
			f.done(taken)
			f.none()
		}
		f.crash()
		if paused, err := f.s.Paused("p"); err != nil || !slices.Equal(paused, []string{"a"}) {
			t.Errorf("paused are %v, %v", paused, err)
		}
		f.start(seeding, false)
		for _, u := range f.drain() {
			if u[:len("http://a/")] == "http://a/" {
				t.Errorf("%s of the paused host was taken", u)
			}
		}
		if why, err := f.q.Why("http://a/19"); err != nil || !why[0].Paused || why[0].State != Queued {
			t.Errorf("why: %+v, %v", why, err)
		}
		if s := f.q.Stats(); s.Due != 20 {
			t.Errorf("deferred: %+v, want 20", s)
		}
		f.reopen()
		f.start(seeding, false)
		f.none()
		if known, queued, err := f.s.HostURLs("p", "A"); known < 20 || queued != 20 || err != nil {
			t.Errorf("of 20 URLs that wait %d are counted, of %d that are known: %v", queued, known, err)
		}
		if known, queued, err := f.s.HostURLs("p", "c"); known != 0 || queued != 0 || err != nil {
			t.Errorf("of a host that nobody crawls there are %d and %d URLs, %v", known, queued, err)
		}
		f.must(f.s.Resume(t.Context(), "p", "a"))
		f.must(f.s.Resume(t.Context(), "p", "a"))
		if got := f.drain(); len(got) != 20 {
			t.Errorf("%d URLs were taken after the host was resumed, want 20", len(got))
		}
		if paused, err := f.s.Paused("p"); err != nil || len(paused) != 0 {
			t.Errorf("paused are %v, %v", paused, err)
		}
	}
}

func TestAHostThatWaitsCanBePaused(t *testing.T) {
	t.Parallel()
	at := time.Unix(1e9, 0)
	f := newFixtureAt(t, QueueOptions{}, func() time.Time { return at })
	f.seed(1, pages("a", 3)...)
	f.rest(f.hold(), at.Add(time.Minute), false) // on disk
	f.must(f.s.Pause(t.Context(), "p", "a"))
	at = at.Add(time.Hour)
	f.none()
	f.must(f.q.waitForCommit())
	f.none()
	f.must(f.s.Resume(t.Context(), "p", "a"))
	f.take()
}

func TestDropTakesAHostOffTheQueue(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{true, false} {
		f := newFixture(t, QueueOptions{})
		f.seed(1, append(pages("a", 3*groupSize), "http://b/")...)
		var out *Lease
		for out == nil || hostName(out) != "a" {
			out = f.hold()
		}
		out.Release(webrace.HostReport{})
		delayed := f.take()
		f.finish(delayed, Outcome{RetryAt: f.now().Add(time.Hour)})
		want := 3*groupSize - 1
		if !open {
			f.must(f.q.Close())
			want++ // nothing is out
		}
		n, err := f.s.Drop(t.Context(), "p", "a")
		if err != nil || n != want {
			t.Errorf("%d URLs were dropped, %v, want %d", n, err, want)
		}
		if !open {
			f.reopen()
			f.start(seeding, false)
		} else {
			f.finish(out, Outcome{RetryAt: f.now()}) // it was not dropped, so it is tried again
		}
		left := 1 // of b
		if open {
			left++
		}
		s := f.status("urgency-1")
		if stats := f.q.Stats(); stats.Delayed != left-1 || stats.Due != left || stats.Queued != left || s.Pending != left {
			t.Errorf("after the drop %+v, %+v", stats, s)
		}
		if why, err := f.q.Why("http://a/700"); err != nil || why[0].State != Dropped {
			t.Errorf("why: %+v, %v", why, err)
		}
		if o := f.offer(webrace.Links{From: "http://x/", Reach: []webrace.Reach{{Crawl: "urgency-1"}}, Via: webrace.ViaLink, URLs: []string{"http://a/700", "http://a/more"}}); o.Accepted != 1 {
			t.Errorf("after the drop: %+v, want the page that no crawl came to accepted", o)
		}
	}
}

func TestAHostTakesNoMoreURLsThanItMay(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{HostURLs: 10})
	f.seed(1)
	offer := func(urls ...string) Offered {
		return f.offer(webrace.Links{From: "http://x/", Reach: []webrace.Reach{{Crawl: "urgency-1"}}, Via: webrace.ViaLink, URLs: urls})
	}
	if o := offer(pages("a", 8)...); o.Accepted != 8 {
		t.Errorf("the first: %+v", o)
	}
	if o := offer(append(pages("a", 20), "http://b/")...); o.Accepted != 3 || o.Refused[HostFull] != 10 || o.Refused[Repeat] != 8 {
		t.Errorf("beyond the limit: %+v", o)
	}
	f.drain()
	f.crash()
	f.start(seeding, true)
	if o := offer(pages("a", 12)...); o.Accepted != 10 || o.Refused[HostFull] != 2 {
		t.Errorf("in the next round: %+v, want those that are known, and no others", o)
	}
	if r := f.start(webrace.Crawl{ID: "at a", Start: "http://a/start"}, true); r.Pending != 1 {
		t.Errorf("a crawl that starts at the full host: %+v", r)
	}
	f.opt.HostURLs = -1
	f.reopen()
	f.start(seeding, true)
	if o := offer("http://a/99"); o.Accepted != 1 {
		t.Errorf("without a limit: %+v", o)
	}
}

func TestABackupOpensAsAStore(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.seed(1, pages("a", 5)...)
	f.take()
	f.must(f.s.Backup(t.Context(), "backup"))
	if err := f.s.Backup(t.Context(), "backup"); err == nil {
		t.Error("a backup is written over another")
	}
	f.seed(2, pages("b", 5)...)
	s, err := Open("backup", Options{FS: f.fs})
	f.must(err)
	defer s.Close()
	q, err := s.Queue("p", QueueOptions{})
	f.must(err)
	if got := q.Stats(); got.Queued != 5 || got.Known != 6 {
		t.Errorf("the copy has %+v", got)
	}
}

func TestAReadOnlyStoreIsReadAndNotChanged(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.seed(1, pages("a", 5)...)
	f.must(f.s.Backup(t.Context(), "media"))
	before, err := f.fs.List("media")
	f.must(err)
	s, err := Open("media", Options{FS: readOnlyMedia{f.fs}, ReadOnly: true})
	f.must(err)
	defer s.Close()
	q, err := s.Queue("p", QueueOptions{})
	f.must(err)
	if why, err := q.Why("http://a/1"); err != nil || why[0].State != Queued || q.Stats().Queued != 5 {
		t.Errorf("why: %+v, %v", why, err)
	}
	if all, err := s.CrawlStatuses("p"); err != nil || len(all) != 1 {
		t.Errorf("statuses: %v, %v", all, err)
	}
	_, startErr := q.Start(t.Context(), seeding, true)
	_, takeErr := q.Take(t.Context())
	_, newErr := s.Queue("new", QueueOptions{})
	_, dropErr := s.Drop(t.Context(), "p", "a")
	for what, err := range map[string]error{"start": startErr, "take": takeErr, "new": newErr, "drop": dropErr, "pause": s.Pause(t.Context(), "p", "a")} {
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if after, err := f.fs.List("media"); err != nil || !slices.Equal(slices.Sorted(slices.Values(after)), slices.Sorted(slices.Values(before))) {
		t.Errorf("files were %v and are %v, %v", before, after, err)
	}
}

// readOnlyMedia refuses what media that cannot be written to refuse.
type readOnlyMedia struct{ vfs.FS }

func (readOnlyMedia) Create(string, vfs.DiskWriteCategory) (vfs.File, error) {
	return nil, fs.ErrPermission
}
func (readOnlyMedia) Remove(string) error                { return fs.ErrPermission }
func (readOnlyMedia) Rename(string, string) error        { return fs.ErrPermission }
func (readOnlyMedia) MkdirAll(string, fs.FileMode) error { return fs.ErrPermission }

// Why a host is left alone for longer than usual is known for as long as it is, also after a restart.
func TestWhyAHostWaitsIsKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.start(crawlOf("a.org"), true)
	l := f.hold()
	f.links(l, "http://a.org/1")
	l.Release(webrace.HostReport{NotBefore: time.Now().Add(time.Hour), Why: "taken for dead"})
	f.done(l)
	for range 2 {
		if why, err := f.q.Why("http://a.org/1"); err != nil || why[0].HostWhy != "taken for dead" || why[0].Host.IsZero() {
			t.Errorf("%+v, %v", why, err)
		}
		f.reopen()
	}
}
