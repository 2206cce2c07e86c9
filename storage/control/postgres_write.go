package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Every write is one transaction, which locks what it is about: rows of the table of counters. It has a number, by
// which the server tells whether it has ended, and leaves a mark, which tells whether it was committed if the answer to
// that is lost: then it has happened, or is done again, and never twice.

// mark is a row in which a transaction that is committed leaves its note. The number alone would not do: a server that
// was killed may give the number of a transaction that it has lost to another. One call writes a mark at a time.
type mark struct {
	name string
	note int64 // of the transaction that was begun last
}

// takeMark returns a mark that no call writes.
func (p *postgres) takeMark() *mark {
	p.marking.Lock()
	defer p.marking.Unlock()
	if last := len(p.free) - 1; last >= 0 {
		m := p.free[last]
		p.free = p.free[:last]
		return m
	}
	p.marks++
	return &mark{name: fmt.Sprint(p.self, " ", p.marks)}
}

func (p *postgres) giveBack(m *mark) {
	p.marking.Lock()
	defer p.marking.Unlock()
	p.free = append(p.free, m)
}

// forgetMarks removes the marks of stores that are not open any more, and of those that have written nothing for long.
func (s *Store) forgetMarks(ctx context.Context) error {
	var any bool
	err := s.readers.QueryRowContext(ctx, "SELECT EXISTS (SELECT FROM mark WHERE time < clock_timestamp() - INTERVAL '1 day')").Scan(&any)
	if err != nil || !any {
		return err
	}
	_, err = s.writer.ExecContext(ctx, "DELETE FROM mark WHERE time < clock_timestamp() - INTERVAL '1 day'")
	return err
}

// begun locks what a transaction is about, leaves its mark, and returns its number. One whose process is frozen, or cut
// off, is ended by the server, so that others need not wait for its locks.
const begun = "WITH marked AS (INSERT INTO mark VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET note = excluded.note, time = excluded.time) " +
	"SELECT pg_current_xact_id()::text, set_config('idle_in_transaction_session_timeout', '30s', TRUE)"

func (of subject) begun(m *mark) (query string, args []any) {
	m.note++
	args = []any{m.name, m.note}
	switch of {
	case singleRows:
		return begun, args
	case everything:
		return begun + " FROM counter WHERE name IN ('accounts', 'aci', 'outbox', 'revision', 'secrets') ORDER BY name FOR UPDATE", args
	}
	return begun + " FROM counter WHERE name = ? FOR UPDATE", append(args, string(of))
}

// commit runs f in a transaction, when the server is there.
func (s *Store) commit(ctx context.Context, of subject, f func(*sql.Tx) error) error {
	m := s.postgres.takeMark()
	defer s.postgres.giveBack(m)
	unanswered := "" // the number of a transaction of which it is not known whether it was committed
	err := s.await(ctx, func() error {
		if unanswered != "" {
			committed, err := s.committed(ctx, unanswered, m)
			if err != nil || committed {
				return err
			}
		}
		var err error
		unanswered, err = s.transactThere(ctx, of, m, f)
		return err
	})
	if err == nil || unanswered == "" {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), connectWithin)
	defer cancel()
	switch committed, failed := s.committed(ctx, unanswered, m); {
	case failed != nil:
		return fmt.Errorf("it is not known whether this was stored, because the answer was lost: %w", err)
	case committed:
		return nil
	}
	return err
}

// mostConflicts is how often a transaction is repeated at once that the server has ended in favour of another.
const mostConflicts = 10

// transactThere runs f in a transaction. If it is not known whether that was committed, its number is returned.
func (s *Store) transactThere(ctx context.Context, of subject, m *mark, f func(*sql.Tx) error) (unanswered string, err error) {
	for range mostConflicts {
		unanswered, err = s.transactOnce(ctx, of, m, f)
		if !isConflict(err) {
			break
		}
	}
	return unanswered, err
}

func (s *Store) transactOnce(ctx context.Context, of subject, m *mark, f func(*sql.Tx) error) (unanswered string, err error) {
	connection, err := s.writer.Conn(ctx)
	if err != nil {
		return "", err
	}
	defer connection.Close() // gives it back
	// With a context that ends, a commit under way would be left.
	tx, err := connection.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return "", err
	}
	var number, ignored string
	query, args := of.begun(m)
	err = tx.QueryRowContext(ctx, query, args...).Scan(&number, &ignored)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("the counter %q is missing: webrace-store fsck --repair", of)
	}
	if err == nil {
		err = f(tx)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = tx.Rollback() // a server that does not hear of it does so by itself
		return "", err
	}
	if err = tx.Commit(); isUnanswered(err) {
		return number, err
	}
	return "", err
}

// isUnanswered reports whether, by the error of a commit, the transaction may have been committed.
func isUnanswered(err error) bool {
	var failure *pgconn.PgError
	if errors.As(err, &failure) {
		return failure.SeverityUnlocalized == "FATAL" || failure.SeverityUnlocalized == "PANIC"
	}
	return err != nil && !errors.Is(err, pgx.ErrTxCommitRollback)
}

// askAgain is how long a transaction is given to end before it is asked again whether it has.
const askAgain = 100 * time.Millisecond

// committed reports whether the transaction was committed that was begun last with a mark. While one of its number has
// not ended, it waits.
func (s *Store) committed(ctx context.Context, number string, m *mark) (bool, error) {
	for end := time.Now().Add(connectWithin); ; {
		var status sql.NullString
		err := s.writer.QueryRowContext(ctx, "SELECT pg_xact_status(?::text::xid8)", number).Scan(&status)
		switch {
		case isInFuture(err): // of a server that took the place of the one that had begun it, and has not heard of it
			return false, nil
		case err != nil:
			return false, err
		case status.String == "aborted":
			return false, nil
		case status.String != "in progress": // but committed, or so long ago that the server does not know
			return s.isMarked(ctx, m)
		case time.Now().After(end):
			return false, fmt.Errorf("%w: transaction %s has not ended", errAway, number)
		}
		select {
		case <-time.After(askAgain):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

func (s *Store) isMarked(ctx context.Context, m *mark) (marked bool, err error) {
	err = s.writer.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM mark WHERE name = ? AND note = ?)", m.name, m.note).Scan(&marked)
	return marked, err
}

// await runs f, and again by [Options.Retry] while the server is away.
func (s *Store) await(ctx context.Context, f func() error) error {
	attempt := func() error {
		err := f()
		if err != nil && ctx.Err() == nil && isAway(err) {
			return &AwayError{s.name, err}
		}
		return err
	}
	err := attempt()
	if errors.As(err, new(*AwayError)) {
		err = s.options.Retry(ctx, attempt)
	}
	return err
}

// countACIs notes the Seq that was given last.
func (s *Store) countACIs(ctx context.Context, tx *sql.Tx, last int64) error {
	_, err := tx.ExecContext(ctx, "UPDATE counter SET value = ? WHERE name = ?", last, string(allACIs))
	return err
}

// countSecrets counts a change of secrets, for other processes to find.
func (s *Store) countSecrets(ctx context.Context, tx *sql.Tx) error {
	if s.postgres == nil {
		return nil
	}
	_, err := tx.ExecContext(ctx, count(string(allSecrets)))
	return err
}

// storable returns a text as PostgreSQL can store it: what it cannot becomes U+FFFD.
func storable(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\uFFFD"), "\uFFFD")
}
