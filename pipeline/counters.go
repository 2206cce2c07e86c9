package pipeline

import (
	"maps"
	"sync"
	"sync/atomic"
)

// counters is a set of named counters, made as they are asked for.
type counters struct {
	mu     sync.Mutex
	byName map[string]*atomic.Int64
	levels map[string]bool // those that show a state instead of counting
}

// What names counters may be hostile, or have a name for each URL: the first names of a stage are known, the others are
// counted together.
const (
	mostCounters  = 500
	otherCounters = "other_counters"
)

func newCounters() *counters {
	return &counters{byName: make(map[string]*atomic.Int64), levels: make(map[string]bool)}
}

// level is get for one that shows a state.
func (c *counters) level(name string) *atomic.Int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.named(name)
	if c.byName[name] == n {
		c.levels[name] = true
	}
	return n
}

func (c *counters) get(name string) *atomic.Int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.named(name)
}

// named returns a counter, which is made if need be. c.mu is held.
func (c *counters) named(name string) *atomic.Int64 {
	if n, ok := c.byName[name]; ok {
		return n
	}
	if len(c.byName) >= mostCounters && name != otherCounters {
		return c.named(otherCounters)
	}
	n := new(atomic.Int64)
	c.byName[name] = n
	return n
}

// levelNames returns the names of those that show a state; nil if there are none.
func (c *counters) levelNames() map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.levels) == 0 {
		return nil
	}
	return maps.Clone(c.levels)
}

// add adds what others have counted so far. A state is known by the program that shows it.
func (c *counters) add(before *counters) {
	levels := before.levelNames()
	for name, n := range before.values() {
		if !levels[name] {
			c.get(name).Add(n)
		}
	}
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
