// Package control is the control store: what people asked for (URDs), what they were told (ACIs), how far
// each follower has read, and what could not be processed (dead letters), in one SQLite database, or in PostgreSQL.
//
// It guarantees: what a method has written when it returns survives kill -9 and power loss, and each method writes
// all of what it was given or nothing. The canonical XML of a URD or an ACI is the truth; every other column is
// derived from it in the same transaction. An ACI is stored once however often it is put, so a request that is
// repeated after a crash never alerts twice. The revision of the URD base grows with every URD added, changed or
// removed, and with nothing else. One owner never changes what another asked for. A secret is encrypted, and
// nothing that prints or marshals it shows it. An ACI that was removed for its age is never stored again. An owner
// is never sent more in a day than their budget allows, and what is withheld for it can be asked for.
//
// Owners who are people may have an account: then their ACIs are filed in an inbox ([Store.File]), and an outbox keeps
// what is to be sent on their channels until it was taken. What serves people sees the store as one of them ([Owned]).
//
// A Store is safe for concurrent use: one writer at a time, any number of readers, who see a consistent
// snapshot and never wait for the writer. Iterators may be left at any point, and other methods may be
// called while one is read. Where more is left when its context ends, the context's error is the next and
// last that an iterator yields.
package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/webrace/webrace/internal/broadcast"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/pointer"
	"github.com/webrace/webrace/storage/internal/generation"
)

// ErrNotFound means that nothing is stored under an id.
var ErrNotFound = credentials.ErrNotFound

// Options of a store; the zero value is right for a single machine.
type Options struct {
	Readers  int   // how many reads may be under way at once; 0 is 8. An iterator is one until it ends
	Cache    int64 // bytes that the caches of all connections may have together; 0 is 32 MiB
	ReadOnly bool  // open what is there without changing anything, as on read-only media; every write fails ([fs.ErrPermission])

	// Retry is called with each write transaction, and may call it again when it failed, as when the disk was
	// full: what failed has changed nothing. Nil calls it once.
	Retry func(ctx context.Context, transaction func() error) error

	// Gather is how long annotations may wait to be stored with those of other calls, where there are some all the time
	// and the store is on PostgreSQL; 0: they do not.
	Gather time.Duration

	Now func() time.Time // the clock that days are counted by; nil is time.Now
}

// Store is an open control store.
type Store struct {
	name     string // of the database in messages; the path of a file
	keyFile  string // with the keys of secrets
	options  Options
	reading  string  // the settings of a connection that only reads
	writer   *sql.DB // for SQLite one connection, so that transactions queue here and never fail for being second; nil when there is only reading
	readers  *sql.DB
	helper   *sql.DB   // one connection, for what a reader is helped with; nil when there is none
	postgres *postgres // nil under SQLite

	gathering *gathering // nil: each call stores what it puts

	helping sync.Mutex

	rotating       sync.Mutex              // held while the key of secrets is replaced
	secretVersions versions                // how often each was set, removed, or found to be another where it comes from
	readings       credentials.Readings    // of secrets that come from elsewhere
	budgets        pointer.Atomic[budgets] // as they are stored; nil when that has to be read
	preparing      sync.Mutex
	prepared       map[string]*sql.Stmt // of the readers, by their text

	counting   sync.Mutex
	generation generation.Generation // that is durable
	reached    *generation.File      // records it beside the database

	told    broadcast.Cond // when ACIs were added
	changed broadcast.Cond // when something a [Point] counts has changed
	copies  copies
}

func newStore(name, keyFile string, o Options) *Store {
	if o.Readers == 0 {
		o.Readers = 8
	}
	if o.Cache == 0 {
		o.Cache = 32 << 20
	}
	if o.Retry == nil {
		o.Retry = func(_ context.Context, transaction func() error) error { return transaction() }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Store{name: name, keyFile: keyFile, options: o, prepared: make(map[string]*sql.Stmt)}
}

// Open opens the store in the file at path, creating it when there is none and it may be written. Its key file is
// beside it.
func Open(path string, o Options) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open control store: %w", err)
	}
	s := newStore(path, filepath.Join(filepath.Dir(path), KeyFile), o)
	if o.ReadOnly {
		err = s.openReadOnly()
	} else {
		err = s.openSQLite()
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Close waits for what is under way. Closing twice does no harm.
func (s *Store) Close() error {
	if s.postgres != nil {
		s.postgres.stop()
	}
	// The last connection to close folds the log into the database: it has to be one that may write.
	err := s.readers.Close()
	if s.helper != nil {
		err = errors.Join(err, s.helper.Close())
	}
	if s.writer != nil {
		err = errors.Join(err, s.writer.Close(), s.endCounting())
	}
	if err != nil {
		return s.explain("close", err)
	}
	return nil
}

// subject is what a transaction writes that no other may write at the same time. What is decided there rests on what is
// stored, and followers miss nothing only if what was written becomes visible in the order of its numbers. Under SQLite
// no two transactions write at the same time anyway.
type subject string

const (
	allURDs    subject = "revision"
	allACIs    subject = "aci"
	allSecrets subject = "secrets"
	everything subject = "everything"
	singleRows subject = "" // which do not depend on others

	allAccounts subject = "accounts"
	allOutbox   subject = "outbox"
)

// write runs f in a transaction of its own. It may be run several times, of which the last counts.
func (s *Store) write(ctx context.Context, of subject, doing string, f func(*sql.Tx) error) error {
	err := errReadOnly
	switch {
	case s.writer == nil:
	case s.postgres != nil:
		err = s.commit(ctx, of, f)
	default:
		err = s.options.Retry(ctx, func() error { return s.transact(ctx, f) })
	}
	if err != nil {
		return s.explain(doing, err)
	}
	return nil
}

// read runs f, which only reads, and may be run several times, of which the last counts.
func (s *Store) read(ctx context.Context, f func() error) error {
	if s.postgres != nil {
		return s.await(ctx, f)
	}
	return f()
}

// wake wakes those who wait for what was written, in this process and in others.
func (s *Store) wake(waiters *broadcast.Cond) {
	waiters.Broadcast()
	if s.postgres != nil {
		s.tellOthers()
	}
}

func (s *Store) transact(ctx context.Context, f func(*sql.Tx) error) error {
	connection, err := s.writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer connection.Close() // gives it back
	tx, err := connection.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, ignoreDone(tx.Rollback()))
	}
	commits := countCommit(ctx, tx)
	if err := tx.Commit(); err != nil {
		// A commit that fails may leave its transaction open, in the way of the next.
		_, _ = connection.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		return err
	}
	s.counted(commits)
	return nil
}

// ignoreDone forgives a rollback that a cancelled context has already done.
func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// explain adds what was being done and, when the database is to blame, to which one and what a person can
// do about it.
func (s *Store) explain(doing string, err error) error {
	advice, blamed := sqliteAdvice(err)
	if s.postgres != nil {
		advice, blamed = postgresAdvice(err)
	}
	if !blamed {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return fmt.Errorf("%s: control store %s: %w%s", doing, s.name, err, advice)
}
