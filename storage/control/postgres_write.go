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
// which the server tells whether it was committed if the answer to that is lost: then it has happened, or is done
// again, and never twice.

// begun locks what a transaction is about, and returns its number. One whose process is frozen, or cut off, is ended by
// the server, so that others need not wait for its locks.
const begun = "SELECT pg_current_xact_id()::text, set_config('idle_in_transaction_session_timeout', '30s', TRUE)"

func (of subject) begun() (query string, args []any) {
	switch of {
	case singleRows:
		return begun, nil
	case everything:
		return begun + " FROM counter WHERE name IN ('aci', 'revision', 'secrets') ORDER BY name FOR UPDATE", nil
	}
	return begun + " FROM counter WHERE name = ? FOR UPDATE", []any{string(of)}
}

// commit runs f in a transaction, when the server is there.
func (s *Store) commit(ctx context.Context, of subject, f func(*sql.Tx) error) error {
	unanswered := "" // the number of a transaction of which it is not known whether it was committed
	err := s.await(ctx, func() error {
		if unanswered != "" {
			committed, err := s.committed(ctx, unanswered)
			if err != nil || committed {
				return err
			}
		}
		var err error
		unanswered, err = s.transactThere(ctx, of, f)
		return err
	})
	if err == nil || unanswered == "" {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), connectWithin)
	defer cancel()
	switch committed, failed := s.committed(ctx, unanswered); {
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
func (s *Store) transactThere(ctx context.Context, of subject, f func(*sql.Tx) error) (unanswered string, err error) {
	for range mostConflicts {
		unanswered, err = s.transactOnce(ctx, of, f)
		if !isConflict(err) {
			break
		}
	}
	return unanswered, err
}

func (s *Store) transactOnce(ctx context.Context, of subject, f func(*sql.Tx) error) (unanswered string, err error) {
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
	query, args := of.begun()
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

// committed reports whether a transaction was committed. One that has not ended is waited for a while.
func (s *Store) committed(ctx context.Context, number string) (bool, error) {
	for end := time.Now().Add(connectWithin); ; {
		var status sql.NullString
		err := s.writer.QueryRowContext(ctx, "SELECT pg_xact_status(?::text::xid8)", number).Scan(&status)
		switch {
		case isInFuture(err): // of a server that took the place of the one that had begun it, and has not heard of it
			return false, nil
		case err != nil:
			return false, err
		case !status.Valid:
			return false, fmt.Errorf("the server does not know any more whether transaction %s was committed", number)
		case status.String != "in progress":
			return status.String == "committed", nil
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
