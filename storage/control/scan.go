package control

import (
	"context"
	"database/sql"
	"encoding/json"
	"iter"
	"runtime"
	"slices"
	"sync"

	"github.com/webrace/webrace/xmlschema"
)

// A scan evaluates an expression that no column helps with on every URD, on two processors and in order.

// scanChunk is how many row numbers are evaluated at a time, and scanAhead how many chunks may wait to be
// looked at: they bound the memory of a scan.
const (
	scanChunk = 1024
	scanAhead = 4
)

// scan returns the URDs that a condition chooses. Both of its readers see the same base of URDs; if
// there is no second one to be had, the first does it alone.
func (s *Store) scan(ctx context.Context, c condition) iter.Seq2[URD, error] {
	c.and("n BETWEEN ? AND ?")
	return results(ctx, s, "query URDs", func(ctx context.Context, yield func(URD) bool) error { return s.readScan(ctx, c, yield) })
}

func (s *Store) readScan(ctx context.Context, c condition, yield func(URD) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	scanners, last, done, err := s.scanners(ctx)
	defer done()
	if err != nil {
		return err
	}
	for u, err := range inOrder(ctx, scanners, last/scanChunk+1, c) {
		if err != nil || !yield(u) {
			return err
		}
	}
	return nil
}

// scanners begins one or two transactions that see the same, and returns the last row number there. What
// they take is given back by done.
func (s *Store) scanners(ctx context.Context) (scanners []*sql.Tx, last int64, done func(), err error) {
	done = func() {
		for _, tx := range scanners {
			_ = tx.Rollback() // it has only read
		}
	}
	tx, err := s.readers.BeginTx(ctx, s.snapshot())
	if err != nil {
		return nil, 0, done, err
	}
	scanners = append(scanners, tx)
	at, last, err := pointAt(ctx, tx)
	if err != nil || last < 4*scanChunk || runtime.GOMAXPROCS(0) < 2 || s.helper == nil || !s.helping.TryLock() {
		return scanners, last, done, err
	}
	rollback := done
	done = func() { rollback(); s.helping.Unlock() }
	if tx, err = s.helper.BeginTx(ctx, nil); err != nil {
		return scanners, last, done, err
	}
	scanners = append(scanners, tx)
	seen, _, err := pointAt(ctx, tx)
	if err == nil && seen != at { // something was written in between
		err = tx.Rollback()
		scanners = scanners[:1]
	}
	return scanners, last, done, err
}

// pointAt begins what a transaction sees, and returns its point: two that are at the same point have the same URDs.
func pointAt(ctx context.Context, tx *sql.Tx) (at Point, last int64, err error) {
	err = tx.QueryRowContext(ctx, readPoint).Scan(&at.Revision, &at.Checks, &at.Quotas)
	if err == nil {
		err = tx.QueryRowContext(ctx, "SELECT coalesce(max(n), 0) FROM urd").Scan(&last)
	}
	return at, last, err
}

// chunk is the URDs of some rows that were selected, there when ready is closed.
type chunk struct {
	number int64
	ready  chan struct{}
	found  []URD
	err    error
}

// inOrder has the chunks evaluated by all scanners, and yields what they find in the order of the rows.
func inOrder(ctx context.Context, scanners []*sql.Tx, chunks int64, chosen condition) iter.Seq2[URD, error] {
	return func(yield func(URD, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		work := make(chan *chunk, scanAhead)
		var working sync.WaitGroup
		for _, tx := range scanners {
			working.Go(func() { evaluate(ctx, tx, work, chosen) })
		}
		defer working.Wait()
		defer close(work)
		defer cancel()

		var ahead []*chunk
		for next := int64(0); next < chunks || len(ahead) > 0; {
			for ; next < chunks && len(ahead) < scanAhead; next++ {
				c := &chunk{number: next, ready: make(chan struct{})}
				ahead = append(ahead, c)
				work <- c // there is room for all that are ahead
			}
			c := ahead[0]
			ahead = ahead[1:]
			<-c.ready
			for _, u := range c.found {
				// what was found ahead is no reason to go on
				if err := ctx.Err(); err != nil {
					yield(URD{}, err)
					return
				}
				if !yield(u, nil) {
					return
				}
			}
			if c.err != nil {
				yield(URD{}, c.err)
				return
			}
		}
	}
}

// evaluate works until there is nothing more to do.
func evaluate(ctx context.Context, tx *sql.Tx, work <-chan *chunk, chosen condition) {
	// Whatever is read of a row costs as much as evaluating a small expression, so the rest is for those found.
	candidates, err := tx.PrepareContext(ctx, "SELECT n, nodes FROM urd WHERE "+chosen.where+" ORDER BY n")
	var rest *sql.Stmt
	if err == nil {
		rest, err = tx.PrepareContext(ctx, `SELECT revision, interest, check_time, crawl, start FROM urd
			WHERE n IN (SELECT value FROM json_each(?)) ORDER BY n`)
	}
	for c := range work {
		if c.err = err; err == nil {
			c.err = c.fill(ctx, candidates, rest, chosen)
		}
		close(c.ready)
	}
}

func (c *chunk) fill(ctx context.Context, candidates, rest *sql.Stmt, chosen condition) error {
	numbers, err := c.choose(ctx, candidates, chosen)
	if err != nil || len(numbers) == 0 {
		return err
	}
	text, err := json.Marshal(numbers)
	if err != nil {
		return err
	}
	found, err := rest.QueryContext(ctx, string(text))
	if err != nil {
		return err
	}
	defer found.Close()
	for i := 0; found.Next(); i++ {
		var r record
		if err := found.Scan(&r.number, &r.second, &r.third, &r.crawl, &r.start); err != nil {
			return err
		}
		c.found[i].complete(r)
	}
	return found.Err()
}

// choose evaluates the query, and returns the row numbers of the URDs that it found.
func (c *chunk) choose(ctx context.Context, candidates *sql.Stmt, chosen condition) (numbers []int64, err error) {
	first := c.number * scanChunk
	rows, err := candidates.QueryContext(ctx, append(slices.Clip(chosen.args), first, first+scanChunk-1)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		var nodes sql.RawBytes
		if err := rows.Scan(&n, &nodes); err != nil {
			return nil, err
		}
		if chosen.query != nil {
			if selected, err := chosen.query.Match(ctx, nodes); err != nil || !selected {
				if err != nil {
					return nil, err
				}
				continue
			}
		}
		u, err := xmlschema.StoredURD(nodes)
		if err != nil {
			return nil, err
		}
		numbers, c.found = append(numbers, n), append(c.found, URD{URD: u})
	}
	return numbers, rows.Err()
}
