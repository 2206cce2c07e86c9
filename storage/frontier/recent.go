package frontier

import (
	"hash/maphash"
	"math/bits"
	"sync"

	"github.com/webrace/webrace/internal/urlnorm"
)

// recent remembers which crawls came to which URLs lately, because most links of a page are repeats, and answers them
// without asking the disk, nor for a hash that would identify the URL there. It knows a link by 112 bits of hashes of
// the URL's identity, whose seeds are of this process alone, so no page can aim at a collision. Chance makes one, by
// which a URL would be lost: but a link is compared with the 16 entries that may be in its places, a record on disk by
// 128 bits with all the others, which is more likely to be another's from a million URLs on. What it does not know the
// disk is asked for.
type recent struct {
	seeds [2]maphash.Seed
	most  int // sets

	mu   sync.RWMutex
	sets []repeatSet
	used int // entries
}

// repeatSet has the entries that may be in one place, the newest first. Each entry may be in two, and comes to the one
// that has fewer: so hardly any is full before nearly all are. When both are, the oldest of one goes. It is two lines
// of the processor's cache.
type repeatSet [repeatWays]repeat

// repeat records that a crawl has come to a URL in one of its rounds: the fingerprint of the three, and in the bits
// that it leaves, from how far away, plus 1; 0 if it may come again.
type repeat [2]uint64

// fingerprint stands for a URL, or for one that a crawl comes to in a round.
type fingerprint [2]uint64

const (
	repeatWays     = 8
	repeatBytes    = 16 // of an entry
	leastSets      = 128
	distanceBits   = 16 // of an entry
	distanceMask   = 1<<distanceBits - 1
	mostRemembered = distanceMask - 1 // links from further away are left to the disk
)

func newRecent(entries int) *recent {
	most := max(entries/repeatWays, 1)
	return &recent{
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, most: most,
		sets: make([]repeatSet, min(most, leastSets)),
	}
}

// hash is of this process alone.
func (s *recent) hash(url string) fingerprint {
	return fingerprint{maphash.String(s.seeds[0], url), maphash.String(s.seeds[1], url)}
}

// of returns what stands for a URL that a crawl comes to in a round: another fingerprint for each, and in other sets.
func (f fingerprint) of(crawl, round uint32) fingerprint {
	spread := (uint64(crawl)<<32 | uint64(round)) * 0x9E3779B97F4A7C15
	return fingerprint{f[0] + spread, (f[1] - spread) &^ distanceMask}
}

// scored returns what stands for a link that was offered with this score.
func (f fingerprint) scored(score uint8) fingerprint {
	spread := uint64(score) * 0xD6E8FEB86659FD93
	return fingerprint{f[0] - spread, (f[1] + spread) &^ distanceMask}
}

// is reports whether the entry is that of a link.
func (r *repeat) is(link fingerprint) bool { return r[0] == link[0] && r[1]&^distanceMask == link[1] }

// reaches reports whether the crawl has come from no further away than this, and need not come again.
func (r *repeat) reaches(distance uint32) bool {
	d := r[1] & distanceMask
	return d != 0 && d <= uint64(distance)+1
}

// without takes the known repeats out of what was admitted, and returns how many there were.
func (s *recent) without(list []admitted) (rest []admitted, known int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	rest = list[:0]
	for i := range list {
		if !s.knows(&list[i]) {
			rest = append(rest, list[i])
		}
	}
	return rest, len(list) - len(rest)
}

// knows reports whether all crawls that come to a URL have come to it in this round, and from no further
// away, with nothing to add: a score that it has not been offered with may be a better one.
func (s *recent) knows(a *admitted) bool {
	if a.changed != 0 || a.respelled { // that is to be noted
		return false
	}
	for i := range a.bids {
		b := &a.bids[i]
		link := a.hash.of(b.crawl.number, b.crawl.pass().number)
		if e := s.find(link); e == nil || !e.reaches(b.distance) {
			return false
		}
		if a.score != 0 && s.find(link.scored(a.score)) == nil {
			return false
		}
	}
	return true
}

// set returns one of the two where a link may be: that of one half of its fingerprint.
func (s *recent) set(half uint64) *repeatSet {
	i, _ := bits.Mul64(half, uint64(len(s.sets)))
	return &s.sets[i]
}

func (s *recent) find(link fingerprint) *repeat {
	for _, half := range link {
		set := s.set(half)
		for i := range set {
			if set[i].is(link) {
				return &set[i]
			}
		}
	}
	return nil
}

// remember is told of what is durable: every crawl has come to the candidates at these distances.
func (s *recent) remember(candidates []candidate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range candidates {
		c := &candidates[i]
		for _, b := range c.bids {
			link := c.hash.of(b.crawl.number, b.round)
			s.put(link, b.distance)
			if c.score != 0 {
				s.put(link.scored(c.score), 0)
			}
		}
	}
}

// forget lets a crawl come to a URL again in a round.
func (s *recent) forget(url string, crawl, round uint32) {
	url = urlnorm.Identity(url)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.find(s.hash(url).of(crawl, round)); e != nil {
		e[1] &^= distanceMask
	}
}

func (s *recent) put(link fingerprint, distance uint32) {
	if distance > mostRemembered {
		return
	}
	r := repeat{link[0], link[1] | uint64(distance) + 1}
	if e := s.find(link); e != nil {
		if !e.reaches(distance) {
			*e = r
		}
		return
	}
	if s.used >= len(s.sets)*repeatWays*3/4 && len(s.sets) < s.most {
		s.grow()
	}
	s.add(r)
}

func (s *recent) add(r repeat) {
	set := s.set(r[0])
	if other := s.set(r[1] &^ distanceMask); other.len() < set.len() {
		set = other
	}
	if set.len() < repeatWays {
		s.used++
	}
	copy(set[1:], set[:])
	set[0] = r
}

func (set *repeatSet) len() int {
	for i := range set {
		if set[i] == (repeat{}) {
			return i
		}
	}
	return repeatWays
}

// grow makes room for twice as many entries, and keeps those there are.
func (s *recent) grow() {
	old := s.sets
	s.sets, s.used = make([]repeatSet, min(s.most, 2*len(old))), 0
	for i := range old {
		for j := range old[i] {
			if e := old[i][repeatWays-1-j]; e[1]&distanceMask != 0 {
				s.add(e)
			}
		}
	}
}
