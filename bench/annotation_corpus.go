package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/analyze"
	"github.com/webrace/webrace/internal/htmltext"
)

// documentation are the packages whose pages are matched, and where these are.
var documentation = []struct{ name, files string }{
	{"python3.11-doc", "/usr/share/doc/python3.11/html"},
	{"postgresql-doc-15", "/usr/share/doc/postgresql-doc-15/html"},
}

// typicalBytes is the size of the page that stands for all in most rows.
const typicalBytes = 70_000

// corpus is the pages, and the words that the profiles are made of.
type corpus struct {
	what    string   // for people
	pages   [][]byte // HTML
	texts   []*webrace.Text
	typical int // the index of the page nearest to typicalBytes

	words  []string // ASCII, folded, no stop words
	tokens []int32  // the words of all pages in their order; -1 between blocks and for any other word
	rare   []int32  // words on at most one page in rarePages
	pairs  []int32  // tokens that another follows
	// rarePairs are those of which either is rare.
	rarePairs []int32
}

const rarePages = 100

// loadCorpus reads so many pages of the documentation, evenly spread, or makes some up.
func loadCorpus(b *bench, most int, real bool) (*corpus, error) {
	c := new(corpus)
	if real {
		if err := c.readDocumentation(b, most); err != nil {
			return nil, err
		}
	}
	if len(c.pages) == 0 {
		c.what = "generated pages"
		made := makePages()
		for _, path := range slices.Sorted(maps.Keys(made))[:min(most, len(made))] {
			c.pages = append(c.pages, made[path])
		}
	}
	for i, page := range c.pages {
		if distance(int64(len(page))) < distance(int64(len(c.pages[c.typical]))) {
			c.typical = i
		}
		c.texts = append(c.texts, textOf(page))
	}
	c.readWords()
	if len(c.rarePairs) == 0 {
		return nil, errors.New("the pages have no rare words next to one another")
	}
	return c, nil
}

func distance(bytes int64) int64 { return max(bytes-typicalBytes, typicalBytes-bytes) }

func textOf(page []byte) *webrace.Text {
	var s htmltext.Scanner
	s.Scan(page)
	return &s.Text
}

func (c *corpus) readDocumentation(b *bench, most int) error {
	var files []documentationPage
	for _, d := range documentation {
		found, err := pagesOf(b, d.name, d.files)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			c.what = strings.TrimPrefix(c.what+" and "+d.name, " and ")
		}
		files = append(files, found...)
	}
	for _, file := range evenly(files, most) {
		page, err := os.ReadFile(file.path)
		if err != nil {
			return err
		}
		c.pages = append(c.pages, page)
	}
	return nil
}

type documentationPage struct {
	path string
	size int64
}

// evenly returns at most so many of the files, among them the typical one.
func evenly(files []documentationPage, most int) (chosen []documentationPage) {
	most = min(most, len(files))
	typical := 0
	for i, file := range files {
		if distance(file.size) < distance(files[typical].size) {
			typical = i
		}
	}
	for i := range most {
		first, next := i*len(files)/most, (i+1)*len(files)/most
		if first <= typical && typical < next {
			first = typical
		}
		chosen = append(chosen, files[first])
	}
	return chosen
}

