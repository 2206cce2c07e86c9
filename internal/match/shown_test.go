package match

import (
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/simhash"
)

// likenessOf returns that of a page's alert for everything on it.
func likenessOf(t *testing.T, blocks ...string) uint64 {
	t.Helper()
	var x Index
	x.Add(compile(t, Profile{ID: "p"}))
	for a := range x.Match(textOf(blocks...), Options{Everyone: true}) {
		return a.Shown.Likeness
	}
	t.Fatal("no alert")
	return 0
}

const news = `The observatory on the hill will open its doors to the public this weekend, for the first time since its main
telescope was repaired; visitors can look at Saturn from nine in the evening, and the director herself explains what
they see. Tickets are sold at the gate, children pay nothing, and in case of clouds everything takes place a week later.`

func TestTextsThatDifferInFewWordsAreAlike(t *testing.T) {
	t.Parallel()
	first := likenessOf(t, news)
	for what, text := range map[string]string{
		"the same":              news,
		"other case and spaces": strings.ToUpper(strings.ReplaceAll(news, " ", "  ")),
		"another teaser":        strings.Replace(news, "nine", "ten", 1),
		"other punctuation":     strings.ReplaceAll(news, ",", " —"),
	} {
		if !simhash.Alike(first, likenessOf(t, text)) {
			t.Errorf("%s: %d bits differ", what, bits.OnesCount64(first^likenessOf(t, text)))
		}
	}
	for what, text := range map[string]string{
		"half of it":   news[:len(news)/2],
		"another news": "The railway to the coast stays closed this weekend, because the bridge that was repaired last year must be painted; buses leave from the station every hour, and take twice as long.",
	} {
		if simhash.Alike(first, likenessOf(t, text)) {
			t.Errorf("%s is alike", what)
		}
	}
	if x := likenessOf(t, "the observatory opens"); x != 0 || simhash.Alike(x, x) {
		t.Errorf("three words have the likeness %x", x)
	}
}

func TestUnrelatedTextsAreNotAlike(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	l := newLanguage(random, inventWords(random, 3000))
	var all []uint64
	for len(all) < 300 {
		var words []string
		for range 60 {
			words = append(words, l.words[random.IntN(len(l.words))])
		}
		all = append(all, likenessOf(t, strings.Join(words, " ")))
	}
	for i, x := range all {
		for _, y := range all[:i] {
			if simhash.Alike(x, y) {
				t.Fatalf("%x and %x are alike", x, y)
			}
		}
	}
}

func TestWhatIsShownIsAllThatIsLookedAt(t *testing.T) {
	t.Parallel()
	var x Index
	x.Add(compile(t, Profile{ID: "keyword", Group: keys(Any, "saturn 5")}), compile(t, Profile{ID: "any"}))
	const notice = "From Monday on the observatory on the hill is closed for a week, and Saturn can be seen from the harbour instead, weather permitting."
	shown := func(id string, onlyAdded bool, added []bool, blocks ...string) Shown {
		for a := range x.Match(textOf(blocks...), Options{Recipients: []Recipient{{id, onlyAdded}}, Added: added}) {
			return a.Shown
		}
		t.Fatalf("no alert for %s on %q", id, blocks)
		return Shown{}
	}
	whole := shown("keyword", false, nil, news, notice)
	if whole == (Shown{}) || whole != shown("any", false, nil, notice, " "+news) {
		t.Error("two profiles that are shown the same blocks are shown different texts")
	}
	if whole.Text == shown("keyword", false, nil, news, "Saturn rises.").Text {
		t.Error("the block that matched alone counts")
	}
	alone := shown("keyword", true, []bool{false, true}, news, notice)
	if alone == whole || alone != shown("keyword", false, nil, notice) {
		t.Error("what is new does not count alone")
	}
	if short := shown("keyword", true, []bool{false, true}, news, "Saturn rises at nine."); short != (Shown{}) {
		t.Errorf("four words have the fingerprints %v", short)
	}
	words := strings.Fields(notice)[:LeastShown]
	if s := shown("any", false, nil, strings.Join(words, " ")); s.Text == 0 {
		t.Errorf("%d words have no fingerprint", len(words))
	}
	if s := shown("any", false, nil, words...); s.Text == 0 || s.Likeness == 0 {
		t.Errorf("a list of %d words has the fingerprints %v", len(words), s)
	}
	if s := shown("any", false, nil, strings.Join(words[1:], " ")); s.Text != 0 {
		t.Errorf("%d words have a fingerprint", len(words)-1)
	}
}

func TestEveryoneIsMatchedOnceWhateverTheyRemember(t *testing.T) {
	t.Parallel()
	var x Index
	for id, remember := range map[string]int{"one": 1, "five": 5, "eight": 8} {
		x.Add(compile(t, Profile{ID: id, Remember: remember}))
	}
	ids := map[string]int{}
	for _, mask := range []uint16{1<<1 | 1<<8, 1 << 5} {
		for a := range x.Match(textOf("some text"), Options{Everyone: true, Remember: mask, Seen: 1}) {
			ids[a.ID]++
			if remembers := map[string]uint16{"one": 1, "five": 5, "eight": 8}[a.ID]; mask>>remembers&1 == 0 {
				t.Errorf("%s is matched under %b", a.ID, mask)
			}
		}
	}
	if len(ids) != 3 || ids["one"]+ids["five"]+ids["eight"] != 3 {
		t.Errorf("matched %v", ids)
	}
}
