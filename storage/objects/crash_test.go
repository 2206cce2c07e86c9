package objects

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/webrace/webrace/internal/testutil"
)

// promise is a version that was acknowledged, and so must outlive a power cut.
type promise struct {
	version Version
	body    string
}

// TestPowerLossLosesNothingAcknowledged cuts the power at arbitrary moments of a busy store, keeping none,
// some or all of what was not synced, and demands every acknowledged version back, with its body, and
// a store that goes on.
func TestPowerLossLosesNothingAcknowledged(t *testing.T) {
	for seed := range testutil.Seeds(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 1))
			fs := vfs.NewCrashableMem()
			numbers := map[string]int{} // highest acknowledged version of each URL
			var kept []promise
			for life := range 4 {
				s := open(t, fs, Options{SegmentSize: 20_000, Compression: []Compression{Gzip, Zstd}[(int(seed)+life)%2]})
				checkPromises(t, s, kept, numbers)
				crashed, more := liveUntilPowerCut(t, s, fs, rng, life)
				kept = append(kept, more...)
				for _, p := range more {
					numbers[p.version.URL] = max(numbers[p.version.URL], p.version.Number)
				}
				s.Close()
				fs = crashed
			}
			s := open(t, fs, Options{})
			defer s.Close()
			checkPromises(t, s, kept, numbers)
		})
	}
}

// liveUntilPowerCut writes from several goroutines and clones the disk, as a power cut would leave it,
// somewhere in the middle. It returns what had been acknowledged before.
func liveUntilPowerCut(t *testing.T, s *Store, fs *vfs.MemFS, rng *rand.Rand, life int) (*vfs.MemFS, []promise) {
	var mu sync.Mutex
	var kept []promise
	const writers, writes = 4, 60
	cutAt := rng.IntN(writers * writes)
	reached := make(chan struct{})
	acknowledged := 0
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := range writes {
				body := fmt.Sprintf("life %d writer %d step %d %s", life, w, i/2*2, strings.Repeat("x", i*40))
				if i%5 == 0 {
					body = fmt.Sprintf("shared %d %d", life, i)
				}
				url := fmt.Sprintf("%s%d/%d", home, w, i%7)
				var v Version
				ready := make(chan struct{})
				acknowledge := func(err error) {
					<-ready
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						kept = append(kept, promise{v, body})
					}
					if acknowledged++; acknowledged == cutAt {
						close(reached)
					}
				}
				waits := i%11 == 0 // for what is durable, instead of being told
				done := acknowledge
				if waits {
					done = nil
				}
				d := page(url, body)
				if i%3 == 0 {
					withShot(d, pictureOf(body, 200))
				}
				v, err := s.Put(d, done)
				close(ready)
				if err != nil {
					t.Error(err)
					return
				}
				if waits {
					acknowledge(s.AwaitDurable(t.Context()))
				}
			}
		})
	}
	if cutAt > 0 {
		<-reached
	}
	mu.Lock()
	before := append([]promise(nil), kept...)
	mu.Unlock()
	crashed := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: []int{0, 30, 100}[rng.IntN(3)], RNG: rng})
	writing.Wait()
	return crashed, before
}

func checkPromises(t *testing.T, s *Store, kept []promise, numbers map[string]int) {
	t.Helper()
	for _, p := range kept {
		v, err := s.Get(p.version.URL, p.version.Number)
		if err != nil {
			t.Fatal(err)
		}
		if v.Digest != p.version.Digest || v.Seq != p.version.Seq || v.Screenshot != p.version.Screenshot {
			t.Fatalf("kept %+v, promised %+v", v, p.version)
		}
		wantBody(t, s, v, p.body)
		if v.Screenshot {
			wantScreenshot(t, s, v, pictureOf(p.body, 200))
		}
		if _, err := s.Links(v); err != nil {
			t.Fatal(err)
		}
		if m, err := s.Meta(v); err != nil || m.URL != v.URL {
			t.Fatalf("%+v, %v", m, err)
		}
	}
	seq := uint64(0)
	for seq < s.Last() {
		versions, err := s.Next(context.Background(), seq, 17)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range versions {
			if seq++; v.Seq != seq {
				t.Fatalf("the log has %d where %d should be", v.Seq, seq)
			}
			if body, _, err := s.Body(v); err != nil || int64(len(body)) != v.Size {
				t.Fatalf("logged version has no body: %v", err)
			}
		}
	}
	for url, n := range numbers {
		all, err := s.Versions(url)
		if err != nil || len(all) < n || all[len(all)-1].Number != len(all) {
			t.Fatalf("%s has %d versions, and %d were promised: %v", url, len(all), n, err)
		}
	}
}

func TestTornTailIsCutOffAndTheRunGoesOn(t *testing.T) {
	eachCompression(t, tornTailIsCutOff)
}

