package frontier

import (
	"errors"
	"fmt"

	"github.com/webrace/webrace/storage/internal/groupcommit"
	"github.com/webrace/webrace/storage/internal/pebbledb"
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

// committer commits steps in groups.
type committer struct {
	db     *pebbledb.Store
	groups groupcommit.Committer[step]

	written map[*Queue]*changes // what the group under way has changed in each queue
}

func (c *committer) start(db *pebbledb.Store) {
	c.db = db
	c.groups = groupcommit.Start(groupcommit.Limit[step]{
		Changes: groupSize, Room: groupURLs, Takes: func(s step) int { return s.urls },
	}, c.write, c.tell)
}

// submit hands in a step and never waits. A step that comes too late is refused, and not called back.
func (c *committer) submit(s step) error { return c.groups.Add(s) }

// close commits what was handed in.
func (c *committer) close() error { return c.groups.Close(ErrClosed) }

// tell shows a group of steps to the takers, and calls back.
func (c *committer) tell(group []step, err error) {
	byQueue := map[*Queue][]step{}
	for _, s := range group {
		byQueue[s.queue] = append(byQueue[s.queue], s)
	}
	for q, steps := range byQueue {
		q.settled(steps, c.written[q], err)
	}
	for _, s := range group {
		s.call(err)
	}
}

// write makes a group durable.
func (c *committer) write(group []step) (err error) {
	c.written = map[*Queue]*changes{}
	for _, s := range group {
		ch := s.queue.work
		if c.written[s.queue] == nil {
			ch.begin()
			c.written[s.queue] = ch
		}
		if s.wants != nil {
			s.wants(ch)
		}
	}
	batch := c.db.NewBatch()
	defer func() { err = errors.Join(err, batch.Close()) }()
	for q, ch := range c.written {
		if err := ch.read(); err != nil {
			return fmt.Errorf("frontier of %s: %w", q.pipeline, err)
		}
	}
	for _, s := range group {
		if err := s.apply(c.written[s.queue]); err != nil {
			return fmt.Errorf("frontier of %s: %w", s.queue.pipeline, err)
		}
	}
	for q, ch := range c.written {
		if err := ch.flush(batch); err != nil {
			return fmt.Errorf("frontier of %s: %w", q.pipeline, err)
		}
	}
	if batch.Empty() {
		return nil // repeats of what earlier groups made durable
	}
	return c.db.Publish(batch)
}

// notify wakes the goroutine that waits for a signal, or the next one that does, and never waits itself.
func notify(signal chan struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}
