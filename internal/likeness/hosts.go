package likeness

import "sync"

// Hosts has a [Memory] for each of a number of hosts. When there are too many of them, or too many pages in
// all, the host that was asked about longest ago is forgotten. It may be used by many goroutines.
type Hosts struct {
	pages, all, hosts int

	mu     sync.Mutex
	known  map[string]*host
	now    uint64
	stored int // pages of all hosts
}

type host struct {
	*Memory
	used uint64
}

// NewHosts returns one of so many pages a host, pages in all, and hosts.
func NewHosts(pages, all, hosts int) *Hosts {
	return &Hosts{pages: pages, all: all, hosts: hosts, known: make(map[string]*host)}
}

// Meet looks a page up among the others of its host, and remembers it, as one step. It counts the pages that
// are the same up to one more than a number; where they are so many, another one need not be remembered, since
// each of those will always find that number of others. A page for
// which the function stands returns false is not found as near to others, only counted.
func (h *Hosts) Meet(name string, p Page, count int, stands func(Found) bool) Found {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := h.host(name)
	before := m.Len()
	found := m.Find(p, count+1)
	if does := stands(found); found.Same <= count || does && found.Near == "" {
		m.Remember(p, does)
	} else {
		m.Forget(p.URL)
	}
	h.stored += m.Len() - before
	for h.stored > h.all && len(h.known) > 1 {
		h.forgetOldest()
	}
	return found
}

// Leave forgets what is known of a URL, which has no likeness any more.
func (h *Hosts) Leave(name, url string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if m := h.known[name]; m != nil {
		before := m.Len()
		m.Forget(url)
		h.stored += m.Len() - before
	}
}

// host returns the memory of a host, as the one that was used last.
func (h *Hosts) host(name string) *host {
	m := h.known[name]
	if m == nil {
		if len(h.known) >= h.hosts {
			h.forgetOldest()
		}
		m = &host{Memory: NewMemory(h.pages)}
		h.known[name] = m
	}
	h.now++
	m.used = h.now
	return m
}

func (h *Hosts) forgetOldest() {
	oldest := ""
	for name, m := range h.known {
		if first := h.known[oldest]; first == nil || m.used < first.used {
			oldest = name
		}
	}
	h.stored -= h.known[oldest].Len()
	delete(h.known, oldest)
}
