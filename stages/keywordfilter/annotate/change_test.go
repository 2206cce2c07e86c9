package annotate

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/xmlschema"
)

// What grew is said without the text before as it is with it: of random versions of a page, whose blocks come, go, come
// back, move, repeat, look the same in another form, stand aside, are of entries in some pages, and sometimes cut.
func TestGrowthSaysWhatBothTextsSay(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var urds []*xmlschema.URD
	for _, change := range []string{xmlschema.ChangeAdded, xmlschema.ChangePage} {
		for _, keywords := range []int{0, 1} {
			u := xmlschema.NewURD("eleni", "http://a.example/")
			u.Change, u.Keywords = change, xmlschema.NewKeywords(make([]xmlschema.Keyword, keywords)...)
			urds = append(urds, u)
		}
	}
	grew := 0
	for page := range 300 {
		var known match.Baseline
		var old *webrace.Text
		var blocks []webrace.Block
		for range 10 {
			now := nextText(r, &blocks, page%4 == 0)
			compared := known.Compare(now)
			for _, u := range urds {
				if !compared.Grew {
					break
				}
				grew++
				added, size := compared.Added(1+r.IntN(8)), 20+r.IntN(200)
				got, want := Growth(u, now, compared.Added(1), added, size), ChangeOf(u, old, now, added, size)
				if got != want {
					t.Fatalf("%q after %q: %+v, want %+v", now.Bytes, old.Bytes, got, want)
				}
			}
			if match.IsState(now) {
				known, old = compared.Next, now
			}
		}
	}
	if grew < 1000 {
		t.Errorf("%d comparisons prove too little", grew)
	}
}

// nextText returns a text of the blocks of the one before, some of which have gone or moved, and of others.
func nextText(r *rand.Rand, blocks *[]webrace.Block, areEntries bool) *webrace.Text {
	forms := []string{"a café", "a cafe\u0301", " a  café\n", "the ferry", "the fer\u00adry", "\u200b", " ", "sun and sea", "sun", "9:00 sun", "\xff", "東京"}
	var next []webrace.Block
	for _, b := range *blocks {
		if r.IntN(12) > 0 {
			next = append(next, b)
		}
	}
	for range r.IntN(3) {
		at := r.IntN(len(next) + 1)
		b := webrace.Block{Start: int32(r.IntN(len(forms))), Aside: r.IntN(9) == 0, Skip: uint16(5 * (r.IntN(9) / 8))}
		next = append(next[:at:at], append([]webrace.Block{b}, next[at:]...)...)
	}
	if r.IntN(4) == 0 {
		r.Shuffle(len(next), func(i, j int) { next[i], next[j] = next[j], next[i] })
	}
	*blocks = next
	text := &webrace.Text{Cut: r.IntN(20) == 0}
	for _, b := range next {
		form := forms[b.Start]
		if areEntries && len(text.Blocks)%2 == 0 {
			text.Entries = append(text.Entries, webrace.Entry{Name: uint64(1 + b.Start)})
		}
		b.Entry = int32(len(text.Entries))
		if r.IntN(9) == 0 {
			form = strings.ReplaceAll(form, " ", "\t ")
		}
		b.Start = int32(len(text.Bytes))
		text.Bytes = append(text.Bytes, form...)
		b.End = int32(len(text.Bytes))
		text.Blocks = append(text.Blocks, b)
	}
	return text
}
