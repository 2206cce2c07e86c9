package match

import (
	"slices"

	"github.com/webrace/webrace"
)

// The condition is of the page (of a feed: of the entry, see feed.go), the occasion is what is new: whether a profile's
// conditions hold is judged on the whole page. Who has seen an earlier version is told if what makes them hold stands
// in a block that is new, because none of the versions that they remember had it; or if they come to hold, since on the
// version seen last they did not.

// Last is the version of a page that was seen last.
type Last struct {
	Added []bool               // which blocks of the text it had not; those beyond the end are such
	Went  bool                 // it had a block that the text has not
	Text  func() *webrace.Text // nil for a text that is there no more: then what both have counts for it
}

// occasion decides whether a profile whose conditions hold is told, and of which blocks. p.frequencies are its
// keywords on the page.
func (p *page) occasion(c *Compiled) (among extent, reason Reason) {
	if p.counts[arrivals] == 0 && (p.previous == nil || !p.previous.Went) {
		return additions, NothingNew
	}
	switch counts := p.support(c); {
	case !counts && p.counts[additions] > 0, counts && p.isDue(c):
		return additions, Alerts
	case c.once || p.previous == nil:
	case counts && p.arrives(c):
		if held, _ := p.heldBefore(c); !held && p.comes(c) {
			return arrivals, Alerts
		}
	case c.conditions != nil && c.conditions.negates() && p.previous.Went:
		if _, met := p.heldBefore(c); !met {
			return everything, Alerts
		}
	}
	if p.counts[additions] == 0 {
		return additions, NothingNew
	}
	return additions, NotNew
}

// support finds the keywords that count and make the conditions of the profile hold: where there are groups within
// groups, those that these have use for, or, if there is none, all that the page has. It reports whether any does.
func (p *page) support(c *Compiled) (some bool) {
	p.makes = append(p.makes[:0], make([]bool, len(c.atoms))...)
	mark := func(atom int) {
		if c.atoms[atom].weight > 0 {
			p.makes[atom], some = true, true
		}
	}
	present := func(atom int) bool { return !p.frequencies[atom].zero() }
	if c.conditions != nil {
		c.conditions.supports(present, mark)
	}
	if some {
		return true
	}
	for i := range c.atoms {
		if present(i) {
			mark(i)
		}
	}
	return some
}

// isDue reports whether what is new makes the conditions hold: a keyword that does stands in it, and either it is
// relevant enough by itself, or without it the conditions would not hold. So a word that counts little tells nothing
// on a page that is relevant anyway.
func (p *page) isDue(c *Compiled) bool {
	p.fresh = slices.Grow(p.fresh[:0], len(c.atoms))[:len(c.atoms)]
	found := false
	for i := range c.atoms {
		p.fresh[i] = frequency{}
		if p.makes[i] {
			p.fresh[i] = p.count(&c.atoms[i], additions)
			found = found || !p.fresh[i].zero()
		}
	}
	if !found || relevanceIn(c, p.fresh, len(p.tokens)) > int(c.threshold) {
		return found
	}
	for i := range c.atoms {
		p.fresh[i] = p.frequencies[i].without(p.count(&c.atoms[i], additions))
	}
	_, _, reason := p.holds(c, p.fresh, len(p.tokens))
	return reason != Alerts
}

// arrives reports whether a keyword that makes the conditions hold stands in a block that the last version had not.
func (p *page) arrives(c *Compiled) bool {
	for i := range c.atoms {
		if n := p.count(&c.atoms[i], arrivals); p.makes[i] && !n.zero() {
			return true
		}
	}
	return false
}

// comes reports whether such a keyword stands in a block that is no entry which fell out of its list and is back:
// things are said once, and it is what they say that comes to be.
func (p *page) comes(c *Compiled) bool {
	for i := range c.atoms {
		if !p.makes[i] {
			continue
		}
		for _, s := range p.occurrences(&c.atoms[i], arrivals) {
			block := p.tokens[s.first].Block
			entry := p.text.Blocks[block].Entry
			if entry == 0 || p.text.Entries[entry-1].IsPart() || p.added[block] || slices.Contains(p.before.text.Entries, p.text.Entries[entry-1]) {
				return true
			}
		}
	}
	return false
}

// heldBefore reports whether the conditions of the profile held on the version that was seen last, and whether they
// were met, as far as that is not about relevance.
func (p *page) heldBefore(c *Compiled) (held, met bool) {
	b := p.lastPage()
	met, _, reason := b.holds(c, b.countAll(c, everything), len(b.tokens))
	return reason == Alerts && len(b.text.Blocks) > 0, met
}

// lastPage returns the version that was seen last; of one that is there no more, what this one has of it.
func (p *page) lastPage() *page {
	if p.before == nil {
		text := p.previous.Text()
		if text == nil {
			kept := *p.text
			kept.Blocks = nil
			for i, block := range p.text.Blocks {
				if !p.arrived[i] {
					kept.Blocks = append(kept.Blocks, block)
				}
			}
			text, p.isPart = &kept, true
		}
		p.before = p.openFor(text)
	}
	return p.before
}

// openFor makes another text ready for those who ask about the page.
func (p *page) openFor(text *webrace.Text) *page {
	b := newPage()
	if p.others > 0 {
		b.others, b.wanted, b.views = p.others, p.wanted, append(b.views, p.views...)
		b.wanted.Within(nil)
	}
	return b.open(text, nil, nil)
}
