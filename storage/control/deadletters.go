package control

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"iter"
	"time"

	"github.com/webrace/webrace/storage/internal/nanos"
)

// DeadLetter is an item that a stage gave up on, kept so that it can be looked at and replayed.
type DeadLetter struct {
	ID       string
	Time     time.Time // when the stage gave up
	Pipeline string
	Stage    string
	Error    string // the whole chain
	Attempts int
	Kind     string // of the item: the name of its codec
	Item     []byte // as JSON
	Replay   bool   // the next run of its pipeline is to process it again
}

const letterColumns = "id, time, pipeline, stage, error, attempts, kind, item, replay"

// PutDeadLetter stores a letter, in place of one with the same id. Without an id it is given one, which
// is returned.
func (s *Store) PutDeadLetter(ctx context.Context, l DeadLetter) (id string, err error) {
	if l.ID == "" {
		l.ID = rand.Text()
	}
	if l.Item == nil {
		l.Item = []byte{}
	}
	if s.postgres != nil {
		l.Error = storable(l.Error) // which may quote any bytes
	}
	err = s.write(ctx, singleRows, "put dead letter "+l.ID, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO dead_letter (`+letterColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET time = excluded.time, pipeline = excluded.pipeline, stage = excluded.stage,
				error = excluded.error, attempts = excluded.attempts, kind = excluded.kind, item = excluded.item, replay = excluded.replay`,
			l.ID, nanos.Of(l.Time), l.Pipeline, l.Stage, l.Error, l.Attempts, l.Kind, l.Item, l.Replay)
		return err
	})
	return l.ID, err
}

// DeadLetters returns all letters, oldest first.
func (s *Store) DeadLetters(ctx context.Context) iter.Seq2[DeadLetter, error] {
	return rows(ctx, s, "list dead letters", scanLetter, "SELECT "+letterColumns+" FROM dead_letter ORDER BY n")
}

// MarkReplay has the next run of their pipelines process letters again, each at its stage. It
// marks all of them or, with [ErrNotFound] for one that is not there, none.
func (s *Store) MarkReplay(ctx context.Context, ids ...string) error {
	return s.write(ctx, singleRows, "replay dead letters", func(tx *sql.Tx) error {
		for _, id := range ids {
			if err := mustAffect(tx.ExecContext(ctx, "UPDATE dead_letter SET replay = TRUE WHERE id = ?", id)); err != nil {
				return fmt.Errorf("dead letter %s: %w", id, err)
			}
		}
		return nil
	})
}

// Replays returns the letters of a pipeline that are to be processed again, oldest first. They stay until
// they are deleted.
func (s *Store) Replays(ctx context.Context, pipeline string) iter.Seq2[DeadLetter, error] {
	return rows(ctx, s, "list dead letters to replay", scanLetter,
		"SELECT "+letterColumns+" FROM dead_letter WHERE pipeline = ? AND replay = TRUE ORDER BY n", pipeline)
}

// DeadLetter returns one letter, or [ErrNotFound].
func (s *Store) DeadLetter(ctx context.Context, id string) (DeadLetter, error) {
	return one(rows(ctx, s, "read dead letter "+id, scanLetter, "SELECT "+letterColumns+" FROM dead_letter WHERE id = ?", id), "dead letter "+id)
}

// DeleteDeadLetter removes a letter, or returns [ErrNotFound].
func (s *Store) DeleteDeadLetter(ctx context.Context, id string) error {
	return s.write(ctx, singleRows, "delete dead letter "+id, func(tx *sql.Tx) error {
		return mustAffect(tx.ExecContext(ctx, "DELETE FROM dead_letter WHERE id = ?", id))
	})
}

func scanLetter(r *sql.Rows) (l DeadLetter, err error) {
	var at int64
	err = r.Scan(&l.ID, &at, &l.Pipeline, &l.Stage, &l.Error, &l.Attempts, &l.Kind, &l.Item, &l.Replay)
	l.Time = nanos.Time(at)
	return l, err
}
