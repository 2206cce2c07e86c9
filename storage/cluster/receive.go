package cluster

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/webrace/webrace/storage/frontier"
)

// mostReceived is how many envelopes are received at a time.
const mostReceived = 500

// received is an envelope in the inbox of a partition.
type received struct {
	id     int64
	passes []frontier.Pass
	data   []byte
}

// receiveAll has the queue receive what is in the inbox.
func (l *link) receiveAll() error {
	for {
		some, err := l.inbox()
		if err != nil || len(some) == 0 {
			return err
		}
		if err := l.receive(some); err != nil {
			return err
		}
		if len(some) < mostReceived {
			return nil
		}
	}
}

func (l *link) inbox() (some []received, err error) {
	err = l.do(l.ctx, func(ctx context.Context) error {
		some = nil
		rows, err := l.db.QueryContext(ctx, `SELECT id, array_to_string(crawls, chr(31)), array_to_string(passes, chr(31)), data
			FROM webrace.inbox WHERE p = $1 AND pipeline = $2 ORDER BY id LIMIT $3`, l.p, l.pipeline, mostReceived)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var r received
			var crawls, passes string
			if err := rows.Scan(&r.id, &crawls, &passes, &r.data); err != nil {
				return err
			}
			if r.passes, err = passesOf(crawls, passes); err != nil {
				return err
			}
			some = append(some, r)
		}
		return rows.Err()
	})
	return some, err
}

func passesOf(crawls, numbers string) ([]frontier.Pass, error) {
	if crawls == "" {
		return nil, nil
	}
	ids, all := strings.Split(crawls, separator), strings.Split(numbers, separator)
	if len(ids) != len(all) {
		return nil, fmt.Errorf("an envelope has %d crawls and %d passes", len(ids), len(all))
	}
	passes := make([]frontier.Pass, len(ids))
	for i, id := range ids {
		n, err := strconv.ParseUint(all[i], 10, 32)
		if err != nil {
			return nil, err
		}
		passes[i] = frontier.Pass{Crawl: id, Number: uint32(n)}
	}
	return passes, nil
}

// receive has the queue receive envelopes, and then, in one transaction, notes for which crawls URLs wait here and
// takes the envelopes away.
func (l *link) receive(some []received) error {
	err := l.await(len(some), func(i int, done func(error)) {
		l.to.Receive(some[i].data, func(err error) {
			if errors.As(err, new(*frontier.EnvelopeError)) {
				err = fmt.Errorf("%w (webrace-store cluster skip %d %d removes it, and what it would have caused)", err, l.p, some[i].id)
			}
			done(err)
		})
	})
	if err != nil {
		return err
	}
	all := passesIn(some)
	pending := l.to.Pending(all)
	var crawls []string
	var numbers []int64
	for _, p := range all {
		crawls, numbers = append(crawls, p.Crawl), append(numbers, int64(p.Number))
	}
	ids := make([]int64, len(some))
	for i, r := range some {
		ids[i] = r.id
	}
	err = l.transact(l.ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE webrace.quiet SET quiet = FALSE WHERE pipeline = $1 AND p = $2 AND quiet`, l.pipeline, l.p)
		if err == nil {
			_, err = tx.ExecContext(ctx, `INSERT INTO webrace.abroad AS a SELECT $1, crawl, pass, $2, pending
				FROM unnest($3::text[], $4::bigint[], $5::boolean[]) AS r (crawl, pass, pending)
				ON CONFLICT (pipeline, crawl, p) DO UPDATE SET pass = greatest(a.pass, excluded.pass), pending = excluded.pending`,
				l.pipeline, l.p, crawls, numbers, pending)
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, `DELETE FROM webrace.inbox WHERE p = $1 AND id = ANY ($2::bigint[])`, l.p, ids)
		}
		return err
	})
	if err != nil {
		return err
	}
	for i, p := range all {
		if delete(l.pending, p.Crawl); pending[i] {
			l.pending[p.Crawl] = p.Number
		}
	}
	l.quiet = false
	l.wakeAll()
	return nil
}

// passesIn returns the passes that envelopes are of, the latest of each crawl.
func passesIn(some []received) (all []frontier.Pass) {
	at := make(map[string]int)
	for _, r := range some {
		for _, p := range r.passes {
			i, known := at[p.Crawl]
			if !known {
				at[p.Crawl] = len(all)
				all = append(all, p)
			} else if p.Number > all[i].Number {
				all[i] = p
			}
		}
	}
	return all
}

// await calls the queue so many times, and waits until all of it is done, or has failed.
func (l *link) await(n int, call func(i int, done func(error))) (err error) {
	ended := make(chan error, n)
	for i := range n {
		call(i, func(err error) { ended <- err })
	}
	for range n {
		select {
		case failed := <-ended:
			err = errors.Join(err, failed)
		case <-l.ctx.Done():
			return l.ctx.Err()
		}
	}
	return err
}
