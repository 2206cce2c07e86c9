package analyze

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
)

// paragraphs returns those of a file of the directory, which is named by its language, one a line.
func paragraphs(t *testing.T, dir string, l Language) []string {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(dir, l.String()+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(file)), "\n")
}

// Each stretch of 30 words is told, for nearly all of them, whether or not one knows what to expect.
// WEBRACE_PARAGRAPHS may name a directory with more texts: en.txt and so on, a paragraph a line.
func TestTheLanguageOfThirtyWordsIsTold(t *testing.T) {
	t.Parallel()
	dirs := []string{"testdata/languages"}
	if more := os.Getenv("WEBRACE_PARAGRAPHS"); more != "" {
		dirs = append(dirs, more)
	}
	const length, enough = 30, 97
	for _, l := range everyLanguage() {
		told, all := 0, 0
		for _, dir := range dirs {
			for _, paragraph := range paragraphs(t, dir, l) {
				fields := strings.Fields(paragraph)
				for i := 0; i+length <= len(fields); i++ {
					all++
					if Detect([]byte(strings.Join(fields[i:i+length], " ")), Unknown) == l {
						told++
					}
				}
			}
		}
		t.Logf("%s: %d of %d", l, told, all)
		if all == 0 || 100*told < enough*all {
			t.Errorf("%s: %d of %d stretches are told", l, told, all)
		}
	}
}

func TestTextsOutvoteWhatTheySayOfThemselves(t *testing.T) {
	t.Parallel()
	for _, l := range everyLanguage() {
		for _, expected := range everyLanguage() {
			for _, p := range paragraphs(t, "testdata/languages", l) {
				if got := Detect([]byte(p), expected); got != l {
					t.Errorf("a text in %s that says it is in %s is taken for %q: %s", l, expected, got, p)
				}
			}
		}
	}
	for _, few := range []string{"", "IBM 3090", "Ελλάδα", "Gazzetta dello Sport"} {
		if got := Detect([]byte(few), Unknown); got != Unknown {
			t.Errorf("%q is taken for %s", few, got)
		}
		if got := Detect([]byte(few), Portuguese); got != Portuguese {
			t.Errorf("%q, said to be in Portuguese, is taken for %q", few, got)
		}
	}
}

// A text in another language has words that look like one of ours. It is not taken for that.
func TestTextsInOtherLanguagesAreOfNone(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"Swedish":   "Alla människor är födda fria och lika i värde och rättigheter. De har utrustats med förnuft och samvete och bör handla gentemot varandra i en anda av gemenskap. Var och en är berättigad till alla de rättigheter och friheter som uttalas i denna förklaring utan åtskillnad av något slag.",
		"Danish":    "Alle mennesker er født frie og lige i værdighed og rettigheder. De er udstyret med fornuft og samvittighed, og de bør handle mod hverandre i en broderskabets ånd. Enhver har krav på alle de rettigheder og friheder, som nævnes i denne erklæring.",
		"Polish":    "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa. Każdy człowiek posiada wszystkie prawa i wolności zawarte w niniejszej Deklaracji.",
		"Turkish":   "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve birbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler. Herkes, bu Beyannamede ilan olunan tekmil haklardan ve bütün hürriyetlerden istifade edebilir.",
		"Ukrainian": "Всі люди народжуються вільними і рівними у своїй гідності та правах. Вони наділені розумом і совістю і повинні діяти у відношенні один до одного в дусі братерства. Кожна людина повинна мати всі права і всі свободи, проголошені цією Декларацією.",
		"Hungarian": "Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, ésszel és lelkiismerettel bírván, egymással szemben testvéri szellemben kell hogy viseltessenek.",
		"Finnish":   "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. Heille on annettu järki ja omatunto, ja heidän on toimittava toisiaan kohtaan veljeyden hengessä.",
	} {
		if got := Detect([]byte(text), Unknown); got != Unknown {
			t.Errorf("%s is taken for %s", name, got)
		}
		var a Analyzer
		if got := a.Analyze(&webrace.Text{Bytes: []byte(text), Blocks: []webrace.Block{{End: int32(len(text))}}}); got.Language != Unknown {
			t.Errorf("a page in %s is taken for %s", name, got.Language)
		}
	}
}

func TestBallotsCountEveryVote(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var b ballot
		var want [languages]int
		for range random.IntN(1000) {
			var v votes
			for l := English; int(l) < languages; l++ {
				n := random.IntN(mostVotes + 1)
				v += votes(n) * voteFor(l)
				want[l] += n
				if v.of(l) != n {
					t.Fatalf("%d votes for %s are read as %d", n, l, v.of(l))
				}
			}
			b.add(v, 1)
		}
		if b.count(); b.counts != want {
			t.Fatalf("counted %v, want %v", b.counts, want)
		}
	}
}

var slowVoters = func() (all [languages]map[string]bool) {
	for l := range all {
		all[l] = map[string]bool{}
		for word := range strings.FieldsSeq(Fold(commonWords[l])) {
			all[l][word] = true
		}
	}
	return all
}()

