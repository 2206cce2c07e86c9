package queue

import (
	"sync"

	"github.com/webrace/webrace/storage/internal/groupcommit"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// A group of changes shares one sync. It has as many at most, and none that would begin beyond so many bytes.
const (
	groupSize  = 256
	groupBytes = 4 << 20
)

// change puts a record, or removes one if it has no value.
type change struct {
	queue    *Queue
	sequence uint64
	value    []byte
	size     int64
	nothing  bool        // it changes nothing: whoever submits it waits for those before it
	done     func(error) // once durable; must not block; may be nil
}

// committer commits changes in groups, in the order of their submission.
type committer struct {
	db     *pebbledb.Store
	groups groupcommit.Committer[change]

	mu      sync.Mutex
	keeping bool     // removals wait
	kept    []change // these
	closed  bool
}

func (c *committer) start(db *pebbledb.Store) {
	c.db = db
	c.groups = groupcommit.Start(groupcommit.Limit[change]{
		Changes: groupSize, Room: groupBytes, Takes: func(ch change) int { return len(ch.value) },
	}, c.write, c.tell)
}

// submit hands in a change and never waits. One that comes too late is refused, and not called back.
func (c *committer) submit(ch change) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keeping && !c.closed && ch.value == nil && !ch.nothing && c.groups.Failure() == nil {
		c.kept = append(c.kept, ch)
		return nil
	}
	return c.groups.Add(ch)
}

// keep lets removals wait, or lets those go on that have waited, of records that were durable before.
func (c *committer) keep(keeping bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keeping = keeping; !keeping {
		_ = c.groups.Add(c.kept...) // else they are handed out again
		c.kept = nil
	}
}

// close commits what was handed in.
func (c *committer) close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.keep(false)
	return c.groups.Close(ErrClosed)
}

// tell shows what was put to the takers, and calls back.
func (c *committer) tell(group []change, err error) {
	byQueue := make(map[*Queue][]change)
	for _, ch := range group {
		byQueue[ch.queue] = append(byQueue[ch.queue], ch)
	}
	for q, changes := range byQueue {
		q.committed(changes, err)
	}
	for _, ch := range group {
		if ch.done != nil {
			ch.done(err)
		}
	}
}

// write makes a group durable.
func (c *committer) write(group []change) (err error) {
	batch := c.db.NewBatch()
	defer batch.Close()
	after := make(map[*Queue]state)
	for _, ch := range group {
		if ch.nothing {
			continue
		}
		s, seen := after[ch.queue]
		if !seen {
			s = ch.queue.onDisk
		}
		key := keyOfRecord(ch.queue.number, ch.sequence)
		if ch.value != nil {
			err = batch.Set(key, ch.value)
			s.records, s.bytes = s.records+1, s.bytes+ch.size
		} else {
			err = batch.Delete(key)
			s.records, s.bytes = s.records-1, s.bytes-ch.size
		}
		if err != nil {
			return err
		}
		after[ch.queue] = s
	}
	for q, s := range after {
		if err := batch.Set(keyOf(stateKey, q.number), s.encode()); err != nil {
			return err
		}
	}
	if batch.Empty() {
		return nil
	}
	if err := c.db.Publish(batch); err != nil {
		return err
	}
	for q, s := range after {
		q.onDisk = s
	}
	return nil
}
