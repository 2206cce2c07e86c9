package cluster

import (
	"context"
	"database/sql"
	"slices"

	"github.com/webrace/webrace/storage/frontier"
)

// endPasses ends the passes of crawls that begin here and are over everywhere: in one snapshot, nothing in an inbox
// names the crawl, and it waits for nothing in any partition.
func (c *Cluster) endPasses(all []*attached) error {
	var leaving []notedPass
	var pipelines, crawls []string
	for _, a := range all {
		a.call(func(to frontier.Receiver) {
			for _, p := range to.Leaving() {
				leaving = append(leaving, notedPass{of: a, Pass: p})
				pipelines, crawls = append(pipelines, a.pipeline), append(crawls, p.Crawl)
			}
		})
	}
	if len(leaving) == 0 {
		return nil
	}
	var over []int
	err := c.do(c.ended, func(ctx context.Context) (err error) {
		over, err = integers(ctx, c.db, `SELECT n FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS c (pipeline, crawl, n)
			WHERE NOT EXISTS (SELECT 1 FROM webrace.inbox AS i WHERE i.pipeline = c.pipeline AND i.crawls @> ARRAY[c.crawl])
			AND NOT EXISTS (SELECT 1 FROM webrace.abroad AS a WHERE a.pipeline = c.pipeline AND a.crawl = c.crawl AND a.pending)`, pipelines, crawls)
		return err
	})
	for _, n := range over {
		if err == nil {
			err = c.endPass(leaving[n-1])
		}
	}
	return err
}

func (c *Cluster) endPass(p notedPass) error {
	ended := make(chan error, 1)
	if !p.of.call(func(to frontier.Receiver) { to.End(p.Pass, func(err error) { ended <- err }) }) {
		return nil
	}
	select {
	case err := <-ended:
		if err != nil {
			p.of.fail(err)
			return nil
		}
	case <-p.of.gone:
		return nil
	case <-c.ended.Done():
		return c.ended.Err()
	}
	return c.do(c.ended, func(ctx context.Context) error { // a node may be about to note one of them: it goes another time
		_, err := c.db.ExecContext(ctx, `DELETE FROM webrace.abroad WHERE (pipeline, crawl, p) IN (SELECT pipeline, crawl, p FROM webrace.abroad
			WHERE pipeline = $1 AND crawl = $2 AND pass <= $3 AND NOT pending FOR UPDATE SKIP LOCKED)`, p.of.pipeline, p.Crawl, p.Number)
		return err
	})
}

// Requests returns how many requests other partitions have ever made for crawls that begin in partition p: see
// [frontier.RequestsElsewhere]. A partition notes them with that a crawl waits for nothing there.
func (c *Cluster) Requests(ctx context.Context, pipeline string, p int, crawls []string) (requests map[string]uint64, err error) {
	err = c.do(ctx, func(ctx context.Context) error {
		requests = make(map[string]uint64)
		rows, err := c.db.QueryContext(ctx, `SELECT crawl, sum(requests)::bigint FROM webrace.cost
			WHERE pipeline = $1 AND crawl = ANY($2::text[]) AND p <> $3 GROUP BY crawl`, pipeline, crawls, p)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var crawl string
			var n uint64
			if err := rows.Scan(&crawl, &n); err != nil {
				return err
			}
			requests[crawl] = n
		}
		return rows.Err()
	})
	return requests, explained("read what crawls cost in", c.name, err)
}

// run is one of the runs of a pipeline that end.
type run struct {
	pipeline string
	number   int64
}

// endRuns notes which partitions have nothing left to do, and finds out of each run whether any has.
func (c *Cluster) endRuns(all []*attached, asks bool) error {
	runs := make(map[run][]*attached)
	var idle []*attached
	for _, a := range all {
		if !a.ends || a.over.Load() {
			continue
		}
		is := run{a.pipeline, a.number}
		runs[is] = append(runs[is], a)
		if a.state != quiet && a.isIdle() {
			idle = append(idle, a)
		}
	}
	if err := c.noteQuiet(idle); err != nil {
		return err
	}
	for is, parts := range runs {
		if !slices.ContainsFunc(parts, func(a *attached) bool { return a.state != quiet }) && (asks || slices.ContainsFunc(parts, func(a *attached) bool { return slices.Contains(idle, a) })) {
			if err := c.endRun(is, parts); err != nil {
				return err
			}
		}
	}
	return nil
}

// isIdle reports whether a queue has nothing left to do, and all that waits for nothing is noted: what is not by the
// end of the run would keep passes from ending. What is received and not durable yet the queue does not know.
func (a *attached) isIdle() (idle bool) {
	if a.receiving.Load() == 0 {
		a.call(func(to frontier.Receiver) { idle = to.Idle() && !slices.Contains(to.Pending(a.waiting()), false) })
	}
	return idle
}

// noteQuiet notes that partitions have nothing left to do, which stays so until they receive something: only as the
// process that took part last.
func (c *Cluster) noteQuiet(all []*attached) error {
	if len(all) == 0 {
		return nil
	}
	pipelines, partitions := placesOf(all)
	err := c.do(c.ended, func(ctx context.Context) error {
		_, err := c.db.ExecContext(ctx, `UPDATE webrace.quiet AS q SET quiet = TRUE FROM unnest($1::text[], $2::bigint[]) AS r (pipeline, p)
			WHERE q.pipeline = r.pipeline AND q.p = r.p AND q.boot = $3`, pipelines, partitions, c.boot)
		return err
	})
	if err != nil {
		return err
	}
	for _, a := range all {
		a.state = quiet
	}
	return nil
}

// endRun ends a run in the partitions of this node, if it is over everywhere. Nothing is noted any more by then: what
// is not over now waits for the next run.
func (c *Cluster) endRun(is run, parts []*attached) error {
	over, changed, err := c.overNow(is)
	if err == nil && over {
		err = c.endPasses(parts)
	}
	if err != nil || !over {
		return err
	}
	for _, a := range parts {
		a.over.Store(true)
		a.call(frontier.Receiver.Wake)
	}
	if changed {
		c.tellOthers()
	}
	return nil
}

// overNow finds out whether a run is over, and notes it when nothing is left: with the row of the run locked, so that
// who takes part meanwhile is seen, or begins the next one.
func (c *Cluster) overNow(is run) (over, changed bool, err error) {
	const left = `EXISTS (SELECT 1 FROM webrace.quiet AS q WHERE q.pipeline = $1 AND NOT q.quiet)
		OR EXISTS (SELECT 1 FROM webrace.inbox AS i WHERE i.pipeline = $1)`
	busy := false
	err = c.do(c.ended, func(ctx context.Context) error {
		return c.db.QueryRowContext(ctx, `SELECT over OR number > $2, `+left+` FROM webrace.run WHERE pipeline = $1`, is.pipeline, is.number).Scan(&over, &busy)
	})
	if err != nil || over || busy {
		return over, false, err
	}
	err = c.transact(c.ended, func(ctx context.Context, tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `SELECT over OR number > $2 FROM webrace.run WHERE pipeline = $1 FOR UPDATE`, is.pipeline, is.number).Scan(&over)
		if err != nil || over {
			return err
		}
		done, err := tx.ExecContext(ctx, `UPDATE webrace.run SET over = TRUE WHERE pipeline = $1 AND NOT (`+left+`)`, is.pipeline)
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

func integers(ctx context.Context, db *sql.DB, query string, args ...any) (all []int, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var n int
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, rows.Err()
}
