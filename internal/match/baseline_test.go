package match

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/webrace/webrace"
)

func TestABlockIsNewOnceEveryVersionRememberedLacksIt(t *testing.T) {
	t.Parallel()
	for _, versions := range []int{1, 2, BaselineVersions, MostBaselineVersions} {
		for absent := range MostBaselineVersions + 3 {
			mustForget(t, versions, absent)
		}
	}
}

func mustForget(t *testing.T, versions, absent int) {
	t.Helper()
	update := func(b Baseline, blocks ...string) (Baseline, []bool) {
		if versions == BaselineVersions {
			return b.Update(textOf(blocks...))
		}
		return b.Remember(versions, textOf(blocks...))
	}
	base, added := update(nil, "stays", "comes back")
	if !slices.Equal(added, []bool{true, true}) {
		t.Fatalf("on the first visit %v is new", added)
	}
	for i := range absent {
		base, added = update(base, "stays", fmt.Sprint("version ", i))
		if !slices.Equal(added, []bool{false, true}) {
			t.Fatalf("in version %d %v is new", i, added)
		}
	}
	_, added = update(base, "comes back", "stays")
	if want := []bool{absent >= versions, false}; !slices.Equal(added, want) {
		t.Errorf("of %d versions, absent from %d: %v is new, want %v", versions, absent, added, want)
	}
}

func TestABaselineOfMoreVersionsIsReadAsOneOfFewer(t *testing.T) {
	t.Parallel()
	base, _ := Baseline(nil).Remember(8, textOf("first"))
	for i := range 3 {
		base, _ = base.Remember(8, textOf(fmt.Sprint(i)))
	}
	for versions := 1; versions <= 8; versions++ {
		if _, added := base.Remember(versions, textOf("first")); added[0] != (versions <= 3) {
			t.Errorf("of %d versions, new: %v", versions, added)
		}
	}
}

func TestTheSameVersionTeachesNothing(t *testing.T) {
	t.Parallel()
	base, _ := Baseline(nil).Update(textOf("a", "b"))
	base, _ = base.Update(textOf("b", "c"))
	for range 10 { // "a" would be forgotten
		same, added := base.Update(textOf(" c ", "b", "", "b"))
		if slices.Contains(added, true) || !slices.Equal(base, same) {
			t.Fatalf("the same blocks: %v is new, the baseline %v becomes %v", added, base, same)
		}
		base = same
	}
	if _, added := base.Update(textOf("a")); added[0] {
		t.Error("the version before has been forgotten")
	}
}

func TestUpdateOfARequestThatDiedIsRepeatable(t *testing.T) {
	t.Parallel()
	base, _ := Baseline(nil).Update(textOf("a", "b"))
	before := slices.Clone(base)
	first, added := base.Update(textOf("b", "c"))
	again, addedAgain := base.Update(textOf("b", "c"))
	if !slices.Equal(base, before) || !slices.Equal(first, again) || !slices.Equal(added, addedAgain) {
		t.Errorf("%v and %v, then %v and %v", first, added, again, addedAgain)
	}
}

func TestAVersionWithoutTextIsNone(t *testing.T) {
	t.Parallel()
	base, _ := Baseline(nil).Update(textOf("a"))
	for i := range BaselineVersions {
		base, _ = base.Update(textOf(""))
		base, _ = base.Update(textOf(" ", "\n"))
		if i+2 < BaselineVersions {
			base, _ = base.Update(textOf(fmt.Sprint("b", i)))
		}
	}
	if _, added := base.Update(textOf("", "a")); !slices.Equal(added, []bool{false, false}) {
		t.Errorf("%v is new", added)
	}
	base, _ = base.Update(textOf("b"))
	base, _ = base.Update(textOf("c"))
	if _, added := base.Update(textOf("a")); !slices.Equal(added, []bool{true}) {
		t.Errorf("after five versions, %v is new", added)
	}
}

func TestBaselineIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	page := func(version, blocks int) *webrace.Text {
		var all []string
		for i := range blocks {
			all = append(all, fmt.Sprint(version, " ", i))
		}
		return textOf(all...)
	}
	var base Baseline
	for version := range 7 {
		text := page(version, 3*mostBlocks/2)
		base, _ = base.Update(text)
		if len(base) > mostRemembered {
			t.Fatalf("%d numbers, at most %d allowed", len(base), mostRemembered)
		}
		if same, added := base.Update(text); slices.Contains(added, true) || !slices.Equal(same, base) {
			t.Fatal("the version is not recognised")
		}
	}
	text := page(6, 3*mostBlocks/2)
	text.Bytes[len(text.Bytes)-1]++ // in the last block
	_, added := base.Update(text)
	if at := slices.Index(added, true); at != len(added)-1 {
		t.Errorf("after a change of the last block, those from %d on are new, want it alone", at)
	}
}

// FuzzBaseline holds that no baseline, however damaged, upsets an update; that a text is known right after
// it was seen; and that the result obeys its own layout.
func FuzzBaseline(f *testing.F) {
	f.Add([]byte("\x08\x00\x00\x00\x00\x00\x00\x00"), "a\nb\n\nc", "b\nd")
	f.Add([]byte(strings.Repeat("\xff", 16)), "", " \n")
	f.Fuzz(func(t *testing.T, raw []byte, first, second string) {
		var old Baseline
		for ; len(raw) >= 8; raw = raw[8:] {
			old = append(old, binary.LittleEndian.Uint64(raw))
		}
		for _, page := range []string{first, second, first} {
			text := textOf(strings.Split(page, "\n")...)
			next, added := old.Update(text)
			if len(added) != len(text.Blocks) || len(next) > max(len(old), mostRemembered) {
				t.Fatalf("%d blocks, %d flags, %d numbers", len(text.Blocks), len(added), len(next))
			}
			if len(next.last(BaselineVersions)) != len(next) && !slices.Equal(next, old) {
				t.Fatalf("%v is not in order", next)
			}
			if same, added := next.Update(text); slices.Contains(added, true) || !slices.Equal(same, next) {
				t.Fatalf("right after it was seen, %v of %q is new", added, page)
			}
			old = next
		}
	})
}

func BenchmarkBaseline(b *testing.B) {
	var blocks []string
	for i := range 700 {
		blocks = append(blocks, fmt.Sprint("This is paragraph ", i, " of a page that is long enough to be like others are."))
	}
	text := textOf(blocks...)
	base, _ := Baseline(nil).Update(text)
	changed := textOf(append(blocks, "and one more")...)
	b.ReportAllocs()
	for b.Loop() {
		base.Update(changed)
	}
}

// TestBlankedEightAtATime holds appendBlanked against a plain reading of what it promises, on texts of a few
// characters.
func TestBlankedEightAtATime(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 200_000 {
		text := make([]byte, 0, 64)
		for range random.IntN(40) {
			if random.IntN(20) == 0 {
				text = append(text, []string{"\t", "\n", "\x7f", "\x00", "\xff", "\u00a0", "\u0085", "\u03b1", "\ufffd", "   "}[random.IntN(10)]...)
			}
			text = append(text, "abcdefgh!!~  "[random.IntN(13)])
		}
		var want []rune
		for rest := text; len(rest) > 0; {
			r, size := utf8.DecodeRune(rest)
			rest = rest[size:]
			switch {
			case r == utf8.RuneError && size == 1:
			case !unicode.IsSpace(r) && !unicode.IsControl(r):
				want = append(want, r)
			case len(want) == 0 || want[len(want)-1] != ' ':
				want = append(want, ' ')
			}
		}
		if got := appendBlanked([]byte("before"), text); string(got) != "before"+string(want) {
			t.Fatalf("%q is %q, want %q", text, got, string(want))
		}
	}
}

// TestCollapsedIsNoMoreThanAFastPath takes texts of a few characters, so that blanks meet in every place.
func TestCollapsedIsNoMoreThanAFastPath(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	told := 0
	for range 200_000 {
		text := make([]byte, random.IntN(40))
		for i := range text {
			text[i] = "abcdefgh!!~ "[random.IntN(12)]
			if random.IntN(200) == 0 {
				text[i] = "\t\x7f\x00\xff\x80"[random.IntN(5)]
			}
		}
		if collapsed(text) {
			told++
			if clean := appendCollapsed(nil, text); string(clean) != string(text) {
				t.Fatalf("%q is not %q", text, clean)
			}
		}
	}
	if told < 10_000 {
		t.Errorf("%d texts were told to be collapsed", told)
	}
}

