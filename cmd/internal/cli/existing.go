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
	p, err := g.existing()
	if err != nil {
		return nil, err
	}
	return p.Open(storage.Options{})
}

// OpenToLook is OpenExisting for a command that changes nothing: it opens the directory for reading alone, unless that
// has to be brought up to date first.
func (g *Globals) OpenToLook() (*Stores, error) {
	if g.Shared != nil {
		return g.OpenStores()
	}
	p, err := g.existing()
	if err != nil {
		return nil, err
	}
	return p.look()
}

func (p Place) look() (*Stores, error) {
	if !storage.UpToDate(p.Data) {
		return p.Open(storage.Options{})
	}
	scratch, err := os.MkdirTemp("", "webrace-look-")
	if err != nil {
		return nil, err
	}
	s, err := p.open(storage.Options{ReadOnly: true, Scratch: scratch, Fatal: func(err error) { fatal(err, nil) }})
	if err != nil {
		return nil, errors.Join(opening(err), os.RemoveAll(scratch))
	}
	s.scratch = scratch
	return s, nil
}

// OpenAsItIs opens another data directory than that of the configuration for reading alone, unless that has to be
// brought up to date first.
func OpenAsItIs(dir string) (*Stores, error) {
	if err := isDataDir(dir); err != nil {
		return nil, err
	}
	return Place{Data: dir}.look()
}

// OpenToFill is OpenExisting for what may come before the first run: it makes the directory, and prints that it did,
// because a name that is misspelt makes another. It takes none that holds something else.
func (g *Globals) OpenToFill() (*Stores, error) {
	if g.Shared != nil {
		return g.OpenStores()
	}
	p, err := g.Place()
	if err != nil {
		return nil, err
	}
	_, err = os.Stat(p.Data)
	isNew := errors.Is(err, fs.ErrNotExist)
	if !isNew {
		if err := isDataDir(p.Data); err != nil {
			return nil, err
		}
	}
	stores, err := p.Open(storage.Options{})
	if err == nil && isNew && g.Notes != nil {
		fmt.Fprintf(g.Notes(), "made the data directory %s\n", p.Data)
	}
	return stores, err
}

// existing is where the stores are, of which there is a data directory.
func (g *Globals) existing() (p Place, err error) {
	if p, err = g.Place(); err == nil {
		err = isDataDir(p.Data)
	}
	return p, err
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
