package match

import (
	"crypto/sha256"
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
	arrived  []bool // as long, too
	counts   [extents]int
	returns  bool        // some blocks that arrived are none that were added
	previous *Last       // nil if nothing is known of it
	before   *page       // its text, once asked for
	isPart   bool        // it has but what this one has of it
	entries  []feedEntry // of a feed, once asked for; the first one stands for the blocks that are of none
	chosen   []int32     // of these

	wanted  analyze.Wanted // the words that those ask for who are asked
	others  int            // 1 if the page is confined to these, and the first word is all others; otherwise 0
	views   []*View        // that ask for words by all their profiles
	onlyNew bool           // nobody asks for words of blocks that have not arrived

	tokens   []analyze.Token
	surfaces []uint64 // of the tokens: hashes of their folded forms
	later    []int32  // the next token of the same word, -1 if none
	words    []word
	stems    []stem
	byWord   hashtable.Table // the last word of each surface
	byStem   hashtable.Table // stems

	spellings  []string             // folded forms of words, once asked for
	expansions map[spelling][]int32 // words by prefix and part, once asked for
	digests    []webrace.Digest     // of blocks, once asked for
	latest     identity             // the last that was asked for
	prints     [extents]*Shown      // once asked for

	frequencies []frequency // of the atoms of the profile at hand
	fresh       []frequency // of those, in the blocks that are new
	makes       []bool      // which of them make its conditions hold
	stack       []bool
	within      []entryHit
	matching    []int32 // words
	hits        []hit
	spans       []span
	scoring     scoring
}

// word is one of the distinct words of a page.
type word struct {
	analyze.Word
	last  int32 // its last token
	stem  int32
	same  int32 // an earlier word of the same surface, -1 if none: its block is in another language
	again bool  // there is a later one
	next  int32 // an earlier word of the same stem, -1 if none
	count [counted]frequency
}

// stem is one of the distinct stems of a page's words.
type stem struct {
	hash  uint64
	last  int32 // the last of its words
	count [counted]frequency
}

type spelling struct {
	kind kind
	text string
}

// extent determines which blocks of a page are looked at.
type extent uint8

const (
	everything extent = iota
	arrivals          // the blocks that the version which was seen last had not
	additions         // of these, the blocks that none of the versions which are remembered had
	chosen            // the blocks of the entries of a feed that the profile at hand is told of
	counted    = int(arrivals) + 1
	extents    = int(chosen) + 1
)

func extentOf(onlyAdded bool) extent {
	if onlyAdded {
		return additions
	}
	return everything
}

var pages = sync.Pool{New: func() any { return &page{expansions: map[spelling][]int32{}} }}

// largestKept is the number of tokens above which a page's room is not kept for the next one.
const largestKept = 1 << 18

// openPage makes a text ready for whatever keywords.
func openPage(text *webrace.Text, added []bool) *page { return newPage().open(text, added, nil) }

// openPageFor makes it ready for those of a profile.
func openPageFor(c *Compiled, text *webrace.Text, added []bool) *page {
	p := newPage()
	p.want(c)
	return p.open(text, added, nil)
}

func newPage() *page {
	p := pages.Get().(*page)
	p.others, p.onlyNew = 0, false
	return p
}

// confine confines the page to words that are still to be told.
func (p *page) confine() {
	if p.others == 0 {
		p.wanted.Reset()
		p.others = 1
	}
}

// want confines the page, before it is opened, to the words of this profile and of others that it is called with. That
// changes nothing for them, but that most of the text needs to be counted alone.
func (p *page) want(c *Compiled) {
	p.confine()
	for i := range c.atoms {
		a := &c.atoms[i]
		if a.phrase == nil {
			p.wanted.Add(a.begin)
			continue
		}
		for j := range a.phrase.terms {
			p.wanted.Add(a.phrase.terms[j].begin)
		}
	}
}

func (p *page) open(text *webrace.Text, added []bool, last *Last) *page {
	p.text, p.previous = text, last
	p.added, p.arrived = p.added[:0], p.arrived[:0]
	p.counts = [extents]int{everything: len(text.Blocks)}
	for i := range text.Blocks {
		added := isNew(text, i, added)
		arrived := added || last != nil && isNew(text, i, last.Added)
		p.added, p.arrived = append(p.added, added), append(p.arrived, arrived)
		if added {
			p.counts[additions]++
		}
		if arrived {
			p.counts[arrivals]++
		}
	}
	p.returns, p.entries = p.counts[additions] < p.counts[arrivals], p.entries[:0]
	p.chosen = p.chosen[:0]
	p.countWords()
	p.dismiss()
	return p
}

// isNew reports whether a block is new, as flags mark. Beyond their end those are that are compared at all.
func isNew(text *webrace.Text, block int, flags []bool) bool {
	if block < len(flags) {
		return flags[block]
	}
	b := &text.Blocks[block]
	return !b.Aside || b.Entry != 0
}

