package objects

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/internal/generation"
	"github.com/webrace/webrace/storage/internal/setaside"
)

// Mend makes the index of a store in dir fit its segments again, if that is why [Open] refuses it. What is there of an
// index is kept as far as it can be read and is that of this store; else it is set aside, and one is built from
// nothing but the records. Then a version is known by its last fetch, not by later validations; versions that were
// removed come back as long as their records are there; and followers begin again. If it is interrupted, Mend
// begins again where it was.
func Mend(ctx context.Context, dir string, o Options, report fsck.Report) error {
	if err := mend(ctx, dir, o, report); err != nil {
		return fmt.Errorf("mend object cache %s: %w", dir, err)
	}
	return nil
}

func mend(ctx context.Context, dir string, o Options, report fsck.Report) error {
	o.ReadOnly = false
	s, err := openToMend(dir, o)
	if err != nil {
		return err
	}
	c := s.newCheck(ctx, true, false, report)
	c.mending = true
	if err := c.run(); err != nil {
		return errors.Join(err, s.Close())
	}
	next, err := s.nextGeneration()
	if err == nil {
		err = s.exclusively(func(*commit) error { return s.count(next) })
	}
	return errors.Join(err, s.Close())
}

// openToMend opens a store, with a new index if there is none that can be used.
func openToMend(dir string, o Options) (*Store, error) {
	s, err := openStore(dir, o, true)
	if err == nil && s.usable() {
		return s, nil
	}
	var damaged *fsck.Error
	switch {
	case err == nil:
		err = s.Close()
	case errors.As(err, &damaged), errors.Is(err, ErrCorrupt):
		err = nil
	}
	if err != nil {
		return nil, err
	}
	o = o.withDefaults()
	if _, err := setaside.Move(o.FS, o.FS.PathJoin(dir, indexName)); err != nil {
		return nil, err
	}
	return openStore(dir, o, true)
}

// usable reports whether all of an index can be read, and no other store is known to have it.
func (s *Store) usable() bool {
	c := &check{ctx: context.Background(), store: s}
	if c.readIndex() != nil {
		return false
	}
	have, counted, err := get(s, generationKey, decodeGeneration)
	if err != nil {
		return false
	}
	said, err := generation.Read(s.options.FS, s.generationPath())
	return err != nil || !counted || have.ID == said.ID
}

// nextGeneration is later than any that this store had.
func (s *Store) nextGeneration() (generation.Generation, error) {
	next, _, err := get(s, generationKey, decodeGeneration)
	if err != nil {
		return next, err
	}
	said, err := generation.Read(s.options.FS, s.generationPath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, generation.ErrDamaged) {
		return next, err
	}
	if err == nil && next.ID != said.ID {
		next = said
	}
	next.Commits = max(next.Commits, said.Commits) + 1
	if next.ID == (generation.ID{}) {
		next.ID = generation.NewID()
	}
	return next, nil
}
