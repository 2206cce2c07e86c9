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
	return s.inGroups(columns, values, func(rows string, args []any) error { return s.exec(before+rows+after, args...) })
}

// eachWithRows is withRows with a statement that returns rows, and calls back for each of these.
func (s *statements) eachWithRows(before string, columns int, values []any, after string, back func(scan func(into ...any) error) error) error {
	return s.inGroups(columns, values, func(rows string, args []any) error { return s.each(before+rows+after, args, back) })
}

// inGroups calls back with the text of rows, and what fills its parameters, until all values were in one.
func (s *statements) inGroups(columns int, values []any, back func(rows string, args []any) error) error {
	if len(values) == 0 {
		return nil
	}
	if s.arrays {
		return back(asArrays(columns, values))
	}
	row := "(?" + strings.Repeat(", ?", columns-1) + ")"
	for _, together := range []int{64, 8, 1} {
		text := "VALUES " + row + strings.Repeat(", "+row, together-1)
		for n := together * columns; len(values) >= n; values = values[n:] {
			if err := back(text, values[:n]); err != nil {
				return err
			}
		}
	}
	return nil
}
