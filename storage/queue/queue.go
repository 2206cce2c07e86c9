package queue

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace/internal/broadcast"
)

// Side is the side of a queue that a caller has, of one that several callers share.
type Side uint8

// The sides of a queue. There may be several callers that put, and one that takes.
const (
	Both Side = iota // nobody else has the queue
	Puts
	Takes
)

// QueueOptions are the options of a queue. Of one that is shared, each side sets what it alone makes use of.
type QueueOptions struct {
	Side Side

	MaxBytes int64         // that it holds at most, on disk and out; 0 sets no limit
	Full     Full          // what becomes of what does not fit; empty: Wait
	Leases   int           // records that are out at most; 0: 256
	Wait     time.Duration // how long the end of a sealed queue waits for records that were given back

	// Damaged is told of a record that cannot be read; it is left where it is, and not handed out. It must not call the
	// queue. It may be nil.
	Damaged func(error)
}

const (
	mostLeases = 256
	// What is handed in and not on disk yet; beyond it Put waits for the disk.
	mostPending      = 1024
	mostPendingBytes = 4 << 20
	// What is read at once.
	chunkRecords = 64
	chunkBytes   = 1 << 20
	// Between two times that a record is handed out lies this, which doubles with each.
	firstPause = 100 * time.Millisecond
	lastPause  = time.Minute
)

// Queue is one queue, open. Its methods may be called concurrently.
type Queue struct {
	store  *Store
	name   string
	number uint32
	onDisk state // of the committer alone

	changed broadcast.Cond
	blocked atomic.Int32 // calls of Put that wait

	mu       sync.Mutex
	options  QueueOptions
	next     uint64    // sequence number of the next record that is put
	durable  uint64    // those below are on disk
	cursor   uint64    // those below have been read, or removed
	ready    []entry   // read, and not handed out
	again    givenBack // handed out before
	out      int
	held     state // accepted and neither done nor dropped
	pending  state // accepted and not on disk
	dropped  int64
	sealed   bool
	putters  int       // callers that share the queue and put
	taker    bool      // one that takes
	progress time.Time // when something last went on, once it is sealed
	err      error     // why nothing can be done any more
}

// entry is a record that has been read.
type entry struct {
	sequence uint64
	size     int64
	record   Record
	times    int       // that it was given back
	due      time.Time // when it may be handed out again
}

// newQueue opens a queue. The changes of those who had it before are on disk by then.
func newQueue(s *Store, name string, number uint32, o QueueOptions) (*Queue, error) {
	q := &Queue{store: s, name: name, number: number, options: o.withDefaults(), progress: time.Now()}
	if err := s.committer.flush(q); err != nil {
		return nil, err
	}
	var err error
	if q.onDisk, err = s.state(number); err != nil {
		return nil, err
	}
	q.held = q.onDisk
	it, err := s.db.NewIter(q.records(0))
	if err != nil {
		return nil, err
	}
	if it.Last() {
		q.next, err = sequenceOf(it.Key())
		q.next++
	}
	if err := errors.Join(err, it.Close()); err != nil {
		return nil, err
	}
	q.durable = q.next
	return q, nil
}

func (o QueueOptions) withDefaults() QueueOptions {
	o.Full = cmp.Or(o.Full, Wait)
	o.Leases = cmp.Or(o.Leases, mostLeases)
	return o
}

// flush waits until what was handed in before is on disk.
func (c *committer) flush(q *Queue) error {
	done := make(chan error, 1)
	if err := c.submit(change{queue: q, nothing: true, done: func(err error) { done <- err }}); err != nil {
		return err
	}
	return <-done
}

// SetOptions changes the options of a queue in use: those of the side of the caller. Of several that put, the last one
// counts.
func (q *Queue) SetOptions(o QueueOptions) {
	q.mu.Lock()
	o = o.withDefaults()
	switch o.Side {
	case Puts:
		o.Leases, o.Wait = q.options.Leases, q.options.Wait
	case Takes:
		o.MaxBytes, o.Full = q.options.MaxBytes, q.options.Full
	}
	q.options = o
	q.mu.Unlock()
	q.changed.Broadcast()
}

// oldest takes the oldest record that is on disk and not out. q.mu is held, as below.
func (q *Queue) oldest() (e entry, found bool, err error) {
	if err := q.read(); err != nil {
		return e, false, err
	}
	first := -1
	for i := range q.again {
		if first < 0 || q.again[i].sequence < q.again[first].sequence {
			first = i
		}
	}
	if first >= 0 && (len(q.ready) == 0 || q.again[first].sequence < q.ready[0].sequence) {
		return heap.Remove(&q.again, first).(entry), true, nil
	}
	e, found = q.pop()
	return e, found, nil
}

func (q *Queue) pop() (e entry, found bool) {
	if len(q.ready) == 0 {
		return e, false
	}
	e = q.ready[0]
	q.ready[0] = entry{}
	if q.ready = q.ready[1:]; len(q.ready) == 0 {
		q.ready = nil
	}
	return e, true
}

// remove removes a record that is in no list any more.
func (q *Queue) remove(e entry, done func(error)) error {
	q.held.add(-1, -e.size)
	return q.store.committer.submit(change{queue: q, sequence: e.sequence, size: e.size, done: done})
}

