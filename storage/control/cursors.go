package control

import (
	"context"
	"database/sql"
	"errors"
)

// Cursor returns the position that a follower has stored, 0 when it has stored none.
func (s *Store) Cursor(ctx context.Context, follower string) (int64, error) {
	var position int64
	err := s.readRow(ctx, "read cursor "+follower, "SELECT position FROM cursor WHERE name = ?", []any{follower}, &position)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	return position, nil
}

// SetCursor stores how far a follower has read: everything up to and with this position.
func (s *Store) SetCursor(ctx context.Context, follower string, position int64) error {
	return s.write(ctx, singleRows, "set cursor "+follower, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, setCursor, follower, position)
		return err
	})
}

// DropCursor forgets the position of a follower, which is 0 then. That there is none does no harm.
func (s *Store) DropCursor(ctx context.Context, follower string) error {
	return s.write(ctx, singleRows, "drop cursor "+follower, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, dropCursor, follower)
		return err
	})
}

const (
	setCursor  = "INSERT INTO cursor VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET position = excluded.position"
	dropCursor = "DELETE FROM cursor WHERE name = ?"
)

// Cursors returns the positions of all followers whose names begin so, by the rest of the name.
func (s *Store) Cursors(ctx context.Context, prefix string) (map[string]int64, error) {
	type cursor struct {
		name     string
		position int64
	}
	all := make(map[string]int64)
	for c, err := range rows(ctx, s, "read cursors "+prefix, func(r *sql.Rows) (c cursor, err error) {
		err = r.Scan(&c.name, &c.position)
		return c, err
	}, "SELECT name, position FROM cursor WHERE substr(name, 1, length(?1)) = ?1", prefix) {
		if err != nil {
			return nil, err
		}
		all[c.name[len(prefix):]] = c.position
	}
	return all, nil
}
