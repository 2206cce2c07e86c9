package analyze

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
)

// casesOf returns the words of each line of a file in testdata/stems, folded, and as written.
func casesOf(t *testing.T, name string) (folded, written [][]string) {
	t.Helper()
	file, err := os.ReadFile("testdata/stems/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(file) {
		if line := strings.TrimSpace(string(line)); line != "" && line[0] != '#' {
			folded, written = append(folded, words(line)), append(written, strings.Fields(line))
		}
	}
	return folded, written
}

// spelt returns a word as it is spelt.
func spelt(word string) (spelt string) {
	Spellings([]byte(word), func(_, _ int, _, as []byte) bool {
		spelt += string(as)
		return true
	})
	return spelt
}

func everyLanguage() []Language {
	var all []Language
	for l := English; int(l) < languages; l++ {
		all = append(all, l)
	}
	return all
}

// A keyword finds all forms of its word, whether its accents are written or not.
func TestKeywordsFindTheFormsOfTheirWord(t *testing.T) {
	t.Parallel()
	for _, l := range everyLanguage() {
		folded, written := casesOf(t, l.String()+".same")
		for i, group := range written {
			for _, keyword := range append(folded[i], group...) {
				keyword = spelt(keyword)
				for _, form := range group {
					if stem := StemIn(l, spelt(form)); !slices.Contains(Stems(keyword), stem) {
						t.Errorf("%s: the keyword %s with the stems %q does not find %s, of %q", l, keyword, Stems(keyword), form, stem)
					}
				}
			}
		}
	}
}

func TestDifferentWordsStayApart(t *testing.T) {
	t.Parallel()
	for _, l := range everyLanguage() {
		_, written := casesOf(t, l.String()+".apart")
		for _, group := range written {
			for _, other := range group[1:] {
				if stem := StemIn(l, spelt(other)); slices.Contains(Stems(spelt(group[0])), stem) {
					t.Errorf("%s: the keyword %s with the stems %q finds %s", l, group[0], Stems(spelt(group[0])), other)
				}
			}
		}
	}
}

func TestTheGreekListIsLongEnough(t *testing.T) {
	t.Parallel()
	same, _ := casesOf(t, "el.same")
	apart, _ := casesOf(t, "el.apart")
	if len(same) < 120 || len(apart) < 60 {
		t.Errorf("%d groups that must be one and %d pairs that must not", len(same), len(apart))
	}
}

func TestAWordIsFoundByItselfInEveryLanguage(t *testing.T) {
	t.Parallel()
	for _, name := range everyLanguage() {
		groups, _ := casesOf(t, name.String()+".same")
		for _, word := range slices.Concat(groups...) {
			stems := Stems(word)
			for l := Unknown; int(l) < languages; l++ {
				if stem := StemIn(l, word); !slices.Contains(stems, stem) {
					t.Errorf("%s has the stem %q in %q, and as a keyword %q", word, stem, l, stems)
				}
			}
			if stems[0] != Stem(word) || len(slices.Compact(slices.Sorted(slices.Values(stems)))) != len(stems) {
				t.Errorf("stems of %s: %q", word, stems)
			}
		}
	}
}

// A German or French stem must not make a keyword find other words in English texts.
func TestKeywordsFindInEnglishWhatTheirEnglishStemFinds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keyword, word string
		found         bool
	}{
		{"printer", "print", false}, {"listen", "lists", false}, {"server", "serving", false}, {"important", "importance", true},
		{"printer", "printers", true}, {"zeitungen", "zeitungen", true}, {"zeitungen", "zeitung", false},
	} {
		if got := slices.Contains(Stems(c.keyword), StemIn(English, c.word)); got != c.found {
			t.Errorf("the keyword %s finds %s in English: %v", c.keyword, c.word, got)
		}
	}
}

func TestWhatIsNoWordIsItsOwnStem(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"", "js", "go", "x86", "2026", "東京", "snake_case", strings.Repeat("long", 20), "їжак", "हिन्दी", "μα"} {
		for l := Unknown; int(l) < languages; l++ {
			if StemIn(l, word) != word {
				t.Errorf("the stem of %q in %q is %q", word, l, StemIn(l, word))
			}
		}
		if got := Stems(word); len(got) != 1 || got[0] != word {
			t.Errorf("the stems of %q are %q", word, got)
		}
	}
}

func TestParseLanguage(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]Language{
		"": Unknown, "en": English, "en-US": English, "EL": Greek, "el_GR.UTF-8": Greek, " de-AT ": German, "pt-BR": Portuguese,
		"nl": Dutch, "ru": Russian, "fr-CA": French, "es-419": Spanish, "it": Italian, "ja": Unknown, "english": Unknown, "-en": Unknown,
	} {
		if got := ParseLanguage(tag); got != want {
			t.Errorf("%q is %q, want %q", tag, got, want)
		}
	}
	for l := Unknown; int(l) < languages; l++ {
		if ParseLanguage(l.String()) != l {
			t.Errorf("%q is not read back", l)
		}
	}
	if got := Language(200).String(); got != "" {
		t.Errorf("an unheard-of language is called %q", got)
	}
}

func FuzzStems(f *testing.F) {
	for _, seed := range []string{"printer", "Zeitungen", "θάλασσας", "информацией", "coes", "ees", "éé", "iiiiiiii", "yyy", "sss", "εεεε"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		for _, word := range words(in) {
			stems := Stems(word)
			for l := Unknown; int(l) < languages; l++ {
				stem := StemIn(l, word)
				if stem == "" || !slices.Contains(stems, stem) {
					t.Fatalf("%q has the stem %q in %q, and as a keyword %q", word, stem, l, stems)
				}
				if Fold(stem) != stem {
					t.Fatalf("%q has the stem %q in %q, which is not folded", word, stem, l)
				}
			}
		}
	})
}
