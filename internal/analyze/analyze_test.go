package analyze

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/webrace/webrace"
)

func words(text string) []string {
	var all []string
	Words([]byte(text), func(_, _ int, folded []byte) bool {
		all = append(all, string(folded))
		return true
	})
	return all
}

func TestWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{" \t.,;—", ""},
		{"The quick, brown fox", "the quick brown fox"},
		{"snake_case and UPPER_CASE", "snake_case and upper_case"},
		{"C++ C# .net node.js", "c c net node js"},
		{"don’t 3.14", "don t 3 14"},
		{"ΘΕΣΣΑΛΟΝΊΚΗΣ Θεσσαλονίκης", "θεσσαλονικησ θεσσαλονικησ"},
		{"ΐ ᾳ Ὀδυσσεύς", "ι α οδυσσευσ"},
		{"Café CAFE\u0301 Málaga", "cafe cafe malaga"},
		{"Straße STRASSE Łódź smørrebrød Æther", "strasse strasse lodz smorrebrod aether"},
		{"ИНФОРМАЦИЯ ёлка Йод и\u0306од", "информация елка йод йод"},
		{"in\u00ADfor\u00ADma\u00ADtion zero\u200Dwidth", "information zerowidth"},
		{"\u0301\u0301 lost mark", "lost mark"},
		{"ﬁne Ｗｉｄｅ ſlow", "fine wide slow"},
		{"हिन्दी हिन्दु", "हिन्दी हिन्दु"},
		{"東", "東"},
		{"東京", "東京"},
		{"東京都に住む", "東京 京都 都に に住 住む"},
		{"サーバー、東京", "サー ーバ バー 東京"},
		{"IBM東京 Go言語2", "ibm 東京 go 言語 2"},
		{"ｻｰﾊ", "サー ーハ"},
		{"한국어", "한국 국어"},
		{"a\xffb \xe6\x9d", "a b"},
		{"İstanbul ISTANBUL ısı", "istanbul istanbul isi"},
	} {
		if got := strings.Join(words(c.text), " "); got != c.want {
			t.Errorf("words of %q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestWordsStopWhenAsked(t *testing.T) {
	t.Parallel()
	met := 0
	Words([]byte("one two three"), func(int, int, []byte) bool { met++; return met < 2 })
	if met != 2 {
		t.Errorf("%d words given, want 2", met)
	}
}

func TestTokensNeverCrossABlock(t *testing.T) {
	t.Parallel()
	text := &webrace.Text{Bytes: []byte("pass word東京都"), Blocks: []webrace.Block{
		{Start: 0, End: 2, Field: webrace.FieldTitle}, {Start: 2, End: 9}, {Start: 9, End: 12}, {Start: 12, End: 18, Field: webrace.FieldHeading},
	}}
	var got []string
	for _, token := range new(Analyzer).Analyze(text).Tokens {
		block := text.Blocks[token.Block]
		if token.Start < block.Start || token.End > block.End {
			t.Errorf("token %+v does not lie in its block %+v", token, block)
		}
		got = append(got, string(text.Bytes[token.Start:token.End]))
	}
	if want := []string{"pa", "ss", "word", "東", "京都"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestStemsUniteTheFormsOfAWord(t *testing.T) {
	t.Parallel()
	for _, forms := range []string{
		"crawler crawlers", "annotate annotated annotation annotations", "matching matched match",
		"έρευνα έρευνας ερευνών έρευνες", "υπολογιστής υπολογιστές υπολογιστών ΥΠΟΛΟΓΙΣΤΗ",
		"πρόγραμμα προγράμματος προγράμματα προγραμμάτων", "σώμα σώματα σωμάτων", "στρατός στρατού στρατό",
		"βιβλίο βιβλία βιβλίου βιβλίων", "πόλη πόλεις πόλης πόλεων", "κράτος κράτη κρατών",
	} {
		all := words(forms)
		for _, form := range all {
			if Stem(form) != Stem(all[0]) {
				t.Errorf("%q has the stem %q, and %q has %q", all[0], Stem(all[0]), form, Stem(form))
			}
		}
	}
}

func TestStemsKeepApart(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{"java", "javascript"}, {"πολυ", "πολη"}} {
		if Stem(pair[0]) == Stem(pair[1]) {
			t.Errorf("%q and %q have the same stem %q", pair[0], pair[1], Stem(pair[0]))
		}
	}
	for _, whole := range []string{"js", "go", "東京", "x86", "μα"} {
		if Stem(whole) != whole {
			t.Errorf("the stem of %q is %q, want it whole", whole, Stem(whole))
		}
	}
}

func TestHashesTellWordsApart(t *testing.T) {
	t.Parallel()
	// Pairs that fold or hash alike when case is removed by setting a bit in every byte.
	for _, pair := range [][2]string{{"一", "丠"}, {"_", "\x7f"}, {"a_b", "a\x7fb"}, {"р", "Ѡ"}, {"abcdefgh", "abcdefg"}, {"ab", "ab\x00"}} {
		if Hash([]byte(pair[0])) == Hash([]byte(pair[1])) {
			t.Errorf("%q and %q have the same hash", pair[0], pair[1])
		}
	}
}

func TestFoldingTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	const beyondLetters = 0x33000 // the planes from here on hold no letters
	for r := range rune(beyondLetters) {
		if !utf8.ValidRune(r) {
			continue
		}
		once := Fold(string(r))
		if twice := Fold(once); once != twice {
			t.Errorf("%U folds to %+q, and that to %+q", r, once, twice)
		}
		if kind := classify(r); (kind == letter || kind == ideograph) && len(words(once)) > 0 && strings.Join(words(once), "") != once {
			t.Errorf("%U, a letter, folds to %+q, which is not one word", r, once)
		}
	}
}

func TestStopWordsAreFoldedSortedAndOurOwn(t *testing.T) {
	t.Parallel()
	list := stopWords()
	if !slices.IsSorted(list) || len(list) < 200 {
		t.Fatalf("%d stop words, sorted: %v", len(list), slices.IsSorted(list))
	}
	for _, word := range list {
		if Fold(word) != word || !IsStopWord(word) {
			t.Errorf("%q is not folded, or not found", word)
		}
	}
	for _, word := range strings.Fields("the und les que della nao het и και") {
		if !IsStopWord(word) {
			t.Errorf("%q is no stop word", word)
		}
	}
	for _, word := range strings.Fields("java war die car van todo mit stato meme era") {
		if IsStopWord(word) {
			t.Errorf("%q, which means something in another language, is a stop word", word)
		}
	}
	list[0] = "changed"
	if IsStopWord("changed") {
		t.Error("the list can be changed from outside")
	}
}

func BenchmarkAnalyze(b *testing.B) {
	text := []byte(strings.Repeat("Annotate every page for its owners: the classes of asyncio.StreamReader and re-use of words, 2,048 times. Here ends paragraph nr. 7\n", 400))
	page := &webrace.Text{Bytes: text, Blocks: []webrace.Block{{End: int32(len(text))}}}
	var a Analyzer
	tokens := len(a.Analyze(page).Tokens)
	for b.Loop() {
		a.Analyze(page)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(tokens), "ns/token")
}
