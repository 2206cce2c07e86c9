package frontier

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/fsck"
)

func urlIDs(seed uint64, n int) []urlID {
	rng := rand.New(rand.NewPCG(seed, 4))
	ids := make([]urlID, n)
	for i := range ids {
		binary.BigEndian.PutUint64(ids[i][:8], rng.Uint64())
		binary.BigEndian.PutUint64(ids[i][8:], rng.Uint64())
	}
	return ids
}

// Through all layers, and when they may not grow any more, whatever was added may have been accepted, and
// little else.
func TestTheFilterDropsNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	for _, c := range []struct {
		most     int
		urls     int
		mistakes float64
	}{
		{filterBytes, 500_000, 0.03},
		{1 << 18, 60_000, 0.03},
		{1 << 18, 300_000, 1}, // overfull
	} {
		f := &filter{most: c.most}
		f.complete()
		ids := urlIDs(1, c.urls)
		for i, id := range ids {
			f.add(id)
			if !f.maybe(ids[i/2]) || !f.maybe(id) {
				t.Fatalf("after %d URLs one of them is taken for new", i+1)
			}
		}
		again, err := decodeFilter(f.encode(stamp{1, 2}), stamp{1, 2}, c.most)
		if err != nil {
			t.Fatal(err)
		}
		bytes := 0
		for i := range f.layers {
			bytes += len(f.layers[i].blocks) * blockBits / 8
		}
		if bytes > c.most {
			t.Errorf("%d bytes are used, want at most %d", bytes, c.most)
		}
		for _, id := range ids {
			if !again.maybe(id) {
				t.Fatal("read again, it takes a URL for new")
			}
		}
		others, wrong := urlIDs(2, 100_000), 0
		for _, id := range others {
			if f.maybe(id) {
				wrong++
			}
		}
		if share := float64(wrong) / float64(len(others)); share > c.mistakes {
			t.Errorf("of %d URLs and %d bytes, it takes %.3f of the new ones for known, want at most %.3f", c.urls, c.most, share, c.mistakes)
		}
	}
}

func TestAFilterThatIsNotWholeSaysNothing(t *testing.T) {
	t.Parallel()
	f := &filter{most: filterBytes}
	f.add(urlIDs(1, 3)...)
	if !f.maybe(urlIDs(2, 1)[0]) {
		t.Error("a URL is taken for new")
	}
	if f.encode(stamp{}) != nil {
		t.Error("it is written down")
	}
}

func TestADamagedFilterIsNotBelieved(t *testing.T) {
	t.Parallel()
	f := &filter{most: filterBytes}
	f.add(urlIDs(1, 10)...)
	f.complete()
	good := f.encode(stamp{5, 6})
	if _, err := decodeFilter(good, stamp{5, 6}, filterBytes); err != nil {
		t.Fatal(err)
	}
	for _, other := range []stamp{{4, 6}, {6, 6}, {5, 7}, {}} {
		if _, err := decodeFilter(good, other, filterBytes); err == nil {
			t.Errorf("it is believed at %+v", other)
		}
	}
	rng := rand.New(rand.NewPCG(1, 5))
	for range 200 {
		torn := slices.Clone(good)
		if rng.IntN(2) == 0 {
			torn = torn[:rng.IntN(len(torn))]
		} else {
			torn[rng.IntN(len(torn))] ^= 1 << rng.IntN(8)
		}
		if _, err := decodeFilter(torn, stamp{5, 6}, filterBytes); err == nil {
			t.Fatal("a damaged one is believed")
		}
	}
}

