package htmltext

import (
	"bytes"
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/hashtable"
)

// A page repeats parts: offers, jobs, news. They are elements of the same name beside one another, in one element,
// and each has a link that none of the others has, by which it is known; a row of a table, and a term with what is
// said of it, may be known by the text that it begins with. Items of lists and articles are parts if there are two
// of them, all else if there are three; boxes (div, section) and links that hold blocks must be of the same classes,
// too.
//
// A part is an entry of the text. What has parts within it is none itself, nor is what stands in navigation.

// frame is what an element has to do with parts.
type frame uint8

const (
	noFrame    frame = iota
	frameAny         // it may have parts
	frameList        // it may have items
	frameTable       // it may have rows, and end tags of what is around it end nothing in it
	frameRows        // it has rows, and ends at the next one
	frameRow         // it ends at the next one
	frameItem        // it ends at the next one
	frameTerm        // with what is said of it, up to the next one
	frameArticle
	frameBox
	frameLink
)

const (
	// maxFrames is how many elements are kept that are open; those within are counted.
	maxFrames = 64
	// mostParts is how many parts a page has, and how many may wait for the end of what they are in.
	mostParts = 8 << 10
	// mostOfPart is how many blocks a part may have, and how many links: what has more is no entry of a list.
	mostOfPart = 32
)

// parts is the work on the parts of a page.
type parts struct {
	open    []openElement
	beyond  int    // how many more are open
	waiting []part // those whose siblings may follow: of the outermost open element first
	anchors []anchor
	link    openElement // the open anchor, if it begins a block
	depth   int         // how many elements were open around it
	runs    uint64
	keys    hashtable.Table // of siblings, and of their run: their numbers
	seams   []int32         // where in the text a part and its link touch
	spare   []byte
}

// openElement is an element that is open.
type openElement struct {
	el            *element
	attributes    int32 // where in the page they are
	block, anchor int32 // the first within it
	waiting       int32 // how many parts waited when it began
	isNone        bool  // it is no part: it has some within, or stands in navigation
}

// part is an element that may be one of several.
type part struct {
	el              *element
	attributes      int32
	block, anchor   int32  // the first within it; then its main anchor, -1 if it has none
	blocks, anchors uint8  // how many it has
	shared          bool   // its key is that of another, too
	key             uint64 // what siblings have in common; and then what tells it from them
}

func (p *parts) reset() parts {
	p.keys.Reset()
	return parts{open: p.open[:0], waiting: p.waiting[:0], anchors: p.anchors[:0], keys: p.keys, seams: p.seams[:0], spare: p.spare[:0]}
}

// openPart takes note that an element begins.
func (s *Scanner) openPart(el *element, attributes int) {
	p := &s.parts
	if el.frame >= frameRows && el.frame <= frameTerm {
		s.endImplied(el.frame)
	}
	if len(p.open) == maxFrames {
		p.beyond++
		return
	}
	p.open = append(p.open, s.begin(el, attributes))
}

func (s *Scanner) begin(el *element, attributes int) openElement {
	p := &s.parts
	begun := len(p.anchors)
	if s.anchorOpen { // around it
		begun--
	}
	return openElement{
		el: el, attributes: int32(attributes), block: int32(len(s.Text.Blocks)), anchor: int32(begun), waiting: int32(len(p.waiting)),
		isNone: s.inside != [3]int{},
	}
}

// endImplied ends those elements whose end tags may be left out in front of one.
func (s *Scanner) endImplied(next frame) {
	p := &s.parts
	for n := len(p.open); n > 0; n-- {
		last := p.open[n-1].el.frame
		if last != next && (next != frameRows || last != frameRow) {
			return
		}
		if s.end(); last == next {
			return
		}
	}
}

// closePart takes note of an end tag.
func (s *Scanner) closePart(el *element) {
	p := &s.parts
	switch {
	case el.frame == frameTerm: // what is said of it follows
		return
	case p.beyond > 0:
		p.beyond--
		return
	}
	for i := len(p.open) - 1; i >= 0; i-- {
		around := p.open[i].el
		if around == el {
			for len(p.open) > i {
				s.end()
			}
			return
		}
		if around.frame == frameTable || around.frame == frameList && el.frame == frameItem {
			return
		}
	}
}

