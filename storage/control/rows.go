package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
)

// errSkip is returned by a scan function for a row that is not among the results.
var errSkip = errors.New("not a result")

// rows runs a query and yields what scan makes of each row. An error ends it.
func rows[T any](ctx context.Context, s *Store, doing string, scan func(*sql.Rows) (T, error), query string, args ...any) iter.Seq2[T, error] {
	return results(ctx, s, doing, func(ctx context.Context, yield func(T) bool) error { return scanRows(ctx, s, scan, query, args, yield) })
}

// results yields what is read, which is read again if the server goes away meanwhile. An error ends it.
func results[T any](ctx context.Context, s *Store, doing string, read reading[T]) iter.Seq2[T, error] {
	if s.postgres != nil {
		read = readAhead(ctx, s, read)
	}
	return func(yield func(T, error) bool) {
		if err := read(ctx, func(v T) bool { return yield(v, nil) }); err != nil {
			var none T
			yield(none, s.explain(doing, err))
		}
	}
}

// scanRows runs a query and yields what scan makes of each row, until yield returns false.
func scanRows[T any](ctx context.Context, s *Store, scan func(*sql.Rows) (T, error), query string, args []any, yield func(T) bool) error {
	prepared, err := s.prepare(ctx, query)
	if err != nil {
		return err
	}
	r, err := prepared.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer r.Close()
	for r.Next() {
		// database/sql ends the rows a while after the context has ended
		if err := ctx.Err(); err != nil {
			return err
		}
		v, err := scan(r)
		if errors.Is(err, errSkip) {
			continue
		}
		if err != nil || !yield(v) {
			return err
		}
	}
	return r.Err()
}

// readRow reads the columns of a query's only row. That there is none is [sql.ErrNoRows].
func (s *Store) readRow(ctx context.Context, doing, query string, args []any, into ...any) error {
	err := s.read(ctx, func() error { return s.readers.QueryRowContext(ctx, query, args...).Scan(into...) })
	if err != nil {
		return s.explain(doing, err)
	}
	return nil
}

// prepare returns the statement of a query, which is parsed once for each connection that it is used on.
// There are as many as this package has queries, and ways to combine their conditions.
func (s *Store) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	s.preparing.Lock()
	known := s.prepared[query]
	s.preparing.Unlock()
	if known != nil {
		return known, nil
	}
	prepared, err := s.readers.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s.preparing.Lock()
	defer s.preparing.Unlock()
	if known = s.prepared[query]; known != nil {
		return known, prepared.Close()
	}
	s.prepared[query] = prepared
	return prepared, nil
}

// one returns the first of a query's results, and ErrNotFound when there is none.
func one[T any](results iter.Seq2[T, error], what string) (T, error) {
	for v, err := range results {
		return v, err
	}
	var none T
	return none, fmt.Errorf("%s: %w", what, ErrNotFound)
}

func mustAffect(result sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return ErrNotFound
}

// first cuts results off after so many; 0 is no limit.
func first[T any](limit int, results iter.Seq2[T, error]) iter.Seq2[T, error] {
	if limit <= 0 {
		return results
	}
	return func(yield func(T, error) bool) {
		left := limit
		for v, err := range results {
			if left--; !yield(v, err) || left == 0 {
				return
			}
		}
	}
}

// stringsIn returns the only column of a query's rows, within a transaction.
func stringsIn(ctx context.Context, tx *sql.Tx, query string, args ...any) (all []string, err error) {
	found, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		text, err := scanString(found)
		if err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, errors.Join(found.Err(), found.Close())
}
