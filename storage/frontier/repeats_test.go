package frontier

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// What the repeats say is what was put last, and the newest entries are there, however they came and
// however long they are.
func TestRepeatsAreExact(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 3))
		most := 1 + rng.IntN(3000)
		s := newRepeats(most)
		type key struct {
			url   string
			crawl uint32
		}
		type value struct{ round, distance uint32 }
		oracle := map[key]value{}
		var order []key
		for range 10_000 {
			k := key{fmt.Sprintf("http://h/%d/%s", rng.IntN(4000), strings.Repeat("x", rng.IntN(60))), rng.Uint32N(2)}
			v := value{1 + rng.Uint32N(2), rng.Uint32N(4)}
			// Collisions of hashes must not matter: make many.
			hash := s.hash(k.url) % 512
			e := s.find(hash, k.crawl, k.url)
			old, known := oracle[k]
			if e != nil && (!known || old != value{e.round, e.distance}) {
				t.Fatalf("%v is remembered as %+v, want %v (known: %v)", k, *e, old, known)
			}
			if e == nil {
				order = append(order, k)
			}
			s.put(hash, k.url, k.crawl, v.round, v.distance)
			if e != nil && old.round == v.round && old.distance <= v.distance {
				v = old
			}
			oracle[k] = v
		}
		// The text has room for so many of the longest.
		keeps := min(most, most*repeatText/80-1, len(order))
		for _, k := range order[len(order)-max(keeps, 0):] {
			if s.find(s.hash(k.url)%512, k.crawl, k.url) == nil {
				t.Errorf("seed %d: %v, one of the last %d, is forgotten", seed, k, keeps)
			}
		}
		if n := s.next - s.first; n > uint64(most) {
			t.Errorf("%d entries are kept, want at most %d", n, most)
		}
	}
}

func TestAURLTooLongToBeRememberedIsAskedForOnDisk(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.start(crawlOf("c"), true)
	l := f.take()
	long := "http://h/" + strings.Repeat("x", longestRepeat)
	for i, want := range []int{1, 0, 0} {
		if got := f.links(l, long); got.Accepted != want {
			t.Errorf("offer %d: %+v, want %d accepted", i, got, want)
		}
	}
}
