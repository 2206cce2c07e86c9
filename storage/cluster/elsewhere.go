package cluster

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace/storage/frontier"
)

// place is a pipeline in a partition.
type place struct {
	pipeline string
	p        int
}

// link is the rest of the cluster, for the queue of a pipeline in a partition.
type link struct {
	*Cluster
	place
	ends   bool  // the run is one that ends
	number int64 // of that
	over   atomic.Bool
}

// Elsewhere opens the rest of the cluster for the queue of a pipeline in a partition of this node, which takes part in
// the run that is under way, or begins one. A run that ends is over once all partitions have taken part, and have
// nothing left to do.
func (c *Cluster) Elsewhere(pipeline string, p int, ends bool) (frontier.Elsewhere, error) {
	l := &link{Cluster: c, place: place{pipeline, p}, ends: ends}
	if !ends {
		return l, nil
	}
	err := c.transact(context.Background(), l.join)
	if err != nil {
		return nil, explained(fmt.Sprintf("begin to run %s as a part of the cluster in", pipeline), c.name, err)
	}
	return l, nil
}

// join takes part in the run of the pipeline, or begins one.
func (l *link) join(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO webrace.run VALUES ($1, 0, TRUE) ON CONFLICT (pipeline) DO NOTHING`, l.pipeline)
	if err != nil {
		return err
	}
	var over bool
	err = tx.QueryRowContext(ctx, `SELECT number, over FROM webrace.run WHERE pipeline = $1 FOR UPDATE`, l.pipeline).Scan(&l.number, &over)
	if err != nil {
		return err
	}
	if !over {
		_, err = tx.ExecContext(ctx, `UPDATE webrace.quiet SET quiet = FALSE, boot = $3 WHERE pipeline = $1 AND p = $2`, l.pipeline, l.p, l.boot)
		return err
	}
	l.number++
	if _, err = tx.ExecContext(ctx, `UPDATE webrace.run SET number = $2, over = FALSE WHERE pipeline = $1`, l.pipeline, l.number); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO webrace.quiet SELECT $1, p, FALSE, CASE p WHEN $2 THEN $3 ELSE '' END FROM webrace.part ORDER BY p
		ON CONFLICT (pipeline, p) DO UPDATE SET quiet = FALSE, boot = excluded.boot`, l.pipeline, l.p, l.boot)
	return err
}

func (l *link) Here() int          { return l.p }
func (l *link) Of(host string) int { return PartitionOf(host, l.Partitions) }
func (l *link) Over() bool         { return l.over.Load() }

// Send has the partitions of this node receive what is for them, and puts all else into the outbox.
func (l *link) Send(all []frontier.Envelope, done func(error)) {
	l.mu.Lock()
	away := parcel{pipeline: l.pipeline}
	near := make(map[*attached][]frontier.Envelope)
	for _, e := range all {
		if to := l.links[place{l.pipeline, e.To}]; to != nil {
			near[to] = append(near[to], e)
		} else {
			away.envelopes = append(away.envelopes, e)
		}
	}
	parts := len(all) - len(away.envelopes)
	if len(away.envelopes) > 0 || parts == 0 {
		parts++
	}
	away.done = afterAll(parts, done)
	for to, some := range near {
		to.near = append(to.near, parcel{l.pipeline, some, away.done})
	}
	l.mu.Unlock()
	if len(near) > 0 {
		l.turnSoon()
	}
	if len(near) == 0 || len(away.envelopes) > 0 {
		l.send(away)
	}
}

// afterAll returns a function that calls done when it has been called n times, with one of the errors if there was any.
func afterAll(n int, done func(error)) func(error) {
	if n == 1 {
		return done
	}
	var left atomic.Int64
	var failed atomic.Value
	left.Store(int64(n))
	return func(err error) {
		if err != nil {
			failed.CompareAndSwap(nil, &err)
		}
		if left.Add(-1) == 0 {
			first, _ := failed.Load().(*error)
			if first == nil {
				first = new(error)
			}
			done(*first)
		}
	}
}

// attached is a queue that receives.
type attached struct {
	*link
	gone chan struct{} // closed when it was detached

	guard sync.Mutex        // held while the queue is called
	to    frontier.Receiver // nil: it was detached

	near      []parcel     // of this node, to be received; Cluster.mu guards it
	receiving atomic.Int64 // envelopes of this node that are received, and not durable yet

	// What is below is of the goroutine of [Cluster] work.
	pending map[string]waiting // by their crawls: what is noted as waiting in the partition; nil: not read yet
	state   state
	rests   time.Time // until when nothing is done for it, because something failed
}

// waiting is a pass that is noted as one that waits for URLs.
type waiting struct {
	number uint32
	ours   bool // it was noted by this process, not by one that may have been killed
}

// state is what is noted of a partition in a run that ends.
type state int

const (
	unknown state = iota
	busy
	quiet
)

func (l *link) Attach(to frontier.Receiver) (detach func()) {
	a := &attached{link: l, to: to, gone: make(chan struct{})}
	l.mu.Lock()
	l.links[l.place] = a
	l.mu.Unlock()
	l.lookSoon()
	return a.detach
}

// detach has the queue called no more. What it was to receive waits in its inbox.
func (a *attached) detach() {
	a.mu.Lock()
	if a.links[a.place] == a {
		delete(a.links, a.place)
	}
	near := a.near
	a.near = nil
	a.mu.Unlock()
	a.guard.Lock()
	a.to = nil
	a.guard.Unlock()
	close(a.gone)
	for _, p := range near {
		a.post(p.envelopes, p.done)
	}
}

// call calls the queue, unless it was detached.
func (a *attached) call(f func(frontier.Receiver)) (called bool) {
	a.guard.Lock()
	defer a.guard.Unlock()
	if a.to == nil {
		return false
	}
	f(a.to)
	return true
}
