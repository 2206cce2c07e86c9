package match

import "github.com/webrace/webrace/internal/hashtable"

// scoring is the room for matching a page with a segment. Between pages, all scores are zero.
type scoring struct {
	scores     []float32 // by profile: what has been added up, or toJudge
	touched    []uint32  // profiles with a score
	present    []present
	shared     hashtable.Table // the index of an atom among those present, if several keys lead to it
	index      []uint32        // by atom: one more than its index among those present, in segments with members
	surface    tally           // of a word that stands in blocks of several languages
	candidates []uint32        // profiles
	parts      []float32       // their scores
	looked     int             // profiles that a keyword of the page led to, or that it cannot be ruled out for
}

// present is an atom that the page has: what is left of its postings, and what each weight contributes.
type present struct {
	atom          uint32
	at, end       uint32
	tally         tally
	contributions [1 << weightBits]float32
}

// Scores that have not been added up.
const (
	toJudge = -1 // the profile must be judged by itself
	toUnite = -2 // the profile's members must be looked up
)

// blockBits is how many profiles are scored at a time: their scores stay in the processor's cache.
const blockBits = 15

// candidatesOf returns the profiles of the segment that the page may alert, each once, and what their
// relevance adds up to, as parts of 1; toJudge for those that must be judged. None that alerts is missing.
// The slices are valid until the next call.
func (p *page) candidatesOf(s *segment, among selection) (profiles []uint32, parts []float32) {
	c := &p.scoring
	c.candidates, c.parts, c.present, c.looked = c.candidates[:0], c.parts[:0], c.present[:0], 0
	if p.counts[among] == 0 {
		return nil, nil
	}
	p.findAtoms(s, among)
	p.weigh()
	postings := 0
	for i := range c.present {
		postings += int(c.present[i].end - c.present[i].at)
	}
	if len(c.scores) < len(s.profiles) {
		c.scores = make([]float32, len(s.profiles))
	}
	c.indexPresent(s)
	if postings < len(s.profiles)/16 {
		c.scoreFew(s)
	} else {
		c.scoreMany(s)
	}
	c.forgetPresent(s)
	return c.candidates, c.parts
}

func (c *scoring) indexPresent(s *segment) {
	if s.from == nil {
		return
	}
	if len(c.index) < len(s.atoms) {
		c.index = make([]uint32, len(s.atoms))
	}
	for i := range c.present {
		c.index[c.present[i].atom] = uint32(i) + 1
	}
}

func (c *scoring) forgetPresent(s *segment) {
	for i := range c.present {
		if s.from != nil {
			c.index[c.present[i].atom] = 0
		}
	}
}

// weigh computes what each atom present contributes, by weight. One that a key has promised, and that does
// not occur where it may, leads nowhere.
func (p *page) weigh() {
	half := halfway(len(p.tokens))
	for i := range p.scoring.present {
		a := &p.scoring.present[i]
		if a.tally.zero() {
			a.at = a.end
			continue
		}
		s := saturation(a.tally.evidence(), half)
		for weight := uint8(1); weight <= mostWeight; weight++ {
			a.contributions[weight] = float32(contribution(weight, s))
		}
	}
}

// scoreFew goes through the postings atom by atom, and remembers which profiles it met.
func (c *scoring) scoreFew(s *segment) {
	c.touched = append(c.touched[:0], s.always...)
	for _, profile := range s.always {
		c.scores[profile] = toJudge
	}
	for i := range c.present {
		a := &c.present[i]
		for _, posting := range s.postings[a.at:a.end] {
			profile := posting >> weightBits
			score := c.scores[profile]
			if score == 0 {
				c.touched = append(c.touched, profile)
			}
			c.scores[profile] = scored(score, posting, a)
		}
	}
	for _, profile := range c.touched {
		c.settle(s, profile, c.scores[profile])
		c.scores[profile] = 0
	}
}

// scored adds a posting to a score.
func scored(score float32, posting uint32, a *present) float32 {
	if score < 0 {
		return score
	}
	switch weight := posting & (1<<weightBits - 1); weight {
	case judged:
		return toJudge
	case united:
		return toUnite
	default:
		return score + a.contributions[weight]*(1-score)
	}
}

// unite returns the score of a profile that asks for all its members: 0 if one is absent.
func (c *scoring) unite(s *segment, profile uint32) (score float32) {
	for _, member := range s.members[s.from[profile]:s.from[profile+1]] {
		at := c.index[member>>weightBits]
		if at == 0 || c.present[at-1].tally.zero() {
			return 0
		}
		score += c.present[at-1].contributions[member&(1<<weightBits-1)] * (1 - score)
	}
	return score
}

// scoreMany goes through the postings a block of profiles at a time.
func (c *scoring) scoreMany(s *segment) {
	always := s.always
	for from := 0; from < len(s.profiles); from += 1 << blockBits {
		to := min(from+1<<blockBits, len(s.profiles))
		for i := range c.present {
			a := &c.present[i]
			for end := uint32(to) << weightBits; a.at < a.end && s.postings[a.at] < end; a.at++ {
				posting := s.postings[a.at]
				score := &c.scores[posting>>weightBits]
				*score = scored(*score, posting, a)
			}
		}
		for ; len(always) > 0 && int(always[0]) < to; always = always[1:] {
			c.scores[always[0]] = toJudge
		}
		for i, score := range c.scores[from:to] {
			if score != 0 {
				c.settle(s, uint32(from+i), score)
			}
		}
		clear(c.scores[from:to])
	}
}

// settle makes a candidate of a profile whose score is high enough.
func (c *scoring) settle(s *segment, profile uint32, score float32) {
	c.looked++
	if score == toUnite {
		score = c.unite(s, profile)
	}
	if score == toJudge || score >= s.least[profile]-slack {
		c.candidates = append(c.candidates, profile)
		c.parts = append(c.parts, score)
	}
}
