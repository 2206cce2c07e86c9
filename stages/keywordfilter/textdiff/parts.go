package textdiff

import (
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/entries"
	"github.com/webrace/webrace/internal/normalform"
)

// Of the parts of two pages, those are the same that have one link, and the title too, unless that is new; and then
// those of one title, as where links are others at each request. Of the rest, what has a block that the other page
// has not, or is there more often, is shown as one; the blocks of others stand for themselves.

// The number of a part, in place of one that it has in common with a part of another page.
const (
	apart = 0  // its blocks stand for themselves
	alone = -1 // it is shown as one
)

// parts are those of a text.
type parts struct {
	text    *webrace.Text
	forms   []string // of its blocks
	blocks  map[string]bool
	titles  []string // of its entries
	content []string // of its entries
	alike   map[string]int
	numbers []int // of its entries
}

// pairParts returns the numbers of the parts of two texts, by those of their entries.
func pairParts(old, now *webrace.Text) (inOld, inNow []int) {
	if old == nil || !slices.ContainsFunc(old.Entries, webrace.Entry.IsPart) && !slices.ContainsFunc(now.Entries, webrace.Entry.IsPart) {
		return nil, make([]int, len(now.Entries))
	}
	before, after := partsOf(old), partsOf(now)
	links := func(p *parts, i int) any { return p.text.Entries[i].Link }
	titles := func(p *parts, i int) any { return p.titles[i] }
	last := pairBy(links, before, after, 0, func(i, j int) bool {
		return before.titles[i] == after.titles[j] || !before.blocks[after.titles[j]]
	})
	pairBy(titles, before, after, last, func(int, int) bool { return true })
	before.findAlone(after)
	after.findAlone(before)
	return before.numbers, after.numbers
}

func partsOf(t *webrace.Text) *parts {
	n := len(t.Entries)
	p := &parts{text: t, blocks: make(map[string]bool), titles: make([]string, n), content: make([]string, n), alike: make(map[string]int), numbers: make([]int, n)}
	ranks := make([]int, n)
	for block, b := range t.Blocks {
		form := normalform.String(comparedOf(t, block))
		p.forms, p.blocks[form] = append(p.forms, form), true
		if b.Entry == 0 || form == "" {
			continue
		}
		i := b.Entry - 1
		if rank := 1 + entries.TitleRank(t, b); rank > ranks[i] {
			p.titles[i], ranks[i] = form, rank
		}
		p.content[i] += form + "\x00"
	}
	for i, e := range t.Entries {
		if e.IsPart() {
			p.alike[p.content[i]]++
		}
	}
	return p
}

// pairBy numbers, from the last number on, those of the parts without one that have something in common, which no
// other has, and are the same.
func pairBy(by func(*parts, int) any, before, after *parts, last int, same func(i, j int) bool) int {
	inOld, inNow := before.only(by), after.only(by)
	for j := range after.text.Entries {
		what := by(after, j)
		if only, has := inNow[what]; !has || only != j {
			continue
		}
		if i, has := inOld[what]; has && i >= 0 && same(i, j) {
			last++
			before.numbers[i], after.numbers[j] = last, last
		}
	}
	return last
}

// only returns the parts without a number by what they have; -1 where several have it.
func (p *parts) only(by func(*parts, int) any) map[any]int {
	found := make(map[any]int)
	for i, e := range p.text.Entries {
		if !e.IsPart() || p.numbers[i] != apart {
			continue
		}
		if _, had := found[by(p, i)]; had {
			found[by(p, i)] = -1
		} else {
			found[by(p, i)] = i
		}
	}
	return found
}

// findAlone finds which of the parts without a number are shown as one, beside another text.
func (p *parts) findAlone(other *parts) {
	for i, b := range p.text.Blocks {
		if b.Entry > 0 && p.numbers[b.Entry-1] == apart && !other.blocks[p.forms[i]] {
			p.numbers[b.Entry-1] = alone
		}
	}
	for i, content := range p.content {
		if had := other.alike[content]; p.numbers[i] == apart && had > 0 && p.alike[content] > had {
			p.numbers[i] = alone
		}
	}
}
