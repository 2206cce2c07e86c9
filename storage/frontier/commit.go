package frontier

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/webrace/webrace/internal/pace"
	"github.com/webrace/webrace/storage/internal/generation"
)

// A group of steps shares one fsync. It has as many steps at most, and none that would begin beyond so many URLs
// offered: a batch as large as half a memtable becomes a table of its own, and small tables are merged over and over.
const (
	groupSize = 256
	groupURLs = 4096
)

// step is one change to one queue: an offer, a start, a done, a report. Steps are applied in the order
// of their submission, by one goroutine, so apply sees every earlier step, and nothing changes under it.
type step struct {
	queue *Queue
	urls  int                  // that it offers
	wants func(*changes)       // asks for the records that apply will look at, as far as they are known; may be nil
	apply func(*changes) error // an error is the disk's, and ends the store
	after func() error         // once durable and visible; holds the queue's lock; may be nil
	done  func(error)          // last, without any lock; must not block; may be nil
}

func (s step) call(err error) {
	if s.done != nil {
		s.done(err)
	}
	s.queue.calls.Done()
}

// committer gathers steps and commits them in groups.
type committer struct {
	db     *pebble.DB
	bell   chan struct{} // capacity 1: there are steps, or it is closed
	exited chan struct{}

	generation generation.Generation
	reached    *generation.File // says which generation is durable

	mu     sync.Mutex
	steps  []step
	closed bool
	err    error // the fault that ended it
}

func (c *committer) start(db *pebble.DB) {
	c.db = db
	c.bell, c.exited = make(chan struct{}, 1), make(chan struct{})
	go c.run()
}

// submit hands in a step and never waits. A step that comes too late is refused: nobody calls it back.
func (c *committer) submit(s step) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	if c.closed {
		return ErrClosed
	}
	c.steps = append(c.steps, s)
	poke(c.bell)
	return nil
}

// close commits what was handed in and ends the goroutine.
func (c *committer) close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	poke(c.bell)
	<-c.exited
	return c.err
}

func (c *committer) run() {
	defer close(c.exited)
	for range c.bell {
		for group := c.next(); len(group) > 0; group = c.next() {
			began := time.Now()
			c.commit(group)
			if !c.full() {
				pace.Rest(began, len(group))
			}
		}
		c.mu.Lock()
		over := c.closed && len(c.steps) == 0
		c.mu.Unlock()
		if over {
			return
		}
	}
}

func (c *committer) full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, full := c.group()
	return c.closed || full
}

// group returns how many steps the next group has, and whether it cannot have more.
func (c *committer) group() (n int, full bool) {
	urls := 0
	for n < len(c.steps) && n < groupSize && urls < groupURLs {
		urls += c.steps[n].urls
		n++
	}
	return n, n == groupSize || urls >= groupURLs
}

func (c *committer) next() []step {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, _ := c.group()
	group := c.steps[:n:n]
	if c.steps = c.steps[n:]; len(c.steps) == 0 {
		c.steps = nil // lets go of the array
	}
	return group
}

// commit makes a group of steps durable, shows it to the takers and calls back.
func (c *committer) commit(group []step) {
	err := c.err
	var written map[*Queue]*changes
	if err == nil {
		written, err = c.write(group)
	}
	if err != nil {
		c.fail(err)
	}
	byQueue := map[*Queue][]step{}
	for _, s := range group {
		byQueue[s.queue] = append(byQueue[s.queue], s)
	}
	for q, steps := range byQueue {
		q.settled(steps, written[q], err)
	}
	for _, s := range group {
		s.call(err)
	}
}

func (c *committer) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

// write returns what it changed in each queue.
func (c *committer) write(group []step) (written map[*Queue]*changes, err error) {
	written = map[*Queue]*changes{}
	for _, s := range group {
		ch := s.queue.work
		if written[s.queue] == nil {
			ch.begin()
			written[s.queue] = ch
		}
		if s.wants != nil {
			s.wants(ch)
		}
	}
	batch := c.db.NewBatch()
	defer func() { err = errors.Join(err, batch.Close()) }()
	for q, ch := range written {
		if err := ch.read(); err != nil {
			return nil, fmt.Errorf("frontier of %s: %w", q.pipeline, err)
		}
	}
	for _, s := range group {
		if err := s.apply(written[s.queue]); err != nil {
			return nil, fmt.Errorf("frontier of %s: %w", s.queue.pipeline, err)
		}
	}
	for q, ch := range written {
		if err := ch.flush(batch); err != nil {
			return nil, fmt.Errorf("frontier of %s: %w", q.pipeline, err)
		}
	}
	if batch.Empty() {
		return written, nil // repeats of what earlier groups made durable
	}
	if err := c.publish(batch); err != nil {
		return nil, err
	}
	return written, nil
}

// poke tells whoever waits on the bell, and never waits itself.
func poke(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}