// end ends the innermost element.
func (s *Scanner) end() {
	p := &s.parts
	last := len(p.open) - 1
	e := p.open[last]
	p.open = p.open[:last]
	if last < p.depth { // an anchor that was left open within it is no element of what is around it
		p.link.el = nil
	}
	if s.markParts(p.waiting[e.waiting:]) {
		for i := range p.open {
			p.open[i].isNone = true
		}
		e.isNone = true
	}
	p.waiting = p.waiting[:e.waiting]
	s.wait(&e)
}

// endLink ends an anchor: one that holds blocks is an element as others are.
func (s *Scanner) endLink() {
	p := &s.parts
	e := p.link
	if e.el == nil || len(s.Text.Blocks) == int(e.block) || len(s.Text.Bytes) != s.block || p.depth != len(p.open) || len(p.waiting) < int(e.waiting) {
		return
	}
	p.waiting = p.waiting[:e.waiting]
	s.wait(&e)
}

// wait has an element that has ended wait for its siblings, if it may be a part.
func (s *Scanner) wait(e *openElement) {
	p := &s.parts
	blocks, anchors := len(s.Text.Blocks)-int(e.block), len(p.anchors)-int(e.anchor)
	switch kind := e.el.frame; {
	case e.isNone, kind < frameRow, blocks == 0, blocks > mostOfPart, anchors > mostOfPart, len(p.waiting) == mostParts:
	case anchors > 0, kind == frameRow, kind == frameTerm:
		p.waiting = append(p.waiting, part{
			el: e.el, attributes: e.attributes, block: e.block, blocks: uint8(blocks), anchor: e.anchor, anchors: uint8(anchors),
		})
	}
}

// endParts ends the page.
func (s *Scanner) endParts() {
	for len(s.parts.open) > 0 {
		s.end()
	}
	s.markParts(s.parts.waiting)
	s.openSeams()
}

// markParts makes entries of those of some siblings that are parts.
func (s *Scanner) markParts(siblings []part) (found bool) {
	if len(siblings) < leastAlike(siblings) {
		return false
	}
	alike := true
	for i := range siblings {
		siblings[i].key = s.likeness(&siblings[i])
		alike = alike && siblings[i].key == siblings[0].key
	}
	if alike {
		return s.markAlike(siblings)
	}
	slices.SortFunc(siblings, func(a, b part) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.block, b.block)) })
	for len(siblings) > 0 {
		n := 1
		for n < len(siblings) && siblings[n].key == siblings[0].key {
			n++
		}
		found = s.markAlike(siblings[:n]) || found
		siblings = siblings[n:]
	}
	return found
}

// leastAlike returns how many parts there must be that are alike, if they are as the first one.
func leastAlike(siblings []part) int {
	if len(siblings) > 0 && (siblings[0].el.frame == frameItem || siblings[0].el.frame == frameArticle) {
		return 2
	}
	return 3
}

// likeness returns what is the same of elements that are alike: their name and classes, in any order; 0 if nothing
// is.
func (s *Scanner) likeness(e *part) (sum uint64) {
	if e.el.frame < frameBox {
		return uint64(e.el.frame)
	}
	for class := range bytes.FieldsSeq(attribute(s.src[e.attributes:], "class")) {
		sum += xxhash.Sum64(class)
	}
	if sum != 0 || e.el.frame == frameLink {
		sum += xxhash.Sum64String(e.el.name)
	}
	return sum
}

// markAlike makes entries of elements that are alike, if enough of them have a main link that no other has, or a
// text.
func (s *Scanner) markAlike(alike []part) bool {
	least, kind := leastAlike(alike), alike[0].el.frame
	if len(alike) < least || alike[0].key == 0 {
		return false
	}
	for i := range alike {
		e := &alike[i]
		e.anchor = s.parts.mainAnchor(e.anchor, int32(e.anchors))
		e.key = s.target(e.anchor)
	}
	found := s.parts.tellApart(alike)
	if found < len(alike) && (kind == frameRow || kind == frameTerm) {
		for i := range alike {
			if alike[i].key == 0 {
				alike[i].key = s.beginning(&alike[i])
			}
		}
		found = s.parts.tellApart(alike)
	}
	if found < least || len(s.Text.Entries)+found > mostParts {
		return false
	}
	for i := range alike {
		if alike[i].key != 0 {
			s.markPart(&alike[i])
		}
	}
	return true
}

