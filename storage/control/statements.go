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
	arrays   bool // the database takes the rows of a statement as arrays, one a column
	prepared map[string]*sql.Stmt
}

func (s *Store) newStatements(ctx context.Context, tx *sql.Tx) statements {
	return statements{ctx, tx, s.postgres != nil, make(map[string]*sql.Stmt)}
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

// each calls back for each row of a query, with what reads its columns.
func (s *statements) each(query string, args []any, back func(scan func(into ...any) error) error) error {
	found, err := s.tx.QueryContext(s.ctx, query, args...)
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		if err := back(found.Scan); err != nil {
			return err
		}
	}
	return found.Err()
}

// insertRows inserts rows of so many columns, whose values follow one another.
func (s *statements) insertRows(into string, columns int, values []any) error {
	return s.withRows("INSERT INTO "+into+" ", columns, values, "")
}

// withRows executes a statement with rows in its middle (column1, column2 …), as many with a statement as there are.
func (s *statements) withRows(before string, columns int, values []any, after string) error {
	if len(values) == 0 {
		return nil
	}
	if s.arrays {
		rows, arrays := asArrays(columns, values)
		return s.exec(before+rows+after, arrays...)
	}
	row := "(?" + strings.Repeat(", ?", columns-1) + ")"
	for _, together := range []int{64, 8, 1} {
		query := before + "VALUES " + row + strings.Repeat(", "+row, together-1) + after
		for n := together * columns; len(values) >= n; values = values[n:] {
			if err := s.exec(query, values[:n]...); err != nil {
				return err
			}
		}
	}
	return nil
}
