package match

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/entries"
)

const summaryTokens = 30

// fieldRank decides between windows of equal weight: a title is told by the alert anyway.
var fieldRank = [fields]int{webrace.FieldBody: 3, webrace.FieldHeading: 2, webrace.FieldTitle: 1, webrace.FieldNavigation: 0}

// found is an occurrence of the atom with this index. With its symbols it is the bytes from to to.
type found struct {
	span
	atom     int
	from, to int32
}

// summary returns the part of the page that has the most weight of distinct keywords within 30 tokens of
// a block, with the keywords within «» and white space collapsed. It has at most size bytes, if need be
// by leaving out what is around the keywords. Where no keyword counts, it is what the page begins with.
func (p *page) summary(c *Compiled, among extent, size int) string {
	if size <= 0 {
		return ""
	}
	marks := p.bestWindow(c, p.found(c, among))
	if len(marks) == 0 {
		return p.opening(among, size)
	}
	w := window{page: p, marks: marks}
	w.first, w.last = marks[0].first, marks[0].last
	for _, m := range marks {
		w.last = max(w.last, m.last)
	}
	w.core = span{w.first, w.last}
	w.widen()
	if title := p.partOf(p.tokens[w.first].Block); len(title) > 0 && len(title) <= min(longestTitle, size/2) {
		return string(title) + ": " + w.fit(size-len(title)-len(": "))
	}
	return w.fit(size)
}

// longestTitle is how many bytes a title of a part of a page may have to be told with the text of the part.
const longestTitle = 64

// partOf returns which part of a page a block is of, unless it names that itself; nil if it is of none.
func (p *page) partOf(block int32) []byte {
	blocks, entry := p.text.Blocks, p.text.Blocks[block].Entry
	if entry == 0 || !p.text.Entries[entry-1].IsPart() {
		return nil
	}
	first := block
	for first > 0 && blocks[first-1].Entry == entry {
		first--
	}
	title := first
	for i := first; int(i) < len(blocks) && blocks[i].Entry == entry; i++ {
		if rank := entries.TitleRank(p.text, blocks[i]); rank > entries.TitleRank(p.text, blocks[title]) {
			title = i
		}
	}
	if title == block {
		return nil
	}
	return appendCollapsed(nil, p.text.Slice(blocks[title]))
}

// found returns the occurrences of the keywords that count, in the order of the page.
func (p *page) found(c *Compiled, among extent) (all []found) {
	for i := range c.atoms {
		a := &c.atoms[i]
		if a.weight == 0 {
			continue
		}
		for _, s := range p.occurrences(a, among) {
			f := found{s, i, p.tokens[s.first].Start, p.tokens[s.last].End}
			if a.phrase != nil && a.phrase.near == 0 {
				terms := a.phrase.terms
				f.from -= int32(len(terms[0].before))
				f.to += int32(len(terms[len(terms)-1].after))
			}
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(b.last, a.last), cmp.Compare(a.atom, b.atom))
	})
	return all
}

// bestWindow returns the occurrences within the window with the most weight of distinct keywords; of
// equal ones that in the better field, and of those the first.
func (p *page) bestWindow(c *Compiled, all []found) (best []found) {
	bestWeight, bestRank := 0, 0
	counted := make([]int, len(c.atoms)) // the last window in which an atom was counted, from 1
	for i, start := range all {
		field := p.fieldOf(start.first)
		weight, end := 0, i
		for ; end < len(all) && p.inWindow(start.first, all[end].first); end++ {
			if atom := all[end].atom; counted[atom] != i+1 && p.inWindow(start.first, all[end].last) {
				counted[atom] = i + 1
				weight += int(c.atoms[atom].weight)
			}
		}
		if weight > bestWeight || weight == bestWeight && fieldRank[field] > bestRank {
			best, bestWeight, bestRank = all[i:end], weight, fieldRank[field]
		}
	}
	if len(best) == 0 {
		return nil
	}
	first := best[0].first
	return slices.DeleteFunc(slices.Clone(best), func(f found) bool { return !p.inWindow(first, f.last) })
}

func (p *page) inWindow(first, at int32) bool {
	return at-first < summaryTokens && p.tokens[at].Block == p.tokens[first].Block
}

// window is a stretch of tokens of one block, around a core that has the marks.
type window struct {
	*page
	span
	core  span
	marks []found
}

// widen takes in tokens on both sides in turn, until there are 30 or the block ends.
func (w *window) widen() {
	block := w.tokens[w.first].Block
	can := func(at int32) bool {
		return at >= 0 && int(at) < len(w.tokens) && w.tokens[at].Block == block && w.last-w.first+1 < summaryTokens
	}
	for grown := true; grown; {
		grown = false
		if can(w.last + 1) {
			w.last++
			grown = true
		}
		if can(w.first - 1) {
			w.first--
			grown = true
		}
	}
}

// fit renders the window, after dropping tokens until that has at most size bytes: first those around the
// core, then the end of it, at last part of a word.
func (w *window) fit(size int) string {
	for {
		text := w.render()
		if len(text) <= size {
			return text
		}
		left, right := w.core.first-w.first, w.last-w.core.last
		switch {
		case left > max(right, 0):
			w.first++
		case w.last > w.first:
			w.last--
		default:
			t := w.tokens[w.first]
			text = string(appendCollapsed(nil, w.text.Bytes[t.Start:t.End]))
			return text[:wholeRunes(text, size)]
		}
	}
}

const ellipsis = "…"

// render returns the text of the window. Marks that overlap are drawn as one; one that the window does
// not have in full is not drawn.
func (w *window) render() string {
	block := w.text.Blocks[w.tokens[w.first].Block]
	from, to := int(w.tokens[w.first].Start), int(w.tokens[w.last].End)
	var out []byte
	if w.first > 0 && w.tokens[w.first-1].Block == w.tokens[w.first].Block {
		out = append(out, ellipsis+" "...)
	} else {
		from = int(block.Start)
	}
	cut := int(w.last)+1 < len(w.tokens) && w.tokens[w.last+1].Block == w.tokens[w.last].Block
	if !cut {
		to = int(block.End)
	}
	body := len(out)
	write := func(end int) {
		out = appendBlanked(out, w.text.Bytes[from:max(from, end)])
		from = max(from, end)
	}
	for i := 0; i < len(w.marks); i++ {
		mark := w.marks[i]
		for ; i+1 < len(w.marks) && w.marks[i+1].from < mark.to; i++ {
			mark.last, mark.to = max(mark.last, w.marks[i+1].last), max(mark.to, w.marks[i+1].to)
		}
		if mark.first < w.first || mark.last > w.last {
			continue
		}
		write(int(mark.from))
		out = append(out, "«"...)
		write(int(mark.to))
		out = append(out, "»"...)
	}
	write(to)
	out = append(out[:body], bytes.Trim(out[body:], " ")...)
	if cut {
		out = append(out, " "+ellipsis...)
	}
	return string(out)
}
