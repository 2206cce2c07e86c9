package frontier

import (
	"hash/maphash"
	"sync"

	"github.com/webrace/webrace/internal/urlnorm"
)

// repeats remembers what was accepted lately, because most links of a page are repeats, and answers them
// without a hash that would identify the URL on disk. It keeps the URLs themselves, by their identities: what it
// knows is exact. What it does not know the disk is asked for.
type repeats struct {
	seed maphash.Seed
	most int // entries

	mu    sync.RWMutex
	heads []uint64 // by hash: the number of the newest entry
	ring  []repeat // entry n is in n modulo its length
	text  []byte   // a ring of the entries' URLs
	first uint64   // the number of the oldest entry
	next  uint64   // the number of the next one; they count from 1
	end   uint64   // where the next URL goes, counted on beyond the end of text
}

// repeat says that a crawl has come to a URL.
type repeat struct {
	hash            uint64
	older           uint64 // the number of the next entry of this hash; one before first is gone
	start           uint64 // of the URL
	length          uint32
	crawl           uint32
	round, distance uint32
}

const (
	leastRepeats  = 1 << 10
	repeatText    = 80      // bytes of text for each entry
	longestRepeat = 1 << 11 // a longer URL is not worth its place
)

func newRepeats(most int) *repeats {
	s := &repeats{seed: maphash.MakeSeed(), most: most}
	s.resize(min(most, leastRepeats))
	return s
}

func (s *repeats) resize(entries int) {
	heads := 1
	for heads < entries {
		heads *= 2
	}
	s.heads, s.ring = make([]uint64, heads), make([]repeat, entries)
	s.text = make([]byte, max(entries*repeatText, longestRepeat))
	s.first, s.next, s.end = 1, 1, 0
}

// hash is of this process alone.
func (s *repeats) hash(url string) uint64 { return maphash.String(s.seed, url) }

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
		e := s.find(a.hash, b.crawl.number, a.identity)
		if e == nil || e.round != b.crawl.now.Load().number || e.distance > b.distance {
			return false
		}
	}
	return true
}

func (s *repeats) find(hash uint64, crawl uint32, url string) *repeat {
	for n := s.heads[hash&uint64(len(s.heads)-1)]; n >= s.first; {
		e := &s.ring[n%uint64(len(s.ring))]
		if e.hash == hash && e.crawl == crawl && string(s.urlOf(e)) == url {
			return e
		}
		n = e.older
	}
	return nil
}

func (s *repeats) urlOf(e *repeat) []byte {
	at := e.start % uint64(len(s.text))
	return s.text[at : at+uint64(e.length)]
}

// remember is told of what is durable: every crawl has come to the candidates at these distances.
func (s *repeats) remember(candidates []candidate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range candidates {
		c := &candidates[i]
		for _, b := range c.bids {
			s.put(c.hash, c.identity, b.crawl.number, b.round, b.distance)
		}
	}
}

// forget lets a crawl come to a URL again in this round.
func (s *repeats) forget(url string, crawl uint32) {
	url = urlnorm.Identity(url)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.find(s.hash(url), crawl, url); e != nil {
		e.round = 0
	}
}

func (s *repeats) put(hash uint64, url string, crawl, round, distance uint32) {
	if len(url) > longestRepeat {
		return
	}
	if e := s.find(hash, crawl, url); e != nil {
		if e.round != round || e.distance > distance {
			e.round, e.distance = round, distance
		}
		return
	}
	start := s.room(uint64(len(url)))
	copy(s.text[start%uint64(len(s.text)):], url)
	s.end = start + uint64(len(url))
	head := &s.heads[hash&uint64(len(s.heads)-1)]
	s.ring[s.next%uint64(len(s.ring))] = repeat{hash, *head, start, uint32(len(url)), crawl, round, distance}
	*head = s.next
	s.next++
}

// room makes place for one more entry with a URL so long, and returns where the URL starts: in one piece.
// The oldest entries go, once there may not be more.
func (s *repeats) room(length uint64) (start uint64) {
	size := uint64(len(s.text))
	start = s.end
	if left := size - start%size; left < length {
		start += left
	}
	for s.first < s.next {
		oldest := &s.ring[s.first%uint64(len(s.ring))]
		if s.next-s.first < uint64(len(s.ring)) && start+length-oldest.start <= size {
			break
		}
		if len(s.ring) < s.most {
			s.grow()
			return s.room(length)
		}
		s.first++
	}
	return start
}

// grow makes room for four times as many entries, and keeps those there are.
func (s *repeats) grow() {
	old := repeats{ring: s.ring, text: s.text, first: s.first, next: s.next}
	s.resize(min(s.most, 4*len(old.ring)))
	for n := old.first; n < old.next; n++ {
		e := old.ring[n%uint64(len(old.ring))]
		s.put(e.hash, string(old.urlOf(&e)), e.crawl, e.round, e.distance)
	}
}