// A file that passes for a filter, by its sum, is read without harm, and written as it was.
func FuzzFilter(f *testing.F) {
	one := &filter{most: filterBytes, whole: true, layers: []layer{newLayer(50)}}
	one.add(urlIDs(1, 10)...)
	good := one.encode(stamp{5, 6})
	f.Add(good[:len(good)-8])
	f.Add([]byte(filterHeader))
	f.Fuzz(func(t *testing.T, body []byte) {
		value := binary.LittleEndian.AppendUint64(slices.Clone(body), xxhash.Sum64(body))
		got, err := decodeFilter(value, stamp{5, 6}, filterBytes)
		if err != nil {
			return
		}
		if again := got.encode(stamp{5, 6}); !slices.Equal(again, value) {
			t.Errorf("%x is written again as %x", value, again)
		}
		got.maybe(urlID{1})
		got.add(urlID{1})
		if !got.maybe(urlID{1}) {
			t.Error("a URL that was added is taken for new")
		}
	})
}

func TestTheFilterGrowsByNoMoreThanALayerHolds(t *testing.T) {
	t.Parallel()
	f := &filter{most: filterBytes}
	for last, room := -1, uint64(leastRoom); last < 8; room = min(2*room, mostRoom) {
		if last = f.grow(last); f.layers[last].room != room {
			t.Errorf("layer %d has room for %d URLs, want %d", last, f.layers[last].room, room)
		}
	}
}

// madeFilter waits until the filter is whole.
func (f *fixture) madeFilter() { f.q.behind.Wait() }

func (f *fixture) filterFile() []byte {
	f.t.Helper()
	file, err := f.fs.Open(f.s.filterPath(f.q.keys))
	if err != nil {
		f.t.Fatal(err)
	}
	defer file.Close()
	value, err := io.ReadAll(file)
	if err != nil {
		f.t.Fatal(err)
	}
	return value
}

// The first URLs to hand out after a crash do not wait for the filter: it is made once there is an offer.
func TestTheFilterIsMadeForOffers(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.start(crawlOf("c"), true)
	links := webrace.Links{From: "http://c/", Reach: []webrace.Reach{{Crawl: "c"}}, URLs: pages("a", 300)}
	f.offer(links)
	f.crash()
	f.start(crawlOf("c"), false)
	f.take()
	f.madeFilter()
	if f.q.filter.whole {
		t.Error("the filter was made, and nothing was offered")
	}
	links.URLs = append(links.URLs, "http://c/new")
	if got := f.offer(links); got.Accepted != 1 {
		t.Errorf("%+v, want 1 accepted", got)
	}
	f.madeFilter()
	if !f.q.filter.whole {
		t.Error("the filter was not made, and there was an offer")
	}
}

// Whatever became of the filter's file, no URL is lost and none is accepted twice: neither while the filter
// is made anew, nor after.
func TestTheFiltersFileMayBeLostTornOrOld(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	var old []byte
	replace := func(value func(last []byte) []byte) func(f *fixture) {
		return func(f *fixture) {
			if err := f.s.writeFilter(f.q.keys, value(f.filterFile())); err != nil {
				f.t.Fatal(err)
			}
		}
	}
	for name, damage := range map[string]func(f *fixture){
		"none": func(*fixture) {},
		"lost": func(f *fixture) {
			if err := f.fs.Remove(f.s.filterPath(f.q.keys)); err != nil {
				f.t.Fatal(err)
			}
		},
		"torn":  replace(func(last []byte) []byte { return last[:len(last)/2] }),
		"empty": replace(func([]byte) []byte { return nil }),
		"old":   replace(func([]byte) []byte { return old }),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, QueueOptions{})
			f.start(crawlOf("c"), true)
			reach := []webrace.Reach{{Crawl: "c"}}
			first, second, third := pages("a", 300), pages("b", 300), pages("d", 300)
			offer := func(want int, lists ...[]string) {
				t.Helper()
				if got := f.offer(webrace.Links{From: "http://c/", Reach: reach, URLs: slices.Concat(lists...)}); got.Accepted != want {
					t.Errorf("%+v, want %d accepted", got, want)
				}
			}
			offer(len(first), first)
			f.close()
			old = f.filterFile()
			f.open()
			offer(len(second), first, second)
			f.close()
			damage(f)
			f.open()
			offer(0, first)
			if made := name != "none"; made {
				f.madeFilter()
			}
			offer(len(third), third, second, first)
			f.crash()
			offer(0, first, second, third)
			f.start(crawlOf("c"), false)
			urls := f.drain()
			slices.Sort(urls)
			want := slices.Concat([]string{"http://c/"}, first, second, third)
			slices.Sort(want)
			if !slices.Equal(urls, want) {
				t.Errorf("%d URLs are handed out, want %d", len(urls), len(want))
			}
		})
	}
}

