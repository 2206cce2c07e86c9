package analyze

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/webrace/webrace"
)

// slowWords is what Words must give: no fast path, no tables, one rune after the other.
func slowWords(text string) []string {
	var all []string
	var word []byte
	var run []string
	flush := func() {
		if len(word) > 0 {
			all = append(all, string(word))
		}
		if len(run) == 1 {
			all = append(all, run[0])
		}
		for i := 1; i < len(run); i++ {
			all = append(all, run[i-1]+run[i])
		}
		word, run = nil, nil
	}
	for _, r := range text {
		kind := classifySlowly(r)
		if kind != ideograph && len(run) > 0 || kind == ideograph && len(word) > 0 || kind == separator {
			flush()
		}
		if folded := appendFoldSlowly(nil, r); kind == ideograph {
			run = append(run, string(folded))
		} else {
			word = append(appendMark(word, r), folded...)
		}
	}
	flush()
	return slices.DeleteFunc(all, func(w string) bool { return w == "" })
}

// mustBe holds that the text consists of these words, which are in these languages, each distinct one of
// them being told once.
func mustBe(t *testing.T, got *Analysis, want []string, in []Language, whole Language) {
	t.Helper()
	if len(got.Tokens) != len(want) {
		t.Fatalf("%d tokens, want %d", len(got.Tokens), len(want))
	}
	type distinct struct {
		word     string
		language Language
	}
	mixed := slices.ContainsFunc(in, func(l Language) bool { return l.ofLatinWords() != whole.ofLatinWords() })
	first := map[distinct]int{}
	for i, token := range got.Tokens {
		is := distinct{word: want[i]}
		if mixed {
			is.language = in[i].ofLatinWords()
		}
		if _, known := first[is]; !known {
			first[is] = i
		}
		word := Word{Hash([]byte(want[i])), Hash([]byte(StemIn(in[i], want[i]))), int32(first[is])}
		if got.Words[token.Word] != word {
			t.Fatalf("token %d, %q, is the word %+v, want %+v", i, want[i], got.Words[token.Word], word)
		}
	}
	if len(got.Words) != len(first) {
		t.Fatalf("%d words, want %d", len(got.Words), len(first))
	}
}

func TestStemHashesAreThoseOfStems(t *testing.T) {
	t.Parallel()
	var together sync.WaitGroup
	for range 4 { // who evict one another's words
		together.Go(func() {
			for i := range 3000 {
				word := "w" + strings.Map(func(digit rune) rune { return digit - '0' + 'a' }, strconv.Itoa(i%1500)) + "ingen"
				stems := Stems(word)
				hashes, _ := StemHashes(word)
				if !slices.EqualFunc(stems, hashes, func(stem string, hash uint64) bool { return Hash([]byte(stem)) == hash }) {
					t.Errorf("%s: %x are not the hashes of %q", word, hashes, stems)
					return
				}
			}
		})
	}
	together.Wait()
}

func FuzzAnalyze(f *testing.F) {
	for _, seed := range []string{
		"The quick_brown C++ fox isn't", "ΘΕΣΣΑΛΟΝΊΚΗΣ έρευνας", "東京都IBMに住む サーバー", "Cafe\u0301 in\u00ADner\u200D", "a\xffb\xe6\x9d東", "и\u0306 Й и-\u0306", "İıſß ﷺ ㈱",
	} {
		f.Add(seed)
	}
	var analyzer Analyzer
	var splitter Splitter
	f.Fuzz(func(t *testing.T, in string) {
		want := slowWords(in)
		mustSplit(t, &splitter, in, want)
		var got []string
		end := 0
		Words([]byte(in), func(start, stop int, folded []byte) bool {
			if start >= stop || stop > len(in) || stop <= end {
				t.Fatalf("a word at %d to %d after one that ends at %d", start, stop, end)
			}
			end = stop
			got = append(got, string(folded))
			return true
		})
		if !slices.Equal(got, want) {
			t.Fatalf("words of %q: %q, want %q", in, got, want)
		}
		text := &webrace.Text{Bytes: []byte(in), Blocks: []webrace.Block{{End: int32(len(in))}}}
		whole, languages := slowLanguages([][]string{want}, Unknown)
		mustBe(t, analyzer.Analyze(text), want, languages[0], whole)
		mustYield(t, text, Unknown, analyzer.Analyze(text))
		if utf8.ValidString(in) {
			if folded := Fold(in); Fold(folded) != folded || strings.Join(slowWords(folded), " ") != strings.Join(want, " ") {
				t.Fatalf("%q folds to %q, which has other words", in, folded)
			}
		}
	})
}

// mustSplit splits a text that stands within another one.
func mustSplit(t *testing.T, s *Splitter, in string, want []string) {
	t.Helper()
	hashes := []uint64{1}
	for _, w := range want {
		hashes = append(hashes, Hash([]byte(w)))
	}
	if got := s.Append([]uint64{1}, []byte("before "+in+" after"), len("before "), len("before ")+len(in)); !slices.Equal(got, hashes) {
		t.Fatalf("hashes of the words of %q: %x, want %x", in, got, hashes)
	}
}
