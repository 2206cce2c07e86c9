// Package objectstest is the conformance suite of object caches. A backend passes when it keeps the
// guarantees of package objects: each test tries to break one of them through the interface alone.
package objectstest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// Store is what a backend has to do; see [objects.Store] for what each method promises.
type Store interface {
	Put(d *webrace.Document, done func(error)) (objects.Version, error)
	Touch(url string, at time.Time, done func(error)) (objects.Version, error)
	Latest(url string) (objects.Version, error)
	Get(url string, number int) (objects.Version, error)
	Versions(url string) ([]objects.Version, error)
	List(ctx context.Context, prefix string) iter.Seq2[objects.Version, error]
	Body(v objects.Version) ([]byte, http.Header, error)
	Meta(v objects.Version) (xmlschema.Meta, error)
	Links(v objects.Version) ([]string, error)
	Screenshot(v objects.Version) (*webrace.Screenshot, error)
	Next(ctx context.Context, after uint64, max int) ([]objects.Version, error)
	Last() uint64
	Cursor(name string) (uint64, error)
	SetCursor(name string, seq uint64, sync bool) error
	Collect(ctx context.Context, o objects.CollectOptions) (objects.Collected, error)
	Pin(v objects.Version) (unpin func(), err error)
	Close() error
}

var _ Store = (*objects.Store)(nil)

// Place is where a store is kept, for one test.
type Place interface {
	// Open opens the store of this place, and makes it if there is none.
	Open() (Store, error)
	// Crash leaves the place as a power cut would at this moment, while the store is open. That store is
	// closed by the test later; what it does then must not reach the place.
	Crash() error
}

// TB is what the suite needs of a test.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Context() context.Context
}

// Run tries every guarantee, each in a place of its own.
func Run(t *testing.T, place func(t *testing.T) Place) {
	for _, g := range Guarantees {
		t.Run(g.Name, func(t *testing.T) { g.Try(t, place(t)) })
	}
}

// Guarantee is one thing that a store promises.
type Guarantee struct {
	Name string
	Try  func(TB, Place)
}

// Guarantees are all that [Run] tries.
var Guarantees = []Guarantee{
	{"what is put is given back", givesBack},
	{"only a new digest makes a version", versions},
	{"a cut body never follows a complete one", cuts},
	{"a list is ordered and keeps to its prefix", lists},
	{"the log has no holes, and cursors are kept", follows},
	{"what was acknowledged survives a crash", survives},
	{"numbers are never used twice", numbers},
	{"a collection keeps what is pinned, confirmed or stored again", collects},
	{"a body stays as long as a version has it", shares},
	{"many writers see one history", races},
}

const home = "http://example.org/"

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func page(url, body string) *webrace.Document {
	return &webrace.Document{
		URL: url, Outcome: webrace.Fetched, Status: 200, At: noon, MediaType: "text/html", Body: []byte(body),
		Header: http.Header{"Content-Type": {"text/html"}}, Links: []string{url + "?a", "https://example.org/"},
	}
}

func open(t TB, p Place) Store {
	t.Helper()
	s, err := p.Open()
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return s
}

