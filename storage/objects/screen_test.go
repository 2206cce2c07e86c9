package objects

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/storage/fsck"
)

// findings are those of one kind of check, or the error that ended it.
func findings(t *testing.T, s *Store, deep, slowly bool) (all []string) {
	t.Helper()
	c := s.newCheck(t.Context(), false, deep, func(f fsck.Finding) { all = append(all, f.String()) })
	c.slowly = slowly
	if err := c.run(); err != nil {
		all = append(all, err.Error())
	}
	return all
}

// asSlowly wants a check to find what it finds when it looks at every version one by one.
func asSlowly(t *testing.T, s *Store) (found int) {
	t.Helper()
	for _, deep := range []bool{false, true} {
		got, want := findings(t, s, deep, false), findings(t, s, deep, true)
		if !slices.Equal(got, want) {
			t.Errorf("deep %v: found\n%q\none by one\n%q", deep, got, want)
		}
		found += len(want)
	}
	return found
}

// Whatever byte of segments is damaged, and however often, a check finds what looking at each version finds.
func TestACheckFindsWhatIsFoundOneByOne(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	eachCompression(t, func(t *testing.T, c Compression) {
		fsys := vfs.NewMem()
		s := open(t, fsys, Options{SegmentSize: 20_000, Compression: c})
		defer s.Close()
		for i := range 30 {
			put(t, s, page(fmt.Sprint(home, i), fmt.Sprint("body ", i%25)))
			often := page(home+"often", fmt.Sprint("version ", i))
			if i%2 == 0 {
				withShot(often, pictureOf("often", 200))
			}
			put(t, s, often)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		found, times := 0, 40
		if testing.Short() {
			times = 8
		}
		for range times {
			found += damagedAndBack(t, s, rng)
		}
		if left := findings(t, s, true, false); found < times || len(left) > 0 {
			t.Errorf("%d times damaged, %d findings; put back, %q", times, found, left)
		}
	})
}

// damagedAndBack flips some bytes of a segment, compares what checks find, and puts the bytes back.
func damagedAndBack(t *testing.T, s *Store, rng *rand.Rand) int {
	number := 1 + rng.Uint32N(s.segments.number)
	file, err := s.options.FS.OpenReadWrite(s.segments.path(number), writeCategory)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	before := make([]byte, s.segments.known(number).size)
	if _, err := file.ReadAt(before, 0); err != nil {
		t.Fatal(err)
	}
	now := slices.Clone(before)
	for range 1 + rng.IntN(3) {
		now[rng.IntN(len(now))] ^= 1 << rng.IntN(8)
	}
	if _, err := file.WriteAt(now, 0); err != nil {
		t.Fatal(err)
	}
	found := asSlowly(t, s)
	if _, err := file.WriteAt(before, 0); err != nil {
		t.Fatal(err)
	}
	return found
}

// BenchmarkCheck checks a store of WEBRACE_CHECKED documents of some 2 KB, both ways.
func BenchmarkCheck(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("WEBRACE_CHECKED"))
	if err != nil {
		n = 2_000
	}
	s, err := Open(b.TempDir(), Options{Logger: quiet()})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		d := typicalPage(rng, i)
		d.Body, d.Links = d.Body[:5000], d.Links[:20]
		if _, err := s.Put(d, nil); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.AwaitDurable(b.Context()); err != nil {
		b.Fatal(err)
	}
	for _, slowly := range []bool{false, true} {
		b.Run(fmt.Sprint("slowly=", slowly), func(b *testing.B) {
			for b.Loop() {
				c := s.newCheck(b.Context(), false, false, func(f fsck.Finding) { b.Error(f) })
				c.slowly = slowly
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/document")
		})
	}
}
