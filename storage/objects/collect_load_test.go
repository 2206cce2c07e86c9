package objects

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/internal/testutil"
)

// A power cut at each sync of a collection loses nothing that stays, and leaves nothing that is gone by
// half, and no file of no index.
func TestPowerLossWhileCollecting(t *testing.T) {
	for at := range testutil.Seeds(40) {
		fs := vfs.NewCrashableMem()
		rng := rand.New(rand.NewPCG(uint64(at), 1))
		var crashed *vfs.MemFS
		var armed bool
		syncs := 0
		s := open(t, syncHook{fs, func() {
			if !armed || crashed != nil {
				return
			}
			if syncs++; syncs > int(at) {
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

// A follower, and who goes back, must not pass over a version that is about to go and then stays.
func TestAFollowerWaitsForWhatIsBeingDecided(t *testing.T) {
	s := opened(t, Options{})
	v := put(t, s, page(home, "x"))
	next, previous := make(chan []Version, 1), make(chan []Version, 1)
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
		go func() {
			got, err := s.Previous(t.Context(), 2, 10)
			if err != nil {
				t.Error(err)
			}
			previous <- got
		}()
		return []bool{false}, nil
	}})
	if got := <-next; len(got) != 1 || got[0] != mustLatest(t, s, home) || c.Kept != 1 {
		t.Errorf("the follower got %+v; %+v", got, c)
	}
	if got := <-previous; len(got) != 1 || got[0] != mustLatest(t, s, home) {
		t.Errorf("who goes back got %+v", got)
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