func closed(t TB, s Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func put(t TB, s Store, d *webrace.Document) objects.Version {
	t.Helper()
	done := make(chan error, 1)
	v, err := s.Put(d, func(err error) { done <- err })
	if err == nil {
		err = <-done
	}
	if err != nil {
		t.Fatalf("put %s: %v", d.URL, err)
	}
	return v
}

func wantBody(t TB, s Store, v objects.Version, want string) {
	t.Helper()
	body, header, err := s.Body(v)
	if err != nil || string(body) != want || header.Get("Content-Type") != "text/html" {
		t.Errorf("body of version %d of %s is %.60q with %v, want %.60q: %v", v.Number, v.URL, body, header, want, err)
	}
	if m, err := s.Meta(v); err != nil || m.URL != v.URL || !slices.Equal(m.Links, page(v.URL, "").Links) {
		t.Errorf("meta-info of version %d of %s is %+v, %v", v.Number, v.URL, m, err)
	}
	if links, err := s.Links(v); err != nil || !slices.Equal(links, page(v.URL, "").Links) {
		t.Errorf("links of version %d of %s are %q, %v", v.Number, v.URL, links, err)
	}
}

func wantGone(t TB, s Store, v objects.Version) {
	t.Helper()
	_, err1 := s.Get(v.URL, v.Number)
	_, _, err2 := s.Body(v)
	_, err3 := s.Pin(v)
	for i, err := range []error{err1, err2, err3} {
		if !errors.Is(err, objects.ErrNotFound) {
			t.Errorf("%d: version %d of %s should be gone: %v", i+1, v.Number, v.URL, err)
		}
	}
}

func collect(t TB, s Store, o objects.CollectOptions) objects.Collected {
	t.Helper()
	c, err := s.Collect(t.Context(), o)
	if err != nil {
		t.Fatalf("collect: %v", err)
	}
	return c
}

// remove is a verdict on chosen versions.
func remove(chosen func(objects.Version) bool) func(context.Context, []objects.Version) ([]objects.Verdict, error) {
	return func(_ context.Context, all []objects.Version) ([]objects.Verdict, error) {
		verdicts := make([]objects.Verdict, len(all))
		for i, v := range all {
			if chosen(v) {
				verdicts[i] = objects.Remove
			}
		}
		return verdicts, nil
	}
}

func givesBack(t TB, p Place) {
	s := open(t, p)
	d := page(home, "body")
	d.Screenshot = &webrace.Screenshot{PNG: []byte("\x89PNG\r\n\x1a\n and more"), Whole: true}
	v := put(t, s, d)
	if v.Number != 1 || v.Seq != 1 || !v.Changed || v.Size != 4 || v.Status != 200 || !v.FetchedAt.Equal(noon) {
		t.Errorf("put: %+v", v)
	}
	closed(t, s)
	s = open(t, p)
	defer closed(t, s)
	v.Changed = false
	if got, err := s.Latest(home); err != nil || got != v {
		t.Errorf("latest is %+v, %v; want %+v", got, err, v)
	}
	wantBody(t, s, v, "body")
	if shot, err := s.Screenshot(v); err != nil || string(shot.PNG) != string(d.Screenshot.PNG) || !shot.Whole {
		t.Errorf("screenshot %+v, %v", shot, err)
	}
	if _, err := s.Latest(home + "other"); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("what was never stored: %v", err)
	}
}

func versions(t TB, p Place) {
	s := open(t, p)
	defer closed(t, s)
	for i, step := range []struct {
		body    string
		number  int
		changed bool
	}{{"one", 1, true}, {"one", 1, false}, {"two", 2, true}, {"one", 3, true}} {
		if v := put(t, s, page(home, step.body)); v.Number != step.number || v.Changed != step.changed {
			t.Errorf("step %d: %+v", i, v)
		}
	}
	done := make(chan error, 1)
	if v, err := s.Touch(home, noon.Add(time.Hour), func(err error) { done <- err }); err != nil || v.Number != 3 || v.Changed {
		t.Errorf("touch: %+v, %v", v, err)
	} else if err := <-done; err != nil {
		t.Errorf("touch: %v", err)
	}
	put(t, s, page(home, "one")) // validated earlier: the time does not go back
	all, err := s.Versions(home)
	if err != nil || len(all) != 3 || !all[2].ValidatedAt.Equal(noon.Add(time.Hour)) {
		t.Fatalf("versions are %+v, %v", all, err)
	}
	for i, body := range []string{"one", "two", "one"} {
		wantBody(t, s, all[i], body)
		if got, err := s.Get(home, i+1); err != nil || got != all[i] {
			t.Errorf("version %d is %+v, %v", i+1, got, err)
		}
	}
}

