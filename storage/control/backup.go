package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/storage/internal/durable"
	"github.com/webrace/webrace/storage/internal/generation"
)

// Backup writes a copy of the store as it is at one moment to a file that does not exist yet, while the
// store is in use. The copy is whole or not there, and opens as a store. Secrets in it are as encrypted as
// in the store, and worth nothing without the key file, which is not part of it.
func (s *Store) Backup(ctx context.Context, to string) error {
	if s.postgres != nil {
		_, err := CopyToFile(ctx, s, to)
		return err
	}
	return s.writeFile("back up", to, func(draft string) error { return s.vacuumInto(ctx, draft) })
}

// CopyToFile is [CopyAll] into a database of SQLite in a file that does not exist yet, whole or not there.
func CopyToFile(ctx context.Context, from *Store, to string) (counts Counts, err error) {
	err = from.writeFile("copy", to, func(draft string) error {
		counts, err = copyToDraft(ctx, from, draft)
		return err
	})
	return counts, err
}

// writeFile has a draft written, and gives it its name when that is done.
func (s *Store) writeFile(doing, to string, write func(draft string) error) error {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s control store to %s: %w", doing, to, errors.Join(err, fs.ErrExist))
	}
	draft := to + ".partial"
	empty, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) // for its owner alone to read, whatever SQLite thinks
	if err == nil {
		err = empty.Close()
	}
	if err == nil {
		err = write(draft)
	}
	if err == nil {
		err = os.Rename(draft, to)
	}
	if err == nil {
		err = durable.SyncDir(vfs.Default, filepath.Dir(to))
	}
	if err != nil {
		return errors.Join(s.explain(doing+" to "+to, err), removeIfThere(draft))
	}
	return nil
}

func (s *Store) vacuumInto(ctx context.Context, path string) error {
	// Neither the writer's connection, which is wanted, nor one that may not write anything.
	copier, err := connect(s.name, 1, s.reading)
	if err != nil {
		return err
	}
	_, err = copier.ExecContext(ctx, "VACUUM INTO ?", path)
	if err = errors.Join(err, copier.Close()); err != nil {
		return err
	}
	written, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(written.Sync(), written.Close())
}

// copyToDraft fills a file that is empty. What an earlier draft that was cut short has left beside it is removed.
func copyToDraft(ctx context.Context, from *Store, path string) (Counts, error) {
	for _, beside := range []string{"-wal", "-shm", "-" + generation.FileName} {
		if err := removeIfThere(path + beside); err != nil {
			return Counts{}, err
		}
	}
	file, err := Open(path, Options{})
	if err != nil {
		return Counts{}, err
	}
	counts, err := CopyAll(ctx, from, file)
	if err := errors.Join(err, file.Close()); err != nil {
		return Counts{}, err
	}
	return counts, removeIfThere(file.generationPath())
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
