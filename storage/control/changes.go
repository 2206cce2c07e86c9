package control

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"time"

	"github.com/webrace/webrace/storage/internal/nanos"
)

// Point is a point in the history of what people ask for. Each of its numbers only grows, so two points
// are equal if and only if nothing happened between them.
type Point struct {
	Revision int64 // of the URD base, see [Store.Revised]
	Checks   int64 // how many checks were asked for, see [Store.Asked]
	Quotas   int64 // how often a quota was set, see [Store.Owners]
}

const readPoint = `SELECT sum(value) FILTER (WHERE name = 'revision'), sum(value) FILTER (WHERE name = 'checks'),
	sum(value) FILTER (WHERE name = 'quotas') FROM counter`

// Now returns the point at which the history is: the zero Point when nothing was ever added. A caller that reads it
// before the URDs, and goes on from there with [Store.NextChange], misses nothing.
func (s *Store) Now(ctx context.Context) (p Point, err error) {
	err = s.readRow(ctx, "read what changed", readPoint, nil, &p.Revision, &p.Checks, &p.Quotas)
	return p, err
}

// NextChange waits until something was changed after a point, by this process or before it began: a URD
// added, changed or removed, a check asked for, or a quota set. It returns the point that was reached.
func (s *Store) NextChange(ctx context.Context, after Point) (Point, error) {
	for {
		s.follow()
		changed := s.changed.Next() // before looking, so that nothing slips in between
		if now, err := s.Now(ctx); err != nil || now != after {
			return now, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return after, ctx.Err()
		}
	}
}

// CheckNow makes a URD due now, or returns [ErrNotFound]: the time of asking is kept in its CheckAsked.
func (s *Store) CheckNow(ctx context.Context, id string) error {
	err := s.write(ctx, allURDs, "ask for a check of URD "+id, func(tx *sql.Tx) error {
		var number int64
		if err := tx.QueryRowContext(ctx, count("checks")).Scan(&number); err != nil {
			return err
		}
		return mustAffect(tx.ExecContext(ctx, "UPDATE urd SET check_time = ?, check_number = ? WHERE id = ?", nanos.Of(time.Now()), number, id))
	})
	if err == nil {
		s.wake(&s.changed)
	}
	return err
}

// Asked returns the URDs that a check was asked for after so many ([Point] Checks), those first asked for first.
func (s *Store) Asked(ctx context.Context, since int64) iter.Seq2[URD, error] {
	return rows(ctx, s, "read URDs to be checked", scanURD, `SELECT nodes, revision, interest, check_time, crawl, start FROM urd
		WHERE check_number > 0 AND check_number > ? ORDER BY check_number`, since)
}

func scanURD(r *sql.Rows) (URD, error) {
	var stored record
	if err := r.Scan(&stored.document, &stored.number, &stored.second, &stored.third, &stored.crawl, &stored.start); err != nil {
		return URD{}, err
	}
	return decodeStoredURD(stored)
}

// count is the statement that raises a counter and returns it.
func count(name string) string {
	return fmt.Sprintf("UPDATE counter SET value = value + 1 WHERE name = '%s' RETURNING value", name)
}