func (p *page) close() {
	if p.before != nil {
		p.before.close()
	}
	clear(p.views)
	p.views, p.previous, p.before, p.isPart = p.views[:0], nil, nil, false
	if cap(p.tokens) > largestKept {
		return
	}
	p.text, p.latest, p.prints = nil, identity{}, [extents]*Shown{}
	clear(p.spellings)
	clear(p.expansions)
	pages.Put(p)
}

// unasked is the spelling of the words that no profile asks for: no term has it.
const unasked = "\x00"

// countWords finds the words and their stems, and counts both by field.
func (p *page) countWords() {
	var wanted *analyze.Wanted
	if p.others > 0 {
		wanted = &p.wanted
		if p.onlyNew {
			wanted.Within(p.arrived)
		}
	}
	a := p.analyzer.AnalyzeFor(wanted, p.text)
	p.tokens, p.surfaces, p.words = a.Tokens, a.Surfaces, p.words[:0]
	p.later = slices.Grow(p.later[:0], len(a.Tokens))[:len(a.Tokens)]
	for _, w := range a.Words {
		p.words = append(p.words, word{Word: w, last: w.First, same: -1, next: -1})
	}
	everyBlock := p.counts[arrivals] == len(p.text.Blocks)
	for _, i := range a.Wanted {
		t := &a.Tokens[i]
		w := &p.words[t.Word]
		p.later[w.last], p.later[i] = i, -1
		w.last = i
		field := p.text.Blocks[t.Block].Field
		w.count[everything][field]++
		if !everyBlock && p.arrived[t.Block] {
			w.count[arrivals][field]++
		}
	}
	p.countStems(everyBlock)
	p.spellings = append(p.spellings[:0], make([]string, len(p.words))...)
	if p.others > 0 {
		p.spellings[0] = unasked
	}
	p.digests = append(p.digests[:0], make([]webrace.Digest, len(p.text.Blocks))...)
}

func (p *page) countStems(everyBlock bool) {
	p.stems = p.stems[:0]
	p.byWord.Reset()
	p.byStem.Reset()
	for i := p.others; i < len(p.words); i++ {
		w := &p.words[i]
		if everyBlock {
			w.count[arrivals] = w.count[everything]
		}
		if older, known := p.byWord.Set(w.Surface, int32(i)); known {
			w.same, p.words[older].again = older, true
		}
		var known bool
		if w.stem, known = p.byStem.GetOrSet(w.Stem, int32(len(p.stems))); !known {
			p.stems = append(p.stems, stem{hash: w.Stem, last: -1})
		}
		s := &p.stems[w.stem]
		w.next, s.last = s.last, int32(i)
		for among := range s.count {
			s.count[among].add(&w.count[among])
		}
	}
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

// wordsOf returns the words that the term matches, symbols aside. They are valid until the next call of
// this or of its like.
func (p *page) wordsOf(t *term) []int32 {
	switch t.kind {
	case inflected:
		return p.wordsOfStems(t.stems)
	case exact:
		return p.wordsSpelled(t.hash)
	}
	return p.expand(t)
}

func (p *page) wordsOfStems(stems []uint64) []int32 {
	p.matching = p.matching[:0]
	for _, hash := range stems {
		if s, ok := p.byStem.Get(hash); ok {
			for w := p.stems[s].last; w >= 0; w = p.words[w].next {
				p.matching = append(p.matching, w)
			}
		}
	}
	return p.matching
}

func (p *page) wordsSpelled(hash uint64) []int32 {
	p.matching = p.matching[:0]
	if w, ok := p.byWord.Get(hash); ok {
		for ; w >= 0; w = p.words[w].same {
			p.matching = append(p.matching, w)
		}
	}
	return p.matching
}

// expand returns the words that begin with the term, or have it in them.
func (p *page) expand(t *term) []int32 {
	what := spelling{t.kind, t.text}
	found, known := p.expansions[what]
	if !known {
		for w := int32(p.others); int(w) < len(p.words); w++ {
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

func (p *page) looksAt(block int32, among extent) bool {
	switch among {
	case everything:
		return true
	case arrivals:
		return p.arrived[block]
	case chosen:
		return p.entries[p.text.Blocks[block].Entry].chosen
	}
	return p.added[block]
}

// identity is what identifies the text of a set of blocks.
type identity struct {
	blocks []int32
	digest webrace.Digest
}

// identify returns the digest of a set of blocks. Many who are told of a page are told of the same ones.
func (p *page) identify(blocks []int32) webrace.Digest {
	if p.latest.blocks == nil || !slices.Equal(blocks, p.latest.blocks) {
		p.latest = identity{blocks, p.digest(blocks)}
	}
	return p.latest.digest
}

// digest returns the digest of a set of blocks: that of their texts' digests in ascending order.
func (p *page) digest(blocks []int32) webrace.Digest {
	sums := make([]webrace.Digest, len(blocks))
	var buffer []byte
	for i, b := range blocks {
		if p.digests[b] == (webrace.Digest{}) {
			p.digests[b] = sha256.Sum256(compared(&buffer, p.text.Slice(p.text.Blocks[b])))
		}
		sums[i] = p.digests[b]
	}
	return digestOfSet(sums)
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
