package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/internal/setaside"
)

// Format is the version of the data directory's layout that this program reads and writes.
const Format = 2

// FormatError means that a data directory was written by a newer program.
type FormatError struct {
	Dir   string
	Found int
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("data directory %s has format %d, and this program knows formats up to %d: use the newer program that wrote it", e.Dir, e.Found, Format)
}

// checkFormat reads the version of a directory's layout. A new directory gets the current one, an older
// one is migrated.
func checkFormat(dir string, o Options) error {
	found, err := readFormat(dir)
	switch {
	case err != nil:
		return formatError(dir, err.Error())
	case found == 0 && holdsStores(dir):
		return formatError(dir, "it is not there, and stores are")
	case found > Format:
		return &FormatError{Dir: dir, Found: found}
	case found == Format:
		return endMigration(dir, o)
	case found == 0 && o.ReadOnly && o.Scratch != "":
		return nil // all its stores are made there
	case found == 0 && o.ReadOnly:
		return fmt.Errorf("%s is no data directory: it has no file named format", dir)
	case found == 0:
		return writeFormat(dir, Format)
	case o.ReadOnly:
		return fmt.Errorf("data directory %s has format %d, and this program reads format %d: open it once where it can be written, and it is migrated", dir, found, Format)
	}
	return migrate(dir, found, o)
}

// formatError is the error of a directory whose format is not known.
func formatError(dir, detail string) error {
	return &fsck.Error{
		Finding: fsck.Finding{Store: "data directory", Kind: "lost format", Where: filepath.Join(dir, formatFile), Detail: detail},
		Mend:    "webrace-store fsck --repair writes it again",
	}
}

// holdsStores reports whether a directory holds any store.
func holdsStores(dir string) bool {
	for name := range storeFiles {
		if !gone(dir, name) {
			return true
		}
	}
	return false
}

// CheckFormat finds that the file is lost or damaged which tells what format a directory has, so that it cannot be
// opened to be checked. Repaired, it tells the current format if this release has used the directory, and else the
// first: then it is migrated, and stores that are not of that format are left as they are.
func CheckFormat(dir string, repair bool, report fsck.Report) error {
	found, err := readFormat(dir)
	if err == nil && (found > 0 || !holdsStores(dir)) {
		return nil
	}
	var lost *fsck.Error
	detail := "it is not there, and stores are"
	if err != nil {
		detail = err.Error()
	}
	errors.As(formatError(dir, detail), &lost)
	if repair {
		if err := mendFormat(dir); err != nil {
			return fmt.Errorf("repair format of %s: %w", dir, err)
		}
	}
	lost.Repaired = repair
	report(lost.Finding)
	return nil
}

func mendFormat(dir string) error {
	held, err := acquire(dir, false)
	if err != nil {
		return err
	}
	if exists(filepath.Join(dir, formatFile)) {
		_, err = setaside.Move(vfs.Default, filepath.Join(dir, formatFile))
	}
	format := 1
	if exists(filepath.Join(dir, madeFile)) {
		format = Format
	}
	if err == nil {
		err = writeFormat(dir, format)
	}
	return errors.Join(err, held.release())
}

// isNew reports whether a directory was made to become a data directory, and holds no store yet.
func isNew(dir string) bool {
	found, err := readFormat(dir)
	return found == 0 && err == nil && !holdsStores(dir)
}

// UpToDate reports whether a directory, and the tables in it, are of the current format: whether it can be opened for
// reading alone, and with [Options.Scratch] if it is new.
func UpToDate(dir string) bool {
	if isNew(dir) {
		return true
	}
	found, err := readFormat(dir)
	underway, err2 := migrationUnderWay(dir)
	if err != nil || err2 != nil || found != Format || underway != 0 {
		return false
	}
	database := filepath.Join(dir, "control.db")
	return !exists(database) || control.UpToDate(database)
}

// readFormat returns the version of a directory's layout, 0 when it has none yet.
func readFormat(dir string) (int, error) {
	path := filepath.Join(dir, formatFile)
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read format of data directory: %w", err)
	}
	found, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil || found < 1 {
		return 0, fmt.Errorf("%s holds %.20q and not a format number: it is damaged, or not a file of a data directory", path, content)
	}
	return found, nil
}

const formatFile = "format"

func writeFormat(dir string, format int) error {
	if err := replaceFile(dir, formatFile, fmt.Appendln(nil, format)); err != nil {
		return fmt.Errorf("write format of data directory: %w", err)
	}
	return nil
}

// replaceFile makes a file of a directory appear whole or not at all.
func replaceFile(dir, name string, content []byte) error {
	path := filepath.Join(dir, name)
	draft := path + ".new"
	err := os.WriteFile(draft, content, 0o600)
	if err == nil {
		err = flush(draft)
	}
	if err == nil {
		err = os.Rename(draft, path)
	}
	if err == nil {
		err = flush(dir)
	}
	return err
}

func flush(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
