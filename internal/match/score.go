package match

import (
	"math"
	"math/bits"
	"slices"

	"github.com/webrace/webrace/internal/hashtable"
)

// scoring is the room for matching a page with a segment.
//
// What is left of a profile's relevance, the product of all 1 − contribution, is its rest. It is 1 if nothing was met,
// and unknown if it cannot be multiplied up from postings.
type scoring struct {
	present []present
	factors []factors       // of those present
	shared  hashtable.Table // the index of an atom among those present, if several keys lead to it
	surface frequency       // of a word that stands in blocks of several languages

	*block
	end        uint32          // the profiles from here on are still to come
	always     []uint32        // of these, the profiles that no page can be ruled out for
	candidates []uint32        // profiles of the block that the page may alert, each once; none that alerts is missing
	rests      []float32       // theirs
	looked     int             // profiles of the block that a keyword of the page led to, or that it cannot be ruled out for
	members    hashtable.Table // the index of every atom among those present, once a profile has asked for its members

	bounds    bool            // rests are no more than those of any entry of a feed, each of which is judged by itself
	discovers bool            // see discover
	arrived   []present       // then, the atoms that have arrived
	news      hashtable.Table // them, once a profile has asked for its members
}

// block is room for the profiles that are scored at a time. It is used for one block after the other, so that it stays
// in the processor's cache however many profiles there are.
type block struct {
	rest [blockSize]float32    // between blocks, all are 1
	met  [blockSize + 1]uint32 // the last one is written to, and never counted
	left [blockSize]float32
}

const (
	blockBits = 15
	blockSize = 1 << blockBits
)

func newBlock() *block {
	b := new(block)
	for i := range b.rest {
		b.rest[i] = 1
	}
	return b
}

// present is an atom that the page has, and what is left of its postings.
type present struct {
	atom      uint32
	at, end   uint32
	frequency frequency
}

// factors are what postings multiply rests by, by weight.
type factors [1 << weightBits]float32

// unknown is no number, and so is what it is multiplied by.
var unknown = float32(math.NaN())

func isUnknown(rest float32) bool { return rest != rest }

// mostRests has the rest that an alert leaves at most, by threshold, and the slack.
var mostRests = func() (most [1 << 8]float32) {
	for threshold := AnyRelevance; threshold <= 100; threshold++ {
		most[uint8(threshold)] = 1 - leastFor(threshold) + slack
	}
	return most
}()

// leastFor returns the least part of 1 that rounds to a relevance above the threshold.
func leastFor(threshold int) float32 { return max(float32(threshold)+0.5, 0.1) / 100 }

// score begins to match the page with the segment: next goes on to the candidates.
func (p *page) score(s *segment, among extent) {
	c := &p.scoring
	c.present, c.arrived, c.end, c.always = c.present[:0], c.arrived[:0], uint32(len(s.profiles)), nil
	c.members.Reset()
	c.news.Reset()
	c.discovers, c.bounds = among == additions, p.text.Feed
	switch {
	case p.counts[everything] == 0, c.discovers && p.counts[arrivals] == 0 && !(s.judges && p.previous != nil && p.previous.Went):
		return
	case c.block == nil:
		c.block = newBlock()
	}
	if c.discovers {
		p.discover(s)
	} else {
		p.findAtoms(s, everything)
		p.weigh()
	}
	c.always, c.end = s.always, 0
}

// weigh computes what each atom present multiplies rests by. One that a key has promised, and that does not occur
// where it may, leads nowhere.
func (p *page) weigh() {
	c := &p.scoring
	half := halfway(len(p.tokens))
	if c.bounds {
		half = halfway(0) // an entry has few words
	}
	c.factors = slices.Grow(c.factors[:0], len(c.present))[:len(c.present)]
	for i := range c.present {
		a, f := &c.present[i], &c.factors[i]
		if a.frequency.zero() {
			a.at = a.end
			continue
		}
		s := saturation(a.frequency.evidence(), half)
		for weight := uint8(1); weight <= mostWeight; weight++ {
			f[weight] = float32(1 - contribution(weight, s))
		}
		f[judged], f[united] = unknown, unknown
	}
}

// next goes on to the candidates of the next block that has any, and reports whether there is one. They are valid
// until it is called again.
func (c *scoring) next(s *segment) bool {
	for c.candidates = c.candidates[:0]; len(c.candidates) == 0; {
		if int(c.end) == len(s.profiles) {
			return false
		}
		c.end = min(c.end+blockSize, uint32(len(s.profiles)))
		c.settle(s, c.multiplyAll(s))
	}
	return true
}

// multiplyAll goes through the postings of the block, and returns how many profiles it met.
func (c *scoring) multiplyAll(s *segment) (n int) {
	b := c.block
	for ; len(c.always) > 0 && c.always[0] < c.end; c.always = c.always[1:] {
		b.rest[c.always[0]%blockSize] = unknown
		b.met[n] = c.always[0]
		n++
	}
	end := c.end << weightBits
	if c.discovers {
		return c.lead(s, end, n)
	}
	for i := range c.present {
		n = b.multiply(s.postings, &c.present[i], &c.factors[i], end, n)
	}
	return n
}

// multiply goes through the postings of one atom, up to the end of the block, when n profiles have been met.
func (b *block) multiply(postings []uint32, a *present, f *factors, end uint32, n int) int {
	postings = postings[a.at:a.end]
	for i, posting := range postings {
		if posting >= end {
			a.at += uint32(i)
			return n
		}
		rest := b.rest[posting>>weightBits%blockSize]
		b.rest[posting>>weightBits%blockSize] = rest * f[posting%(1<<weightBits)]
		b.met[n] = posting >> weightBits
		if rest == 1 { // which is no branch for the processor, that could not foresee it
			n++
		}
	}
	a.at = a.end
	return n
}

// settle makes candidates of the profiles met whose rests are low enough.
func (c *scoring) settle(s *segment, met int) {
	b, n := c.block, 0
	for _, profile := range b.met[:met] {
		rest := b.rest[profile%blockSize]
		b.rest[profile%blockSize] = 1
		if isUnknown(rest) && s.asksForAll(profile) {
			rest = c.unite(s, profile)
		}
		if rest > mostRests[s.thresholds[profile]] { // which it is not if it is unknown
			continue
		}
		if c.discovers || c.bounds {
			rest = unknown
		}
		b.met[n], b.left[n] = profile, rest
		n++
	}
	c.candidates, c.rests, c.looked = b.met[:n], b.left[:n], met
}

// unite returns the rest of a profile that asks for all its members: 1 if one is absent.
func (c *scoring) unite(s *segment, profile uint32) (rest float32) {
	if c.members.Len() == 0 {
		for i := range c.present {
			c.members.Set(hashOf(c.present[i].atom), int32(i))
		}
	}
	members := s.members[s.from[profile]:s.from[profile+1]]
	if c.discovers && !slices.ContainsFunc(members, c.hasArrived) {
		return 1
	}
	rest = 1
	for _, member := range members {
		at, ok := c.members.Get(hashOf(member >> weightBits))
		if !ok || c.present[at].frequency.zero() {
			return 1
		}
		rest *= c.factors[at][member%(1<<weightBits)]
	}
	return rest
}

// hashOf returns the hash of an atom's number.
func hashOf(atom uint32) uint64 { return bits.RotateLeft64(uint64(atom)*0x9E3779B97F4A7C15, 32) }
