// Package pending is a bounded delay queue for stages that keep items for a while: a limit to how many there are, and
// the loop that emits them when they are due. What is kept, and when it is due, is the stage's own.
package pending

import (
	"context"
	"sync"
	"time"

	"github.com/webrace/webrace/internal/broadcast"
	"github.com/webrace/webrace/pipeline"
)

// Item is a value that is ready to be emitted, and the items that it is made of.
type Item struct {
	Port  string
	Value any
	Meta  map[string]string
	Group []pipeline.Held
	Size  int // how many places of the queue it takes
}

// Queue counts what is kept: it is a semaphore whose places are given back when their items are emitted.
type Queue struct {
	mu      sync.Mutex
	taken   int
	waiting int // for a place
	limit   int
	room    broadcast.Cond // when a place has become free
	wake    chan struct{}
}

// New returns a queue with so many places.
func New(limit int) *Queue {
	return &Queue{limit: limit, wake: make(chan struct{}, 1)}
}

// Take takes a place. While there is none, it waits; makeRoom is called first, to tell that something must
// leave before its time. When what the place was taken for has been put, [Queue.Put] is to be called.
func (q *Queue) Take(ctx context.Context, makeRoom func()) error {
	for {
		q.mu.Lock()
		if q.taken < q.limit {
			q.taken++
			q.mu.Unlock()
			return nil
		}
		room := q.room.Next()
		q.waiting++ // before makeRoom: what it does not find yet, Put will
		q.mu.Unlock()
		makeRoom()
		q.Wake()
		select {
		case <-room:
		case <-ctx.Done():
		}
		q.mu.Lock()
		q.waiting--
		q.mu.Unlock()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// Put tells the queue that something has been put in its place. If a caller of Take waits for one, it may be what must
// leave.
func (q *Queue) Put(makeRoom func()) {
	q.mu.Lock()
	wanted := q.waiting > 0
	q.mu.Unlock()
	if wanted {
		makeRoom()
		q.Wake()
	}
}

// Free gives places back, none at all too: a caller that waits for one looks again for what it can send away.
func (q *Queue) Free(places int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken -= places
	q.room.Broadcast()
}

// Wake makes Release look at once whether something is due.
func (q *Queue) Wake() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Contents is what a stage keeps in its queue.
type Contents interface {
	// Due takes off what is to be emitted by now, everything if nothing more will come, and returns when the
	// next will be due: the zero time if that is not known.
	Due(now time.Time, everything bool) (ready []Item, next time.Time)
}

// Release emits what is due until nothing more will come, and then the rest: it is [pipeline.Keeper]'s.
func (q *Queue) Release(ctx context.Context, ended <-chan struct{}, out pipeline.Emitter, c Contents) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	everything := false
	for {
		ready, next := c.Due(time.Now(), everything)
		for i, item := range ready {
			if err := pipeline.EmitGroup(ctx, out, item.Port, item.Value, item.Meta, item.Group); err != nil {
				letGo(ready[i+1:], err)
				return q.abandon(ctx, ended, c, err)
			}
			q.Free(item.Size)
		}
		if everything {
			return nil
		}
		timer.Stop()
		var due <-chan time.Time
		if !next.IsZero() {
			timer.Reset(time.Until(next))
			due = timer.C
		}
		select {
		case <-due:
		case <-q.wake:
		case <-ended:
			everything = true
		case <-ctx.Done():
			return q.abandon(ctx, ended, c, ctx.Err())
		}
	}
}

// abandon lets go of all that is kept, once no call adds to it any more.
func (q *Queue) abandon(ctx context.Context, ended <-chan struct{}, c Contents, err error) error {
	if ctx.Err() == nil {
		return err // which ends the run
	}
	<-ended
	ready, _ := c.Due(time.Now(), true)
	letGo(ready, err)
	return err
}

func letGo(items []Item, err error) {
	for _, item := range items {
		for _, held := range item.Group {
			held.Done(err)
		}
	}
}
