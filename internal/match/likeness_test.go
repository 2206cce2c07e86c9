package match

import (
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/likeness"
)

// likenessOf returns that of a page's alert for everything on it.
func likenessOf(t *testing.T, blocks ...string) uint64 {
	t.Helper()
	var x Index
	x.Add(compile(t, Profile{ID: "p"}))
	for a := range x.Match(textOf(blocks...), Options{Everyone: true}) {
		return a.Likeness
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
		if !likeness.Alike(first, likenessOf(t, text)) {
			t.Errorf("%s: %d bits differ", what, bits.OnesCount64(first^likenessOf(t, text)))
		}
	}
	for what, text := range map[string]string{
		"half of it":   news[:len(news)/2],
		"another news": "The railway to the coast stays closed this weekend, because the bridge that was repaired last year must be painted; buses leave from the station every hour, and take twice as long.",
	} {
		if likeness.Alike(first, likenessOf(t, text)) {
			t.Errorf("%s is alike", what)
		}
	}
	if x := likenessOf(t, "the observatory opens"); x != 0 || likeness.Alike(x, x) {
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
			if likeness.Alike(x, y) {
				t.Fatalf("%x and %x are alike", x, y)
			}
		}
	}
}
