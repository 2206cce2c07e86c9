package analyze

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
)

// Words shorter or longer than this are their own stems: the short ones are names and abbreviations more
// often than words, the long ones are no words at all.
const (
	shortestStemmed = 3
	longestStemmed  = 48
)

// foreign marks the stems of words in Latin letters by the rules of any language but English. Without it,
// a keyword like printer would find print in English texts, because that is its stem in German.
const foreign = "~"

// rules stem the words of a language by Snowball's algorithm, release 2.2, held against the vocabularies of that
// release: the stem of each word of them is theirs, folded. Portuguese plurals, which they take for verbs, are made
// singular before, and Dutch stems that differ in their last letter alone are one. Dutch has no accents that decide
// anything. The algorithms are of [snowballstem], which is older, and differs in French words with ë or ï: see
// [stemFrench].
type rules struct {
	stem          func(*snowballstem.Env) bool
	accents       string   // of its alphabet; those of other languages are folded before
	before, after []ending // of a word and its stem; the first that fits is changed
}

// ending is what a word may end in, and what is put in its place.
type ending struct{ is, becomes string }

func respell(word string, endings []ending) string {
	for _, e := range endings {
		if rest, ok := strings.CutSuffix(word, e.is); ok {
			return rest + e.becomes
		}
	}
	return word
}

var rulesOf = [languages]rules{
	English: {stem: english.Stem},
	German:  {stem: german.Stem, accents: "äöüéç"},
	French:  {stem: stemFrench, accents: "àâçèéêëîïôùûü"},
	Spanish: {stem: spanish.Stem, accents: "áéíóúüñ"},
	Italian: {stem: italian.Stem, accents: "àèéìíñòóù"},
	Portuguese: {stem: portuguese.Stem, accents: "áâãàçèéêëíîñóôõúü", before: []ending{
		{"ões", "ão"}, {"ães", "ão"}, {"éis", "el"}, {"óis", "ol"}, {"ais", "al"}, {"uis", "ul"}, {"ns", "m"},
	}},
	Dutch: {stem: dutch.Stem, after: []ending{
		{"bb", "b"}, {"ff", "f"}, {"gg", "g"}, {"ll", "l"}, {"mm", "m"}, {"nn", "n"}, {"pp", "p"}, {"rr", "r"}, {"ss", "s"},
		{"v", "f"}, {"z", "s"},
	}},
	Russian: {stem: russian.Stem},
}

var stemmers = sync.Pool{New: func() any { return snowballstem.NewEnv("") }}

// apply returns the folded stem of a word.
func (r *rules) apply(spelt string) string {
	env := stemmers.Get().(*snowballstem.Env)
	defer stemmers.Put(env)
	env.SetCurrent(respell(withoutAccents(spelt, r.accents), r.before))
	r.stem(env)
	return respell(withoutAccents(env.Current(), ""), r.after)
}

// StemIn returns the stem of a word of a text in the language, as the word is spelt: folded, but for accents, which
// decide what rules apply (abandonnée, abandonne) and are folded afterwards. A word in another script than the
// language's is stemmed as if it were English, Greek or Russian. What is no word of any of our languages is folded. It
// is safe for concurrent use.
func StemIn(language Language, spelt string) string {
	folded := withoutAccents(spelt, "")
	if len(folded) < shortestStemmed || len(folded) > longestStemmed {
		return folded
	}
	switch scriptOf(folded) {
	case latin:
		if l := language.ofLatinWords(); l != English {
			return rulesOf[l].apply(spelt) + foreign
		}
		return rulesOf[English].apply(folded)
	case greek:
		return stemGreek(folded)
	case cyrillic:
		return rulesOf[Russian].apply(folded)
	}
	return folded
}

// Stem returns the stem of a word of a text whose language is unknown.
func Stem(spelt string) string { return StemIn(Unknown, spelt) }

// Stems returns the stems that a word has in all the languages of its script, without repetition, that of [Stem]
// first; to be read only. A keyword has no language: it is found where a word has one of its stems. So it finds itself
// whatever the language of a text, and in English texts nothing but what its English stem finds. And it may be
// written without its accents, or with them where a text has none: the stems of either spelling are among them, and so
// are those of forms that Snowball's rules leave apart (see [kindred]).
func Stems(spelt string) []string { return known(spelt).stems }

