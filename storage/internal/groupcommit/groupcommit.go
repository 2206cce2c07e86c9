// Package groupcommit commits changes in groups: a sync of the disk, and all that leads to it, costs as much for one
// change as for fifty.
package groupcommit

import (
	"cmp"
	"sync"
	"time"
)

// Between is the least time between the beginnings of two commits, unless a group is full sooner. It is shorter than
// most servers take to answer, and long enough that what a commit costs besides its writes, about half a millisecond of
// processor time, is little beside the pages of a busy crawl.
const Between = 5 * time.Millisecond

// Rest waits after a group that was begun then. It does not wait after a group of one: a caller that writes one
// thing after the other would wait each time in vain.
func Rest(began time.Time, size int) {
	if rest := Between - time.Since(began); rest > 0 && size > 1 {
		time.Sleep(rest)
	}
}

// Limit is how much a group has at most: so many changes, and none that would begin beyond so much room.
type Limit[T any] struct {
	Changes int
	Room    int
	Takes   func(T) int // what a change takes of the room
}

// Committer commits what is added to it, in the order of the additions, by one goroutine. It is an interface, because
// the methods of a structure would be compiled again by whoever names a store that holds one.
type Committer[T any] interface {
	// Add hands in changes and never waits. An error means that nothing will be told of them: the committer is closed,
	// or has ended by a fault.
	Add(changes ...T) error
	// Failure is the fault that ended the committer, if there was one.
	Failure() error
	// Close returns when what was added is written and told of, with the fault if there was one. What is added later
	// gets the error closed.
	Close(closed error) error
}

type committer[T any] struct {
	limit  Limit[T]
	write  func(group []T) error
	tell   func(group []T, err error)
	signal chan struct{} // capacity 1: there are changes, or it is closed
	exited chan struct{}

	mu      sync.Mutex
	changes []T
	closed  error // of what is added from now on; nil while it is open
	failed  error // the fault that ended it
}

// Start returns a committer that writes one group after the other, and tells what came of each. After a fault it writes
// no further one: that is what comes of all.
func Start[T any](limit Limit[T], write func(group []T) error, tell func(group []T, err error)) Committer[T] {
	c := &committer[T]{limit: limit, write: write, tell: tell, signal: make(chan struct{}, 1), exited: make(chan struct{})}
	go c.run()
	return c
}

func (c *committer[T]) Add(changes ...T) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := cmp.Or(c.failed, c.closed); err != nil {
		return err
	}
	c.changes = append(c.changes, changes...)
	c.wake()
	return nil
}

func (c *committer[T]) Failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

func (c *committer[T]) Close(closed error) error {
	c.mu.Lock()
	c.closed = closed
	c.wake()
	c.mu.Unlock()
	<-c.exited
	return c.Failure()
}

func (c *committer[T]) wake() {
	select {
	case c.signal <- struct{}{}:
	default:
	}
}

func (c *committer[T]) run() {
	defer close(c.exited)
	for range c.signal {
		for group := c.next(); len(group) > 0; group = c.next() {
			began := time.Now()
			c.commit(group)
			if !c.full() {
				Rest(began, len(group))
			}
		}
		c.mu.Lock()
		over := c.closed != nil && len(c.changes) == 0
		c.mu.Unlock()
		if over {
			return
		}
	}
}

func (c *committer[T]) commit(group []T) {
	err := c.Failure()
	if err == nil {
		err = c.write(group)
		c.mu.Lock()
		c.failed = err
		c.mu.Unlock()
	}
	c.tell(group, err)
}

// full reports whether there is no reason to wait for more changes.
func (c *committer[T]) full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, full := c.group()
	return c.closed != nil || full
}

// group returns how many changes the next group has, and whether it cannot have more.
func (c *committer[T]) group() (n int, full bool) {
	taken := 0
	for n < len(c.changes) && n < c.limit.Changes && taken < c.limit.Room {
		taken += c.limit.Takes(c.changes[n])
		n++
	}
	return n, n == c.limit.Changes || taken >= c.limit.Room
}

func (c *committer[T]) next() []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, _ := c.group()
	group := c.changes[:n:n]
	if c.changes = c.changes[n:]; len(c.changes) == 0 {
		c.changes = nil // lets go of the array
	}
	return group
}
