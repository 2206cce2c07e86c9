package objects

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/storage/fsck"
)

// sound checks everything at rest: what is counted against what is there.
func sound(t testing.TB, s *Store) {
	t.Helper()
	if err := s.CheckDeep(context.Background(), false, func(f fsck.Finding) { t.Errorf("%v", f) }); err != nil {
		t.Fatal(err)
	}
}

// only gives a verdict on versions of some URLs, and keeps the others.
func only(verdict Verdict, chosen func(Version) bool) func(context.Context, []Version) ([]Verdict, error) {
	return func(_ context.Context, versions []Version) ([]Verdict, error) {
		verdicts := make([]Verdict, len(versions))
		for i, v := range versions {
			if chosen(v) {
				verdicts[i] = verdict
			}
		}
		return verdicts, nil
	}
}

func all(Version) bool { return true }

func collect(t testing.TB, s *Store, o CollectOptions) Collected {
	t.Helper()
	c, err := s.Collect(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func number(url string, n int) func(Version) bool {
	return func(v Version) bool { return v.URL == url && v.Number == n }
}

func TestCollectRemovesAllThatBelongsToAVersion(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, fs, Options{})
	var stored []Version
	for _, body := range []string{"one", "two", "three"} {
		stored = append(stored, put(t, s, page(home, body)))
	}
	put(t, s, page(home+"other", "other"))
	c := collect(t, s, CollectOptions{Verdict: only(Remove, number(home, 2))})
	if c.Versions != 1 || c.Bodies != 1 || c.Kept != 0 || c.Bytes == 0 || uint64(c.Bytes) != s.Stats().DeadBytes {
		t.Errorf("collected %+v, stats are %+v", c, s.Stats())
	}
	sound(t, s)
	_, err1 := s.Get(home, 2)
	_, _, err2 := s.Body(stored[1])
	_, err3 := s.Links(stored[1])
	_, err4 := s.Meta(stored[1])
	_, err5 := s.Pin(stored[1])
	for i, err := range []error{err1, err2, err3, err4, err5} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%d: %v", i+1, err)
		}
	}
	if next, err := s.Next(t.Context(), 1, 10); err != nil || len(next) != 2 || next[0].Number != 3 {
		t.Errorf("the log has %+v, %v", next, err)
	}
	wantBody(t, s, stored[0], "one")
	wantBody(t, s, mustLatest(t, s, home), "three")

	collect(t, s, CollectOptions{Verdict: only(Remove, number(home, 3))})
	if v := mustLatest(t, s, home); v.Number != 1 {
		t.Errorf("the latest version is %+v", v)
	}
	sound(t, s)
	collect(t, s, CollectOptions{Verdict: only(Remove, number(home, 1))})
	if _, err := s.Latest(home); !errors.Is(err, ErrNotFound) {
		t.Errorf("latest: %v", err)
	}
	if st := s.Stats(); st.URLs != 1 || st.Versions != 1 || st.Payloads != 1 {
		t.Errorf("stats are %+v", st)
	}
	sound(t, s)
	s.Close()

	s = open(t, fs, Options{})
	defer s.Close()
	if v := put(t, s, page(home, "three")); v.Number != 4 || v.Seq != 5 || !v.Changed {
		t.Errorf("stored again: %+v", v)
	}
	if v := put(t, s, page(home, "one")); v.Number != 5 {
		t.Errorf("and again: %+v", v)
	}
	sound(t, s)
}

func TestNumbersGoOnAlsoWhenAnOlderVersionIsTheLatest(t *testing.T) {
	s := opened(t, Options{})
	for _, body := range []string{"one", "two", "three"} {
		put(t, s, page(home, body))
	}
	collect(t, s, CollectOptions{Verdict: only(Remove, func(v Version) bool { return v.Number > 1 })})
	if v := put(t, s, page(home, "one")); v.Number != 1 || v.Changed {
		t.Errorf("an equal body: %+v", v)
	}
	if v := put(t, s, page(home, "two")); v.Number != 4 {
		t.Errorf("a new body: %+v", v)
	}
	if v := put(t, s, page(home, "three")); v.Number != 5 {
		t.Errorf("another new body: %+v", v)
	}
	sound(t, s)
}

