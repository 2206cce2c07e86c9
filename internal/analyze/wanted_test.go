package analyze

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
)

var wordFiles = flag.String("words", "", "a pattern of files whose words are also tried as words of every language")

// A word begins as its stem does, as far as keptLetters tells, by the rules of every language.
func TestWordsBeginAsTheirStemsDo(t *testing.T) {
	t.Parallel()
	longer := 0
	for word := range triedWords(t) {
		_, begin := StemHashes(word)
		for l := Unknown; int(l) < languages; l++ {
			stem := StemIn(l, word)
			of := beginningOfStem(stem)
			if !strings.HasPrefix(Fold(word), string(of.bytes[:of.known])) {
				t.Errorf("%s has the stem %s, and not the beginning %q", word, stem, of.bytes[:of.known])
			}
			if begin.known > of.known || !slices.Equal(begin.bytes[:begin.known], of.bytes[:begin.known]) {
				t.Errorf("%s, with the stem %s, is said to begin with %q", word, stem, begin.bytes[:begin.known])
			}
		}
		if begin.known == beginningBytes {
			longer++
		}
	}
	if longer < 10_000 {
		t.Errorf("%d words have a beginning of %d bytes", longer, beginningBytes)
	}
}

// triedWords yields every word of three letters, the words of the languages' texts, and random ones with the endings
// that rules take off.
func triedWords(t *testing.T) func(func(string) bool) {
	return func(yield func(string) bool) {
		files, _ := filepath.Glob("testdata/languages/*.txt")
		if *wordFiles != "" {
			more, _ := filepath.Glob(*wordFiles)
			files = append(files, more...)
		}
		tried := map[string]bool{}
		try := func(word string) bool {
			known := tried[word]
			tried[word] = true
			return known || yield(word)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range append(words(string(text)), strings.Fields(string(text))...) {
				if !try(spelt(word)) {
					return
				}
			}
		}
		const letters = "abcdefghijklmnopqrstuvwxyz"
		for i := range len(letters) * len(letters) * len(letters) {
			if !try(string([]byte{letters[i%26], letters[i/26%26], letters[i/26/26]})) {
				return
			}
		}
		random := rand.New(rand.NewPCG(1, 2))
		for range 50_000 {
			if !try(randomWord(random)) {
				return
			}
		}
	}
}

var triedEndings = strings.Fields(`s es ies ied ed ing ly eed y er est ness ment ation logy fully e en em ern heit keit ung isch lich
	ieres erent iere ees ee glais issement ateur euse eux ique ité amment ons ez aient ables logias logia acion ucion dades as os amente
	ando yendo iéndose ársela ana ane ani mente atore ità ano encias acoes ucoes acao gues oes aes ais eis ois uis ns ável
	heden ene baar ing end aar bb zz vv v z α ασ ο οσ ματα ματων οτερος ουσαμε ηθηκα ιεσαι а ями ность ывая йте ейш`)

func randomWord(random *rand.Rand) string {
	alphabet := []rune([]string{"abcdefghilmnoprstuvyz", "aeiouystl", "αβγδεικμνοπρσυφ", "абвгеиклмнопрстуь"}[random.IntN(4)])
	var word []rune
	for range random.IntN(5) {
		word = append(word, alphabet[random.IntN(len(alphabet))])
	}
	return spelt(string(word) + triedEndings[random.IntN(len(triedEndings))])
}

// What is analyzed for certain words alone has the same tokens, and reports the same of those words.
func TestWantedWordsAreAnalyzedAsInTheWholeText(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	var whole, part Analyzer
	left := 0
	for range 200 {
		text := new(webrace.Text)
		for range random.IntN(6) {
			all := paragraphs(t, "testdata/languages", everyLanguage()[random.IntN(len(everyLanguage()))])
			start := len(text.Bytes)
			text.Bytes = append(text.Bytes, all[random.IntN(len(all))]...)
			text.Blocks = append(text.Blocks, webrace.Block{Start: int32(start), End: int32(len(text.Bytes))})
		}
		words := words(string(text.Bytes))
		var wanted Wanted
		var stems []uint64
		for range min(len(words), 5) {
			hashes, begin := StemHashes(words[random.IntN(len(words))])
			stems = append(stems, hashes...)
			wanted.Add(begin)
		}
		left += mustHaveWanted(t, whole.Analyze(text), part.AnalyzeFor(&wanted, text), stems)
	}
	if left == 0 {
		t.Error("nothing was left out")
	}
}

// mustHaveWanted returns how many words are left out.
func mustHaveWanted(t *testing.T, whole, part *Analysis, stems []uint64) (left int) {
	t.Helper()
	if len(part.Tokens) != len(whole.Tokens) || part.Language != whole.Language || !slices.Equal(part.Surfaces, whole.Surfaces) {
		t.Fatalf("%d tokens in %s, want %d in %s", len(part.Tokens), part.Language, len(whole.Tokens), whole.Language)
	}
	told := part.Wanted
	for i := range whole.Tokens {
		got, want := part.Tokens[i], whole.Tokens[i]
		gotWord, wantWord := part.Words[got.Word], whole.Words[want.Word]
		if len(told) > 0 && told[0] == int32(i) {
			told = told[1:]
		} else if got.Word != 0 || slices.Contains(stems, wantWord.Stem) {
			t.Fatalf("token %d, %+v, is left out as %+v", i, want, got)
		} else {
			left++
			gotWord = wantWord
		}
		if got.Word = want.Word; got != want || gotWord != wantWord {
			t.Fatalf("token %d is %+v, the word %+v; want %+v, %+v", i, got, gotWord, want, wantWord)
		}
	}
	return left
}

// Words that were dismissed are left out, and no others: those that are wanted by their beginnings are not.
func TestDismissedWordsAreLeftOut(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	var whole, part Analyzer
	var dismissals Dismissals
	dismissed, left := 0, 0
	for n := range 100 {
		text := new(webrace.Text)
		for range 1 + random.IntN(6) {
			all := paragraphs(t, "testdata/languages", everyLanguage()[random.IntN(len(everyLanguage()))])
			start := len(text.Bytes)
			text.Bytes = append(text.Bytes, all[random.IntN(len(all))]...)
			text.Blocks = append(text.Blocks, webrace.Block{Start: int32(start), End: int32(len(text.Bytes))})
		}
		var wanted Wanted
		wanted.AddAllBut(&dismissals, random.Uint64())
		if n%2 == 0 {
			wanted.AddAllBut(&dismissals, random.Uint64())
		}
		if mustHaveWanted(t, whole.Analyze(text), part.AnalyzeFor(&wanted, text), nil) > 0 {
			t.Fatal("what was not dismissed is left out")
		}
		var stems []uint64
		odd := map[int32]bool{}
		for i := 1; i < len(part.analysis.Words); i++ {
			if stem := part.analysis.Words[i].Stem; stem%2 == 0 {
				stems = append(stems, stem)
			} else {
				part.Dismiss(&wanted, i)
				odd[int32(i)] = true
			}
		}
		for _, token := range part.analysis.Tokens {
			if odd[token.Word] {
				dismissed++
			}
		}
		if n%3 == 0 {
			word := words(string(text.Bytes))[0]
			hashes, begin := StemHashes(word)
			stems = append(stems, hashes...)
			wanted.Add(begin)
		}
		left += mustHaveWanted(t, whole.Analyze(text), part.AnalyzeFor(&wanted, text), stems)
	}
	if left < dismissed*9/10 {
		t.Errorf("%d tokens are left out, of %d whose words were dismissed", left, dismissed)
	}
}
