package match

import "slices"

// verdict is what came of matching a page with a profile.
type verdict struct {
	among     extent
	relevance int
	reason    Reason
}

// judge matches the page with the profile: the whole of it, and with additions it tells only what is new. It leaves the
// occurrences of the profile's keywords on the page in p.frequencies.
func (p *page) judge(c *Compiled, among extent) verdict {
	v := verdict{among: among}
	p.frequencies = slices.Grow(p.frequencies[:0], len(c.atoms))[:len(c.atoms)]
	for i := range c.atoms {
		p.frequencies[i] = p.count(&c.atoms[i], everything)
	}
	_, v.relevance, v.reason = p.holds(c, p.frequencies)
	switch {
	case p.counts[everything] == 0:
		v.reason, v.relevance = NothingNew, 0
	case among == additions && v.reason == Alerts:
		v.among, v.reason = p.occasion(c)
	}
	return v
}

// holds reports whether keywords that occur so often meet the conditions of the profile, and to what relevance; and
// what follows from both.
func (p *page) holds(c *Compiled, occurs []frequency) (met bool, relevance int, reason Reason) {
	if relevance = p.relevance(c, occurs); len(c.atoms) == 0 {
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

// relevance is that of keywords which occur so often on a page as long as this one.
func (p *page) relevance(c *Compiled, occurs []frequency) int {
	half, rest := halfway(len(p.tokens)), 1.0
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
