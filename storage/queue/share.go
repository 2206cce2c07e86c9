package queue

import (
	"errors"
	"fmt"
	"time"
)

// join gives a caller one side of a queue that others have as well. busy reports that the last of them is closing it.
// q.store.mu is held.
func (q *Queue) join(o QueueOptions) (busy bool, err error) {
	q.mu.Lock()
	shared, left, taker := q.options.Side != Both, q.putters == 0 && !q.taker, q.taker
	q.mu.Unlock()
	switch {
	case !shared || o.Side == Both:
		return false, fmt.Errorf("queue %s is in use already: give each stage a queue of its own, or let it have the queue as its end, or as its source, alone", q.name)
	case left:
		return true, nil
	case taker && o.Side == Takes:
		return false, fmt.Errorf("queue %s is the source of another stage already, which would get one part of the items and this one the other", q.name)
	}
	q.SetOptions(o)
	q.enter(o.Side)
	return false, nil
}

// enter counts a caller.
func (q *Queue) enter(side Side) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch side {
	case Puts:
		q.putters++
	case Takes:
		q.taker, q.sealed = true, false
	}
}

// Leave ends a caller's use of its side: what was handed in is written. The last one closes the queue.
func (q *Queue) Leave(side Side) error {
	if side == Both {
		return q.Close()
	}
	q.mu.Lock()
	if side == Puts {
		q.putters--
		q.progress = time.Now() // a sealed queue may be over now
	} else {
		q.taker = false
	}
	last := q.putters == 0 && !q.taker
	q.mu.Unlock()
	q.changed.Broadcast()
	if last {
		return q.Close()
	}
	if err := q.store.committer.flush(q); !errors.Is(err, ErrClosed) {
		return err
	}
	return nil // closed by the store, which has written it
}
