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

// link is the rest of the cluster, for the queue of a pipeline in a partition. One goroutine does all of it, one thing
// after the other: what is noted of the partition is true because nothing is received meanwhile.
type link struct {
	*Cluster
	pipeline string
	p        int

	ends   bool  // the run is one that ends
	number int64 // of that
	over   atomic.Bool

	look chan struct{} // something may have changed in the database

	to      frontier.Receiver
	ctx     context.Context   // until what receives is detached
	pending map[string]uint32 // passes, by their crawls, that are noted as such for the partition; nil: not read yet
	quiet   bool              // the partition is noted as such
	looked  time.Time
}

// Elsewhere opens the rest of the cluster for the queue of a pipeline in a partition of this node, which takes part in
// the run that is under way, or begins one. A run that ends is over once all partitions have taken part, and have
// nothing left to do.
func (c *Cluster) Elsewhere(pipeline string, p int, ends bool) (frontier.Elsewhere, error) {
	l := &link{Cluster: c, pipeline: pipeline, p: p, ends: ends, look: make(chan struct{}, 1)}
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
	_, err = tx.ExecContext(ctx, `INSERT INTO webrace.quiet SELECT $1, p, FALSE, CASE p WHEN $2 THEN $3 ELSE '' END FROM webrace.part
		ON CONFLICT (pipeline, p) DO UPDATE SET quiet = FALSE, boot = excluded.boot`, l.pipeline, l.p, l.boot)
	return err
}

func (l *link) Here() int          { return l.p }
func (l *link) Of(host string) int { return PartitionOf(host, l.Partitions) }
func (l *link) Over() bool         { return l.over.Load() }

func (l *link) Send(all []frontier.Envelope, done func(error)) {
	l.send(parcel{l.pipeline, all, done})
}

func (l *link) Attach(to frontier.Receiver) (detach func()) {
	ctx, stop := context.WithCancel(l.ended)
	l.to, l.ctx, l.pending, l.quiet = to, ctx, nil, false
	l.mu.Lock()
	l.links[l] = struct{}{}
	l.mu.Unlock()
	var working sync.WaitGroup
	working.Go(l.work)
	return func() {
		stop()
		l.mu.Lock()
		delete(l.links, l)
		l.mu.Unlock()
		working.Wait()
	}
}

func (l *link) lookSoon() {
	select {
	case l.look <- struct{}{}:
	default: // it looks anyway
	}
}

// askEvery is how often the queue is asked what has become of it, which costs nothing.
const askEvery = 50 * time.Millisecond

// work does what there is to do until the queue is detached.
func (l *link) work() {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		if err := l.turn(); err != nil && l.ctx.Err() == nil {
			l.options.Logger.Error("what comes from other partitions waits", "pipeline", l.pipeline, "partition", l.p, "error", err)
			select {
			case <-time.After(lookEvery):
			case <-l.ctx.Done():
			}
		}
		select {
		case <-l.look:
			l.looked = time.Time{}
		case <-tick.C:
		case <-l.ctx.Done():
			return
		}
	}
}

// turn receives what has come, and notes what has changed. The database is asked when something may have changed in it,
// or at last after lookEvery.
func (l *link) turn() error {
	if l.pending == nil {
		if err := l.readPending(); err != nil {
			return err
		}
	}
	asks := time.Since(l.looked) >= lookEvery
	if asks {
		l.looked = time.Now()
		if err := l.receiveAll(); err != nil {
			return err
		}
	}
	if err := l.notePending(); err != nil {
		return err
	}
	if asks {
		if err := l.endPasses(); err != nil {
			return err
		}
	}
	if l.ends && !l.over.Load() {
		return l.endRun(asks)
	}
	return nil
}

// notePending notes the passes that wait for nothing here any more.
func (l *link) notePending() error {
	all := make([]frontier.Pass, 0, len(l.pending))
	for crawl, number := range l.pending {
		all = append(all, frontier.Pass{Crawl: crawl, Number: number})
	}
	var crawls []string
	if len(all) > 0 {
		for i, pending := range l.to.Pending(all) {
			if !pending {
				crawls = append(crawls, all[i].Crawl)
			}
		}
	}
	if len(crawls) == 0 {
		return nil
	}
	err := l.do(l.ctx, func(ctx context.Context) error {
		_, err := l.db.ExecContext(ctx, `UPDATE webrace.abroad SET pending = FALSE WHERE pipeline = $1 AND p = $2 AND crawl = ANY ($3::text[])`, l.pipeline, l.p, crawls)
		return err
	})
	if err != nil {
		return err
	}
	for _, crawl := range crawls {
		delete(l.pending, crawl)
	}
	l.wakeAll()
	return nil
}

// wakeAll has all look whether something is over.
func (l *link) wakeAll() {
	l.mu.Lock()
	for other := range l.links {
		if other.pipeline == l.pipeline {
			other.lookSoon()
		}
	}
	l.mu.Unlock()
	l.tellOthers()
}

