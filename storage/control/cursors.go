package control

import (
	"context"
	"database/sql"
	"errors"
)

// Cursor returns the position that a follower has stored, 0 when it has stored none.
func (s *Store) Cursor(ctx context.Context, follower string) (int64, error) {
	var position int64
	err := s.readers.QueryRowContext(ctx, "SELECT position FROM cursor WHERE name = ?", follower).Scan(&position)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, s.explain("read cursor "+follower, err)
	}
	return position, nil
}

// SetCursor stores how far a follower has read: everything up to and with this position.
func (s *Store) SetCursor(ctx context.Context, follower string, position int64) error {
	return s.write(ctx, "set cursor "+follower, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO cursor VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET position = excluded.position", follower, position)
		return err
	})
}