// read reads some records from disk unless there are some.
func (q *Queue) read() error {
	if len(q.ready) > 0 || q.cursor >= q.durable {
		return nil
	}
	if err := q.store.db.Enter(); err != nil {
		return err
	}
	defer q.store.db.Leave()
	it, err := q.store.db.NewIter(q.records(q.cursor))
	if err != nil {
		return err
	}
	bytes, more := int64(0), it.First()
	for ; more && len(q.ready) < chunkRecords && bytes < chunkBytes; more = it.Next() {
		sequence, err := sequenceOf(it.Key())
		if err == nil && sequence >= q.durable {
			more = false
			break
		}
		value := append([]byte{}, it.Value()...)
		var record Record
		if err == nil {
			q.cursor = sequence + 1
			record, err = decodeRecord(value)
		}
		if err != nil { // and is no part of the chunk, which would be none without the others
			q.damaged(fmt.Errorf("record %d of queue %s: %w", sequence, q.name, err))
			continue
		}
		bytes += sizeOf(value)
		q.ready = append(q.ready, entry{sequence: sequence, size: sizeOf(value), record: record})
	}
	if !more {
		q.cursor = q.durable // what is in between was removed before
	}
	return errors.Join(it.Error(), it.Close())
}

func (q *Queue) damaged(err error) {
	if q.options.Damaged != nil {
		q.options.Damaged(err)
	}
}

// committed is told by the committer of changes that are on disk, or failed.
func (q *Queue) committed(changes []change, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err != nil && q.err == nil {
		q.err = err
	}
	for _, ch := range changes {
		if ch.value != nil {
			q.pending.add(-1, -ch.size)
			q.durable = ch.sequence + 1
		}
	}
	q.changed.Broadcast()
}

// Take returns the next record: one that was given back and is due, or the first of those that were not out. It waits
// until there is one, and until fewer than so many are out. [io.EOF] means that the queue is sealed, that nothing is
// out, and that nothing waits that is to be handed out before the end.
func (q *Queue) Take(ctx context.Context) (*Lease, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err // also while something can be taken
		}
		changed := q.changed.Next()
		l, due, err := q.tryTake(time.Now())
		if l != nil || err != nil {
			return l, err
		}
		if err := wait(ctx, changed, due); err != nil {
			return nil, err
		}
	}
}

// wait returns when something has changed, or a time has come, if it is not zero.
func wait(ctx context.Context, changed <-chan struct{}, until time.Time) error {
	var come <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		come = timer.C
	}
	select {
	case <-changed:
		return nil
	case <-come:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tryTake takes a record if there is one; if not, it returns when to look again, should nothing change.
func (q *Queue) tryTake(now time.Time) (l *Lease, look time.Time, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		return nil, look, q.err
	}
	if err := q.read(); err != nil {
		return nil, look, err
	}
	if q.out >= q.options.Leases {
		return nil, look, nil
	}
	idle := len(q.ready) == 0 && q.pending.records == 0 && q.out == 0
	end := q.progress.Add(q.options.Wait)
	switch {
	case q.over() && idle && (len(q.again) == 0 || !now.Before(end)):
		return nil, look, io.EOF
	case len(q.again) > 0 && !q.again[0].due.After(now):
		return q.lend(heap.Pop(&q.again).(entry)), look, nil
	}
	if q.out+len(q.again) < q.options.Leases { // what was given back is in memory, too
		if e, found := q.pop(); found {
			q.progress = now
			return q.lend(e), look, nil
		}
	}
	if len(q.again) > 0 {
		look = q.again[0].due
		if q.over() && idle && end.Before(look) {
			look = end
		}
	}
	return nil, look, nil
}

func (q *Queue) lend(e entry) *Lease {
	q.out++
	return &Lease{queue: q, entry: e}
}

// over reports whether nothing more will be put.
func (q *Queue) over() bool { return q.sealed && q.putters == 0 }

// Seal tells the queue that nothing more will be put; of a queue that is shared, by others than those that have it now.
func (q *Queue) Seal() {
	q.mu.Lock()
	q.sealed, q.progress = true, time.Now()
	q.mu.Unlock()
	q.changed.Broadcast()
}

// Starved reports whether nothing can go on but by the end of a record that is out: others wait for that, or the end of
// the queue does.
func (q *Queue) Starved() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.out == 0 || q.err != nil {
		return false
	}
	nothing := len(q.ready) == 0 && q.cursor >= q.durable && len(q.again) == 0 && q.pending.records == 0
	return q.out >= q.options.Leases || nothing && (q.over() || q.blocked.Load() > 0)
}

// Stats is how a queue stands.
type Stats struct {
	Records int64     // that are neither done nor dropped
	Bytes   int64     // of these
	Out     int       // of these, handed out
	Dropped int64     // since it was opened
	Oldest  time.Time // when the oldest of those on disk was put that are not out; zero if there is none
}

// Stats returns how the queue stands.
func (q *Queue) Stats() Stats {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := Stats{Records: q.held.records, Bytes: q.held.bytes, Out: q.out, Dropped: q.dropped}
	if q.err == nil {
		_ = q.read() // Take reports what is wrong
	}
	if len(q.ready) > 0 {
		s.Oldest = q.ready[0].record.At
	}
	for _, e := range q.again {
		if s.Oldest.IsZero() || e.record.At.Before(s.Oldest) {
			s.Oldest = e.record.At
		}
	}
	return s
}

// Close writes what was handed in. What is out is handed out again when the queue is next opened.
func (q *Queue) Close() error {
	if !q.shut(ErrClosed) {
		return nil
	}
	err := q.store.committer.flush(q)
	if errors.Is(err, ErrClosed) {
		err = nil // by the store, which has written it
	}
	q.store.mu.Lock()
	if q.store.queues[q.name] == q {
		delete(q.store.queues, q.name)
	}
	q.store.mu.Unlock()
	q.store.changed.Broadcast()
	return err
}

// shut lets all that is asked from now on fail, and reports whether it was open.
func (q *Queue) shut(err error) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if errors.Is(q.err, ErrClosed) {
		return false
	}
	q.err = err
	q.changed.Broadcast()
	return true
}