func TestABodyStaysAsLongAsAVersionHasIt(t *testing.T) {
	s := opened(t, Options{SegmentSize: 1500})
	put(t, s, page(home, "shared"))
	second := put(t, s, page(home+"mirror", "shared"))
	for i := range 5 {
		put(t, s, page(fmt.Sprint(home, "filler", i), fmt.Sprint("body ", i)))
	}
	c := collect(t, s, CollectOptions{Verdict: only(Remove, number(home, 1)), MinAlive: 0.99})
	if c.Versions != 1 || c.Bodies != 0 || c.Segments == 0 {
		t.Errorf("collected %+v", c)
	}
	wantBody(t, s, second, "shared")
	sound(t, s)
	third := put(t, s, page(home+"third", "shared"))
	c = collect(t, s, CollectOptions{Verdict: only(Remove, number(second.URL, 1))})
	if c.Versions != 1 || c.Bodies != 0 {
		t.Errorf("collected %+v", c)
	}
	wantBody(t, s, third, "shared")
	c = collect(t, s, CollectOptions{Verdict: only(Remove, number(third.URL, 1))})
	if c.Versions != 1 || c.Bodies != 1 {
		t.Errorf("collected %+v", c)
	}
	sound(t, s)
}

func TestWhatIsPinnedYoungOrWaitedForStays(t *testing.T) {
	now := noon.Add(48 * time.Hour)
	s := opened(t, Options{Now: func() time.Time { return now }})
	pinned := put(t, s, page(home+"pinned", "pinned"))
	unpin, err := s.Pin(pinned)
	if err != nil {
		t.Fatal(err)
	}
	waited := put(t, s, page(home+"waited", "waited"))
	put(t, s, page(home+"young", "young"))
	touch(t, s, home+"young", now.Add(-time.Minute))
	put(t, s, page(home+"old", "old"))
	options := CollectOptions{
		Verdict: only(Remove, all),
		Grace:   time.Hour,
		Confirm: func(_ context.Context, versions []Version) ([]bool, error) {
			still := make([]bool, len(versions))
			for i, v := range versions {
				if _, err := s.Latest(v.URL); !errors.Is(err, ErrNotFound) {
					t.Errorf("%s is about to go, and can be read: %v", v.URL, err)
				}
				if _, err := s.Pin(v); !errors.Is(err, ErrNotFound) {
					t.Errorf("%s is about to go, and can be pinned: %v", v.URL, err)
				}
				still[i] = v.URL != waited.URL
			}
			return still, nil
		},
	}
	var gone []Version
	options.Removed = func(v []Version) { gone = append(gone, v...) }
	if c := collect(t, s, options); c.Versions != 1 || c.Kept != 2 || len(gone) != 1 || gone[0].URL != home+"old" {
		t.Errorf("collected %+v, gone are %+v", c, gone)
	}
	for _, name := range []string{"pinned", "waited", "young"} {
		wantBody(t, s, mustLatest(t, s, home+name), name)
	}
	unpin()
	unpin()
	options.Grace = 0
	if c := collect(t, s, options); c.Versions != 2 {
		t.Errorf("without a pin: %+v", c)
	}
	sound(t, s)
}

// What Confirm is asked about is validated or stored again meanwhile: then it stays.
func TestWhatIsStoredAgainWhileItGoesStays(t *testing.T) {
	s := opened(t, Options{})
	put(t, s, page(home+"same", "same"))
	put(t, s, page(home+"touched", "touched"))
	put(t, s, page(home+"body", "body"))
	c := collect(t, s, CollectOptions{Verdict: only(Remove, all), Confirm: func(_ context.Context, v []Version) ([]bool, error) {
		if v := put(t, s, page(home+"same", "same")); v.Number != 1 || v.Changed {
			t.Errorf("stored again: %+v", v)
		}
		touch(t, s, home+"touched", noon)
		put(t, s, page(home+"other", "body"))
		return []bool{true, true, true}, nil
	}})
	if c.Versions != 1 || c.Bodies != 0 || c.Kept != 2 {
		t.Errorf("collected %+v", c)
	}
	for url, body := range map[string]string{"same": "same", "touched": "touched", "other": "body"} {
		wantBody(t, s, mustLatest(t, s, home+url), body)
	}
	sound(t, s)
}

