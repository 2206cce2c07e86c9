package match

import (
	"flag"
	"fmt"
	"html"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/analyze"
)

func idOf(profile int) string { return fmt.Sprintf("%05d", profile) }

func (g *wantedGroup) group() Group {
	out := Group{Match: g.mode}
	for _, w := range g.wanted {
		out.Keywords = append(out.Keywords, w.Keyword)
	}
	for i := range g.groups {
		out.Groups = append(out.Groups, g.groups[i].group())
	}
	return out
}

func indexed(t *testing.T, groups []wantedGroup) (*Index, []int) {
	t.Helper()
	x := new(Index)
	thresholds := make([]int, len(groups))
	for i := range groups {
		thresholds[i] = thresholdOf(i)
		x.Add(compile(t, profileOf(i, &groups[i])))
	}
	x.Settle()
	return x, thresholds
}

func profileOf(i int, g *wantedGroup) Profile {
	return Profile{ID: idOf(i), Threshold: thresholdOf(i), Change: changeOf(i), Revision: revisionOf(i), Levels: levelsOfProfile(i), Once: onceOf(i), Group: g.group()}
}

// language makes up texts of Zipf-distributed words, and profiles that ask for them.
type language struct {
	*rand.Rand
	words []string // the commonest first
	zipf  *rand.Zipf
}

func newLanguage(random *rand.Rand, words []string) *language {
	return &language{random, words, rand.NewZipf(random, 1.1, 3, uint64(len(words)-1))}
}

func (l *language) word() string { return l.words[l.zipf.Uint64()] }

func inventWords(random *rand.Rand, n int) []string {
	roots := make([]string, n/6)
	syllables := []string{"ba", "co", "dri", "fen", "gu", "lo", "mi", "na", "pre", "ster", "ta", "ver", "zo", "ερ", "γα", "λι", "το", "é", "ñu", "жи"}
	for i := range roots {
		for range 1 + random.IntN(3) {
			roots[i] += syllables[random.IntN(len(syllables))]
		}
	}
	endings := []string{"", "", "s", "ing", "ed", "er", "ς", "α"}
	words := []string{"C++", "c", "東京", "京都", "東京都", "node.js", ".net", "net", "node", "js", "C"}
	for len(words) < n {
		word := roots[random.IntN(len(roots))] + endings[random.IntN(len(endings))]
		if random.IntN(5) == 0 {
			word = strings.ToUpper(word)
		}
		words = append(words, word)
	}
	random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	return words
}

func (l *language) page() *webrace.Text {
	text := new(webrace.Text)
	gaps := []string{" ", " ", " ", ", ", "\n", "\u00a0", " — ", "-"}
	for range 1 + l.IntN(25) {
		start := int32(len(text.Bytes))
		for range l.IntN(1 + l.IntN(60)) {
			text.Bytes = append(append(text.Bytes, l.word()...), gaps[l.IntN(len(gaps))]...)
		}
		text.Blocks = append(text.Blocks, webrace.Block{Start: start, End: int32(len(text.Bytes)), Field: webrace.Field(l.IntN(fields))})
	}
	return text
}

func (l *language) group(depth int) wantedGroup {
	g := wantedGroup{mode: Mode(max(0, l.IntN(5)-2))} // any three times out of five
	if depth == 0 {
		g.mode = Mode(l.IntN(2))
	}
	for range 1 + l.IntN(3) {
		w := l.keyword()
		w.None = l.IntN(12) == 0
		g.wanted = append(g.wanted, w)
	}
	for depth < 2 && l.IntN(4) == 0 {
		g.groups = append(g.groups, l.group(depth+1))
	}
	return g
}

var oracleSymbols = map[string]*regexp.Regexp{
	"c++":     regexp.MustCompile(`(?:^|[^\pL\pM\pN_])c\+\+(?:$|[^+])`),
	".net":    regexp.MustCompile(`(?:^|[^\pL\pM\pN_.])\.net(?:$|[^\pL\pM\pN_])`),
	"node.js": regexp.MustCompile(`(?:^|[^\pL\pM\pN_])node\.js(?:$|[^\pL\pM\pN_])`),
}

func (l *language) keyword() wanted {
	w := wanted{Keyword: Keyword{Weight: 1 + l.IntN(5)}, field: -1}
	if l.IntN(10) == 0 {
		w.Key = []string{"c++", ".net", "node.js"}[l.IntN(3)]
		w.symbol, w.unit = oracleSymbols[w.Key], w.Key
		return w
	}
	count := 1 + max(0, l.IntN(5)-2)
	for len(w.words) < count {
		word := l.word()
		if folded := foldedWords(word); len(folded) == 1 && !slices.Contains(w.words, folded[0]) && strings.Trim(word, symbolsWithin) == word {
			w.words = append(w.words, folded[0])
			w.Key += " " + word
		}
	}
	w.Key = w.Key[1:]
	last := w.words[len(w.words)-1]
	switch l.IntN(8) {
	case 0:
		w.kind, w.Exact = exact, true
	case 1:
		if longest := slices.MaxFunc(w.words, func(a, b string) int { return len(a) - len(b) }); len(longest) >= gramBytes {
			w.kind, w.Substring = inside, true
		}
	case 2:
		if cut := wholeRunes(last, 2+l.IntN(4)); cut >= 3 {
			w.kind, w.words[len(w.words)-1] = prefix, last[:cut]
			w.Key = strings.Join(w.words, " ") + "*"
		}
	}
	if count > 1 && w.kind == inflected && l.IntN(3) == 0 && analyze.Stem(w.words[0]) != analyze.Stem(last) && count == 2 {
		w.near = 1 + l.IntN(10)
		w.Key = fmt.Sprintf("near:%d %s", w.near, w.Key)
	}
	for _, word := range w.words {
		w.stems = append(w.stems, analyze.Stems(word))
	}
	if l.IntN(8) == 0 {
		w.field = l.IntN(fields)
		w.Field = webrace.Field(w.field).String()
	}
	return w
}

