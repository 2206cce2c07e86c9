package fulltext

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"

	"maps"
	"slices"
)

// rebuildGroup is how many URLs are read before they are written.
const rebuildGroup = 500

// Rebuild makes the index anew of the cache, which has these URLs, and then takes it in the place of the one
// that is there: until then, that one is searched and kept up to date. After a crash one of the two is
// there. The progress is told, in URLs, unless it is nil.
func (s *Store) Rebuild(ctx context.Context, urls iter.Seq2[string, error], progress func(done int)) error {
	s.rebuilding.Lock()
	defer s.rebuilding.Unlock()
	err := s.rebuild(ctx, urls, progress)
	s.writing.Lock()
	s.late = nil
	s.writing.Unlock()
	if err != nil {
		return fmt.Errorf("rebuild full-text index: %w", errors.Join(err, os.RemoveAll(draftOf(s.path))))
	}
	return nil
}

func (s *Store) rebuild(ctx context.Context, urls iter.Seq2[string, error], progress func(done int)) error {
	if s.options.ReadOnly {
		return fmt.Errorf("%s is open for reading only: %w", s.path, fs.ErrPermission)
	}
	if err := os.RemoveAll(draftOf(s.path)); err != nil {
		return err
	}
	fresh, err := Open(draftOf(s.path), s.options)
	if err != nil {
		return err
	}
	defer fresh.Close()
	s.writing.Lock()
	s.late = map[string]bool{}
	keep := s.keep
	s.writing.Unlock()
	if err := fresh.KeepVersions(ctx, keep); err != nil {
		return err
	}
	if err := fresh.settleAll(ctx, urls, progress); err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := fresh.settle(ctx, slices.Collect(maps.Keys(s.late)), nil); err != nil {
		return err
	}
	if err := fresh.Close(); err != nil {
		return err
	}
	return s.replaceBy(draftOf(s.path))
}

// settleAll settles URLs group by group.
func (s *Store) settleAll(ctx context.Context, urls iter.Seq2[string, error], progress func(done int)) error {
	var group []string
	done := 0
	settle := func() error {
		if err := s.settle(ctx, group, nil); err != nil {
			return err
		}
		if done += len(group); progress != nil {
			progress(done)
		}
		group = group[:0]
		return nil
	}
	for u, err := range urls {
		if err != nil {
			return err
		}
		if group = append(group, u); len(group) == rebuildGroup {
			if err := settle(); err != nil {
				return err
			}
		}
	}
	return settle()
}

// replaceBy takes another index in the place of the one that is there.
func (s *Store) replaceBy(fresh string) error {
	s.using.Lock()
	defer s.using.Unlock()
	if s.closed {
		return ErrClosed
	}
	if s.index != nil {
		err := s.index.Close()
		if s.index = nil; err != nil {
			return fmt.Errorf("close full-text index: %w", err)
		}
	}
	if err := os.Rename(s.path, formerOf(s.path)); err != nil {
		return err
	}
	if err := os.Rename(fresh, s.path); err != nil {
		return err
	}
	if err := s.open(); err != nil {
		return err
	}
	return os.RemoveAll(formerOf(s.path))
}

// draftOf and formerOf are where the index that is being built lies, and for a moment the one that it
// replaces.
func draftOf(path string) string  { return path + ".partial" }
func formerOf(path string) string { return path + ".former" }

// endSwap ends what a crash left half done of taking another index.
func endSwap(path string, readOnly bool) error {
	if _, err := os.Stat(formerOf(path)); readOnly || err != nil {
		return nil
	}
	if _, err := os.Stat(path); err == nil {
		return os.RemoveAll(formerOf(path))
	}
	return os.Rename(formerOf(path), path)
}