func TestTheLongestNotValidatedGoFirstUntilTheStoreIsSmallEnough(t *testing.T) {
	s := opened(t, Options{SegmentSize: 20_000})
	const n = 400
	rng := rand.New(rand.NewPCG(1, 1))
	for _, i := range rng.Perm(n) {
		d := page(fmt.Sprintf("%s%03d", home, i), randomText(rng, 1000))
		d.At = noon.Add(time.Duration(i) * time.Minute)
		put(t, s, d)
	}
	st := s.Stats()
	limit := int64(st.SegmentBytes) / 2
	c := collect(t, s, CollectOptions{Verdict: only(May, all), MaxBytes: limit})
	after := s.Stats()
	live := int64(after.SegmentBytes - after.DeadBytes)
	if live > limit || live < limit-10_000 {
		t.Errorf("%d bytes are in use, %d may be", live, limit)
	}
	if int64(after.SegmentBytes) > limit*8/7+40_000 || c.Segments == 0 || c.Freed != int64(st.SegmentBytes)-int64(after.SegmentBytes) {
		t.Errorf("files have %d bytes, of which %d are dead: %+v", after.SegmentBytes, after.DeadBytes, c)
	}
	for i := range n {
		_, err := s.Latest(fmt.Sprintf("%s%03d", home, i))
		if gone := errors.Is(err, ErrNotFound); gone != (i < c.Versions) {
			t.Errorf("%d of %d removed, and document %d: %v", c.Versions, n, i, err)
		}
	}
	sound(t, s)
	if c := collect(t, s, CollectOptions{Verdict: only(May, all), MaxBytes: limit}); c.Versions != 0 || c.Segments != 0 {
		t.Errorf("a store that is small enough: %+v", c)
	}
}

func randomText(rng *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "%x", rng.Uint64())
	}
	return b.String()
}

func TestRewritingGivesTheSpaceBack(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Options{SegmentSize: 50_000, Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rng := rand.New(rand.NewPCG(1, 1))
	bodies := map[string]string{}
	for i := range 300 {
		url := fmt.Sprint(home, i)
		bodies[url] = randomText(rng, 2000)
		put(t, s, page(url, bodies[url]))
	}
	before := s.Stats()
	keep := func(v Version) bool { return strings.HasSuffix(v.URL, "7") }
	c := collect(t, s, CollectOptions{Verdict: only(Remove, func(v Version) bool { return !keep(v) })})
	after := s.Stats()
	if c.Versions != 270 || after.SegmentBytes > before.SegmentBytes/5 || // a tenth is alive, and files take twice that at most
		after.SegmentBytes != uint64(filesSize(t, dir)) {
		t.Errorf("collected %+v; %d bytes became %d, and the files have %d", c, before.SegmentBytes, after.SegmentBytes, filesSize(t, dir))
	}
	sound(t, s)
	for url, body := range bodies {
		if keep(Version{URL: url}) {
			wantBody(t, s, mustLatest(t, s, url), body)
		}
	}
	readStrictly(t, dir)
}

func TestCollectEndsWithItsContextAndItsCallbacks(t *testing.T) {
	s := opened(t, Options{})
	put(t, s, page(home, "x"))
	broken := errors.New("broken")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, o := range map[string]CollectOptions{
		"verdict":  {Verdict: func(context.Context, []Version) ([]Verdict, error) { return nil, broken }},
		"few":      {Verdict: func(context.Context, []Version) ([]Verdict, error) { return nil, nil }},
		"confirm":  {Verdict: only(Remove, all), Confirm: func(context.Context, []Version) ([]bool, error) { return nil, broken }},
		"unsure":   {Verdict: only(Remove, all), Confirm: func(context.Context, []Version) ([]bool, error) { return nil, nil }},
		"canceled": {Verdict: only(Remove, all)},
	} {
		with := t.Context()
		if name == "canceled" {
			with = ctx
		}
		if c, err := s.Collect(with, o); err == nil || c.Versions != 0 {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
		wantBody(t, s, mustLatest(t, s, home), "x")
	}
	sound(t, s)
}

// A power cut at each sync of a collection loses nothing that stays, and leaves nothing that is gone by
// half, and no file of no index.
func TestPowerLossWhileCollecting(t *testing.T) {
	for at := range 40 {
		fs := vfs.NewCrashableMem()
		rng := rand.New(rand.NewPCG(uint64(at), 1))
		var crashed *vfs.MemFS
		var armed bool
		syncs := 0
		s := open(t, syncHook{fs, func() {
			if !armed || crashed != nil {
				return
			}
			if syncs++; syncs > at {
				crashed = fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: []int{0, 50, 100}[at%3], RNG: rng})
			}
		}}, Options{SegmentSize: 6000})
		bodies := map[string]string{}
		for i := range 40 {
			url := fmt.Sprintf("%s%02d", home, i)
			bodies[url] = randomText(rng, 500)
			if i%4 == 1 {
				bodies[url] = bodies[fmt.Sprintf("%s%02d", home, i-1)]
			}
			put(t, s, page(url, bodies[url]))
		}
		keep := func(v Version) bool { return v.URL[len(v.URL)-1] == '1' || v.URL[len(v.URL)-1] == '7' }
		armed = true
		collect(t, s, CollectOptions{Verdict: only(Remove, func(v Version) bool { return !keep(v) })})
		armed = false
		s.Close()
		if crashed == nil {
			if at < 5 {
				t.Errorf("a collection has only %d syncs", syncs)
			}
			return
		}
		s = open(t, crashed, Options{})
		sound(t, s)
		for url, body := range bodies {
			if _, err := s.Latest(url); keep(Version{URL: url}) || err == nil {
				wantBody(t, s, mustLatest(t, s, url), body)
			}
		}
		collect(t, s, CollectOptions{Verdict: only(Remove, func(v Version) bool { return !keep(v) })})
		sound(t, s)
		if st := s.Stats(); st.Versions != 8 {
			t.Errorf("after a cut at sync %d: %+v", at, st)
		}
		s.Close()
	}
}

