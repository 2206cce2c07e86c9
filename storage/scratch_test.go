package storage_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/webrace/webrace/storage"
)

func TestStoresThatAreNotThereAreMadeInTheScratchDirectory(t *testing.T) {
	t.Parallel()
	path, scratch := t.TempDir(), t.TempDir()
	d, err := storage.Open(path, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Control(); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	before := names(t, path)
	d, err = storage.Open(path, storage.Options{ReadOnly: true, Scratch: scratch})
	if err != nil {
		t.Fatal(err)
	}
	_, controlErr := d.Control()
	_, objectsErr := d.Objects()
	_, frontierErr := d.Frontier()
	_, fulltextErr := d.Fulltext()
	for _, err := range []error{controlErr, objectsErr, frontierErr, fulltextErr, d.Close()} {
		if err != nil {
			t.Error(err)
		}
	}
	if after := names(t, path); !slices.Equal(after, before) {
		t.Errorf("the directory held %q, and holds %q", before, after)
	}
	if made := names(t, scratch); !slices.Equal(made, []string{"frontier", "fulltext", "objects"}) {
		t.Errorf("made were %q, and not the stores that were missing", made)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range found {
		if _, err := os.Stat(path); err != nil {
			t.Fatal(err)
		}
		found[i] = filepath.Base(path)
	}
	return found
}