func cuts(t TB, p Place) {
	s := open(t, p)
	defer closed(t, s)
	cut := func(body string) *webrace.Document {
		d := page(home, body)
		d.Truncated = true
		return d
	}
	for i, step := range []struct {
		document *webrace.Document
		number   int
		changed  bool
	}{{cut("one"), 1, true}, {cut("one"), 1, false}, {cut("two"), 2, true}, {page(home, "two"), 3, true}} {
		if v := put(t, s, step.document); v.Number != step.number || v.Changed != step.changed || v.Truncated != step.document.Truncated {
			t.Errorf("step %d: %+v", i, v)
		}
	}
	for _, body := range []string{"two", "three"} {
		d := cut(body)
		d.At = noon.Add(time.Hour)
		if v, err := s.Put(d, func(error) {}); !errors.Is(err, objects.ErrIncomplete) {
			t.Errorf("a cut %q: %+v, %v", body, v, err)
		}
	}
	if v, err := s.Latest(home); err != nil || v.Number != 3 || v.Truncated || !v.ValidatedAt.Equal(noon) {
		t.Errorf("the latest is %+v, %v", v, err)
	}
}

func lists(t TB, p Place) {
	s := open(t, p)
	defer closed(t, s)
	for _, name := range []string{"b", "a/c", "a", "c"} {
		put(t, s, page(home+name, "old"))
		put(t, s, page(home+name, "new"))
	}
	for prefix, want := range map[string][]string{"": {"a", "a/c", "b", "c"}, "a": {"a", "a/c"}, "d": nil} {
		var got []string
		for v, err := range s.List(t.Context(), home+prefix) {
			if err != nil || v.Number != 2 {
				t.Errorf("listed %+v, %v", v, err)
			}
			got = append(got, v.URL[len(home):])
		}
		if !slices.Equal(got, want) {
			t.Errorf("list of %q is %q, want %q", prefix, got, want)
		}
	}
}

func follows(t TB, p Place) {
	s := open(t, p)
	for i := range 20 {
		put(t, s, page(fmt.Sprint(home, i%7), fmt.Sprint(i)))
	}
	collect(t, s, objects.CollectOptions{Verdict: remove(func(v objects.Version) bool { return v.Seq%4 == 0 })})
	if err := s.SetCursor("me", 7, true); err != nil {
		t.Errorf("set cursor: %v", err)
	}
	closed(t, s)
	s = open(t, p)
	defer closed(t, s)
	if seq, err := s.Cursor("me"); err != nil || seq != 7 || s.Last() != 19 {
		t.Errorf("cursor is %d, last is %d, %v", seq, s.Last(), err)
	}
	for after := uint64(0); after < s.Last(); {
		next, err := s.Next(t.Context(), after, 3)
		if err != nil || len(next) == 0 || len(next) > 3 {
			t.Fatalf("after %d: %d versions, %v", after, len(next), err)
		}
		for _, v := range next {
			if want := after + 1 + skip(after); v.Seq != want {
				t.Errorf("after %d comes %d, want %d", after, v.Seq, want)
			}
			wantBody(t, s, v, fmt.Sprint(v.Seq-1))
			after = v.Seq
		}
	}
	waiting, cancel := context.WithCancel(t.Context())
	cancel()
	if next, err := s.Next(waiting, s.Last(), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("behind the last: %v, %v", next, err)
	}
}

// skip is 1 when every fourth version was removed and the next one is such.
func skip(after uint64) uint64 {
	if (after+1)%4 == 0 {
		return 1
	}
	return 0
}

func survives(t TB, p Place) {
	kept := map[objects.Version]string{}
	for life := range 3 {
		s := open(t, p)
		for v, body := range kept {
			wantBody(t, s, v, body)
		}
		var mu sync.Mutex
		var wait sync.WaitGroup
		for i := range 40 {
			body := fmt.Sprint(life, i)
			ready := make(chan objects.Version, 1)
			wait.Add(1)
			v, err := s.Put(page(fmt.Sprint(home, i%5), body), func(err error) {
				defer wait.Done()
				v := <-ready
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					v.Changed = false
					kept[v] = body
				}
			})
			if err != nil {
				t.Fatalf("put: %v", err)
			}
			ready <- v
			if i == 20 {
				wait.Wait()
			}
		}
		mu.Lock() // nothing is acknowledged while the power goes
		acknowledged := maps.Clone(kept)
		err := p.Crash()
		mu.Unlock()
		if err != nil {
			t.Fatalf("crash: %v", err)
		}
		wait.Wait()
		closed(t, s)
		kept = acknowledged
	}
}

