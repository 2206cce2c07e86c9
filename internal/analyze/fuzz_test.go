package analyze

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/webrace/webrace"
)

// slowWords is what Words and Spellings must give: no fast path, no tables, one rune after the other.
func slowWords(text string) (folded, spelt []string) {
	add := func(f, s string) {
		if f != "" {
			folded, spelt = append(folded, f), append(spelt, s)
		}
	}
	for rest := []rune(text); len(rest) > 0; {
		n := 0
		for n < len(rest) && (classifySlowly(rest[n]) == letter || n > 0 && classifySlowly(rest[n]) == silent) {
			if after := strings.TrimLeft(string(rest[n:]), "⁰¹²³⁴⁵⁶⁷⁸⁹"); n > 0 && isRaisedDigit(rest[n]) &&
				IsNote([]byte(string(rest[:n])), []byte(strings.TrimSuffix(string(rest[n:]), after)), false) {
				break
			}
			n++
		}
		add(slowWord(rest[:n]))
		var units []string
		for n < len(rest) && (classifySlowly(rest[n]) == ideograph || classifySlowly(rest[n]) == dependent) {
			unit, runes := slowUnit(rest[n:])
			units = append(units, unit)
			n += runes
		}
		if len(units) == 1 {
			add(units[0], units[0])
		}
		for i := 1; i < len(units); i++ {
			add(units[i-1]+units[i], units[i-1]+units[i])
		}
		rest = rest[max(n, 1):]
	}
	return folded, spelt
}

func slowWord(runes []rune) (folded, spelt string) {
	const kept = "àáâãäåçèéêëìíîïñòóôõöøùúûüÿ"
	fold := func(text string, keeping bool) string {
		var word []byte
		for _, r := range text {
			if small := unicode.ToLower(r); keeping && strings.ContainsRune(kept, small) && r <= 'ÿ' {
				word = utf8.AppendRune(word, small)
			} else {
				word = appendFoldSlowly(appendMark(word, r), r)
			}
		}
		return string(word)
	}
	text := string(runes)
	folded = fold(text, false)
	if strings.ContainsFunc(text, func(r rune) bool { return r >= firstMark && r <= lastMark }) {
		if len(text) > 4*longestStemmed {
			return folded, folded
		}
		text = norm.NFC.String(text)
	}
	return folded, fold(text, true)
}

// slowUnit returns the unit that a text begins with, and of how many runes it is.
func slowUnit(text []rune) (string, int) {
	unit := []rune(string(appendFoldSlowly(nil, text[0])))
	n := 1
	for ; n < len(text); n++ {
		r, last := text[n], unit[len(unit)-1]
		half, whole := map[rune]rune{thaiA: thaiNikhahit, laoA: laoNiggahita}[r], map[rune]rune{thaiA: thaiAm, laoA: laoAm}[r]
		if c := composed(last, r); c != 0 {
			unit[len(unit)-1] = c
		} else if classifySlowly(r) == dependent || classifySlowly(r) == ideograph && strings.ContainsRune("\u17D2\u1039\u1A60", last) {
			unit = append(unit, r)
		} else if i := strings.LastIndex(string(unit), string(half)); half != 0 && i >= 0 {
			unit = []rune(string(unit)[:i] + string(unit)[i+len(string(half)):] + string(whole))
		} else if classifySlowly(r) != silent && (r != zeroWidthSpace || !unicode.In(text[0], southeastAsian...)) {
			break
		}
	}
	return string(unit), n
}

// mustBe holds that the text consists of these words, which are in these languages, each distinct one of
// them being told once.
func mustBe(t *testing.T, got *Analysis, want, spelt []string, in []Language, whole Language) {
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
		is := distinct{word: spelt[i]}
		if mixed {
			is.language = in[i].ofLatinWords()
		}
		if _, known := first[is]; !known {
			first[is] = i
		}
		word := Word{Hash([]byte(want[i])), Hash([]byte(StemIn(in[i], spelt[i]))), int32(first[is])}
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
		"événement e\u0301tude É naïve na\u0308i\u0308ve", "か\u3099ｶﾞハ\u309A\u3099 各각\u11A8", "นำ้นํ้า\u200Bกุ่ ຫນໜ ក្ក\u17D2 က္ကဥ\u102E", "H₂O m² ㎏ ٤२４ ـعـ Ⅳ ½",
	} {
		f.Add(seed)
	}
	var analyzer Analyzer
	var splitter Splitter
	f.Fuzz(func(t *testing.T, in string) {
		want, spelt := slowWords(in)
		mustSplit(t, &splitter, in, want)
		var got []string
		end := 0
		Spellings([]byte(in), func(start, stop int, folded, as []byte) bool {
			if len(got) < len(spelt) && string(as) != spelt[len(got)] {
				t.Fatalf("%q is spelt %q, want %q", folded, as, spelt[len(got)])
			}
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
		mustBe(t, analyzer.Analyze(text), want, spelt, languages[0], whole)
		mustYield(t, text, Unknown, analyzer.Analyze(text))
		if utf8.ValidString(in) {
			folded := Fold(in)
			if again, _ := slowWords(folded); Fold(folded) != folded || !slices.Equal(again, want) {
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
