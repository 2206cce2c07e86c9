// Package broadcast wakes all goroutines that wait for something to happen.
package broadcast

import "sync"

// Cond is a condition variable whose waiters receive from a channel, so that they can wait for other things as well.
// The zero value is ready; its methods may be called concurrently.
//
// A waiter calls Next before it looks at the condition, and misses no Broadcast after that.
type Cond struct {
	mu   sync.Mutex
	next chan struct{} // nil while there is no waiter
}

// Next returns a channel that the next Broadcast closes.
func (c *Cond) Next() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = make(chan struct{})
	}
	return c.next
}

// Broadcast wakes all waiters.
func (c *Cond) Broadcast() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != nil {
		close(c.next)
		c.next = nil
	}
}
