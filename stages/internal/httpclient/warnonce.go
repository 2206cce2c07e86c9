package httpclient

import lru "github.com/hashicorp/golang-lru/v2"

// maxHosts is of how many hosts something is remembered in memory.
const maxHosts = 10_000

// newHostCache returns an LRU cache of what is known of hosts.
func newHostCache[V any]() *lru.Cache[string, V] {
	c, err := lru.New[string, V](maxHosts)
	if err != nil {
		panic(err) // the size is positive
	}
	return c
}

// WarnOnce reports of each thing once that it is the first time; and again when it has seen very many others since.
type WarnOnce struct{ seen *lru.Cache[string, struct{}] }

// NewWarnOnce returns one that has seen nothing.
func NewWarnOnce() *WarnOnce { return &WarnOnce{newHostCache[struct{}]()} }

// First reports whether something is said for the first time.
func (o *WarnOnce) First(what string) bool {
	seen, _ := o.seen.ContainsOrAdd(what, struct{}{})
	return !seen
}