func foldedWords(text string) (folded []string) {
	analyze.Words([]byte(text), func(_, _ int, word []byte) bool {
		folded = append(folded, string(word))
		return true
	})
	return folded
}

func (l *language) groups(n int) (all []wantedGroup) {
	for len(all) < n {
		if g := l.group(0); !g.repeats() {
			all = append(all, g)
		}
	}
	return all
}

// repeats reports whether the group asks for the same twice. The oracle does not judge which of two
// keywords that mean the same counts; TestEqualKeywordsCountOnceWithTheHigherWeight does.
func (g *wantedGroup) repeats() (twice bool) {
	met := map[string]bool{}
	g.walk(true, func(w *wanted, _ bool) {
		a, _, _ := parse(w.Keyword)
		twice = twice || met[a.saying()]
		met[a.saying()] = true
	})
	return twice
}

// orInShort is so many, or so many in short mode: what runs in one goroutine the race detector need not see in full.
func orInShort(full, short int) int {
	if testing.Short() {
		return short
	}
	return full
}

var leastPairs = flag.Int("pairs", 30_000, "how many pairs of a profile and an invented page are compared with the oracle")

func TestMatchAgreesWithTheOracleOnInventedPages(t *testing.T) {
	t.Parallel()
	least := orInShort(*leastPairs, 3_000)
	for seed, pairs := uint64(5), 0; pairs < least; seed++ {
		random := rand.New(rand.NewPCG(seed, 6))
		l := newLanguage(random, inventWords(random, 600))
		var texts []*webrace.Text
		for range 30 {
			texts = append(texts, l.page())
		}
		n, alerting := compare(t, l.groups(orInShort(400, 100)), texts)
		t.Logf("seed %d: %d pairs, %d alerts", seed, n, alerting)
		if alerting < n/20 {
			t.Errorf("%d pairs, of which %d alert, prove too little", n, alerting)
		}
		pairs += n
	}
}

func TestMatchAgreesWithTheOracleOnRealPages(t *testing.T) {
	t.Parallel()
	texts := realPages(t, orInShort(25, 5))
	frequency := map[string]int{}
	for _, text := range texts {
		for _, word := range foldedWords(string(text.Bytes)) {
			frequency[word]++
		}
	}
	var words []string
	for word := range frequency {
		words = append(words, word)
	}
	slices.SortFunc(words, func(a, b string) int {
		if by := frequency[b] - frequency[a]; by != 0 {
			return by
		}
		return strings.Compare(a, b)
	})
	l := newLanguage(rand.New(rand.NewPCG(7, 8)), words)
	pairs, alerting := compare(t, l.groups(200), texts)
	if alerting < pairs/20 {
		t.Errorf("%d pairs, of which %d alert, prove too little", pairs, alerting)
	}
}

// realPages returns pages of the Python documentation, as far as it is installed.
func realPages(t *testing.T, most int) (texts []*webrace.Text) {
	t.Helper()
	files, _ := filepath.Glob("/usr/share/doc/python3*/html/library/[a-d]*.html")
	if len(files) == 0 {
		t.Skip("the Python documentation is not installed")
	}
	fieldOf := map[string]webrace.Field{"title": webrace.FieldTitle, "h1": webrace.FieldHeading, "h2": webrace.FieldHeading, "li": webrace.FieldNavigation, "p": webrace.FieldBody}
	blocks := regexp.MustCompile(`(?s)<(title|h1|h2|li|p)\b[^>]*>(.*?)</`)
	tags := regexp.MustCompile(`(?s)<[^>]*>`)
	for i := 0; i < len(files) && len(texts) < most; i += 1 + len(files)/most {
		page, err := os.ReadFile(files[i])
		if err != nil {
			t.Fatal(err)
		}
		text := new(webrace.Text)
		for _, found := range blocks.FindAllSubmatch(page, -1) {
			start := int32(len(text.Bytes))
			text.Bytes = append(text.Bytes, html.UnescapeString(tags.ReplaceAllString(string(found[2]), " "))...)
			text.Blocks = append(text.Blocks, webrace.Block{Start: start, End: int32(len(text.Bytes)), Field: fieldOf[string(found[1])]})
		}
		texts = append(texts, text)
	}
	return texts
}
