package storage_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/states"
)

// remember sets a key of a state.
func remember(t *testing.T, d *storage.Dir, value string) {
	t.Helper()
	store, err := d.States()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	store.Commit([]states.Write{{State: "p/s/n", Key: "k", Value: []byte(value)}}, func(err error) { done <- err })
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// mustRemember closes a directory, and opens, checks and closes it again.
func mustRemember(t *testing.T, d *storage.Dir, dir, want string) {
	t.Helper()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d = open(t, dir)
	if err := d.Check(t.Context(), false, func(f fsck.Finding) { t.Error(f) }); err != nil {
		t.Fatal(err)
	}
	store, err := d.States()
	if err != nil {
		t.Fatal(err)
	}
	if value, err := store.Get("p/s/n", "k"); string(value) != want || err != nil {
		t.Errorf("%s remembers %q, not %q; %v", dir, value, want, err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// States are in a backup, come back with it, alone as well, are told of when they are gone, and are copied for a dry
// run.
func TestStatesAreBackedUpAndRestored(t *testing.T) {
	t.Parallel()
	dir, copied, whole := t.TempDir(), filepath.Join(t.TempDir(), "copy"), filepath.Join(t.TempDir(), "whole")
	d := open(t, dir)
	remember(t, d, "1")
	if _, err := d.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	remember(t, d, "2") // which the backup does not hold up any more
	mustRemember(t, d, dir, "2")
	if _, err := storage.Restore(t.Context(), copied, whole); err != nil {
		t.Fatal(err)
	}
	mustRemember(t, open(t, whole), whole, "1")

	dry, err := storage.OpenCopy(dir, t.TempDir(), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	remember(t, dry, "3")
	if err := dry.Close(); err != nil {
		t.Fatal(err)
	}
	mustRemember(t, open(t, dir), dir, "2")

	if err := os.RemoveAll(filepath.Join(dir, "states")); err != nil {
		t.Fatal(err)
	}
	d = open(t, dir)
	if _, err := d.States(); err == nil {
		t.Error("states that are gone were made anew without a word")
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := storage.RestoreStore(t.Context(), copied, dir, "states"); err != nil {
		t.Fatal(err)
	}
	mustRemember(t, open(t, dir), dir, "1")
}

// TestDamagedStatesAreSetAside has the database cut in half: fsck tells of it, and begins an empty one.
func TestDamagedStatesAreSetAside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, dir)
	remember(t, d, "1")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	manifests, err := filepath.Glob(filepath.Join(dir, "states", "MANIFEST-*"))
	if err != nil || len(manifests) == 0 {
		t.Fatal(manifests, err)
	}
	for _, name := range manifests {
		if err := os.Truncate(name, 10); err != nil {
			t.Fatal(err)
		}
	}
	d = open(t, dir)
	if _, err := d.States(); err == nil {
		t.Error("a damaged database is opened")
	}
	var found []fsck.Finding
	if err := d.Check(t.Context(), true, func(f fsck.Finding) { found = append(found, f) }); err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].Store != "states" || !found[0].Repaired {
		t.Errorf("fsck --repair finds %v", found)
	}
	mustRemember(t, d, dir, "")
}
