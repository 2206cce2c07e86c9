package match

import "slices"

// verdict is what came of matching a page with a profile.
type verdict struct {
	among     extent // what it is told of
	shown     extent // what it is shown: the same, or all entries of which it is told of some
	entry     int32  // of a feed: the entry that the relevance and the reason are those of; 0 if it is of no particular one
	words     int    // of that entry, or of the page
	relevance int
	reason    Reason
}

// judge matches the page with the profile: the whole of it, and with additions it tells only what is new; a feed entry
// by entry. It leaves the occurrences of the profile's keywords in p.frequencies.
func (p *page) judge(c *Compiled, among extent) verdict {
	if p.text.Feed && len(c.atoms) > 0 {
		return p.judgeEntries(c, among)
	}
	v := verdict{among: among, words: len(p.tokens)}
	_, v.relevance, v.reason = p.holds(c, p.countAll(c, everything), v.words)
	switch {
	case p.counts[everything] == 0:
		v.reason, v.relevance = NothingNew, 0
	case among == additions && v.reason == Alerts:
		v.among, v.reason = p.occasion(c)
	}
	v.shown = v.among
	return v
}

// countAll tells how often each atom of the profile occurs in each field of the blocks looked at, in p.frequencies.
func (p *page) countAll(c *Compiled, among extent) []frequency {
	p.frequencies = slices.Grow(p.frequencies[:0], len(c.atoms))[:len(c.atoms)]
	for i := range c.atoms {
		p.frequencies[i] = p.count(&c.atoms[i], among)
	}
	return p.frequencies
}

// holds reports whether keywords that occur so often in a text of so many words meet the conditions of the profile, and
// to what relevance; and what follows from both.
func (p *page) holds(c *Compiled, occurs []frequency, words int) (met bool, relevance int, reason Reason) {
	if relevance = relevanceIn(c, occurs, words); len(c.atoms) == 0 {
		relevance = 100
	}
	met = p.meets(c, occurs)
	switch {
	case !met:
		reason = ConditionUnmet
	case len(c.atoms) > 0 && relevance <= int(c.threshold):
		reason = NotRelevant
	default:
		reason = Alerts
	}
	return met, relevance, reason
}

// relevanceIn is that of keywords which occur so often in a text of so many words.
func relevanceIn(c *Compiled, occurs []frequency, words int) int {
	half, rest := halfway(words), 1.0
	for i := range c.atoms {
		rest *= 1 - contribution(c.atoms[i].weight, saturation(occurs[i].evidence(), half))
	}
	return relevance(rest)
}

// meets reports whether keywords that occur so often meet the conditions of the profile.
func (p *page) meets(c *Compiled, occurs []frequency) (holds bool) {
	present := func(atom int) bool { return !occurs[atom].zero() }
	if c.conditions == nil {
		for i := range c.atoms {
			if present(i) {
				return true
			}
		}
		return false
	}
	holds, p.stack = c.conditions.holds(present, p.stack)
	return holds
}

// matchedBlocks returns the blocks in which the keywords that count occur, in ascending order. If there
// are none, and the profile alerts all the same, every block looked at gave rise to that.
func (p *page) matchedBlocks(c *Compiled, among extent) (blocks []int32) {
	for i := range c.atoms {
		if c.atoms[i].weight == 0 {
			continue
		}
		for _, s := range p.occurrences(&c.atoms[i], among) {
			if block := p.tokens[s.first].Block; len(blocks) == 0 || blocks[len(blocks)-1] != block {
				blocks = append(blocks, block)
			}
		}
	}
	if len(blocks) == 0 {
		for b := range int32(len(p.text.Blocks)) {
			if p.looksAt(b, among) {
				blocks = append(blocks, b)
			}
		}
	}
	slices.Sort(blocks)
	return slices.Compact(blocks)
}
