package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/webrace/webrace/storage"
)

// OpenExisting opens the data directory if there is one: a name that is misspelt must not make another.
func (g *Globals) OpenExisting() (*Stores, error) {
	if g.Shared != nil {
		return g.OpenStores()
	}
	if _, err := g.existing(); err != nil {
		return nil, err
	}
	return g.OpenStores()
}

// OpenToLook is OpenExisting for a command that changes nothing: it opens the directory for reading alone, unless that
// has to be brought up to date first.
func (g *Globals) OpenToLook() (*Stores, error) {
	if g.Shared != nil {
		return g.OpenStores()
	}
	path, err := g.existing()
	if err != nil {
		return nil, err
	}
	if !storage.UpToDate(path) {
		return g.OpenStores()
	}
	scratch, err := os.MkdirTemp("", "webrace-look-")
	if err != nil {
		return nil, err
	}
	dir, err := storage.Open(path, storage.Options{ReadOnly: true, Scratch: scratch, Fatal: func(err error) { fatal(err, nil) }})
	if err != nil {
		return nil, errors.Join(opening(err), os.RemoveAll(scratch))
	}
	return &Stores{Dir: dir, scratch: scratch}, nil
}

// OpenToFill is OpenExisting for what may come before the first run: it makes the directory, and prints that it did,
// because a name that is misspelt makes another. It takes none that holds something else.
func (g *Globals) OpenToFill() (*Stores, error) {
	if g.Shared != nil {
		return g.OpenStores()
	}
	path, err := g.DataDir()
	if err != nil {
		return nil, err
	}
	_, err = os.Stat(path)
	isNew := errors.Is(err, fs.ErrNotExist)
	if !isNew {
		if err := isDataDir(path); err != nil {
			return nil, err
		}
	}
	stores, err := g.OpenStores()
	if err == nil && isNew && g.Notes != nil {
		fmt.Fprintf(g.Notes(), "made the data directory %s\n", path)
	}
	return stores, err
}

// existing is where the data directory is.
func (g *Globals) existing() (path string, err error) {
	if path, err = g.DataDir(); err == nil {
		err = isDataDir(path)
	}
	return path, err
}

// isDataDir refuses what is not there, and what holds something else. An empty directory will do: it
// was made for this.
func isDataDir(path string) error {
	entries, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Wrongf("there is no data directory %s: the first run makes it, and so does webrace-store urd add; check --data and the configuration's data", path)
	case err != nil:
		return Wrong(fmt.Errorf("open data directory: %w", err))
	}
	known := func(e fs.DirEntry) bool { return e.Name() == "format" || e.Name() == "lock" }
	if len(entries) > 0 && !slices.ContainsFunc(entries, known) {
		return Wrongf("%s is no data directory: it holds other files, as %s; check --data and the configuration's data", path, entries[0].Name())
	}
	return nil
}