// Of a text that was cut, what comes into sight behind is not new, and what comes before is.
func TestHostileCutsAreNoNews(t *testing.T) {
	t.Parallel()
	text := func(cut bool, blocks ...string) *webrace.Text {
		made := &webrace.Text{Cut: cut}
		for _, b := range blocks {
			start := len(made.Bytes)
			made.Bytes = append(append(made.Bytes, b...), '\n')
			made.Blocks = append(made.Blocks, webrace.Block{Start: int32(start), End: int32(start + len(b))})
		}
		return made
	}
	for _, c := range []struct {
		name        string
		before, now *webrace.Text
		added       []bool
	}{
		{"a row went, so that another came into sight", text(true, "a", "b", "c"), text(true, "b", "c", "d"), []bool{false, false, false}},
		{"a row came before", text(true, "a", "b", "c"), text(true, "new", "a", "b"), []bool{true, false, false}},
		{"a row came within, and others into sight", text(true, "a", "b", "c"), text(false, "a", "new", "c", "d", "e"), []bool{false, true, false, false, false}},
		{"all is other", text(true, "a", "b"), text(true, "x", "y"), []bool{true, true}},
		{"what was whole has grown beyond the limit", text(false, "a", "b"), text(true, "a", "b", "c"), []bool{false, false, true}},
		{"what was whole is cut now", text(false, "a", "b", "c"), text(true, "a", "b"), []bool{false, false}},
	} {
		var known Baseline
		known, _ = known.Update(c.before)
		if again, added := known.Update(c.before); !slices.Equal(again, known) || slices.Contains(added, true) {
			t.Errorf("%s: the same text is another version", c.name)
		}
		next, added := known.Update(c.now)
		if !slices.Equal(added, c.added) {
			t.Errorf("%s: %v, want %v", c.name, added, c.added)
		}
		if slices.Equal(next, known) {
			t.Errorf("%s: it is no other version", c.name)
		}
	}
}

func TestWhatLooksTheSameIsNotNew(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, now string
		isNew       bool
	}{
		{"Le café est ouvert", "Le cafe\u0301 est ouvert", false},
		{"The ferry sails", "The fer\u00adry\u200b sails", false},
		{"The ferry sails", "\u200eThe ferry \u200b sails\u200f", false},
		{"Le café est ouvert", "Le cafe est ouvert", true},
		{"H2O", "H₂O", true},
		{"می\u200cخواهم", "میخواهم", true},
	} {
		known, _ := Baseline(nil).Update(textOf(c.before))
		if _, added := known.Update(textOf(c.now)); added[0] != c.isNew {
			t.Errorf("%q behind %q: new %v, want %v", c.now, c.before, added[0], c.isNew)
		}
		if a, b := digestOf(t, c.before), digestOf(t, c.now); (a != b) != c.isNew {
			t.Errorf("%q and %q: digests %x and %x", c.before, c.now, a, b)
		}
	}
}

func digestOf(t *testing.T, block string) webrace.Digest {
	p := openPage(textOf(block), nil)
	t.Cleanup(p.close)
	return p.digest([]int32{0})
}

// Of two pages that become one, what either had is known, as lately as either had it.
func TestTwoBaselinesRememberWhatEitherDoes(t *testing.T) {
	one, _ := Baseline(nil).Update(textOf("a", "old"))
	one, _ = one.Update(textOf("a", "b"))
	two, _ := Baseline(nil).Update(textOf("c"))
	two, _ = two.Update(textOf("d", "old"))
	for _, both := range []Baseline{one.With(two), two.With(one)} {
		if _, added := both.Update(textOf("a", "b", "c", "d", "new", "old")); !slices.Equal(added, []bool{false, false, false, false, true, false}) {
			t.Errorf("added %v", added)
		}
		if _, added := both.Remember(1, textOf("a", "b", "c", "d", "old")); !slices.Equal(added, []bool{false, false, true, false, false}) {
			t.Errorf("since the last version, added %v", added)
		}
	}
	if got := one.With(nil); !slices.Equal(got, one) {
		t.Errorf("with nothing, %v is %v", one, got)
	}
}