// tellApart takes away the keys of those that share one, and returns how many have one.
func (p *parts) tellApart(alike []part) (found int) {
	p.runs += 0x9E3779B97F4A7C15
	for i := range alike {
		if first := p.first(alike, i); first < i {
			alike[first].shared, alike[i].shared = true, true
		}
	}
	for i := range alike {
		if alike[i].shared {
			alike[i].key, alike[i].shared = 0, false
		} else if alike[i].key != 0 {
			found++
		}
	}
	return found
}

// first returns the first of some parts that has the key of one, which those before it were asked for.
func (p *parts) first(alike []part, of int) int {
	const few = 16 // that are looked at one by one sooner than looked up
	key := alike[of].key
	switch {
	case key == 0:
		return of
	case len(alike) > few:
		first, _ := p.keys.GetOrSet(key+p.runs, int32(of))
		return int(first)
	}
	for i := range alike[:of] {
		if alike[i].key == key {
			return i
		}
	}
	return of
}

// beginning returns a hash of the text that a row or a term begins with, by which it is known; 0 if it has no other
// text, or if that only counts.
func (s *Scanner) beginning(e *part) uint64 {
	if e.blocks < 2 {
		return 0
	}
	text := s.Text.Slice(s.Text.Blocks[e.block])
	if len(bytes.Trim(text, "#().0123456789 ")) == 0 {
		return 0
	}
	return xxhash.Sum64(text) | 1
}

// markPart makes an entry of a part, known by its key.
func (s *Scanner) markPart(e *part) {
	s.Text.Entries = append(s.Text.Entries, webrace.Entry{Link: e.key})
	for i := e.block; i < e.block+int32(e.blocks); i++ {
		s.Text.Blocks[i].Entry = int32(len(s.Text.Entries))
	}
	if e.anchor < 0 {
		return
	}
	a := &s.parts.anchors[e.anchor]
	if a.touches {
		s.parts.seams = append(s.parts.seams, a.start)
	}
	if a.isTouched {
		s.parts.seams = append(s.parts.seams, a.end)
	}
}

// openSeams puts a blank where a part and its link would be read as one word: they are fields, and shown apart.
func (s *Scanner) openSeams() {
	p := &s.parts
	if len(p.seams) == 0 {
		return
	}
	slices.Sort(p.seams)
	text, out, seams, anchors := s.Text.Bytes, slices.Grow(p.spare[:0], len(s.Text.Bytes)+len(p.seams)), p.seams, p.anchors
	from, moved := int32(0), int32(0)
	move := func(to int32) {
		for ; len(anchors) > 0 && anchors[0].end <= to; anchors = anchors[1:] {
			anchors[0].start, anchors[0].end = anchors[0].start+moved, anchors[0].end+moved
		}
	}
	for i := range s.Text.Blocks {
		b := &s.Text.Blocks[i]
		start, end := b.Start, b.End
		b.Start += moved
		for ; len(seams) > 0 && seams[0] < end; seams = seams[1:] {
			if at := seams[0]; at > max(start, from) && inWord(text[:at], text[at:]) {
				move(at)
				out = append(append(out, text[from:at]...), ' ')
				from, moved = at, moved+1
			}
		}
		b.End += moved
	}
	move(int32(len(text)))
	s.Text.Bytes, p.spare = append(out, text[from:]...), text
}

// inWord reports whether a text goes on, behind its beginning, within a word.
func inWord(beginning, rest []byte) bool {
	last, _ := utf8.DecodeLastRune(beginning)
	next, _ := utf8.DecodeRune(rest)
	return isOfWord(last) && isOfWord(next)
}

func isOfWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
