package match

import "slices"

// verdict is what came of matching a page with a profile.
type verdict struct {
	among     selection
	relevance int
	reason    Reason
}

// judge matches the page with the profile. It leaves the occurrences of the profile's keywords in
// p.tallies.
func (p *page) judge(c *Compiled, among selection) verdict {
	v := verdict{among: among}
	p.tallies = slices.Grow(p.tallies[:0], len(c.atoms))[:len(c.atoms)]
	half, rest := halfway(len(p.tokens)), 1.0
	for i := range c.atoms {
		p.tallies[i] = p.count(&c.atoms[i], among)
		rest *= 1 - contribution(c.atoms[i].weight, saturation(p.tallies[i].evidence(), half))
	}
	if v.relevance = relevance(rest); len(c.atoms) == 0 {
		v.relevance = 100
	}
	var holds bool
	holds, p.stack = c.gate.holds(func(atom int) bool { return !p.tallies[atom].zero() }, p.stack)
	switch {
	case p.counts[among] == 0:
		v.reason, v.relevance = NothingNew, 0
	case !holds:
		v.reason = ConditionUnmet
	case len(c.atoms) > 0 && v.relevance <= c.threshold:
		v.reason = NotRelevant
	default:
		v.reason = Alerts
	}
	return v
}

// matchedBlocks returns the blocks in which the keywords that count occur, in ascending order. If there
// are none, and the profile alerts all the same, every block looked at gave rise to that.
func (p *page) matchedBlocks(c *Compiled, among selection) (blocks []int32) {
	for i := range c.atoms {
		if c.atoms[i].weight == 0 {
			continue
		}
		for s := range p.occurrences(&c.atoms[i], among) {
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
