package analyze

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/blevesearch/snowballstem"
)

// vocabularies is where Debian's package snowball-data has the vocabularies of Snowball's release 2.2, with the stem of
// each word.
const vocabularies = "/usr/share/snowball/data"

// vocabulary returns the words of a language and their stems.
func vocabulary(t *testing.T, name string) (words, stems []string) {
	t.Helper()
	for file, into := range map[string]*[]string{"voc.txt": &words, "output.txt": &stems} {
		text, err := os.ReadFile(vocabularies + "/" + name + "/" + file)
		if err != nil {
			t.Skipf("no vocabulary of %s (Debian's package snowball-data): %v", name, err)
		}
		*into = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	}
	if len(words) != len(stems) || len(words) < 10_000 {
		t.Fatalf("%s: %d words and %d stems", name, len(words), len(stems))
	}
	return words, stems
}

var snowballNames = map[Language]string{
	English: "english", German: "german", French: "french", Spanish: "spanish", Italian: "italian", Portuguese: "portuguese", Dutch: "dutch",
	Russian: "russian",
}

func TestSnowballVocabulariesHaveTheirStems(t *testing.T) {
	t.Parallel()
	for l, name := range snowballNames {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			words, want := vocabulary(t, name)
			env, different, own := snowballstem.NewEnv(""), 0, 0
			for i, word := range words {
				env.SetCurrent(Fold(word)) // Russian, whose only accent is folded
				if l != Russian {
					env.SetCurrent(word)
				}
				rulesOf[l].stem(env)
				if Fold(env.Current()) != Fold(want[i]) {
					t.Errorf("%s has the stem %q, want %q", word, env.Current(), want[i])
					different++
				}
				if foldedStem(l, word) != Fold(want[i]) && len(Fold(word)) >= shortestStemmed && len(word) <= longestStemmed {
					if own++; !ofOurOwn(l, word, Fold(want[i])) {
						t.Errorf("%s has the stem %q here, want %q", word, foldedStem(l, word), Fold(want[i]))
					}
				}
			}
			t.Logf("%d of %d words have Snowball's stem, and %d of them another one here", len(words)-different, len(words), own)
		})
	}
}

func foldedStem(l Language, word string) string {
	return strings.TrimSuffix(StemIn(l, spelt(word)), foreign)
}

// ofOurOwn reports whether a word is one of those that we do not stem as Snowball does.
func ofOurOwn(l Language, word, stem string) bool {
	switch l {
	case Portuguese:
		return respell(word, rulesOf[l].before) != word
	case Dutch:
		return respell(stem, rulesOf[l].after) == foldedStem(l, word) || strings.ContainsAny(word, "àèìòùâêîôûå")
	}
	return spelt(word) == "" || scriptOf(Fold(word)) == noScript
}

// Of the words of the vocabularies that have accents, nearly all are found by those who write none. The others are told
// by their endings: forms of verbs that hardly any query has.
func TestSnowballWordsAreFoundWithoutTheirAccents(t *testing.T) {
	t.Parallel()
	for l, name := range snowballNames {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			words, _ := vocabulary(t, name)
			accented := 0
			var missed []string
			for _, word := range words {
				if Fold(word) == word {
					continue
				}
				accented++
				if stem := StemIn(l, spelt(word)); !slices.Contains(Stems(Fold(word)), stem) {
					missed = append(missed, word)
				}
				if stem := StemIn(l, Fold(word)); !slices.Contains(Stems(spelt(word)), stem) {
					t.Errorf("the keyword %s does not find %s", word, Fold(word))
				}
			}
			t.Logf("%d of %d words are not found without their accents, such as %q", len(missed), accented, missed[:min(len(missed), 12)])
			if len(missed) > accented/50 {
				t.Errorf("these are too many: %q", missed)
			}
		})
	}
}
