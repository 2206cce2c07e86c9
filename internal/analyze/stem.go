package analyze

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// Words shorter or longer than this are their own stems: the short ones are names and abbreviations more
// often than words, the long ones are no words at all.
const (
	shortestStemmed = 3
	longestStemmed  = 48
)

var stemmers = sync.Pool{New: func() any { return snowballstem.NewEnv("") }}

// Stem returns the stem of a folded word: by the Snowball rules for English if it consists of the letters
// a to z, without the endings of Greek nouns and adjectives if it consists of Greek letters, and
// otherwise the word itself. It is safe for concurrent use.
func Stem(folded string) string {
	if len(folded) < shortestStemmed || len(folded) > longestStemmed {
		return folded
	}
	switch {
	case within(folded, 'a', 'z'):
		env := stemmers.Get().(*snowballstem.Env)
		defer stemmers.Put(env)
		env.SetCurrent(folded)
		english.Stem(env)
		return env.Current()
	case within(folded, 'α', 'ω'):
		return stemGreek(folded)
	}
	return folded
}

func within(word string, first, last rune) bool {
	for _, r := range word {
		if r < first || r > last {
			return false
		}
	}
	return true
}

// greekEndings are the inflections of nouns and adjectives, folded, the longest first.
var greekEndings = []string{
	"ιουσ",
	"ιων", "ιασ", "ιεσ", "ιοσ", "ιου", "ιοι", "ουσ", "εων", "εωσ", "εισ",
	"ια", "ιο", "ων", "ασ", "εσ", "ησ", "οσ", "ου", "οι",
	"α", "ε", "η", "ι", "ο", "ω",
}

// greekOblique are the endings that neuters in -μα take after the μ in all cases but one.
var greekOblique = []string{"ατα", "ατων", "ατοσ"}

const shortestGreekStem = 3 // in letters

func stemGreek(word string) string {
	for _, ending := range greekOblique {
		if stem, ok := strings.CutSuffix(word, ending); ok && strings.HasSuffix(stem, "μ") && longEnough(stem) {
			return stem
		}
	}
	for _, ending := range greekEndings {
		if stem, ok := strings.CutSuffix(word, ending); ok && longEnough(stem) {
			return stem
		}
	}
	return word
}

func longEnough(stem string) bool { return utf8.RuneCountInString(stem) >= shortestGreekStem }

// stemCache maps the hash of a word to that of its stem, since stemming a word costs as much as reading a
// hundred. It is of fixed size; of the words that fall on the same line the latest are kept.
type stemCache struct {
	lines []stemLine
	words scanner
}

type stemLine [4]struct{ surface, stem uint64 }

const stemCacheBits = 13

// get returns the hash of the stem of a word, given its hash and where it stands.
func (c *stemCache) get(surface uint64, text []byte, start, end int) uint64 {
	if c.lines == nil {
		c.lines = make([]stemLine, 1<<stemCacheBits)
	}
	line := &c.lines[surface>>(64-stemCacheBits)]
	for i := range line {
		if line[i].surface == surface && line[i].stem != 0 {
			return line[i].stem
		}
	}
	c.words.reset(text, start, end)
	c.words.next()
	copy(line[1:], line[:])
	line[0].surface, line[0].stem = surface, Hash([]byte(Stem(string(c.words.folded()))))
	return line[0].stem
}
