package pipeline

import (
	"sync"
	"sync/atomic"
)

// counters is a set of named counters, made as they are asked for.
type counters struct {
	mu     sync.Mutex
	byName map[string]*atomic.Int64
}

func newCounters() *counters { return &counters{byName: make(map[string]*atomic.Int64)} }

func (c *counters) get(name string) *atomic.Int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, ok := c.byName[name]
	if !ok {
		n = new(atomic.Int64)
		c.byName[name] = n
	}
	return n
}

func (c *counters) values() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	values := make(map[string]int64, len(c.byName))
	for name, n := range c.byName {
		values[name] = n.Load()
	}
	return values
}
