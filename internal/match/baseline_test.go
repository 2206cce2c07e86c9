package match

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
)

func TestABlockIsNewUntilFiveVersionsHaveForgottenIt(t *testing.T) {
	t.Parallel()
	for absent := range 8 {
		base, added := Baseline(nil).Update(textOf("stays", "comes back"))
		if !slices.Equal(added, []bool{true, true}) {
			t.Fatalf("on the first visit %v is new", added)
		}
		for i := range absent {
			base, added = base.Update(textOf("stays", fmt.Sprint("version ", i)))
			if !slices.Equal(added, []bool{false, true}) {
				t.Fatalf("in version %d %v is new", i, added)
			}
		}
		_, added = base.Update(textOf("comes back", "stays"))
		if want := []bool{absent >= BaselineVersions, false}; !slices.Equal(added, want) {
			t.Errorf("absent from %d versions: %v is new, want %v", absent, added, want)
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

func TestAVersionWithoutTextIsAVersion(t *testing.T) {
	t.Parallel()
	base, _ := Baseline(nil).Update(textOf("a"))
	for i := range BaselineVersions {
		base, _ = base.Update(textOf(""))
		base, _ = base.Update(textOf(""))
		if i+2 < BaselineVersions {
			base, _ = base.Update(textOf(fmt.Sprint("b", i)))
		}
	}
	if _, added := base.Update(textOf("", "a")); !slices.Equal(added, []bool{false, true}) {
		t.Errorf("%v is new", added)
	}
}

func TestBaselineIsBounded(t *testing.T) {
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
	if at := slices.Index(added, true); at != mostBlocks-1 || !added[len(added)-1] {
		t.Errorf("after a change of the last block, those from %d on are new, want from %d", at, mostBlocks-1)
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
			if len(next.sound()) != len(next) && !slices.Equal(next, old) {
				t.Fatalf("%v is not in order", next)
			}
			if same, added := next.Update(text); slices.Contains(added, true) || !slices.Equal(same, next) {
				t.Fatalf("right after it was seen, %v of %q is new", added, page)
			}
			old = next
		}
	})
}
