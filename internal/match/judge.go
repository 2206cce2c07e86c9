package match

import "slices"

// verdict is what came of matching a page with a profile.
type verdict struct {
	among     extent
	relevance int
	reason    Reason
}

// judge matches the page with the profile. It leaves the occurrences of the profile's keywords in
// p.frequencies.
func (p *page) judge(c *Compiled, among extent) verdict {
	v := verdict{among: among}
	p.frequencies = slices.Grow(p.frequencies[:0], len(c.atoms))[:len(c.atoms)]
	half, rest := halfway(len(p.tokens)), 1.0
	for i := range c.atoms {
		p.frequencies[i] = p.count(&c.atoms[i], among)
		rest *= 1 - contribution(c.atoms[i].weight, saturation(p.frequencies[i].evidence(), half))
	}
	if v.relevance = relevance(rest); len(c.atoms) == 0 {
		v.relevance = 100
	}
	switch {
	case p.counts[among] == 0:
		v.reason, v.relevance = NothingNew, 0
	case !p.meets(c):
		v.reason = ConditionUnmet
	case len(c.atoms) > 0 && v.relevance <= int(c.threshold):
		v.reason = NotRelevant
	default:
		v.reason = Alerts
	}
	return v
}

// meets reports whether the page meets the conditions of the profile, as p.frequencies has it.
func (p *page) meets(c *Compiled) (holds bool) {
	present := func(atom int) bool { return !p.frequencies[atom].zero() }
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
