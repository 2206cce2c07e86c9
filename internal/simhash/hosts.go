package simhash

import (
	"sync"

	"github.com/webrace/webrace/internal/lru"
)

// Hosts has a [Memory] for each of a number of hosts. When there are too many of them, or too many pages in
// all, the host that was asked about longest ago is forgotten. It may be used by many goroutines.
type Hosts struct {
	pages, all int

	mu     sync.Mutex
	known  lru.Cache[*Memory]
	stored int // pages of all hosts
}

// NewHosts returns one of so many pages a host, pages in all, and hosts.
func NewHosts(pages, all, hosts int) *Hosts {
	h := &Hosts{pages: pages, all: all}
	h.known = lru.New(hosts, func(m *Memory) { h.stored -= m.Len() })
	return h
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
	for h.stored > h.all && h.known.Len() > 1 {
		h.known.RemoveOldest()
	}
	return found
}

// Leave forgets what is known of a URL, which has no fingerprint any more.
func (h *Hosts) Leave(name, url string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if m, ok := h.known.Peek(name); ok {
		before := m.Len()
		m.Forget(url)
		h.stored += m.Len() - before
	}
}

// host returns the memory of a host, as the one that was used last.
func (h *Hosts) host(name string) *Memory {
	m, ok := h.known.Get(name)
	if !ok {
		m = NewMemory(h.pages)
		h.known.Add(name, m)
	}
	return m
}