func stemsOf(spelt string) []string {
	stems := []string{Stem(spelt)}
	folded := withoutAccents(spelt, "")
	if len(folded) < shortestStemmed || len(folded) > longestStemmed || scriptOf(folded) != latin {
		return stems
	}
	for _, l := range latinLanguages[1:] {
		for _, form := range spellings(l, spelt, folded) {
			if stem := StemIn(l, form); !slices.Contains(stems, stem) {
				stems = append(stems, stem)
			}
		}
	}
	return stems
}

// knownWord is what is remembered of a word.
type knownWord struct {
	spelt  string
	stems  []string
	hashes []uint64
	begin  Beginning
}

// knownWords has a place for each hash; of the words that fall on the same the latest is kept.
var knownWords [1 << 15]atomic.Pointer[knownWord]

func known(spelt string) *knownWord {
	place := &knownWords[Hash([]byte(spelt))%uint64(len(knownWords))]
	if known := place.Load(); known != nil && known.spelt == spelt {
		return known
	}
	found := &knownWord{spelt: strings.Clone(spelt), begin: BeginningOf(withoutAccents(spelt, ""))}
	found.stems = slices.Clip(stemsOf(found.spelt))
	for _, stem := range found.stems {
		found.hashes = append(found.hashes, Hash([]byte(stem)))
		found.begin = found.begin.Shared(beginningOfStem(stem))
	}
	found.hashes = slices.Clip(found.hashes)
	place.Store(found)
	return found
}

// StemHashes returns the hashes of Stems, to be read only, and how all words begin that have one of them. A million
// profiles ask for few different words: those of one word share the list.
func StemHashes(spelt string) ([]uint64, Beginning) {
	w := known(spelt)
	return w.hashes, w.begin
}

// stemCache maps the hash of a word to that of its stem, since stemming a word costs as much as reading a
// hundred. It is of fixed size; of the words that fall on the same line the latest are kept.
type stemCache struct {
	lines []stemLine
	words scanner
}

type stemLine [4]struct{ spelling, stem uint64 }

const stemCacheBits = 13

// get returns the hash of the stem of a word in a language, given the hash of its spelling, salted with the language,
// and where it stands.
func (c *stemCache) get(language Language, spelling uint64, text []byte, start, end int) uint64 {
	if c.lines == nil {
		c.lines = make([]stemLine, 1<<stemCacheBits)
	}
	line := &c.lines[spelling>>(64-stemCacheBits)]
	for i := range line {
		if line[i].spelling == spelling && line[i].stem != 0 {
			return line[i].stem
		}
	}
	c.words.reset(text, start, end)
	c.words.next()
	copy(line[1:], line[:])
	line[0].spelling, line[0].stem = spelling, Hash([]byte(StemIn(language, string(c.words.spelling()))))
	return line[0].stem
}

// stemFrench is Snowball's algorithm as it is since release 2.0, when ë and ï began to count as vowels apart from the
// one before: H stands between them, as in its text. The verbs in -ir take nothing off behind it (haïr).
func stemFrench(env *snowballstem.Env) bool {
	word := env.Current()
	if !strings.ContainsAny(word, "ëï") {
		return french.Stem(env)
	}
	marked := strings.ReplaceAll(word, "ë", "He")
	if i := strings.LastIndex(marked, "ï"); i > 1 && slices.Contains(frenchVerbs, marked[i+len("ï"):]) {
		marked = strings.ReplaceAll(marked[:i], "ï", "Hi") + marked[i:]
	} else {
		marked = strings.ReplaceAll(marked, "ï", "Hi")
	}
	env.SetCurrent(marked)
	done := french.Stem(env)
	env.SetCurrent(unmarkFrench.Replace(env.Current()))
	return done
}

// frenchVerbs are the endings of verbs in -ir behind their i.
var frenchVerbs = append(strings.Fields(`e es r ra rai raient rais rait ras rent rez riez rions rons ront s ssaient ssais ssait
	ssant ssante ssantes ssants sse ssent sses ssez ssiez ssions ssons t`), "")

var unmarkFrench = strings.NewReplacer("He", "ë", "Hi", "ï", "H", "")