func numbers(t TB, p Place) {
	s := open(t, p)
	for i := range 4 {
		put(t, s, page(home, fmt.Sprint(i)))
	}
	collect(t, s, objects.CollectOptions{Verdict: remove(func(v objects.Version) bool { return v.Number != 2 })})
	if v, err := s.Latest(home); err != nil || v.Number != 2 {
		t.Errorf("latest is %+v, %v", v, err)
	}
	closed(t, s)
	s = open(t, p)
	if v := put(t, s, page(home, "new")); v.Number != 5 || v.Seq != 5 {
		t.Errorf("after the latest was removed: %+v", v)
	}
	collect(t, s, objects.CollectOptions{Verdict: remove(func(objects.Version) bool { return true })})
	closed(t, s)
	s = open(t, p)
	defer closed(t, s)
	if v := put(t, s, page(home, "newer")); v.Number != 6 || v.Seq != 6 {
		t.Errorf("after all were removed: %+v", v)
	}
}

func collects(t TB, p Place) {
	s := open(t, p)
	defer closed(t, s)
	named := map[string]objects.Version{}
	for _, name := range []string{"pinned", "waited", "stored again", "gone"} {
		named[name] = put(t, s, page(home+name[:4], name))
	}
	unpin, err := s.Pin(named["pinned"])
	if err != nil {
		t.Fatalf("pin: %v", err)
	}
	c := collect(t, s, objects.CollectOptions{
		Verdict: remove(func(objects.Version) bool { return true }),
		Confirm: func(_ context.Context, all []objects.Version) ([]bool, error) {
			still := make([]bool, len(all))
			for i, v := range all {
				wantGone(t, s, v)
				still[i] = v.URL != named["waited"].URL
			}
			put(t, s, page(named["stored again"].URL, "stored again"))
			return still, nil
		},
	})
	if c.Versions != 1 || c.Kept != 3 {
		t.Errorf("collected %+v", c)
	}
	for _, name := range []string{"pinned", "waited", "stored again"} {
		wantBody(t, s, named[name], name)
	}
	wantGone(t, s, named["gone"])
	unpin()
	all := objects.CollectOptions{Verdict: remove(func(objects.Version) bool { return true }), Grace: 100 * 365 * 24 * time.Hour}
	if c := collect(t, s, all); c.Versions != 0 {
		t.Errorf("what was stored lately went: %+v", c)
	}
	all.Grace = 0
	if c := collect(t, s, all); c.Versions != 3 {
		t.Errorf("collected %+v", c)
	}
}

func shares(t TB, p Place) {
	s := open(t, p)
	defer closed(t, s)
	var all []objects.Version
	for i := range 4 {
		all = append(all, put(t, s, page(fmt.Sprint(home, i), "shared")))
	}
	for i := range all {
		collect(t, s, objects.CollectOptions{MinAlive: 0.99, Verdict: remove(func(v objects.Version) bool { return v.URL == all[i].URL })})
		wantGone(t, s, all[i])
		for _, v := range all[i+1:] {
			wantBody(t, s, v, "shared")
		}
	}
}

func races(t TB, p Place) {
	s := open(t, p)
	defer closed(t, s)
	var writers sync.WaitGroup
	var mu sync.Mutex
	digests := map[int]webrace.Digest{}
	for w := range 4 {
		writers.Go(func() {
			for i := range 40 {
				done := make(chan error, 1)
				v, err := s.Put(page(home, fmt.Sprint(w, i)), func(err error) { done <- err })
				if err == nil {
					err = <-done
				}
				if err != nil {
					t.Errorf("put: %v", err)
					return
				}
				mu.Lock()
				if known, ok := digests[v.Number]; ok && known != v.Digest {
					t.Errorf("number %d is given out twice", v.Number)
				}
				digests[v.Number] = v.Digest
				mu.Unlock()
			}
		})
	}
	writers.Wait()
	all, err := s.Versions(home)
	if err != nil || len(all) != len(digests) {
		t.Errorf("%d versions, and %d were given out: %v", len(all), len(digests), err)
	}
	for i, v := range all {
		if v.Number != i+1 || v.Digest != digests[v.Number] || v.Seq != uint64(i+1) {
			t.Errorf("version %d is %+v", i+1, v)
		}
	}
}
