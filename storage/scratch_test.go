package storage_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

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

// TestWhoLooksIntoANewDirectoryLeavesItToWhoTakesIt begins both at the same time, as a person does who looks what a run
// does that has just begun.
func TestWhoLooksIntoANewDirectoryLeavesItToWhoTakesIt(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	if !storage.UpToDate(path) {
		t.Error("a directory that holds nothing is to be brought up to date")
	}
	looks, err := storage.Open(path, storage.Options{ReadOnly: true, Scratch: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := looks.Control(); err != nil {
		t.Error(err)
	}
	type taken struct {
		dir *storage.Dir
		err error
	}
	takes := make(chan taken)
	go func() {
		dir, err := storage.Open(path, storage.Options{})
		takes <- taken{dir, err}
	}()
	select {
	case got := <-takes:
		t.Errorf("the directory is taken while another looks: %v", got.err)
	case <-time.After(100 * time.Millisecond): // which a correct owner spends waiting, however long it is
	}
	if made := names(t, path); !slices.Equal(made, []string{"lock"}) {
		t.Errorf("who looks has made %q", made)
	}
	if err := looks.Close(); err != nil {
		t.Error(err)
	}
	got := <-takes
	if got.err != nil {
		t.Fatal("the directory is not left to who takes it:", got.err)
	}
	if err := got.dir.Close(); err != nil {
		t.Error(err)
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