// slowLanguages tells the language of a text and of each of its words, given as they follow each other in
// its blocks.
func slowLanguages(blocks [][]string, expected Language) (whole Language, each [][]Language) {
	count := func(words []string) (n [languages]int) {
		for _, w := range words {
			for l := English; int(l) < languages; l++ {
				if slowVoters[l][w] {
					n[l]++
				}
			}
		}
		return n
	}
	best := func(n [languages]int, expected Language, least int) Language {
		n[expected] += least
		order := everyLanguage()
		slices.SortStableFunc(order, func(a, b Language) int { return n[b] - n[a] })
		if n[expected] >= n[order[0]] {
			return expected
		}
		if expected == Unknown && least < priorVotes && n[order[0]] == n[order[1]] {
			return Unknown
		}
		return order[0]
	}
	prior := priorVotes
	if expected == Unknown {
		prior = fewVotes - 1
	}
	whole = best(count(slices.Concat(blocks...)), expected, prior)
	for _, words := range blocks {
		var of []Language
		for passage := range slices.Chunk(words, mostVotes) {
			of = append(of, slices.Repeat([]Language{best(count(passage), whole, priorVotes)}, len(passage))...)
		}
		each = append(each, of)
	}
	return whole, each
}

// A text of blocks in several languages, long and short, is stemmed passage by passage.
func TestEachBlockIsStemmedInItsLanguage(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	var a Analyzer
	mixed := 0
	for range 60 {
		text, blocks, spelt := new(webrace.Text), [][]string(nil), []string(nil)
		for range random.IntN(6) {
			l := everyLanguage()[random.IntN(len(everyLanguage()))]
			block := ""
			for range random.IntN(6) {
				all := paragraphs(t, "testdata/languages", l)
				block += all[random.IntN(len(all))] + " "
			}
			start := len(text.Bytes)
			text.Bytes = append(text.Bytes, block...)
			text.Blocks = append(text.Blocks, webrace.Block{Start: int32(start), End: int32(len(text.Bytes))})
			folded, as := slowWords(block)
			blocks, spelt = append(blocks, folded), append(spelt, as...)
		}
		expected := Language(random.IntN(languages))
		whole, each := slowLanguages(blocks, expected)
		got := a.AnalyzeIn(expected, text)
		if got.Language != whole {
			t.Fatalf("the text is in %q, want %q", got.Language, whole)
		}
		mustBe(t, got, slices.Concat(blocks...), spelt, slices.Concat(each...), whole)
		if a.mixed() {
			mixed++
		}
		mustYield(t, text, expected, got)
	}
	if mixed == 0 {
		t.Error("no text was in several languages")
	}
}

// mustYield fails unless Terms returns the same as the analysis.
func mustYield(t *testing.T, text *webrace.Text, expected Language, want *Analysis) {
	t.Helper()
	i := 0
	Terms(text, expected, func(block, start, end int, folded []byte, stem string) bool {
		token := want.Tokens[i]
		word := want.Words[token.Word]
		if token.Block != int32(block) || token.Start != int32(start) || token.End != int32(end) || Hash(folded) != word.Surface || Hash([]byte(stem)) != word.Stem {
			t.Fatalf("term %d is %q with the stem %q at %d to %d of block %d, the token is %+v and the word %+v", i, folded, stem, start, end, block, token, word)
		}
		i++
		return true
	})
	if i != len(want.Tokens) {
		t.Fatalf("%d terms, want %d", i, len(want.Tokens))
	}
}

func TestTermsStopWhenAsked(t *testing.T) {
	t.Parallel()
	met := 0
	Terms(&webrace.Text{Bytes: []byte("one two three"), Blocks: []webrace.Block{{End: 13}}}, Unknown, func(_, _, _ int, _ []byte, _ string) bool {
		met++
		return met < 2
	})
	if met != 2 {
		t.Errorf("%d terms given, want 2", met)
	}
}

func TestAGermanBlockInAnEnglishPage(t *testing.T) {
	t.Parallel()
	english := "This is a page about the newspapers of the world, and what they have in common with each other. "
	german := "Die Zeitungen der Stadt sind in den Häusern nicht mehr so wichtig wie es früher war."
	text := &webrace.Text{Bytes: []byte(english + german), Blocks: []webrace.Block{
		{End: int32(len(english))}, {Start: int32(len(english)), End: int32(len(english + german))},
	}}
	stems := map[string]string{}
	Terms(text, Unknown, func(_, _, _ int, folded []byte, stem string) bool {
		stems[string(folded)] = stem
		return true
	})
	for keyword, word := range map[string]string{"zeitung": "zeitungen", "haus": "hausern", "newspaper": "newspapers"} {
		if !slices.Contains(Stems(keyword), stems[word]) {
			t.Errorf("the keyword %s with the stems %q does not find %s with the stem %q", keyword, Stems(keyword), word, stems[word])
		}
	}
}
