package simhash

import "math"

// Page is what a [Memory] knows of a page.
type Page struct {
	URL         string
	Title       uint64 // a hash of it
	Fingerprint uint64 // not 0
}

// Found tells which other pages are like one.
type Found struct {
	Near string // the URL of one that is [Near]; empty if there is none
	Same int    // how many are of the same fingerprint and title; at most as many as are counted
}

// Memory remembers the last pages of a host, and finds those that are like another. A page is remembered once,
// as it was last: it is never found for its own URL. It is used by one goroutine at a time.
//
// Fingerprints that differ in three bits agree in one of four bands of sixteen bits at least. So the pages of
// each value of a band are chained, from the latest to the oldest: a look-up follows four short chains.
// Pages are known by their number; the chain of a number that has been forgotten ends there, so
// that nothing is ever taken out of a chain.
type Memory struct {
	size  uint32 // the most pages
	ring  []remembered
	next  uint32            // the number of the next page, from 1 on
	heads [bands][]uint32   // the latest page of a band's value; a power of two of them
	byURL map[string]uint32 // the page that stands for a URL
}

type remembered struct {
	Page
	before [bands]uint32 // the page before it in the chain
	stands bool          // it is found as one that others are near to
}

const (
	bands    = near + 1
	bandBits = 64 / bands
)

// NewMemory returns one of so many pages.
func NewMemory(size int) *Memory {
	return &Memory{size: uint32(size), next: 1, byURL: make(map[string]uint32)}
}

// Len returns how many URLs are remembered.
func (m *Memory) Len() int { return len(m.byURL) }

// Find looks a page up among the others. It counts those that are the same up to a number.
func (m *Memory) Find(p Page, count int) (f Found) {
	m.each(p.Fingerprint, 0, func(r *remembered) bool { // what is the same agrees in every band
		if r.URL != p.URL {
			if f.Near == "" && r.stands && Near(r.Fingerprint, p.Fingerprint) {
				f.Near = r.URL
			}
			if r.Fingerprint == p.Fingerprint && r.Title == p.Title {
				f.Same++
			}
		}
		return f.Same < count || f.Near == ""
	})
	for band := 1; band < bands && f.Near == ""; band++ {
		m.each(p.Fingerprint, band, func(r *remembered) bool {
			if r.stands && r.URL != p.URL && Near(r.Fingerprint, p.Fingerprint) {
				f.Near = r.URL
			}
			return f.Near == ""
		})
	}
	f.Same = min(f.Same, count)
	return f
}

// each follows the chain of a band until the function returns false.
func (m *Memory) each(fingerprint uint64, band int, do func(*remembered) bool) {
	if len(m.ring) == 0 {
		return
	}
	for n := *m.head(fingerprint, band); m.known(n); {
		r := m.at(n)
		if m.byURL[r.URL] == n && !do(r) {
			return
		}
		n = r.before[band]
	}
}

// Remember keeps a page instead of what was known of its URL, and forgets the oldest if there are too many.
// Only one that stands is found as near to others; all are counted as the same.
func (m *Memory) Remember(p Page, stands bool) {
	if n, ok := m.byURL[p.URL]; ok && m.at(n).Fingerprint == p.Fingerprint {
		m.at(n).Title, m.at(n).stands = p.Title, stands
		return
	}
	if m.next == math.MaxUint32 { // the numbers are used up
		*m = *NewMemory(int(m.size))
	}
	m.makeRoom()
	n := m.next
	m.next++
	r := m.at(n)
	if m.byURL[r.URL] == n-m.size {
		delete(m.byURL, r.URL)
	}
	*r = remembered{Page: p, stands: stands}
	m.byURL[p.URL] = n
	m.chain(n)
}

// Forget forgets what is known of a URL.
func (m *Memory) Forget(url string) { delete(m.byURL, url) }

// chain puts a page at the head of its chains.
func (m *Memory) chain(n uint32) {
	r := m.at(n)
	for band := range bands {
		head := m.head(r.Fingerprint, band)
		r.before[band], *head = *head, n
	}
}

// makeRoom sees to it that there is a place for the next page, and twice as many if all are taken, up to size.
func (m *Memory) makeRoom() {
	if uint32(len(m.ring)) == m.size || m.next <= uint32(len(m.ring)) {
		return
	}
	ring := make([]remembered, min(max(2*uint32(len(m.ring)), 16), m.size))
	m.ring = append(ring[:0], m.ring...)[:len(ring)]
	heads := 16
	for heads < len(ring) && heads < 1<<bandBits {
		heads *= 2
	}
	for band := range bands {
		m.heads[band] = make([]uint32, heads)
	}
	for n := uint32(1); n < m.next; n++ {
		m.chain(n)
	}
}

// known reports whether there is a page of this number still.
func (m *Memory) known(n uint32) bool { return n != 0 && m.next-n <= uint32(len(m.ring)) }

func (m *Memory) at(n uint32) *remembered { return &m.ring[(n-1)%uint32(len(m.ring))] }

func (m *Memory) head(fingerprint uint64, band int) *uint32 {
	value := fingerprint >> (bandBits * band)
	return &m.heads[band][value&uint64(len(m.heads[band])-1)]
}
