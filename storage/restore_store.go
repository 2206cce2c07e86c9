package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/internal/setaside"
)

// Restorable are the names of the stores that [RestoreStore] can bring back.
var Restorable = []string{"frontier", "objects", "control", "queues", "states", "quads"}

// RestoreStore brings one store of a backup back into a data directory that is there and that no process uses.
// Every file of the store must be as the manifest describes it, and the backup of the current format: a single store of
// an older one would not be migrated. Where that is not so, the directory stays as it is. What it has of the store is
// set aside. The stores may not fit together then as a whole backup does: the check reports where they do not.
func RestoreStore(ctx context.Context, from, to, name string) (*Manifest, error) {
	m, err := ReadManifest(from)
	if err == nil {
		err = restoreStore(ctx, m, from, to, name)
	}
	if err != nil {
		return nil, fmt.Errorf("restore %s of %s to %s: %w", name, from, to, err)
	}
	return m, nil
}

func restoreStore(ctx context.Context, m *Manifest, from, to, name string) error {
	files := m.of(name)
	switch {
	case m.Format < Format:
		return fmt.Errorf("the backup has format %d, and stores of format %d are wanted: restore the whole backup into a new directory, "+
			"which any command migrates, and back that up", m.Format, Format)
	case !m.has(name):
		return fmt.Errorf("the backup has no store %s", name)
	case !exists(filepath.Join(to, formatFile)) && !holdsStores(to):
		return fmt.Errorf("%s is no data directory: a single store is restored into one that is there, a whole backup into a new one", to)
	}
	d, err := Open(to, Options{})
	if err != nil {
		return err
	}
	draft := d.Path("restore-" + name + ".partial")
	err = os.RemoveAll(draft)
	for i := 0; i < len(files) && err == nil; i++ {
		if err = ctx.Err(); err == nil {
			err = restoreFile(&files[i], from, draft)
		}
	}
	if err == nil {
		err = d.replaceStore(name, draft)
	}
	return errors.Join(err, d.Close(), os.RemoveAll(draft))
}

// has reports whether there are files of a store; the key of secrets alone is none.
func (m *Manifest) has(name string) bool {
	return slices.ContainsFunc(m.of(name), func(f ManifestFile) bool { return f.Path != control.KeyFile })
}

// of returns the files of a store, and with the control store the key of its secrets.
func (m *Manifest) of(name string) (files []ManifestFile) {
	for _, f := range m.Files {
		top, _, _ := strings.Cut(f.Path, "/")
		if top == storeFiles[name] || name == "control" && top == control.KeyFile {
			files = append(files, f)
		}
	}
	return files
}

// replaceStore takes what is in a directory in the place of a store. The full-text index is filled again, if it is
// that of the documents, and so is the quad store.
func (d *Dir) replaceStore(name, draft string) error {
	aside := []string{storeFiles[name]}
	if name == "control" {
		aside = controlFiles
	}
	for _, file := range aside {
		if exists(d.Path(file)) {
			if _, err := setaside.Move(vfs.Default, d.Path(file)); err != nil {
				return err
			}
		}
	}
	entries, err := os.ReadDir(draft)
	if err != nil {
		return err
	}
	for _, e := range entries {
		to := d.Path(e.Name())
		if e.Name() == control.KeyFile && exists(to) {
			continue // it may know keys that came later
		}
		if err := os.Rename(filepath.Join(draft, e.Name()), to); err != nil {
			return err
		}
	}
	switch err := errors.Join(flush(d.path), noteStores(d.path)); {
	case err != nil:
		return err
	case name == "quads":
		return d.refillQuads()
	case name != "objects":
		return nil
	}
	documents, err := d.Objects()
	if err != nil {
		return err
	}
	return documents.SetCursor(SearchCursor, 0, true)
}
