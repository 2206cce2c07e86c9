package control

import (
	"context"
	"database/sql"
)

// mostAhead is how many results are read before the first is passed on.
const mostAhead = 1024

// readAhead returns what reads the first results before it passes any on: if the server goes away meanwhile, they can
// be read again, unnoticed. Where it goes away while further ones are read, the error tells so.
func readAhead[T any](ctx context.Context, s *Store, read reading[T]) reading[T] {
	return func(_ context.Context, yield func(T) bool) error {
		a := ahead[T]{yield: yield}
		a.ctx, a.cancel = context.WithCancel(ctx)
		defer a.cancel()
		err := s.await(ctx, func() error {
			a.results = a.results[:0]
			err := read(a.ctx, a.add)
			switch {
			case !a.passing:
				return err
			case a.err == nil && !a.left:
				a.err = err
			}
			return nil
		})
		if err != nil {
			return err
		}
		if !a.passing {
			a.pass()
		}
		return a.err
	}
}

// reading yields results until there are no more, or yield returns false.
type reading[T any] func(ctx context.Context, yield func(T) bool) error

// ahead is results that were read, and not passed on yet.
type ahead[T any] struct {
	ctx     context.Context
	cancel  context.CancelFunc // what is not wanted any more is not read to its end
	yield   func(T) bool
	results []T
	passing bool  // they are passed on as they come
	left    bool  // no more are wanted
	err     error // that ended them
}

// add takes a result, and returns whether more are wanted.
func (a *ahead[T]) add(v T) bool {
	if a.passing {
		return a.passOn(v)
	}
	a.results = append(a.results, v)
	return len(a.results) < mostAhead || a.pass()
}

func (a *ahead[T]) pass() bool {
	a.passing = true
	for _, v := range a.results {
		if a.err = a.ctx.Err(); a.err != nil || !a.passOn(v) {
			return false
		}
	}
	a.results = nil
	return true
}

func (a *ahead[T]) passOn(v T) bool {
	if !a.yield(v) {
		a.left = true
		a.cancel()
	}
	return !a.left
}

// snapshot is how a transaction begins that sees the same from its first statement on.
func (s *Store) snapshot() *sql.TxOptions {
	if s.postgres == nil {
		return nil // so every transaction does
	}
	return &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
}
