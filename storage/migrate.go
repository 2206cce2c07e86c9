package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// migrations lead from each format to the next, from format 1 on. A step gets the directory as the format
// before left it. It is repeated from the beginning when it was interrupted.
var migrations = []func(dir string, o Options) error{
	reopenStores, // 2: stores bring tables and values of format 1 up to date by themselves
}

// migrationFile tells which format a migration that is under way leads to. While it is there, the stores may
// be half migrated, and the state before is whole.
const migrationFile = "migrating"

// stateBefore is where the state is kept from which a migration to a format began.
func stateBefore(dir string, format int) string {
	return filepath.Join(dir, fmt.Sprintf("before-format-%d", format))
}

// migrate brings a directory to the current format, step by step.
func migrate(dir string, from int, o Options) error {
	for format := from + 1; format <= Format; format++ {
		if err := migrateTo(dir, format, o); err != nil {
			return fmt.Errorf("migrate data directory %s to format %d: %w", dir, format, err)
		}
	}
	return endMigration(dir, o)
}

// migrateTo does one step: keep the state before, record that the step is under way, do it, record that it is
// done. After a crash the step is done again from the state before.
func migrateTo(dir string, format int, o Options) error {
	before := stateBefore(dir, format)
	underway, err := migrationUnderWay(dir)
	if err != nil {
		return err
	}
	if underway == format {
		slog.Warn("a migration of the data directory was interrupted: it begins again", "dir", dir, "format", format)
		err = putBack(before, dir)
	} else {
		err = keepState(dir, before)
		if err == nil {
			err = replaceFile(dir, migrationFile, fmt.Appendln(nil, format))
		}
	}
	if err != nil {
		return err
	}
	if err := migrations[format-2](dir, o); err != nil {
		return err
	}
	if err := writeFormat(dir, format); err != nil {
		return err
	}
	slog.Info("data directory was migrated; remove the state before when you are content", "dir", dir, "format", format, "before", before)
	return nil
}

// endMigration removes the sign of a migration that has led to the current format.
func endMigration(dir string, o Options) error {
	if o.ReadOnly {
		return nil
	}
	err := os.Remove(filepath.Join(dir, migrationFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("end migration of data directory: %w", err)
	}
	return nil
}

// migrationUnderWay returns the format that an interrupted migration led to, 0 for none.
func migrationUnderWay(dir string) (int, error) {
	content, err := os.ReadFile(filepath.Join(dir, migrationFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	format, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return 0, fmt.Errorf("%s holds %.20q and not a format number", migrationFile, content)
	}
	return format, nil
}

// stores are the names of what a data directory holds besides the files about itself.
var stores = []string{"frontier", "objects", "control.db", "control.db-wal", "control.db-shm", "control.db-generation", "fulltext", "queues", "states", "quads"}

// keepState makes a copy of all stores, which appears whole or not at all.
func keepState(dir, to string) error {
	draft := to + ".new"
	if err := errors.Join(os.RemoveAll(draft), os.RemoveAll(to)); err != nil {
		return err
	}
	if err := os.Mkdir(draft, 0o700); err != nil {
		return err
	}
	for _, name := range append([]string{formatFile}, stores...) {
		if err := copyTree(filepath.Join(dir, name), filepath.Join(draft, name)); err != nil {
			return fmt.Errorf("keep the state before: %w", err)
		}
	}
	if err := flush(draft); err != nil {
		return err
	}
	if err := os.Rename(draft, to); err != nil {
		return err
	}
	return flush(dir)
}

// putBack replaces all stores by those that were kept.
func putBack(from, dir string) error {
	if _, err := os.Stat(filepath.Join(from, formatFile)); err != nil {
		return fmt.Errorf("go back to the state before the migration: %w", err)
	}
	for _, name := range stores {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
		if err := copyTree(filepath.Join(from, name), filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("go back to the state before the migration: %w", err)
		}
	}
	return flush(dir)
}

// reopenStores opens each store that is there, which migrates what is within it, and closes it.
func reopenStores(dir string, o Options) error {
	d := newDir(dir, nil, o)
	for name, open := range map[string]func() error{
		"frontier":   func() error { _, err := d.Frontier(); return err },
		"objects":    func() error { _, err := d.Objects(); return err },
		"control.db": func() error { _, err := d.Control(); return err },
	} {
		if !exists(d.Path(name)) {
			continue
		}
		if err := open(); err != nil {
			return errors.Join(err, d.Close())
		}
	}
	return d.Close()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
