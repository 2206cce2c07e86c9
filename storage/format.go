package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Format is the version of the data directory's layout that this program reads and writes.
const Format = 1

// FormatError says that a data directory was written by a newer program.
type FormatError struct {
	Dir   string
	Found int
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("data directory %s has format %d, and this program knows formats up to %d: use the newer program that wrote it", e.Dir, e.Found, Format)
}

// checkFormat reads the version of a directory's layout, and writes it into a new directory.
func checkFormat(dir string) error {
	path := filepath.Join(dir, "format")
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return writeFormat(dir, path)
	}
	if err != nil {
		return fmt.Errorf("read format of data directory: %w", err)
	}
	found, err := strconv.Atoi(strings.TrimSpace(string(content)))
	switch {
	case err != nil || found < 1:
		return fmt.Errorf("%s holds %.20q and not a format number: it is damaged, or not a file of a data directory", path, content)
	case found > Format:
		return &FormatError{Dir: dir, Found: found}
	}
	return nil
}

// writeFormat makes the file appear whole or not at all.
func writeFormat(dir, path string) error {
	draft := path + ".new"
	err := os.WriteFile(draft, fmt.Appendln(nil, Format), 0o600)
	if err == nil {
		err = flush(draft)
	}
	if err == nil {
		err = os.Rename(draft, path)
	}
	if err == nil {
		err = flush(dir)
	}
	if err != nil {
		return fmt.Errorf("write format of data directory: %w", err)
	}
	return nil
}

func flush(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
