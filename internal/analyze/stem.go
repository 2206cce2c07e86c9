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

// rules stem the words of a language. Snowball's rules speak of accents that folded words have lost, and
// take nouns for verbs: some endings are changed before they are applied, and in Dutch also afterwards.
type rules struct {
	stem          func(*snowballstem.Env) bool
	before, after []ending // of each the first that fits is changed: the longest stand first
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
	German:  {stem: german.Stem},
	French: {stem: french.Stem, before: []ending{
		{"ieres", "ière"}, {"erent", "èrent"}, {"iere", "ière"}, {"ees", "ée"}, {"ee", "ée"},
		{"glais", "glaise"}, {"cais", "caise"}, {"dais", "daise"}, {"gais", "gaise"}, {"nais", "naise"}, // no imperfects
	}},
	Spanish: {stem: spanish.Stem, before: []ending{
		{"logias", "logía"}, {"logia", "logía"}, {"acion", "ación"}, {"ucion", "ución"},
		{"dades", "dad"}, {"as", "a"}, {"os", "o"},
	}},
	Italian: {stem: italian.Stem, before: []ending{
		{"ana", "ano"}, {"ane", "ano"}, {"ani", "ano"}, // since ano is taken for a plural of verbs
	}},
	Portuguese: {stem: portuguese.Stem, before: []ending{
		{"encias", "ência"}, {"encia", "ência"}, {"acoes", "ação"}, {"ucoes", "ução"}, {"acao", "ação"}, {"ucao", "ução"},
		{"gues", "guesa"}, {"oes", "ao"}, {"aes", "ao"}, {"ais", "al"}, {"eis", "el"}, {"ois", "ol"}, {"uis", "ul"}, {"ns", "m"},
	}},
	Dutch: {stem: dutch.Stem, after: []ending{
		{"bb", "b"}, {"ff", "f"}, {"gg", "g"}, {"ll", "l"}, {"mm", "m"}, {"nn", "n"}, {"pp", "p"}, {"rr", "r"}, {"ss", "s"},
		{"v", "f"}, {"z", "s"},
	}},
	Russian: {stem: russian.Stem},
}

var stemmers = sync.Pool{New: func() any { return snowballstem.NewEnv("") }}

func (r *rules) apply(folded string) string {
	env := stemmers.Get().(*snowballstem.Env)
	defer stemmers.Put(env)
	env.SetCurrent(respell(folded, r.before))
	r.stem(env)
	stem := respell(env.Current(), r.after)
	if len(r.before) > 0 {
		return Fold(stem)
	}
	return stem
}

// StemIn returns the stem of a folded word of a text in the language. A word in another script than the
// language's is stemmed as if it were English, Greek or Russian. What is no word of any of our languages
// is its own stem. It is safe for concurrent use.
func StemIn(language Language, folded string) string {
	if len(folded) < shortestStemmed || len(folded) > longestStemmed {
		return folded
	}
	switch scriptOf(folded) {
	case latin:
		if l := language.ofLatinWords(); l != English {
			return rulesOf[l].apply(folded) + foreign
		}
		return rulesOf[English].apply(folded)
	case greek:
		return stemGreek(folded)
	case cyrillic:
		return rulesOf[Russian].apply(folded)
	}
	return folded
}

// Stem returns the stem of a folded word of a text whose language is unknown.
func Stem(folded string) string { return StemIn(Unknown, folded) }

// Stems returns the stems that a folded word has in all the languages of its script, without repetition,
// that of [Stem] first. A keyword has no language: it is found where a word has one of its stems. So it
// finds itself whatever the language of a text, and in English texts nothing but what its English stem finds.
func Stems(folded string) []string {
	stems := []string{Stem(folded)}
	if len(folded) < shortestStemmed || len(folded) > longestStemmed || scriptOf(folded) != latin {
		return stems
	}
	for _, l := range latinLanguages[1:] {
		if stem := StemIn(l, folded); !slices.Contains(stems, stem) {
			stems = append(stems, stem)
		}
	}
	return stems
}

// stemsOfWord is what StemHashes remembers of a word.
type stemsOfWord struct {
	word   string
	hashes []uint64
	begin  Beginning
}

// stemsOfWords has a place for each hash; of the words that fall on the same the latest is kept.
var stemsOfWords [1 << 15]atomic.Pointer[stemsOfWord]

// StemHashes returns the hashes of Stems, to be read only, and how all words begin that have one of them. A million
// profiles ask for few different words: those of one word share the list.
func StemHashes(folded string) ([]uint64, Beginning) {
	place := &stemsOfWords[Hash([]byte(folded))%uint64(len(stemsOfWords))]
	if known := place.Load(); known != nil && known.word == folded {
		return known.hashes, known.begin
	}
	found := &stemsOfWord{word: strings.Clone(folded), begin: BeginningOf(folded)}
	for _, stem := range Stems(folded) {
		found.hashes = append(found.hashes, Hash([]byte(stem)))
		found.begin = found.begin.Shorter(beginningOfStem(stem))
	}
	found.hashes = slices.Clip(found.hashes)
	place.Store(found)
	return found.hashes, found.begin
}

// stemCache maps the hash of a word to that of its stem, since stemming a word costs as much as reading a
// hundred. It is of fixed size; of the words that fall on the same line the latest are kept.
type stemCache struct {
	lines []stemLine
	words scanner
}

type stemLine [4]struct{ surface, stem uint64 }

const stemCacheBits = 13

// get returns the hash of the stem of a word in a language, given its hash and where it stands.
func (c *stemCache) get(language Language, surface uint64, text []byte, start, end int) uint64 {
	if c.lines == nil {
		c.lines = make([]stemLine, 1<<stemCacheBits)
	}
	surface ^= language.salt()
	line := &c.lines[surface>>(64-stemCacheBits)]
	for i := range line {
		if line[i].surface == surface && line[i].stem != 0 {
			return line[i].stem
		}
	}
	c.words.reset(text, start, end)
	c.words.next()
	copy(line[1:], line[:])
	line[0].surface, line[0].stem = surface, Hash([]byte(StemIn(language, string(c.words.folded()))))
	return line[0].stem
}
