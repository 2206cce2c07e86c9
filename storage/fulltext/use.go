package fulltext

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	index "github.com/blevesearch/bleve_index_api"
)

var (
	// ErrClosed means that the index was used after it was closed.
	ErrClosed = errors.New("full-text index is closed")
	errBroken = errors.New("full-text index waits to be opened again after a failure")
)

// use runs f on the index. Of an index that failed to write, the library panics at some questions until it
// is opened again.
func (s *Store) use(f func(*bleveIndex) error) (err error) {
	s.using.RLock()
	defer s.using.RUnlock()
	switch {
	case s.closed:
		return ErrClosed
	case s.index == nil:
		return errBroken
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errBroken, p)
		}
	}()
	return f(s.index)
}

// change fills a batch and makes it durable.
func (s *Store) change(ctx context.Context, fill func(*index.Batch) error) error {
	if s.options.ReadOnly {
		return fmt.Errorf("%s is open for reading only: %w", s.path, fs.ErrPermission)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	attempt := func() error {
		err := s.attempt(fill)
		if err != nil && ctx.Err() == nil {
			// The library keeps what it could not write, tries again without end, and answers from it
			// meanwhile: it is opened anew as it is on the disk.
			err = errors.Join(explain(err), s.renew())
		}
		return err
	}
	if s.options.Retry == nil {
		return attempt()
	}
	return s.options.Retry(ctx, attempt)
}

func (s *Store) attempt(fill func(*index.Batch) error) error {
	if err := s.reopen(); err != nil {
		return err
	}
	batch := index.NewBatch()
	s.counter.begin()
	err := fill(batch)
	if err == nil && len(batch.IndexOps)+len(batch.InternalOps) > 0 {
		err = s.apply(batch)
	}
	s.counter.end(err == nil)
	return err
}

// renew gives up what the index holds in memory. If it cannot be opened now, the next change tries again.
func (s *Store) renew() error {
	s.using.Lock()
	defer s.using.Unlock()
	if s.index == nil {
		return nil
	}
	err := s.index.Close()
	if s.index = nil; err != nil {
		return fmt.Errorf("close full-text index: %w", err)
	}
	return explain(s.open())
}

// reopen opens the index if it is not open.
func (s *Store) reopen() error {
	s.using.Lock()
	defer s.using.Unlock()
	switch {
	case s.closed:
		return ErrClosed
	case s.index != nil:
		return nil
	}
	return s.open()
}

// explain gives an error back what the library made text of.
func explain(err error) error {
	if err == nil || errors.Is(err, syscall.ENOSPC) {
		return err
	}
	for _, full := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT} {
		if strings.Contains(err.Error(), full.Error()) {
			return fmt.Errorf("%w: %w", err, full)
		}
	}
	return err
}
