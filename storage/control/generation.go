package control

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/internal/generation"
	"github.com/webrace/webrace/storage/internal/private"
)

// The generation is kept in two counters, of which one is the identity. A table that is damaged counts nothing.

func (s *Store) generationPath() string { return s.name + "-" + generation.FileName }

// countFrom refuses a database that has lost transactions. One of a release that did not count them begins to.
func (s *Store) countFrom(ctx context.Context, db *sql.DB) error {
	have, counted, err := storedGeneration(ctx, db)
	if err != nil || !hasCounters(ctx, db) {
		return nil // the check of the tables tells of them
	}
	path := s.generationPath()
	wrong, err := generation.Compare(vfs.Default, path, have)
	if err != nil {
		return err
	}
	if wrong != "" {
		return &fsck.Error{
			Finding: fsck.Finding{Store: "control", Kind: generation.Older, Where: s.name, Detail: wrong},
			Mend:    "webrace-store restore BACKUP --only control brings it back from a backup, webrace-store fsck --repair goes on with it as it is",
		}
	}
	if s.writer == nil {
		return nil
	}
	if !counted {
		if have, err = s.beginCounting(ctx); err != nil {
			return err
		}
	}
	s.counting.Lock()
	defer s.counting.Unlock()
	s.generation = have
	s.reached, err = generation.Create(private.Disk, path, have)
	return err
}

// GenerationOf tells a state of a store, which is in a file of SQLite, from all others.
func GenerationOf(ctx context.Context, s *Store) (g generation.Generation, err error) {
	g, counted, err := storedGeneration(ctx, s.readers)
	if err == nil && !counted {
		err = errors.New("it is of a release that did not count changes: open it once where it can be written, as webrace-store urd list does")
	}
	if err != nil {
		return g, s.explain("read the generation", err)
	}
	return g, nil
}

func (s *Store) beginCounting(ctx context.Context) (g generation.Generation, err error) {
	var id [8]byte
	rand.Read(id[:]) // never fails
	identity := int64(binary.BigEndian.Uint64(id[:]) >> 1)
	err = s.options.Retry(ctx, func() error {
		return s.transact(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO counter VALUES ('identity', ?), ('generation', 1)", identity)
			return err
		})
	})
	if err != nil {
		return g, err
	}
	g, _, err = storedGeneration(ctx, s.writer)
	return g, err
}

func storedGeneration(ctx context.Context, db *sql.DB) (g generation.Generation, counted bool, err error) {
	var identity, commits sql.NullInt64
	err = db.QueryRowContext(ctx, `SELECT (SELECT value FROM counter WHERE name = 'identity'),
		(SELECT value FROM counter WHERE name = 'generation')`).Scan(&identity, &commits)
	if err != nil {
		return g, false, fmt.Errorf("read generation: %w", err)
	}
	counted = identity.Valid && commits.Valid
	if counted {
		binary.BigEndian.PutUint64(g.ID[:], uint64(identity.Int64))
		g.Commits = uint64(commits.Int64)
	}
	return g, counted, nil
}

func hasCounters(ctx context.Context, db *sql.DB) bool {
	var n int
	err := db.QueryRowContext(ctx, "SELECT count(*) FROM counter").Scan(&n)
	return err == nil && n > 0
}

// countCommit counts a transaction as a part of it; 0 if there are no counters.
func countCommit(ctx context.Context, tx *sql.Tx) (commits uint64) {
	err := tx.QueryRowContext(ctx, "UPDATE counter SET value = value + 1 WHERE name = 'generation' RETURNING value").Scan(&commits)
	if err != nil {
		return 0
	}
	return commits
}

// counted writes down that a transaction is durable. If that fails, the file stays behind, which does no harm.
func (s *Store) counted(commits uint64) {
	s.counting.Lock()
	defer s.counting.Unlock()
	if commits <= s.generation.Commits || s.reached == nil {
		return
	}
	s.generation.Commits = commits
	_ = s.reached.Write(s.generation)
}

func (s *Store) endCounting() error {
	s.counting.Lock()
	defer s.counting.Unlock()
	reached := s.reached
	s.reached = nil
	return reached.Close()
}