func (l *link) readPending() error {
	pending := make(map[string]uint32)
	err := l.do(l.ctx, func(ctx context.Context) error {
		rows, err := l.db.QueryContext(ctx, `SELECT crawl, pass FROM webrace.abroad WHERE pipeline = $1 AND p = $2 AND pending`, l.pipeline, l.p)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var p frontier.Pass
			if err := rows.Scan(&p.Crawl, &p.Number); err != nil {
				return err
			}
			pending[p.Crawl] = p.Number
		}
		return rows.Err()
	})
	if err == nil {
		l.pending = pending
	}
	return err
}

// endPasses ends the passes of crawls that begin here and are over everywhere: in one snapshot, nothing in an inbox
// names the crawl, and it waits for nothing in any partition.
func (l *link) endPasses() error {
	leaving := l.to.Leaving()
	if len(leaving) == 0 {
		return nil
	}
	numbers := make(map[string]frontier.Pass, len(leaving))
	crawls := make([]string, len(leaving))
	for i, p := range leaving {
		numbers[p.Crawl], crawls[i] = p, p.Crawl
	}
	var over []string
	err := l.do(l.ctx, func(ctx context.Context) (err error) {
		over, err = texts(ctx, l.db, `SELECT crawl FROM unnest($2::text[]) AS c (crawl)
			WHERE NOT EXISTS (SELECT 1 FROM webrace.inbox WHERE pipeline = $1 AND crawls @> ARRAY[c.crawl])
			AND NOT EXISTS (SELECT 1 FROM webrace.abroad AS a WHERE a.pipeline = $1 AND a.crawl = c.crawl AND a.pending)`, l.pipeline, crawls)
		return err
	})
	for _, crawl := range over {
		if err == nil {
			err = l.endPass(numbers[crawl])
		}
	}
	return err
}

func (l *link) endPass(p frontier.Pass) error {
	if err := l.await(1, func(_ int, done func(error)) { l.to.End(p, done) }); err != nil {
		return err
	}
	return l.do(l.ctx, func(ctx context.Context) error {
		_, err := l.db.ExecContext(ctx, `DELETE FROM webrace.abroad WHERE pipeline = $1 AND crawl = $2 AND pass <= $3 AND NOT pending`, l.pipeline, p.Crawl, p.Number)
		return err
	})
}

// endRun notes whether the partition has anything left to do, and finds out whether any has.
func (l *link) endRun(asks bool) error {
	if !l.to.Idle() {
		return nil // what is noted of it stays so until it is quiet: see receive
	}
	if !l.quiet {
		err := l.do(l.ctx, func(ctx context.Context) error { // only as the process that took part last
			_, err := l.db.ExecContext(ctx, `UPDATE webrace.quiet SET quiet = TRUE WHERE pipeline = $1 AND p = $2 AND boot = $3`, l.pipeline, l.p, l.boot)
			return err
		})
		if err != nil {
			return err
		}
		l.quiet, asks = true, true
	}
	if !asks {
		return nil
	}
	over, changed, err := l.overNow()
	if err == nil && over { // nothing is noted any more: what is not over now waits for the next run
		err = l.endPasses()
	}
	if err != nil || !over {
		return err
	}
	l.over.Store(true)
	l.to.Wake()
	if changed {
		l.wakeAll()
	}
	return nil
}

// overNow finds out whether the run is over, and notes it when nothing is left: with the row of the run locked, so that
// who takes part meanwhile is seen, or begins the next one.
func (l *link) overNow() (over, changed bool, err error) {
	const left = `EXISTS (SELECT 1 FROM webrace.quiet AS q WHERE q.pipeline = $1 AND NOT q.quiet)
		OR EXISTS (SELECT 1 FROM webrace.inbox AS i WHERE i.pipeline = $1)`
	busy := false
	err = l.do(l.ctx, func(ctx context.Context) error {
		return l.db.QueryRowContext(ctx, `SELECT over OR number > $2, `+left+` FROM webrace.run WHERE pipeline = $1`, l.pipeline, l.number).Scan(&over, &busy)
	})
	if err != nil || over || busy {
		return over, false, err
	}
	err = l.transact(l.ctx, func(ctx context.Context, tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `SELECT over OR number > $2 FROM webrace.run WHERE pipeline = $1 FOR UPDATE`, l.pipeline, l.number).Scan(&over)
		if err != nil || over {
			return err
		}
		done, err := tx.ExecContext(ctx, `UPDATE webrace.run SET over = TRUE WHERE pipeline = $1 AND NOT (`+left+`)`, l.pipeline)
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		over = n > 0
		changed = over
		return err
	})
	return over, changed, err
}

func texts(ctx context.Context, db *sql.DB, query string, args ...any) (all []string, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, rows.Err()
}
