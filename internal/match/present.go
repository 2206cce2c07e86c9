package match

// findAtoms finds the atoms of the segment that occur on the page.
func (p *page) findAtoms(s *segment, among extent) {
	p.scoring.shared.Reset()
	for i := range p.stems {
		if n := &p.stems[i].count[among]; !n.zero() {
			s.keys.each(keyOf(byStem, p.stems[i].hash), func(atom uint32) { p.meet(s, atom, n, among) })
		}
	}
	if s.uses.words {
		p.findWords(s, among)
	}
	if s.uses.pairs {
		p.findPairs(s, among)
	}
	if s.uses.prefixes != 0 || s.uses.grams {
		p.findParts(s, among)
	}
}

func (p *page) findWords(s *segment, among extent) {
	for i := range p.words {
		w := &p.words[i]
		if w.again {
			continue
		}
		if n := p.countSurface(w, among); !n.zero() {
			s.keys.each(keyOf(byWord, w.Surface), func(atom uint32) { p.meet(s, atom, n, among) })
		}
	}
}

// countSurface counts a word together with the earlier ones of the same surface. The count is valid until
// the next call.
func (p *page) countSurface(w *word, among extent) *frequency {
	if w.same < 0 {
		return &w.count[among]
	}
	n := &p.scoring.surface
	*n = w.count[among]
	for same := w.same; same >= 0; same = p.words[same].same {
		n.add(&p.words[same].count[among])
	}
	return n
}

// findPairs looks at every two tokens that follow one another in a block.
func (p *page) findPairs(s *segment, among extent) {
	for i := 1; i < len(p.tokens); i++ {
		x, y := &p.tokens[i-1], &p.tokens[i]
		if x.Block != y.Block || !p.looksAt(y.Block, among) || p.others > 0 && (x.Word == 0 || y.Word == 0) {
			continue
		}
		key := keyOfPair(p.words[x.Word].Stem, p.words[y.Word].Stem)
		if y.Start < x.End {
			key = keyOfOverlap(p.words[x.Word].Stem, p.words[y.Word].Stem)
		}
		once := &single[p.text.Blocks[y.Block].Field]
		s.keys.each(key, func(atom uint32) { p.meet(s, atom, once, among) })
	}
}

// single counts one occurrence in each field.
var single = [fields]frequency{{0: 1}, {1: 1}, {2: 1}, {3: 1}}

// findParts looks at the beginnings of words, and at all that is within them.
func (p *page) findParts(s *segment, among extent) {
	for i := range p.words {
		if p.words[i].count[among].zero() {
			continue
		}
		s.uses.eachPart([]byte(p.folded(int32(i))), func(key uint64) bool {
			s.keys.each(key, func(atom uint32) { p.meet(s, atom, nil, among) })
			return true
		})
	}
}

// meet takes note of an atom one of whose keys the page has so many times. If that settles nothing, it
// looks for the atom itself.
func (p *page) meet(s *segment, number uint32, n *frequency, among extent) {
	a, c := &s.atoms[number], &p.scoring
	if a.shared {
		i, met := c.shared.GetOrSet(hashOf(number), int32(len(c.present)))
		if met {
			if a.phrase < 0 {
				more := n.only(a.within)
				c.present[i].frequency.add(&more)
			}
			return
		}
	}
	var count frequency
	if a.phrase < 0 {
		count = n.only(a.within)
	} else if count = p.count(s.phrases[a.phrase], among); count.zero() && !a.shared {
		return
	}
	c.present = append(c.present, present{atom: number, at: a.from, end: s.atoms[number+1].from, frequency: count})
}
