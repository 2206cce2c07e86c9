package quads

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/testutil"
)

// The power is lost at any moment under load, a hundred times in all, and nothing, a part or all of what was not synced
// is there: what was promised is, each context holds one of the versions from there on, whole, and the store is sound.
func TestPowerLossLosesNothingPromised(t *testing.T) {
	t.Parallel()
	const losses = 5
	for seed := range testutil.Seeds(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 4))
			disk, h := vfs.NewCrashableMem(), newHistory()
			for range losses {
				s := open(t, disk)
				h.holds(t, s)
				disk = h.live(t, s, disk, rng)
				must(t, s.Close())
			}
			h.holds(t, open(t, disk))
		})
	}
}

// history is what was asked of a store, and what it promised.
type history struct {
	mu       sync.Mutex
	version  int
	asked    map[string]map[int]*webrace.Graph // by URL and version; nil was removed
	promised map[string]int
}

func newHistory() *history {
	return &history{asked: map[string]map[int]*webrace.Graph{}, promised: map[string]int{}}
}

func (h *history) ask(url string, g *webrace.Graph) (version int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.version++
	if h.asked[url] == nil {
		h.asked[url] = map[int]*webrace.Graph{}
	}
	h.asked[url][h.version] = g
	return h.version
}

func (h *history) promise(url string, version int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.promised[url] = max(h.promised[url], version)
}

// live has several writers at work, and returns the disk as a loss of power leaves it somewhere in between. What is
// promised after that does not count.
func (h *history) live(t *testing.T, s *Store, disk *vfs.MemFS, rng *rand.Rand) (after *vfs.MemFS) {
	const writers, writes = 3, 12
	enough, done := rng.IntN(writers*writes), 0
	reached := make(chan struct{})
	var mu sync.Mutex
	settled := func() {
		mu.Lock()
		defer mu.Unlock()
		if done++; done == enough+1 {
			close(reached)
		}
	}
	stopped := false // under h.mu
	var writing sync.WaitGroup
	for w := range writers {
		rng := rand.New(rand.NewPCG(rng.Uint64(), 5))
		writing.Go(func() {
			for range writes {
				url := fmt.Sprint("http://example.org/", w, "/", rng.IntN(3))
				g := randomGraph(rng, 10)
				g.Whole = true
				version := h.ask(url, g)
				_, err := s.Replace(Context{URL: url, Version: version, At: someTime}, g, func(err error) {
					h.mu.Lock()
					over := stopped
					h.mu.Unlock()
					if err == nil && !over {
						h.promise(url, version)
					}
					settled()
				})
				if err != nil {
					t.Error(err)
					settled()
				}
			}
		})
	}
	<-reached
	h.mu.Lock()
	after = disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: []int{0, 40, 100}[rng.IntN(3)], RNG: rng})
	stopped = true
	h.mu.Unlock()
	writing.Wait()
	return after
}

// holds compares a store with its history, which then ends with what the store has.
func (h *history) holds(t *testing.T, s *Store) {
	t.Helper()
	sound(t, s)
	snapshot, err := s.Snapshot()
	must(t, err)
	defer snapshot.Close()
	for url, versions := range h.asked {
		r, found, err := snapshot.Context(url)
		must(t, err)
		if r.Version < h.promised[url] {
			t.Fatalf("%s says version %d, and %d was promised", url, r.Version, h.promised[url])
		}
		if !found {
			continue
		}
		want := map[webrace.Triple]bool{}
		for _, triple := range versions[r.Version].Triples {
			want[triple] = true
		}
		n := 0
		for q, err := range snapshot.Quads(t.Context(), rdf.NewIRI(url)) {
			must(t, err)
			if n++; !want[q.Triple] {
				t.Fatalf("%s says %v, which version %d does not", url, q.Triple, r.Version)
			}
		}
		if n != len(want) {
			t.Fatalf("%s says %d triples of version %d, which has %d", url, n, r.Version, len(want))
		}
		h.promised[url] = r.Version
	}
}
