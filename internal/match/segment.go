package match

import (
	"cmp"
	"slices"
	"sync"

	"github.com/webrace/webrace/internal/hashtable"
)

// segment is a number of profiles, indexed by what they ask for. It is immutable.
//
// It is an inverted index of queries: selective dissemination of information, after Yan and Garcia-Molina, Index
// Structures for Selective Dissemination of Information Under the Boolean Model, ACM TODS 19(2), 1994. Each distinct
// keyword of its profiles is an atom, which has a posting list. A profile that asks for any of its keywords is
// posted under each of them, as in their counting method, with the weight it has. The page is scored term at a time,
// as in Zobel and Moffat, Inverted Files for Text Search Engines, ACM Computing Surveys 38(2), 2006: each posting of
// an atom of the page multiplies the accumulator of its profile, which tells the relevance of the page to each
// profile that it concerns. Accumulators are those of a block of profiles at a time, which fit the processor's cache
// (see block). A profile that asks for all its keywords is posted under one, its least frequent as far as can be
// told, and its members tell which the others are, as in their key method. Further profiles are posted under keywords
// of which a page must have one, and are judged by themselves.
type segment struct {
	profiles   []*Compiled
	serials    []uint64 // in ascending order: when each was added
	thresholds []uint8  // of the profiles
	always     []uint32 // the profiles that no page can be ruled out for

	keys     dictionary
	uses     uses
	asked    uses // what the profiles ask for, also as far as atoms are not found by it
	atoms    []posted
	phrases  []*atom  // of the atoms that a key does not settle, by posted.phrase
	postings []uint32 // profile<<weightBits | weight, or how else to go about it
	members  []uint32 // atom<<weightBits | weight, of the profiles that ask for all
	from     []uint32 // where the members of a profile begin, the next one's being the end; nil if there are none
	confined bool     // there are profiles for certain pages only
	judges   bool     // there are profiles that one keyword settles nothing of

	oldest, newest int64           // revisions
	changes        uint8           // the scopes of change that occur, as a bit each
	remembers      uint16          // the numbers of versions that are remembered, as a bit each
	levels         levels          // the levels that occur
	byRevision     func() []uint32 // the profiles, the latest revision first
}

// posted is an atom of a segment.
type posted struct {
	from   uint32 // its first posting; the next atom's is the end
	phrase int32  // what to look for on a page that has one of its keys; -1 if the key tells it all
	within uint8
	shared bool // its keys may be met more than once
	judges bool // profiles are posted that it alone settles nothing of: they are judged by themselves, or ask for all
}

const weightBits = 3

// In the place of a weight.
const (
	judged = 0 // the profile is to be judged by itself
	united = 7 // it asks for all its members
)

// slack is how far a rest that was multiplied up in single precision may be off, and more. Each factor adds less than
// 2⁻²³ of what is left, and leaves at most 0.977 of it.
const slack = 4e-6

func newSegment(profiles []*Compiled, serials []uint64) *segment {
	s := &segment{profiles: profiles, serials: serials, thresholds: make([]uint8, len(profiles))}
	s.byRevision = sync.OnceValue(s.sortByRevision)
	b := segmentBuilder{segment: s}
	for i, c := range profiles {
		s.thresholds[i] = uint8(c.threshold)
		s.changes |= 1 << c.change
		s.remembers |= 1 << c.remember
		s.levels |= levelsOf(c.levels)
		if i == 0 {
			s.oldest, s.newest = c.revision, c.revision
		}
		s.oldest, s.newest = min(s.oldest, c.revision), max(s.newest, c.revision)
		s.confined = s.confined || c.under != ""
		b.post(uint32(i), c)
	}
	b.finish()
	return s
}

// segmentBuilder collects the postings of a segment.
type segmentBuilder struct {
	*segment
	known   hashtable.Table // atoms by identity
	pending []pending
}

type pending struct{ atom, posting uint32 }

