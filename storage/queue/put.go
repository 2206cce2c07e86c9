package queue

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Full determines what becomes of a record for which there is no room.
type Full string

// What a full queue may do.
const (
	Wait       Full = "wait"        // Put waits until there is room
	DropOldest Full = "drop-oldest" // the oldest records that are not out are removed
	Fail       Full = "fail"        // Put refuses it
)

// Errors of [Queue.Put].
var (
	ErrFull     = errors.New("queue is full")
	ErrTooLarge = errors.New("larger than all that the queue may hold")
	ErrStopped  = errors.New("stopped while waiting for room in the queue")
)

// Patience is how long [Queue.Put] waits for room.
type Patience struct {
	Stop   <-chan struct{} // closed: not any more, and Put returns [ErrStopped]
	Exceed <-chan struct{} // closed: not any more, and the record is accepted whatever the limit
}

// Put adds a record. It returns when the record is accepted; done is called once, when it is on disk, or has failed to
// get there. An error of Put means that it is not accepted, and then done is not called. Where a full queue drops the
// oldest, that may be the record itself, if all others are out: done is called then as well.
func (q *Queue) Put(ctx context.Context, p Patience, r Record, done func(error)) error {
	r.At = time.Now()
	value := r.encode()
	size := sizeOf(value)
	exceed := false
	for {
		changed := q.changed.Next()
		taken, err := q.tryPut(value, size, exceed, done)
		if taken || err != nil {
			return err
		}
		q.blocked.Add(1)
		select {
		case <-changed:
		case <-p.Stop:
			err = ErrStopped
		case <-p.Exceed:
			exceed, p.Exceed = true, nil
		case <-ctx.Done():
			err = ctx.Err()
		}
		q.blocked.Add(-1)
		if err != nil {
			return err
		}
	}
}

// tryPut puts a record if it need not wait.
func (q *Queue) tryPut(value []byte, size int64, exceed bool, done func(error)) (taken bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	limit := q.options.MaxBytes
	switch {
	case q.err != nil:
		return false, q.err
	case limit > 0 && size > limit:
		return false, fmt.Errorf("%d bytes: %w, %d", size, ErrTooLarge, limit)
	case q.pending.records >= mostPending || q.pending.bytes >= mostPendingBytes:
		return false, nil
	}
	for limit > 0 && !exceed && q.held.bytes+size > limit {
		switch q.options.Full {
		case Fail:
			return false, fmt.Errorf("%w: it holds %d bytes of at most %d", ErrFull, q.held.bytes, limit)
		case Wait:
			return false, nil
		}
		dropped, err := q.dropOldest()
		switch {
		case err != nil:
			return false, err
		case dropped:
		case q.pending.records > 0:
			return false, nil // the oldest will be on disk in a moment
		default:
			q.dropped++
			return true, q.store.committer.submit(change{queue: q, nothing: true, done: done})
		}
	}
	if err := q.store.committer.submit(change{queue: q, sequence: q.next, value: value, size: size, done: done}); err != nil {
		return false, err
	}
	q.next++
	q.held.add(1, size)
	q.pending.add(1, size)
	return true, nil
}

// dropOldest removes the oldest record that is on disk and not out, if there is one. q.mu is held.
func (q *Queue) dropOldest() (dropped bool, err error) {
	e, found, err := q.oldest()
	if !found || err != nil {
		return false, err
	}
	q.dropped++
	return true, q.remove(e, nil)
}
