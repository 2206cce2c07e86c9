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
func (p *Place) OpenExisting() (*Stores, error) {
	if p.Shared != nil {
		return p.OpenStores()
	}
	if _, err := p.existing(); err != nil {
		return nil, err
	}
	return p.OpenStores()
}

// OpenToLook is OpenExisting for a command that changes nothing: it opens the directory for reading alone, unless that
// has to be brought up to date first.
func (p *Place) OpenToLook() (*Stores, error) {
	if p.Shared != nil {
		return p.OpenStores()
	}
	path, err := p.existing()
	if err != nil {
		return nil, err
	}
	if !storage.UpToDate(path) {
		return p.OpenStores()
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

// OpenToFill is OpenExisting for what may come before the first run: it makes the directory that the
// configuration names, but not one that --data names.
func (p *Place) OpenToFill() (*Stores, error) {
	if p.Data != "" {
		return p.OpenExisting()
	}
	return p.OpenStores()
}

// existing is where the data directory is.
func (p *Place) existing() (path string, err error) {
	if path, err = p.DataDir(); err == nil {
		err = isDataDir(path)
	}
	return path, err
}

// isDataDir refuses what is not there, and what holds something else. An empty directory will do: somebody
// has made it for this.
func isDataDir(path string) error {
	entries, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Wrongf("there is no data directory %s: webrace-run makes it when it first runs; check --data and the configuration's data, or make it with mkdir", path)
	case err != nil:
		return Wrong(fmt.Errorf("open data directory: %w", err))
	}
	known := func(e fs.DirEntry) bool { return e.Name() == "format" || e.Name() == "lock" }
	if len(entries) > 0 && !slices.ContainsFunc(entries, known) {
		return Wrongf("%s is no data directory: it holds other files, as %s; check --data and the configuration's data", path, entries[0].Name())
	}
	return nil
}
