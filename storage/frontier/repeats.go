package frontier

import (
	"hash/maphash"
	"math/bits"
	"sync"

	"github.com/webrace/webrace/internal/urlnorm"
)

// repeats remembers which crawls came to which URLs lately, because most links of a page are repeats, and answers them
// without asking the disk, nor for a hash that would identify the URL there. It knows a link by 128 bits of hashes of
// the URL's identity, whose seeds are of this process alone, so nobody can aim at a collision; that chance makes one,
// by which a URL would be lost, is as likely as on disk, where a record is found by as many bits. What it does not know
// the disk is asked for.
type repeats struct {
	seeds [2]maphash.Seed
	most  int // sets

	mu   sync.RWMutex
	sets []repeatSet
	used int // entries
}

// repeatSet has the entries that may be in one place, the newest first. Each entry may be in two, and comes to the one
// that has fewer: so hardly any is full before nearly all are. When both are, the oldest of one goes.
type repeatSet [repeatWays]repeat

// repeat says that a crawl has come to a URL.
type repeat struct {
	link            fingerprint
	round, distance uint32 // round 0: it may come again
}

// fingerprint stands for a URL, or for one that a crawl comes to.
type fingerprint [2]uint64

const (
	repeatWays  = 8
	repeatBytes = 24 // of an entry
	leastSets   = 128
)

func newRepeats(entries int) *repeats {
	most := max(entries/repeatWays, 1)
	return &repeats{
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, most: most,
		sets: make([]repeatSet, min(most, leastSets)),
	}
}

// hash is of this process alone.
func (s *repeats) hash(url string) fingerprint {
	return fingerprint{maphash.String(s.seeds[0], url), maphash.String(s.seeds[1], url)}
}

// of returns what stands for a URL that a crawl comes to: another fingerprint for each crawl, and in other sets.
func (f fingerprint) of(crawl uint32) fingerprint {
	spread := uint64(crawl) * 0x9E3779B97F4A7C15
	return fingerprint{f[0] + spread, f[1] - spread}
}

// without takes the known repeats out of what was admitted, and returns how many there were.
func (s *repeats) without(list []admitted) (rest []admitted, known int) {
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
// away, with nothing to add.
func (s *repeats) knows(a *admitted) bool {
	if a.changed != 0 || a.respelled { // that is to be noted
		return false
	}
	for i := range a.bids {
		b := &a.bids[i]
		e := s.find(a.hash.of(b.crawl.number))
		if e == nil || e.round != b.crawl.now.Load().number || e.distance > b.distance {
			return false
		}
	}
	return true
}

// set returns one of the two where a link may be: that of one half of its fingerprint.
func (s *repeats) set(half uint64) *repeatSet {
	i, _ := bits.Mul64(half, uint64(len(s.sets)))
	return &s.sets[i]
}

func (s *repeats) find(link fingerprint) *repeat {
	for _, half := range link {
		set := s.set(half)
		for i := range set {
			if set[i].link == link {
				return &set[i]
			}
		}
	}
	return nil
}

// remember is told of what is durable: every crawl has come to the candidates at these distances.
func (s *repeats) remember(candidates []candidate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range candidates {
		c := &candidates[i]
		for _, b := range c.bids {
			s.put(repeat{c.hash.of(b.crawl.number), b.round, b.distance})
		}
	}
}

// forget lets a crawl come to a URL again in this round.
func (s *repeats) forget(url string, crawl uint32) {
	url = urlnorm.Identity(url)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.find(s.hash(url).of(crawl)); e != nil {
		e.round = 0
	}
}

func (s *repeats) put(r repeat) {
	if e := s.find(r.link); e != nil {
		if e.round != r.round || e.distance > r.distance {
			*e = r
		}
		return
	}
	if s.used >= len(s.sets)*repeatWays*3/4 && len(s.sets) < s.most {
		s.grow()
	}
	s.add(r)
}

func (s *repeats) add(r repeat) {
	set := s.set(r.link[0])
	if other := s.set(r.link[1]); other.len() < set.len() {
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
		if set[i].link == (fingerprint{}) {
			return i
		}
	}
	return repeatWays
}

// grow makes room for twice as many entries, and keeps those there are.
func (s *repeats) grow() {
	old := s.sets
	s.sets, s.used = make([]repeatSet, min(s.most, 2*len(old))), 0
	for i := range old {
		for j := range old[i] {
			if e := old[i][repeatWays-1-j]; e.round != 0 {
				s.add(e)
			}
		}
	}
}
