package queue

import (
	"container/heap"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// Lease is a record that is out. One of Done, Again and Leave ends it; further calls do nothing.
type Lease struct {
	queue *Queue
	entry entry
	ended bool // guarded by queue.mu
}

// Record returns the record, whose memory is the caller's.
func (l *Lease) Record() Record { return l.entry.record }

// Number returns the number that the record was given when it was put, which no other of the queue has.
func (l *Lease) Number() uint64 { return l.entry.sequence }

// Done removes the record. It does not wait for the disk: done, which may be nil, is called when the record is gone for
// good, or could not be removed and will be handed out again by another process.
func (l *Lease) Done(done func(error)) {
	q := l.queue
	err := l.end(func() error {
		if q.err != nil {
			return q.err // another caller may have the queue by now
		}
		q.progress = time.Now()
		return q.remove(l.entry, done)
	})
	if err != nil && done != nil {
		done(err)
	}
}

// Again gives the record back, to be handed out again at a time, and not before a pause that doubles each time.
func (l *Lease) Again(at time.Time) {
	q := l.queue
	_ = l.end(func() error {
		e := l.entry
		if e.times == 0 {
			q.progress = time.Now() // it has been tried, which may have taken longer than the end waits
		}
		pause := min(firstPause<<min(e.times, 16), lastPause)
		e.times++
		if e.due = time.Now().Add(pause); at.After(e.due) {
			e.due = at
		}
		heap.Push(&q.again, e)
		return nil
	})
}

// GiveBack gives the record back to be handed out again at once, as one that was not tried.
func (l *Lease) GiveBack() {
	_ = l.end(func() error {
		heap.Push(&l.queue.again, l.entry)
		return nil
	})
}

// Leave leaves the record where it is: it is handed out again when the queue is next opened.
func (l *Lease) Leave() { _ = l.end(func() error { return nil }) }

func (l *Lease) end(how func() error) error {
	q := l.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if l.ended {
		return nil
	}
	l.ended = true
	q.out--
	q.changed.Broadcast()
	return how()
}

// givenBack is a heap of records by when they are due, and of those by when they were put.
type givenBack []entry

func (g givenBack) Len() int { return len(g) }
func (g givenBack) Less(i, j int) bool {
	if !g[i].due.Equal(g[j].due) {
		return g[i].due.Before(g[j].due)
	}
	return g[i].sequence < g[j].sequence
}
func (g givenBack) Swap(i, j int) { g[i], g[j] = g[j], g[i] }
func (g *givenBack) Push(x any)   { *g = append(*g, x.(entry)) }
func (g *givenBack) Pop() any {
	last := len(*g) - 1
	e := (*g)[last]
	(*g)[last] = entry{}
	*g = (*g)[:last]
	return e
}

// records are the bounds of a queue's records from a sequence number on.
func (q *Queue) records(from uint64) pebbledb.IterOptions { return recordsOf(q.number, from) }

func recordsOf(number uint32, from uint64) pebbledb.IterOptions {
	return pebbledb.IterOptions{LowerBound: keyOfRecord(number, from), UpperBound: keyOf(recordKey, number+1)}
}

func sequenceOf(key []byte) (uint64, error) {
	if len(key) != len(recordKey)+numberSize+sequenceSize {
		return 0, fmt.Errorf("%w: the key %x is that of no record", errDamaged, key)
	}
	return binary.BigEndian.Uint64(key[len(recordKey)+numberSize:]), nil
}
