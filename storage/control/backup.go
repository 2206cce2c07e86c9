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
)

// Backup writes a copy of the store as it is at one moment to a file that does not exist yet, while the
// store is in use. The copy is whole or not there, and opens as a store. Secrets in it are as encrypted as
// in the store, and worth nothing without the key file, which is not part of it.
func (s *Store) Backup(ctx context.Context, to string) error {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("back up control store to %s: %w", to, errors.Join(err, fs.ErrExist))
	}
	draft := to + ".partial"
	err := s.copyTo(ctx, draft)
	if err == nil {
		err = os.Rename(draft, to)
	}
	if err == nil {
		err = durable.SyncDir(vfs.Default, filepath.Dir(to))
	}
	if err != nil {
		return errors.Join(s.explain("back up to "+to, err), removeIfThere(draft))
	}
	return nil
}

func (s *Store) copyTo(ctx context.Context, path string) error {
	empty, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) // for its owner alone to read, whatever SQLite thinks
	if err != nil {
		return err
	}
	if err := empty.Close(); err != nil {
		return err
	}
	if s.postgres != nil {
		return s.copyToFile(ctx, path)
	}
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

// copyToFile makes a database of SQLite of one that is another's.
func (s *Store) copyToFile(ctx context.Context, path string) error {
	file, err := Open(path, Options{})
	if err != nil {
		return err
	}
	_, err = CopyAll(ctx, s, file)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return removeIfThere(file.generationPath())
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
