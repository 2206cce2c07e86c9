package match

import (
	"crypto/sha256"
	"iter"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/analyze"
	"github.com/webrace/webrace/internal/hashtable"
)

// page is a text made ready to look keywords up in, with room for the work on one profile after the
// other. It is reused from text to text.
type page struct {
	analyzer analyze.Analyzer
	text     *webrace.Text
	added    []bool // as long as the text has blocks
	counts   [selections]int

	tokens []analyze.Token
	later  []int32 // the next token of the same word, -1 if none
	words  []word
	byWord hashtable.Table // words by surface
	byStem hashtable.Table // the last word of each stem

	spellings  []string             // folded forms of words, once asked for
	expansions map[spelling][]int32 // words by prefix and part, once asked for
	digests    []webrace.Digest     // of blocks, once asked for

	visited []uint32 // by number of entry, the last round of visits it was in
	round   uint32
	tallies []tally // of the atoms of the profile at hand
	stack   []bool
	hits    []hit
}

// word is one of the distinct words of a page.
type word struct {
	analyze.Word
	last     int32 // its last token
	sameStem int32 // an earlier word of the same stem, -1 if none
	count    [selections]tally
}

type spelling struct {
	kind kind
	text string
}

// selection says which blocks of a page are looked at.
type selection uint8

const (
	everything selection = iota
	additions
	selections = int(additions) + 1
)

func selected(onlyAdded bool) selection {
	if onlyAdded {
		return additions
	}
	return everything
}

var pages = sync.Pool{New: func() any { return &page{expansions: map[spelling][]int32{}} }}

// largestKept is the number of tokens above which a page's room is not kept for the next one.
const largestKept = 1 << 18

func openPage(text *webrace.Text, added []bool) *page {
	p := pages.Get().(*page)
	p.text = text
	p.added = p.added[:0]
	p.counts = [selections]int{len(text.Blocks), 0}
	for i := range text.Blocks {
		isNew := i >= len(added) || added[i]
		p.added = append(p.added, isNew)
		if isNew {
			p.counts[additions]++
		}
	}
	p.countWords()
	return p
}

func (p *page) close() {
	if cap(p.tokens) > largestKept {
		return
	}
	p.text = nil
	clear(p.spellings)
	clear(p.expansions)
	pages.Put(p)
}

func (p *page) countWords() {
	a := p.analyzer.Analyze(p.text)
	p.tokens, p.later, p.words = a.Tokens, slices.Grow(p.later[:0], len(a.Tokens))[:len(a.Tokens)], p.words[:0]
	p.byWord.Reset()
	p.byStem.Reset()
	for i, w := range a.Words {
		p.byWord.Set(w.Surface, int32(i))
		older, known := p.byStem.Set(w.Stem, int32(i))
		if !known {
			older = -1
		}
		p.words = append(p.words, word{Word: w, last: w.First, sameStem: older})
	}
	for i := range a.Tokens {
		t := &a.Tokens[i]
		w := &p.words[t.Word]
		p.later[w.last], p.later[i] = int32(i), -1
		w.last = int32(i)
		field := p.text.Blocks[t.Block].Field
		w.count[everything][field]++
		if p.added[t.Block] {
			w.count[additions][field]++
		}
	}
	p.spellings = append(p.spellings[:0], make([]string, len(p.words))...)
	p.digests = append(p.digests[:0], make([]webrace.Digest, len(p.text.Blocks))...)
}

func (p *page) fieldOf(token int32) webrace.Field { return p.text.Blocks[p.tokens[token].Block].Field }

// folded returns the folded form of a word.
func (p *page) folded(word int32) string {
	if p.spellings[word] == "" {
		t := p.tokens[p.words[word].First]
		analyze.Words(p.text.Bytes[t.Start:t.End], func(_, _ int, folded []byte) bool {
			p.spellings[word] = string(folded)
			return false
		})
	}
	return p.spellings[word]
}

// wordsOf returns the words that the term matches, symbols aside.
func (p *page) wordsOf(t *term) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		switch t.kind {
		case inflected:
			if w, ok := p.byStem.Get(t.hash); ok {
				for ; w >= 0 && yield(w); w = p.words[w].sameStem {
				}
			}
		case exact:
			if w, ok := p.byWord.Get(t.hash); ok {
				yield(w)
			}
		default:
			for _, w := range p.expand(t) {
				if !yield(w) {
					return
				}
			}
		}
	}
}

// expand returns the words that begin with the term, or have it in them.
func (p *page) expand(t *term) []int32 {
	what := spelling{t.kind, t.text}
	found, known := p.expansions[what]
	if !known {
		for w := range int32(len(p.words)) {
			if t.spelled(p.folded(w)) {
				found = append(found, w)
			}
		}
		p.expansions[what] = found
	}
	return found
}

func (t *term) spelled(folded string) bool {
	if t.kind == prefix {
		return strings.HasPrefix(folded, t.text)
	}
	return strings.Contains(folded, t.text)
}

// tokensOf returns the tokens that the term matches, word by word, symbols aside.
func (p *page) tokensOf(t *term) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for w := range p.wordsOf(t) {
			for at := p.words[w].First; at >= 0; at = p.later[at] {
				if !yield(at) {
					return
				}
			}
		}
	}
}

func (p *page) looksAt(block int32, among selection) bool {
	return among == everything || p.added[block]
}

// digest returns the digest of a set of blocks: that of their texts' digests in ascending order.
func (p *page) digest(blocks []int32) webrace.Digest {
	sums := make([]webrace.Digest, len(blocks))
	for i, b := range blocks {
		if p.digests[b] == (webrace.Digest{}) {
			p.digests[b] = sha256.Sum256(appendCollapsed(nil, p.text.Slice(p.text.Blocks[b])))
		}
		sums[i] = p.digests[b]
	}
	return digestOfSet(sums)
}

func (p *page) startVisits(numbers int) {
	if len(p.visited) < numbers {
		p.visited = append(p.visited, make([]uint32, numbers-len(p.visited))...)
	}
	if p.round++; p.round == 0 {
		clear(p.visited)
		p.round = 1
	}
}

func (p *page) firstVisit(number uint32) bool {
	first := p.visited[number] != p.round
	p.visited[number] = p.round
	return first
}

// wholeRunes returns the length of the longest prefix of s that has at most n bytes and ends with a
// character.
func wholeRunes(s string, n int) int {
	if n >= len(s) {
		return len(s)
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}