// pagesOf lists the pages of a package, which it installs if it may.
func pagesOf(b *bench, name, root string) (files []documentationPage, err error) {
	if _, err := os.Stat(root); err != nil && os.Geteuid() == 0 {
		b.note("annotation: installing %s", name)
		if out, err := exec.Command("apt-get", "install", "-y", "-q", name).CombinedOutput(); err != nil {
			b.note("annotation: %s could not be installed: %v: %s", name, err, lastLine(out))
		}
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		b.note("annotation: %s is left out, because it is not installed", name)
		return nil, nil
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".html") {
			return err
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() && info.Size() > 2_000 && info.Size() < 400_000 {
			files = append(files, documentationPage{path, info.Size()})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the pages of %s: %w", name, err)
	}
	return files, nil
}

// readWords finds the words of the pages, how rare they are and which follow one another.
func (c *corpus) readWords() {
	numbers := make(map[string]int32)
	var pages, latest []int32 // by word: how many it is on, and the latest of them
	for p, text := range c.texts {
		for _, block := range text.Blocks {
			analyze.Words(text.Slice(block), func(_, _ int, folded []byte) bool {
				word, known := numbers[string(folded)]
				if !known {
					if word = -1; worthAsking(folded) {
						word = int32(len(c.words))
						c.words = append(c.words, string(folded))
						pages, latest = append(pages, 0), append(latest, -1)
					}
					numbers[string(folded)] = word
				}
				if word >= 0 && latest[word] != int32(p) {
					pages[word]++
					latest[word] = int32(p)
				}
				c.tokens = append(c.tokens, word)
				return true
			})
			c.tokens = append(c.tokens, -1)
		}
	}
	isRare := func(word int32) bool { return int(pages[word]) <= max(1, len(c.texts)/rarePages) }
	for word := range int32(len(c.words)) {
		if isRare(word) {
			c.rare = append(c.rare, word)
		}
	}
	for i := range c.tokens[1:] {
		first, second := c.tokens[i], c.tokens[i+1]
		if first < 0 || second < 0 || first == second {
			continue
		}
		c.pairs = append(c.pairs, int32(i))
		if isRare(first) || isRare(second) {
			c.rarePairs = append(c.rarePairs, int32(i))
		}
	}
}

// worthAsking reports whether somebody might have the word in a profile. All rivals agree on what a word of
// ASCII is.
func worthAsking(folded []byte) bool {
	letter := false
	for _, c := range folded {
		if c >= 0x80 {
			return false
		}
		letter = letter || c >= 'a'
	}
	return letter && len(folded) > 2 && !analyze.IsStopWord(string(folded))
}

// interest is a profile before anybody's syntax.
type interest struct {
	all      bool // of the keywords are asked for, instead of any
	keywords []wish
}

// wish is a keyword: a word, or a phrase of two with a blank between.
type wish struct {
	key    string
	weight int
}

// workload makes up what people are interested in.
type workload struct {
	name string
	word func(*corpus, *rand.Rand) string
	pair func(*corpus, *rand.Rand) (first, second int32)
}

// workloads: of the words that people ask for, most are on few pages or on none; but there are those who ask
// for what is everywhere.
var workloads = []workload{
	{"rare", func(c *corpus, r *rand.Rand) string {
		if r.IntN(5) < 2 {
			return inventName(r)
		}
		return c.words[c.rare[r.IntN(len(c.rare))]]
	}, func(c *corpus, r *rand.Rand) (int32, int32) { return c.pairAt(c.rarePairs[r.IntN(len(c.rarePairs))]) }},
	{"zipf", func(c *corpus, r *rand.Rand) string {
		first, _ := c.pairAt(c.pairs[r.IntN(len(c.pairs))])
		return c.words[first]
	}, func(c *corpus, r *rand.Rand) (int32, int32) { return c.pairAt(c.pairs[r.IntN(len(c.pairs))]) }},
}

func (c *corpus) pairAt(token int32) (first, second int32) {
	return c.tokens[token], c.tokens[token+1]
}

// inventName returns a name that the pages do not have.
func inventName(r *rand.Rand) string {
	const consonants, vowels = "bcdfghklmnprstvz", "aeiou"
	name := make([]byte, 0, 12)
	for range 4 {
		name = append(name, consonants[r.IntN(len(consonants))], vowels[r.IntN(len(vowels))])
	}
	return string(append(name, "xq"...))
}

// interests yields what so many people are interested in, the same for the same workload. One in five asks
// for two or three things together, the others for any of three to five. If phrases are asked for, one
// keyword in seven is one.
func (w *workload) interests(c *corpus, n int, phrases bool, yield func(number int, i *interest) error) error {
	r := rand.New(rand.NewPCG(4, uint64(len(w.name))))
	for number := range n {
		i := interest{all: r.IntN(5) == 0}
		wanted := 3 + r.IntN(3)
		if i.all {
			wanted = 2 + r.IntN(2)
		}
		for len(i.keywords) < wanted {
			var key string
			if phrases && r.IntN(7) == 0 {
				first, second := w.pair(c, r)
				key = c.words[first] + " " + c.words[second]
			} else {
				key = strings.Clone(w.word(c, r)) // nobody's keyword shares memory with another's
			}
			if !slices.ContainsFunc(i.keywords, func(k wish) bool { return k.key == key }) {
				i.keywords = append(i.keywords, wish{key, 1 + r.IntN(5)})
			}
		}
		if err := yield(number, &i); err != nil {
			return err
		}
	}
	return nil
}