// syncHook calls a function before every sync of a file or directory, and every removal.
type syncHook struct {
	vfs.FS
	hook func()
}

func (h syncHook) wrap(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return syncedFile{f, h.hook}, nil
}

func (h syncHook) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return h.wrap(h.FS.Create(name, c))
}
func (h syncHook) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return h.wrap(h.FS.OpenReadWrite(name, c, o...))
}
func (h syncHook) OpenDir(name string) (vfs.File, error) { return h.wrap(h.FS.OpenDir(name)) }
func (h syncHook) Remove(name string) error {
	h.hook()
	return h.FS.Remove(name)
}

type syncedFile struct {
	vfs.File
	hook func()
}

func (f syncedFile) Sync() error     { f.hook(); return f.File.Sync() }
func (f syncedFile) SyncData() error { f.hook(); return f.File.SyncData() }

// Garbage collection under load, against a model of owners. An owner waits for a version from before it
// lets go of its pin until it has taken it; what is waited for must be readable at every moment.
func TestCollectionUnderLoadNeverRemovesWhatAnOwnerWaitsFor(t *testing.T) {
	s := opened(t, Options{SegmentSize: 30_000})
	var mu sync.Mutex
	waiting := map[versionKey]int{}
	is := func(v versionKey) bool {
		mu.Lock()
		defer mu.Unlock()
		return waiting[v] > 0
	}
	add := func(v versionKey, n int) {
		mu.Lock()
		defer mu.Unlock()
		if waiting[v] += n; waiting[v] == 0 {
			delete(waiting, v)
		}
	}
	const writers, steps = 4, 400
	var used sync.Map // digest of each version ever seen
	stop := make(chan struct{})
	var working, collecting sync.WaitGroup
	for w := range writers {
		working.Go(func() { ownerLoop(t, s, rand.New(rand.NewPCG(uint64(w), 7)), steps, &used, add) })
	}
	var total Collected
	collecting.Go(func() {
		for {
			c, err := s.Collect(context.Background(), CollectOptions{
				Verdict: func(_ context.Context, versions []Version) ([]Verdict, error) {
					verdicts := make([]Verdict, len(versions))
					for i := range versions {
						verdicts[i] = []Verdict{Remove, Remove, May}[i%3]
					}
					return verdicts, nil
				},
				Confirm: func(_ context.Context, versions []Version) ([]bool, error) {
					still := make([]bool, len(versions))
					for i, v := range versions {
						still[i] = !is(v.key())
					}
					return still, nil
				},
				MaxBytes: 5000,
			})
			if err != nil {
				t.Error(err)
				return
			}
			total.Versions += c.Versions
			total.Segments += c.Segments
			total.Kept += c.Kept
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	working.Wait()
	close(stop)
	collecting.Wait()
	if total.Versions == 0 || total.Segments == 0 || total.Kept == 0 {
		t.Errorf("nothing was tried: %+v", total)
	}
	sound(t, s)
}

// ownerLoop stores and validates documents, comes to wait for some of them, and takes them after a while.
func ownerLoop(t *testing.T, s *Store, rng *rand.Rand, steps int, used *sync.Map, add func(versionKey, int)) {
	type wish struct {
		version Version
		body    string
	}
	var wishes []wish
	for range steps {
		url := fmt.Sprint(home, rng.IntN(12))
		body := randomText(rand.New(rand.NewPCG(rng.Uint64N(30), 3)), 300)
		durable := make(chan error, 1)
		v, err := s.Put(page(url, body), func(err error) { durable <- err })
		if err != nil {
			t.Error(err)
			return
		}
		if digest, known := used.LoadOrStore(v.key(), v.Digest); known && digest != v.Digest {
			t.Errorf("number %d of %s is used twice", v.Number, url)
		}
		unpin, err := s.Pin(v)
		if err := <-durable; err != nil {
			t.Error(err)
		}
		if err == nil && rng.IntN(3) == 0 {
			add(v.key(), 1) // as an annotation is stored before the lease ends
			wishes = append(wishes, wish{v, body})
		} else if err != nil && !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
		if err == nil {
			unpin()
		}
		if rng.IntN(4) == 0 {
			if _, err := s.Touch(url, noon.Add(time.Duration(rng.IntN(1e9))), nil); err != nil && !errors.Is(err, ErrNotFound) {
				t.Error(err)
			}
		}
		for i := range wishes {
			if got, _, err := s.Body(wishes[i].version); err != nil && !errors.Is(err, ErrNotFound) || err == nil && string(got) != wishes[i].body {
				t.Errorf("version %d of %s is waited for: %v", wishes[i].version.Number, wishes[i].version.URL, err)
			}
		}
		if len(wishes) > 6 {
			first := wishes[0]
			wantKept(t, s, first.version)
			add(first.version.key(), -1)
			wishes = wishes[1:]
		}
	}
	for _, w := range wishes {
		wantKept(t, s, w.version)
		add(w.version.key(), -1)
	}
}

// wantKept demands that the index has a version, whether it is about to go or not.
func wantKept(t *testing.T, s *Store, v Version) {
	t.Helper()
	e, ok, err := s.find(v.URL, v.Number)
	if err != nil || !ok || e.Digest != v.Digest {
		t.Errorf("version %d of %s is waited for, and gone: %v", v.Number, v.URL, err)
	}
}

// A follower must not pass over a version that is about to go and then stays.
func TestAFollowerWaitsForWhatIsBeingDecided(t *testing.T) {
	s := opened(t, Options{})
	v := put(t, s, page(home, "x"))
	next := make(chan []Version, 1)
	c := collect(t, s, CollectOptions{Verdict: only(Remove, all), Confirm: func(context.Context, []Version) ([]bool, error) {
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if gone, err := s.Gone(canceled, v); gone || !errors.Is(err, context.Canceled) {
			t.Errorf("gone is %v, %v", gone, err)
		}
		go func() {
			got, err := s.Next(t.Context(), 0, 10)
			if err != nil {
				t.Error(err)
			}
			next <- got
		}()
		return []bool{false}, nil
	}})
	if got := <-next; len(got) != 1 || got[0] != mustLatest(t, s, home) || c.Kept != 1 {
		t.Errorf("the follower got %+v; %+v", got, c)
	}
	if gone, err := s.Gone(t.Context(), v); gone || err != nil {
		t.Errorf("kept, and gone is %v, %v", gone, err)
	}
	collect(t, s, CollectOptions{Verdict: only(Remove, all)})
	if gone, err := s.Gone(t.Context(), v); !gone || err != nil {
		t.Errorf("removed, and gone is %v, %v", gone, err)
	}
	if s.Last() != 0 {
		t.Errorf("the last version of an empty store is %d", s.Last())
	}
}
