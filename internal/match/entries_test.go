package match

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/webrace/webrace"
)

// thing is an entry of a list: by what it is known, and its fields.
type thing struct {
	webrace.Entry
	fields []string
}

// listOf returns a text of blocks that are of no entry, and of entries. Each field has a place in front that is not
// compared, and each entry a block that stands aside.
func listOf(around []string, things []thing) *webrace.Text {
	t := textOf(around...)
	write := func(place, content string, entry int, aside bool) {
		start := len(t.Bytes)
		t.Bytes = append(append(append(t.Bytes, place...), content...), '\n')
		t.Blocks = append(t.Blocks, webrace.Block{
			Start: int32(start), End: int32(len(t.Bytes) - 1), Entry: int32(entry), Skip: uint16(len(place)), Aside: aside,
		})
	}
	for i, thing := range things {
		t.Entries = append(t.Entries, thing.Entry)
		for _, field := range thing.fields {
			write(fmt.Sprintf("[%d].", i), field, i+1, false)
		}
		write("", fmt.Sprint("seen ", rand.Int64()), i+1, true)
	}
	write("", fmt.Sprint("built ", rand.Int64()), 0, true)
	return t
}

// TestOracleEntries changes lists at random, and holds that new are just the entries that none of the last
// versions had, without those that were not there since: versions are remembered as they are, without a hash.
func TestOracleEntries(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 28))
		versions := 1 + r.IntN(MostBaselineVersions)
		var known [][]string // of each version what its entries, and the blocks beside them, are known by
		var baseline Baseline
		var things []thing
		for round := range 20 {
			things = changeAtRandom(r, things)
			text := listOf([]string{"a list", fmt.Sprint(r.IntN(4))}, things)
			found := baseline.Compare(text)
			added := found.Added(versions)
			now, links := contentsOf(text)
			for i, content := range now {
				since := func(by string) int { // so many versions; as many as are remembered for ever
					n := 0
					for n < MostBaselineVersions && (n >= len(known) || by == "" || !slices.Contains(known[len(known)-1-n], by)) {
						n++
					}
					return n
				}
				age := min(since(content), since(links[i]))
				if entry := text.Blocks[i].Entry; entry > 0 && since(alone(text.Entries[entry-1])) == age && age < MostBaselineVersions {
					age = 0
				}
				want := content != "" && age >= versions
				if added[i] != want {
					t.Fatalf("seed %d, round %d, of %d versions: block %d of %q is new: %v", seed, round, versions, i, text.Bytes, added[i])
				}
			}
			all := slices.Concat(now, links)
			for _, e := range text.Entries {
				all = append(all, alone(e))
			}
			if n := len(known); n == 0 || !sameSet(known[n-1], all) {
				known = append(known, all)
			}
			baseline = found.Next
		}
	}
}

// alone is what an entry of a feed is known by, whatever is in it; nothing of others.
func alone(e webrace.Entry) string {
	if e.Link == 0 {
		return ""
	}
	return fmt.Sprint("feed ", e.Link)
}

// changeAtRandom inserts, removes, moves and edits entries.
func changeAtRandom(r *rand.Rand, things []thing) []thing {
	things = slices.Clone(things)
	for range r.IntN(4) {
		i := r.IntN(len(things) + 1)
		switch what := r.IntN(5); {
		case what == 0 || len(things) == 0:
			things = slices.Insert(things, i, thing{webrace.Entry{Name: uint64(1 + r.IntN(12)), Link: uint64(r.IntN(6) * 100)}, []string{"name: x", fmt.Sprintf("price: %d", r.IntN(3))}})
		case what == 1:
			things = slices.Delete(things, i%len(things), i%len(things)+1)
		case what == 2:
			r.Shuffle(len(things), func(i, j int) { things[i], things[j] = things[j], things[i] })
		case what == 3: // its name, or the order of its fields
			things[i%len(things)].Name = uint64(1 + r.IntN(12))
			fields := slices.Clone(things[i%len(things)].fields)
			slices.Reverse(fields)
			things[i%len(things)].fields = fields
		default:
			things[i%len(things)].fields = []string{"name: x", fmt.Sprintf("price: %d", r.IntN(3))}
		}
	}
	return things
}

// contentsOf returns for each block what it is compared by, nothing of one that makes nothing new; and of those of an
// entry what they are known by, too, unless another entry is.
func contentsOf(t *webrace.Text) (all, links []string) {
	fields := make([][]string, len(t.Entries))
	for _, b := range t.Blocks {
		if b.Entry > 0 && !b.Aside {
			fields[b.Entry-1] = append(fields[b.Entry-1], string(t.Bytes[b.Start+int32(b.Skip):b.End]))
		}
	}
	byLink := make(map[string]int) // entries
	link := func(i int) string {
		return fmt.Sprint("link ", t.Entries[i].Link, slices.Sorted(slices.Values(fields[i])))
	}
	for i := range t.Entries {
		byLink[link(i)]++
	}
	for _, b := range t.Blocks {
		links = append(links, "")
		if b.Entry > 0 && t.Entries[b.Entry-1].Link != 0 && byLink[link(int(b.Entry-1))] == 1 {
			links[len(links)-1] = link(int(b.Entry - 1))
		}
		switch {
		case b.Entry > 0:
			all = append(all, fmt.Sprint(t.Entries[b.Entry-1].Name, slices.Sorted(slices.Values(fields[b.Entry-1]))))
		case b.Aside:
			all = append(all, "")
		default:
			all = append(all, string(t.Bytes[b.Start:b.End]))
		}
	}
	return all, links
}

func sameSet(a, b []string) bool {
	within := func(a, b []string) bool {
		return !slices.ContainsFunc(a, func(s string) bool { return !slices.Contains(b, s) })
	}
	return within(a, b) && within(b, a)
}