// A filter from before a crash is of no use after it, and one of a queue that is closed twice is written
// once.
func TestAFilterIsReadOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.start(crawlOf("c"), true)
	f.reopen()
	if _, err := f.fs.Stat(f.s.filterPath(f.q.keys)); err == nil {
		t.Error("the filter's file is there while its queue is open")
	}
	if !f.q.filter.whole {
		t.Error("the filter was not read")
	}
	path := f.s.filterPath(f.q.keys)
	if err := f.q.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.fs.Stat(path); err != nil {
		t.Errorf("the filter's file is not there while its queue is closed: %v", err)
	}
	if err := f.s.Check(context.Background(), true, func(d fsck.Finding) { t.Errorf("%+v", d) }); err != nil {
		t.Error(err)
	}
	if _, err := f.fs.Stat(path); err == nil {
		t.Error("the filter's file is there after a repair")
	}
	if err := errors.Join(f.q.Close(), f.q.Close()); err != nil {
		t.Error(err)
	}
}

// Random mixes of new links and repeats, many under way at once, through crashes and clean ends: what is
// accepted is what is new by a map.
func TestOffersAgreeWithAMap(t *testing.T) {
	t.Parallel()
	seeds := uint64(12)
	if testing.Short() {
		seeds = 1 // which takes the race detector half a minute
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 6))
			f := newFixture(t, QueueOptions{Repeats: 1 + rng.IntN(500)})
			f.start(crawlOf("c"), true)
			known := map[string]bool{"http://c/": true}
			for range 12 {
				f.offerMix(rng, known)
				switch rng.IntN(4) {
				case 0:
					f.fs = f.loseSome(rng)
					f.open()
				case 1:
					f.reopen()
				case 2:
					f.madeFilter()
				}
			}
			f.start(crawlOf("c"), false)
			urls := f.drain()
			for _, u := range urls {
				if !known[u] {
					t.Errorf("%s is handed out twice, or was never offered", u)
				}
				delete(known, u)
			}
			if len(known) > 0 {
				t.Errorf("%d URLs are lost", len(known))
			}
		})
	}
}

// offerMix offers many sets at once, and checks how many URLs were accepted.
func (f *fixture) offerMix(rng *rand.Rand, known map[string]bool) {
	f.t.Helper()
	want, got, size := 0, 0, 1+rng.IntN(5000)
	var mu sync.Mutex
	var under sync.WaitGroup
	for range 1 + rng.IntN(30) {
		links := &webrace.Links{From: "http://c/", Reach: []webrace.Reach{{Crawl: "c"}}}
		for range 1 + rng.IntN(100) {
			u := fmt.Sprintf("http://h%d/%d", rng.IntN(5), rng.IntN(size))
			if slices.Contains(links.URLs, u) {
				continue
			}
			links.URLs = append(links.URLs, u)
			if !known[u] {
				known[u] = true
				want++
			}
		}
		under.Add(1)
		f.q.Offer(links, func(o Offered, err error) {
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				f.t.Error(err)
			}
			got += o.Accepted
			under.Done()
		})
	}
	under.Wait()
	if got != want {
		f.t.Errorf("%d URLs were accepted, want %d", got, want)
	}
}

// loseSome ends the store by a power loss, and returns what is left.
func (f *fixture) loseSome(rng *rand.Rand) *vfs.MemFS {
	after := f.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng})
	f.close()
	return after
}
