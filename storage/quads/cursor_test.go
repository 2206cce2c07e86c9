package quads

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/internal/sparql"
)

// A cursor finds the same wherever it was before, and however much of that was read.
func TestACursorIsSoughtOverAndOver(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 4))
	s := open(t, vfs.NewMem())
	for range 40 {
		c := randomContext(rng)
		c.URL = fmt.Sprint("http://example.org/", rng.IntN(20)) // so that triples are in more contexts than are passed one by one
		durably(t, s, c, randomGraph(rng, 30))
	}
	snapshot, err := s.Snapshot()
	must(t, err)
	defer snapshot.Close()
	everything, err := snapshot.Cursor(sparql.Pattern{})
	must(t, err)
	every := drain(t, everything, everything.Next())
	must(t, everything.Close())
	for places := range 24 {
		// limited returns what a pattern of these bound places asks for: bit 3 is the graph, and bit 4 the union instead.
		limited := func(p sparql.Pattern) sparql.Pattern {
			for i, place := range []*sparql.ID{&p.Subject, &p.Predicate, &p.Object, &p.Graph} {
				if places&(1<<i) == 0 {
					*place = 0
				}
			}
			if places&16 != 0 {
				p.Graph = sparql.Union
			}
			return p
		}
		cursor, err := snapshot.Cursor(limited(every[0]))
		must(t, err)
		for range 300 {
			one, other := every[rng.IntN(len(every))], every[rng.IntN(len(every))]
			if rng.IntN(2) == 0 { // of the same subject, as it is asked for most
				other.Subject = one.Subject
			}
			for _, p := range []sparql.Pattern{limited(one), limited(other)} {
				if places&3 == 3 && rng.IntN(2) == 0 {
					p.Object = 0
				}
				fresh, err := snapshot.Cursor(p)
				must(t, err)
				want := drain(t, fresh, fresh.Next())
				must(t, fresh.Close())
				var got []sparql.Pattern
				most := []int{0, 1, 2, len(every)}[rng.IntN(4)]
				for ok := cursor.Seek(p); ok; ok = cursor.Next() {
					if got = append(got, cursor.Quad()); len(got) > most {
						break
					}
				}
				must(t, cursor.Err())
				if want = want[:min(len(want), most+1)]; !slices.Equal(got, want) {
					t.Fatalf("of %x it finds %x, want %x", p, got, want)
				}
			}
		}
		must(t, cursor.Close())
	}
}
