package match

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
)

func lines(all ...string) *webrace.Text {
	t := &webrace.Text{}
	for _, line := range all {
		start := len(t.Bytes)
		t.Bytes = append(t.Bytes, line...)
		t.Blocks = append(t.Blocks, webrace.Block{Start: int32(start), End: int32(len(t.Bytes))})
	}
	return t
}

// list is a site whose list goes over pages of so many items, between a heading and what leads on.
type list struct {
	items []string
	size  int
}

func (l list) page(n int) []string {
	from, to := min(n*l.size, len(l.items)), min((n+1)*l.size, len(l.items))
	page := append([]string{"Jobs of today"}, l.items[from:to]...)
	if to < len(l.items) {
		page = append(page, "next")
	}
	return page
}

// TestOracleOfMoves lets items come to a list and go from it, and crawls its pages in their order. Of what came to a
// page, it is known which is new: what the list had not before. None of that may be silenced; and of the rest, all that
// moved by less than a page, unless the page has nothing left of what it had.
func TestOracleOfMoves(t *testing.T) {
	silenced := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 7))
		before := list{size: 2 + r.IntN(4)}
		number := 0
		published := func() string { number++; return fmt.Sprintf("Engineer %d", number) }
		for range before.size + 2 + r.IntN(15) {
			before.items = append(before.items, published())
		}
		now := list{slices.Clone(before.items), before.size}
		moved := 0
		if r.IntN(2) == 0 {
			moved = 1 + r.IntN(before.size)
			for range moved {
				now.items = slices.Insert(now.items, 0, published())
			}
		} else {
			moved = -(1 + r.IntN(before.size-1))
			now.items = now.items[-moved:]
		}
		edited := r.IntN(3) == 0 // one comes to say what another said until now
		if edited && len(now.items) > 0 {
			at := r.IntN(len(now.items))
			now.items[at] = published()
		}
		for n := range len(now.items)/now.size + 1 {
			was, is := before.page(n), now.page(n)
			if len(is) == 1 || n*before.size >= len(before.items) {
				continue
			}
			var from []Elsewhere
			if n > 0 {
				from = append(from, Elsewhere{Near: true, Shown: []*Units{UnitsOf(lines(before.page(n - 1)...))}, Now: func() *Units { return UnitsOf(lines(now.page(n - 1)...)) }})
			}
			behind := UnitsOf(lines(before.page(n + 1)...))
			from = append(from, Elsewhere{Near: true, Next: true, Shown: []*Units{behind}, Now: func() *Units { return behind }})
			added := make([]bool, len(is))
			for i, line := range is {
				added[i] = !slices.Contains(was, line)
			}
			moves := FindMoves(lines(is...), &Before{added, func() *webrace.Text { return lines(was...) }}, from, func(b []byte) bool { return string(b) == "next" })
			stays := slices.ContainsFunc(is, func(line string) bool { return slices.Contains(was, line) && strings.HasPrefix(line, "Engineer") })
			for i, line := range is {
				_, came := moves.From(i)
				known := slices.Contains(before.items, line)
				switch {
				case came && !known:
					t.Fatalf("seed %d: %q on page %d of %q, before %q, is silenced", seed, line, n, now.items, before.items)
				case came:
					silenced++
				case added[i] && known && stays && !edited && line != "next":
					t.Fatalf("seed %d: %q on page %d of %q, before %q, is told again", seed, line, n, now.items, before.items)
				}
			}
		}
	}
	if silenced < 1000 {
		t.Errorf("%d that moved prove too little", silenced)
	}
	t.Logf("%d that moved, 0 differences", silenced)
}

func TestWhatIsSaidElsewhereHasNotMoved(t *testing.T) {
	units := func(all ...string) *Units { return UnitsOf(lines(all...)) }
	for name, c := range map[string]struct {
		was, is   []string
		other     []string // as it was shown
		otherNow  []string
		near      bool
		next      bool
		wantMoved string
	}{
		"it stands there still":                 {[]string{"The market opens"}, []string{"The market opens", "The ferry leaves at nine"}, []string{"The ferry leaves at nine"}, []string{"The ferry leaves at nine"}, false, false, ""},
		"it went there and came here":           {[]string{"The market opens"}, []string{"The market opens", "The ferry leaves at nine"}, []string{"The ferry leaves at nine"}, []string{"Closed"}, false, false, "The ferry leaves at nine"},
		"it took another's place":               {[]string{"The market opens", "Sold out for ever and ever"}, []string{"The market opens", "In stock at once for you"}, []string{"In stock at once for you"}, []string{"Closed"}, false, false, ""},
		"few words went":                        {[]string{"Oar"}, []string{"Oar", "Last copy"}, []string{"Last copy"}, []string{"Closed"}, false, false, ""},
		"few words went from the page before":   {[]string{"Oar"}, []string{"Last copy", "Oar"}, []string{"Last copy"}, []string{"Closed"}, true, false, "Last copy"},
		"a price changes to that of the next":   {[]string{"12 €", "5 €"}, []string{"10 €", "5 €"}, []string{"10 €", "3 €"}, []string{"10 €", "3 €"}, true, true, ""},
		"it comes up":                           {[]string{"Oar", "Sail"}, []string{"Sail", "Rope"}, []string{"Rope", "Mast"}, []string{"Rope", "Mast"}, true, true, "Rope"},
		"it comes up where the last went":       {[]string{"Oar", "Sail"}, []string{"Oar", "Rope"}, []string{"Rope", "Mast"}, []string{"Rope", "Mast"}, true, true, "Rope"},
		"it is not the first of the next page":  {[]string{"Oar", "Sail"}, []string{"Oar", "Mast"}, []string{"Rope", "Mast"}, []string{"Rope", "Mast"}, true, true, ""},
		"it comes in front of all that is left": {[]string{"Oar", "Sail"}, []string{"Rope", "Oar", "Sail"}, []string{"Rope", "Mast"}, []string{"Rope", "Mast"}, true, true, ""},
	} {
		added := make([]bool, len(c.is))
		for i, line := range c.is {
			added[i] = !slices.Contains(c.was, line)
		}
		e := Elsewhere{Near: c.near, Next: c.next, Shown: []*Units{units(c.other...)}, Now: func() *Units { return units(c.otherNow...) }}
		moves := FindMoves(lines(c.is...), &Before{added, func() *webrace.Text { return lines(c.was...) }}, []Elsewhere{e}, func([]byte) bool { return false })
		moved := ""
		for i, line := range c.is {
			if _, is := moves.From(i); is {
				moved += line
			}
		}
		if moved != c.wantMoved {
			t.Errorf("%s: %q moved, want %q", name, moved, c.wantMoved)
		}
	}
}
