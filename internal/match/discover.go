package match

// Who has seen an earlier version of a page is told of what is new, but whether that is worth it depends on all of the
// page. So the words that are new lead to the profiles that ask for any of their keywords: those that the rest of the
// page leads to have nothing to be told, and cost nothing. Profiles with groups may wait under a keyword that has not
// arrived, or for one that has left; so to those the words of the whole page lead. Of a feed, all that they ask for is
// in one entry that has arrived. Who is found so is judged by itself.

// discover begins to match the page with the profiles of the segment that are told only what is new.
func (p *page) discover(s *segment) {
	c := &p.scoring
	p.findAtoms(s, arrivals)
	c.arrived, c.present = c.present, c.arrived
	for i := range c.arrived {
		if a := &c.arrived[i]; a.frequency.zero() {
			a.at = a.end
		}
	}
	if s.judges {
		if p.text.Feed {
			c.present = append(c.present, c.arrived...)
		} else {
			p.findAtoms(s, everything)
		}
		p.weigh()
	}
}

// lead goes through the postings of the block, when n profiles have been met, and returns how many it met.
func (c *scoring) lead(s *segment, end uint32, n int) int {
	for i := range c.arrived {
		n = c.block.multiply(s.postings, &c.arrived[i], &unknowns, end, n)
	}
	for i := range c.present {
		if a := &c.present[i]; s.atoms[a.atom].judges {
			n = c.block.leadToJudged(s.postings, a, end, n)
		}
	}
	return n
}

// unknowns make every rest unknown.
var unknowns = func() (f factors) {
	for i := range f {
		f[i] = unknown
	}
	return f
}()

// leadToJudged is multiply for the profiles that one keyword settles nothing of.
func (b *block) leadToJudged(postings []uint32, a *present, end uint32, n int) int {
	for ; a.at < a.end && postings[a.at] < end; a.at++ {
		profile, how := postings[a.at]>>weightBits, postings[a.at]%(1<<weightBits)
		if rest := &b.rest[profile%blockSize]; (how == judged || how == united) && *rest == 1 {
			*rest = unknown
			b.met[n] = profile
			n++
		}
	}
	return n
}

// hasArrived reports whether a member of a profile that asks for all of them has arrived.
func (c *scoring) hasArrived(member uint32) bool {
	if c.news.Len() == 0 {
		for i := range c.arrived {
			if !c.arrived[i].frequency.zero() {
				c.news.Set(hashOf(c.arrived[i].atom), int32(i))
			}
		}
	}
	_, has := c.news.Get(hashOf(member >> weightBits))
	return has
}
