package analyze

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"
)

// slowFold folds text of Latin, Greek and Cyrillic letters as the standard's tables have it, with the
// exceptions that we want.
func slowFold(t *testing.T, text string) string {
	t.Helper()
	const kept = "\uE000" // й, while marks are removed
	text = strings.ReplaceAll(strings.ToLower(norm.NFC.String(text)), "й", kept)
	folded, _, err := transform.String(transform.Chain(norm.NFKD, runes.Remove(runes.In(unicode.Mn))), text)
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(
		kept, "й", "·", "", "ς", "σ", "ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "đ", "d", "ð", "d", "þ", "th", "ł", "l", "ħ", "h", "ŧ", "t", "ı", "i",
	).Replace(strings.ToLower(folded))
}

func TestLettersFoldAsTheStandardSays(t *testing.T) {
	t.Parallel()
	met := 0
	for r := range rune(0x20000) {
		if !unicode.IsLetter(r) || !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic) {
			continue
		}
		met++
		want := strings.Join(words(slowFold(t, string(r))), "")
		if got := strings.Join(words(string(r)), ""); got != want {
			t.Errorf("%U %c folds to %q, want %q", r, r, got, want)
		}
	}
	if met < 1000 {
		t.Errorf("%d letters", met)
	}
}

// FuzzFold holds that text folds alike however its marks are written, and as the standard requires.
func FuzzFold(f *testing.F) {
	for _, seed := range []string{"Łódź ŒUVRE Straße", "Ὀδυσσεύς ΐ ᾳ ΘΕΣΣΑΛΟΝΊΚΗΣ", "Ёлка Йод и\u0306 ї ў", "İIıi Å Ǆ ﬁ"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		text := strings.Map(func(r rune) rune {
			if r != unicode.ReplacementChar && unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic) && unicode.IsLetter(r) {
				return r
			}
			return ' '
		}, in)
		want := strings.Join(words(slowFold(t, text)), " ")
		for _, form := range []norm.Form{norm.NFC, norm.NFD} {
			if got := strings.Join(words(form.String(text)), " "); got != want {
				t.Fatalf("%q: words %q, want %q", form.String(text), got, want)
			}
		}
	})
}