func tornTailIsCutOff(t *testing.T, c Compression) {
	for name, fs := range map[string]vfs.FS{"memory": vfs.NewMem(), "disk": vfs.Default} {
		t.Run(name, func(t *testing.T) {
			dir := "/store"
			if name == "disk" {
				dir = t.TempDir()
			}
			for life := range 4 {
				s, err := Open(dir, Options{FS: fs, Logger: quiet(), Compression: c})
				if err != nil {
					t.Fatal(err)
				}
				for i := range life {
					wantBody(t, s, mustLatest(t, s, fmt.Sprint(home, i)), fmt.Sprint("body ", i))
				}
				put(t, s, page(fmt.Sprint(home, life), fmt.Sprint("body ", life)))
				state, path := s.segments.state, s.segments.path(s.segments.number)
				if s.segments.number != 1 {
					t.Errorf("life %d went on in segment %d", life, s.segments.number)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				appendGarbage(t, fs, path, state.size)
				abandoned, err := fs.Create(fs.PathJoin(dir, segmentName(2, c)), writeCategory)
				if err != nil {
					t.Fatal(err)
				}
				abandoned.Close()
			}
			if name == "disk" {
				s, err := Open(dir, Options{FS: fs, Logger: quiet()})
				if err != nil {
					t.Fatal(err)
				}
				s.Close()
				if got := len(readStrictly(t, dir)); c == Gzip && got != 1+2*4 {
					t.Errorf("%d records, want a warcinfo and two for each of four documents", got)
				}
			}
		})
	}
}

func appendGarbage(t *testing.T, fs vfs.FS, path string, at int64) {
	t.Helper()
	file, err := fs.OpenReadWrite(path, writeCategory)
	if err == nil {
		_, err = file.WriteAt(append(compressionOfName(path).magic(), " half a record"...), at)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func compressionOfName(path string) Compression {
	_, c, _ := segmentNumber(filepath.Base(path))
	return c
}

// A damaged segment costs what was in the damaged part, and an error reports it; the rest stays readable,
// and new documents go elsewhere.
func TestDamageIsReportedAndContained(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, fs, Options{})
	for i := range 3 {
		put(t, s, page(fmt.Sprint(home, i), fmt.Sprint("body ", i)))
	}
	e, err := s.entry(home+"1", 1)
	if err != nil {
		t.Fatal(err)
	}
	path := s.segments.path(1)
	s.Close()
	file, err := fs.OpenReadWrite(path, writeCategory)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteAt([]byte("damage"), e.record.offset+e.record.length/2); err != nil {
		t.Fatal(err)
	}
	file.Close()
	if err := truncate(fs, path, e.record.offset+e.record.length+10); err != nil {
		t.Fatal(err)
	}

	s = open(t, fs, Options{})
	defer s.Close()
	wantBody(t, s, mustLatest(t, s, home+"0"), "body 0")
	for _, i := range []int{1, 2} {
		if _, _, err := s.Body(mustLatest(t, s, fmt.Sprint(home, i))); !errors.Is(err, ErrCorrupt) {
			t.Errorf("a damaged body: %v", err)
		}
	}
	if _, err := s.Meta(mustLatest(t, s, home+"1")); !errors.Is(err, ErrCorrupt) {
		t.Errorf("damaged meta-info: %v", err)
	}
	wantBody(t, s, put(t, s, page(home+"new", "new")), "new")
	if s.segments.number != 2 {
		t.Errorf("a damaged segment is written to again")
	}
}

// After a failed sync it is not known what is on the disk: what waits fails, nothing more is accepted, and
// opening the store again finds everything that was acknowledged, and what else is whole.
func TestAFailedWriteFailsTheStoreAndReopeningRecovers(t *testing.T) {
	mem := vfs.NewMem()
	failing := errorfs.Toggle{Injector: errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileSyncData && strings.Contains(op.Path, "seg-") {
			return errorfs.ErrInjected
		}
		return nil
	})}
	s := open(t, errorfs.Wrap(mem, &failing), Options{})
	v := put(t, s, page(home, "one"))
	failing.On()
	failed := make(chan error, 1)
	if _, err := s.Put(page(home, "two"), func(err error) { failed <- err }); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; !errors.Is(err, errorfs.ErrInjected) {
		t.Errorf("a write that could not be synced: %v", err)
	}
	failing.Off()
	if _, err := s.Put(page(home, "three"), nil); !errors.Is(err, errorfs.ErrInjected) {
		t.Errorf("a write after one failed: %v", err)
	}
	wantBody(t, s, v, "one")
	s.Close()

	s = open(t, mem, Options{})
	defer s.Close()
	v2, err := s.Get(home, 2) // it was written, if not synced, and is whole
	if err != nil {
		t.Fatal(err)
	}
	wantBody(t, s, v2, "two")
	if v := put(t, s, page(home, "three")); v.Number != 3 || v.Seq != 3 {
		t.Errorf("after reopening: %+v", v)
	}
	wantBody(t, s, mustLatest(t, s, home), "three")
}
