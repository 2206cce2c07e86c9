package frontier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
)

// fixture is a store in memory with one queue, and short ways to use it.
type fixture struct {
	t   *testing.T
	fs  *vfs.MemFS
	opt QueueOptions
	now func() time.Time

	patience time.Duration // with a Take that should give something

	s *Store
	q *Queue
}

func newFixture(t *testing.T, o QueueOptions) *fixture { return newFixtureAt(t, o, time.Now) }

func newFixtureAt(t *testing.T, o QueueOptions, now func() time.Time) *fixture {
	t.Helper()
	f := &fixture{t: t, fs: vfs.NewCrashableMem(), opt: o, now: now, patience: 20 * time.Second}
	f.open()
	t.Cleanup(func() { f.close() })
	return f
}

func (f *fixture) open() {
	f.t.Helper()
	s, err := Open("frontier", Options{FS: f.fs, Now: f.now})
	if err != nil {
		f.t.Fatal(err)
	}
	f.s = s
	if f.q, err = s.Queue("p", f.opt); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) close() {
	f.t.Helper()
	if err := f.s.Close(); err != nil {
		f.t.Errorf("close: %v", err)
	}
}

// crash loses everything that was not synced, and opens the store again.
func (f *fixture) crash() {
	f.t.Helper()
	after := f.fs.CrashClone(vfs.CrashCloneCfg{})
	f.close()
	f.fs = after
	f.open()
}

func (f *fixture) start(c webrace.Crawl, newRound bool) Round {
	f.t.Helper()
	r, err := f.q.Start(context.Background(), c, newRound)
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

func (f *fixture) offer(l webrace.Links) Offered {
	f.t.Helper()
	type answer struct {
		o   Offered
		err error
	}
	got := make(chan answer, 1)
	f.q.Offer(&l, func(o Offered, err error) { got <- answer{o, err} })
	a := <-got
	if a.err != nil {
		f.t.Fatal(a.err)
	}
	return a.o
}

// links offers urls as links of the page that l was leased for.
func (f *fixture) links(l *Lease, urls ...string) Offered {
	f.t.Helper()
	r := l.Request()
	return f.offer(webrace.Links{From: r.URL, Reach: r.Reach, Via: webrace.ViaLink, URLs: urls})
}

// take expects that a lease is to be had at once, and releases its host.
func (f *fixture) take() *Lease {
	f.t.Helper()
	l := f.hold()
	l.Release(webrace.HostReport{})
	return l
}

// hold is take without the release.
func (f *fixture) hold() *Lease {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), f.patience)
	defer cancel()
	l, err := f.q.Take(ctx)
	if err != nil {
		f.t.Fatalf("take: %v", err)
	}
	return l
}

// none expects that nothing is to be had now. Nothing may be under way.
func (f *fixture) none() {
	f.t.Helper()
	f.q.mu.Lock()
	defer f.q.mu.Unlock()
	l, _, err := f.q.try(f.s.now())
	if l != nil {
		f.t.Fatalf("take gives %s, want nothing", l.Request().URL)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		f.t.Fatal(err)
	}
}

func (f *fixture) end() {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), f.patience)
	defer cancel()
	if l, err := f.q.Take(ctx); !errors.Is(err, io.EOF) {
		f.t.Fatalf("take gives %v, %v, want io.EOF", l, err)
	}
}

func (f *fixture) finish(l *Lease, o Outcome) {
	f.t.Helper()
	got := make(chan error, 1)
	l.Done(o, func(err error) { got <- err })
	if err := <-got; err != nil {
		f.t.Fatal(err)
	}
}

// done ends a lease as a fetch that brought a document would.
func (f *fixture) done(l *Lease) {
	f.t.Helper()
	f.finish(l, f.visited(200, 1))
}

// visited is the outcome of a request that was answered.
func (f *fixture) visited(status, version int) Outcome {
	return Outcome{Learned: []webrace.Learned{func(v *webrace.Visit) {
		v.At, v.Status, v.Version = f.now(), status, version
	}}}
}

func (f *fixture) wantStored(l *Lease, stored bool) {
	f.t.Helper()
	if got := l.Request().Stored; got != stored {
		f.t.Errorf("%s is stored: %v, want %v", l.Request().URL, got, stored)
	}
}

// round starts a crawl in a new round, and works it off.
func (f *fixture) round(c webrace.Crawl) {
	f.t.Helper()
	f.start(c, true)
	f.drain()
	f.reopen()
}

// reopen ends this run and begins another.
func (f *fixture) reopen() {
	f.t.Helper()
	f.close()
	f.open()
}

// drain takes until nothing is left, and returns the URLs in order.
func (f *fixture) drain() (urls []string) {
	f.t.Helper()
	f.q.Seal()
	for {
		l, err := f.q.Take(context.Background())
		if errors.Is(err, io.EOF) {
			return urls
		}
		if err != nil {
			f.t.Fatal(err)
		}
		urls = append(urls, l.Request().URL)
		f.done(l)
	}
}

func (f *fixture) wantURL(l *Lease, url string) {
	f.t.Helper()
	if got := l.Request().URL; got != url {
		f.t.Fatalf("take gives %s, want %s", got, url)
	}
}

func (f *fixture) wantReach(l *Lease, reach ...webrace.Reach) {
	f.t.Helper()
	if got := l.Request().Reach; !slices.Equal(got, reach) {
		f.t.Errorf("reach of %s is %v, want %v", l.Request().URL, got, reach)
	}
}

// crawlOf returns a crawl of a host with no limits but its own.
func crawlOf(id string) webrace.Crawl {
	return webrace.Crawl{ID: id, Start: "http://" + id + "/", Scope: webrace.ScopeAny}
}

func pages(host string, n int) (urls []string) {
	for i := range n {
		urls = append(urls, fmt.Sprintf("http://%s/%d", host, i))
	}
	return urls
}

// waitForCommit returns when everything that was handed in is durable, and told of.
func (f *fixture) waitForCommit() {
	f.t.Helper()
	if err := f.q.waitForCommit(); err != nil {
		f.t.Fatal(err)
	}
}
