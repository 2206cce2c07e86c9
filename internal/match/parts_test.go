package match

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
)

// offer is a part of a page: its link, and its blocks, of which the first is its title.
type offer struct {
	link   uint64
	blocks []string
}

// offersOf returns a page of blocks and offers.
func offersOf(around []string, offers []offer) *webrace.Text {
	t := textOf(around...)
	for _, o := range offers {
		t.Entries = append(t.Entries, webrace.Entry{Link: o.link})
		for _, block := range o.blocks {
			t.Blocks = append(t.Blocks, webrace.Block{Start: int32(len(t.Bytes)), End: int32(len(t.Bytes) + len(block)), Entry: int32(len(t.Entries))})
			t.Bytes = append(append(t.Bytes, block...), '\n')
		}
	}
	return t
}

// TestOracleParts changes offers at random, and holds which of their blocks are new against the rules, in plain code
// over the versions themselves.
func TestOracleParts(t *testing.T) {
	t.Parallel()
	compared := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 29))
		versions := 1 + r.IntN(MostBaselineVersions)
		var known [][]string // what each version is remembered by
		var baseline Baseline
		var offers []offer
		for round := range 20 {
			offers = changeOffers(r, offers)
			around := []string{"offers", fmt.Sprint("x ", r.IntN(3))}
			text := offersOf(around, offers)
			next, added := baseline.Remember(versions, text)
			want, same := newInOffers(known, versions, around, offers)
			if !slices.Equal(added, want) {
				t.Fatalf("seed %d, round %d, of %d versions: of %q %v are new, not %v", seed, round, versions, text.Bytes, added, want)
			}
			compared += len(added)
			if !same {
				known = append(known, rememberedOf(around, offers))
				known = known[max(0, len(known)-versions):]
			}
			baseline = next
		}
	}
	t.Logf("%d blocks compared", compared)
}

// changeOffers inserts, removes, moves and edits offers, or gives them other links.
func changeOffers(r *rand.Rand, offers []offer) []offer {
	offers = slices.Clone(offers)
	price := func() string { return fmt.Sprint(r.IntN(3), " euro") }
	for range r.IntN(4) {
		i := r.IntN(len(offers) + 1)
		switch what := r.IntN(6); {
		case what == 0 || len(offers) == 0:
			offers = slices.Insert(offers, i, offer{1 + r.Uint64N(9), []string{fmt.Sprint("boat ", r.IntN(4)), price()}})
		case what == 1:
			offers = slices.Delete(offers, i%len(offers), i%len(offers)+1)
		case what == 2:
			r.Shuffle(len(offers), func(i, j int) { offers[i], offers[j] = offers[j], offers[i] })
		case what == 3:
			offers[i%len(offers)].link = 1 + r.Uint64N(9)
		case what == 4:
			offers[i%len(offers)].blocks = []string{offers[i%len(offers)].blocks[0], price()}
		default:
			offers[i%len(offers)].blocks = []string{fmt.Sprint("boat ", r.IntN(4)), price(), "new"}[:1+r.IntN(3)]
		}
	}
	return offers
}

func withLink(o offer, block string) string { return fmt.Sprint(o.link, " ", block) }

// timesOf is a content with how often it is there.
func timesOf(content []string, n int) string { return fmt.Sprint(n, " times ", content) }

func alikeAmong(offers []offer, o offer) (n int) {
	for _, other := range offers {
		if slices.Equal(o.blocks, other.blocks) {
			n++
		}
	}
	return n
}

func rememberedOf(around []string, offers []offer) (all []string) {
	all = slices.Clone(around)
	for _, o := range offers {
		for _, block := range o.blocks {
			all = append(all, block, withLink(o, block))
		}
		for n := 2; n <= alikeAmong(offers, o); n++ {
			all = append(all, timesOf(o.blocks, n))
		}
	}
	return all
}

// newInOffers returns which blocks are new, and whether the page is as it was.
func newInOffers(known [][]string, versions int, around []string, offers []offer) (added []bool, same bool) {
	since := func(what string) int { // so many versions, or as many as are remembered
		for n := range len(known) {
			if slices.Contains(known[len(known)-1-n], what) {
				return n
			}
		}
		return MostBaselineVersions
	}
	isSame := func(o offer) bool { return since(withLink(o, o.blocks[0])) == 0 }
	same = true
	take := func(age int) {
		added = append(added, age >= versions)
		same = same && age == 0
	}
	now := slices.Clone(around)
	for _, block := range around {
		take(since(block))
	}
	for _, o := range offers {
		more := alikeAmong(offers, o) > 1 && since(timesOf(o.blocks, alikeAmong(offers, o))) == MostBaselineVersions &&
			slices.ContainsFunc(offers, func(other offer) bool { return slices.Equal(o.blocks, other.blocks) && isSame(other) })
		for _, block := range o.blocks {
			switch now = append(now, block); {
			case isSame(o):
				take(since(withLink(o, block)))
			case more:
				take(MostBaselineVersions)
			default:
				take(since(block))
			}
		}
	}
	if len(known) > 0 {
		for _, block := range known[len(known)-1] {
			if strings.HasPrefix(block, "boat") || strings.HasPrefix(block, "x") || block == "new" || strings.HasSuffix(block, " euro") && strings.Count(block, " ") == 1 {
				same = same && slices.Contains(now, block)
			}
		}
	}
	return added, same && len(known) > 0
}
