package control

import (
	"context"
	"database/sql"
	"strings"
)

// statements are those of one transaction, each prepared when it is first executed. They end with it.
type statements struct {
	ctx      context.Context
	tx       *sql.Tx
	prepared map[string]*sql.Stmt
}

func newStatements(ctx context.Context, tx *sql.Tx) statements {
	return statements{ctx, tx, make(map[string]*sql.Stmt)}
}

func (s *statements) exec(query string, args ...any) (err error) {
	prepared := s.prepared[query]
	if prepared == nil {
		if prepared, err = s.tx.PrepareContext(s.ctx, query); err != nil {
			return err
		}
		s.prepared[query] = prepared
	}
	_, err = prepared.ExecContext(s.ctx, args...)
	return err
}

// insertRows inserts rows of so many columns, whose values follow one another, as many with a statement as there are.
func (s *statements) insertRows(into string, columns int, values []any) error {
	row := "(?" + strings.Repeat(", ?", columns-1) + ")"
	for _, together := range []int{64, 8, 1} {
		query := "INSERT INTO " + into + " VALUES " + row + strings.Repeat(", "+row, together-1)
		for n := together * columns; len(values) >= n; values = values[n:] {
			if err := s.exec(query, values[:n]...); err != nil {
				return err
			}
		}
	}
	return nil
}
