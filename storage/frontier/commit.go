package frontier

import (
	"errors"
	"fmt"
	"sync"

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
	groups *groupcommit.Committer[step]

	mu  sync.Mutex
	err error // the fault that ended it
}

func (c *committer) start(db *pebbledb.Store) {
	c.db = db
	c.groups = groupcommit.Start(groupcommit.Limit[step]{
		Changes: groupSize, Room: groupURLs, Takes: func(s step) int { return s.urls },
	}, c.commit)
}

// submit hands in a step and never waits. A step that comes too late is refused, and not called back.
func (c *committer) submit(s step) error {
	if err := c.failure(); err != nil {
		return err
	}
	if !c.groups.Add(s) {
		return ErrClosed
	}
	return nil
}

// close commits what was handed in.
func (c *committer) close() error {
	c.groups.Close()
	return c.failure()
}

func (c *committer) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// commit makes a group of steps durable, shows it to the takers and calls back.
func (c *committer) commit(group []step) {
	err := c.failure()
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
	if err := c.db.Publish(batch); err != nil {
		return nil, err
	}
	return written, nil
}

// notify wakes the goroutine that waits for a signal, or the next one that does, and never waits itself.
func notify(signal chan struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}