func (b *segmentBuilder) post(number uint32, c *Compiled) {
	if b.from != nil {
		b.from = append(b.from, uint32(len(b.members)))
	}
	if c.conditions == nil {
		for i := range c.atoms {
			b.add(&c.atoms[i], number<<weightBits|uint32(c.atoms[i].weight))
		}
		return
	}
	b.judges = true
	how := uint32(judged)
	if c.conditions.all {
		how = united
		b.unite(number, c)
	}
	if c.conditions.none {
		b.always = append(b.always, number)
	}
	for _, i := range c.conditions.need {
		b.add(&c.atoms[i], number<<weightBits|how)
	}
	for i := range c.atoms {
		b.ask(&c.atoms[i])
	}
}

// unite takes note of the members of a profile that asks for all of them.
func (b *segmentBuilder) unite(number uint32, c *Compiled) {
	if b.from == nil {
		b.from = make([]uint32, number+1, len(b.profiles)+1)
	}
	for i := range c.atoms {
		b.members = append(b.members, b.number(&c.atoms[i])<<weightBits|uint32(c.atoms[i].weight))
	}
}

func (b *segmentBuilder) add(a *atom, posting uint32) {
	b.pending = append(b.pending, pending{b.number(a), posting})
}

// number returns the number of an atom of the segment.
func (b *segmentBuilder) number(a *atom) uint32 {
	number, known := b.known.GetOrSet(a.identityHash(), int32(len(b.atoms)))
	if !known {
		b.enter(a)
	}
	return uint32(number)
}

// enter gives the segment a new atom.
func (b *segmentBuilder) enter(a *atom) {
	number, keys := uint32(len(b.atoms)), 0
	certain := a.keys(&b.uses, func(key uint64) {
		b.keys.add(key, number)
		keys++
	})
	p := posted{phrase: -1, within: a.within, shared: keys > 1 || a.phrase != nil}
	if !certain {
		p.phrase = int32(len(b.phrases))
		b.phrases = append(b.phrases, a)
	}
	if a.phrase != nil {
		b.ask(a)
	}
	b.atoms = append(b.atoms, p)
}

// finish sorts the postings by atom: those of an atom are in the order of the profiles.
func (b *segmentBuilder) finish() {
	b.atoms = append(b.atoms, posted{}) // so that the last one has an end
	for _, p := range b.pending {
		b.atoms[p.atom].from++
		if how := p.posting % (1 << weightBits); how == judged || how == united {
			b.atoms[p.atom].judges = true
		}
	}
	sum := uint32(0)
	for i := range b.atoms {
		n := b.atoms[i].from
		b.atoms[i].from = sum
		sum += n
	}
	b.postings = make([]uint32, sum)
	next := make([]uint32, len(b.atoms))
	for i := range next {
		next[i] = b.atoms[i].from
	}
	for _, p := range b.pending {
		b.postings[next[p.atom]] = p.posting
		next[p.atom]++
	}
	if b.from != nil {
		b.from = append(b.from, uint32(len(b.members)))
	}
	b.asked = b.asked.union(b.uses)
	b.atoms, b.always, b.members = slices.Clip(b.atoms), slices.Clip(b.always), slices.Clip(b.members)
}

func (s *segment) sortByRevision() []uint32 {
	numbers := make([]uint32, len(s.profiles))
	for i := range numbers {
		numbers[i] = uint32(len(numbers) - 1 - i) // most are in order: who was added later has changed later
	}
	slices.SortStableFunc(numbers, func(x, y uint32) int { return cmp.Compare(s.profiles[y].revision, s.profiles[x].revision) })
	return numbers
}

// newer returns the profiles that have a later revision, the latest first.
func (s *segment) newer(revision int64) []uint32 {
	if s.newest <= revision {
		return nil
	}
	all := s.byRevision()
	n, _ := slices.BinarySearchFunc(all, revision, func(number uint32, revision int64) int {
		if s.profiles[number].revision > revision {
			return -1
		}
		return 1
	})
	return all[:n]
}

// asksForAll reports whether the profile has members.
func (s *segment) asksForAll(profile uint32) bool {
	return s.from != nil && s.from[profile] < s.from[profile+1]
}

// find returns the number of the profile that was added with this serial number.
func (s *segment) find(serial uint64) (number int, ok bool) {
	return slices.BinarySearch(s.serials, serial)
}
