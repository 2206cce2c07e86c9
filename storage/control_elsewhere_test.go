package storage_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/xmlschema"
)

// outside is a control store that belongs to no data directory.
func outside(t *testing.T) *control.Store {
	t.Helper()
	store, err := control.Open(filepath.Join(t.TempDir(), "control.db"), control.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// withStore opens a directory that uses a control store from outside.
func withStore(t *testing.T, dir string, store *control.Store) *storage.Dir {
	t.Helper()
	d, err := storage.Open(dir, storage.Options{ControlStore: store})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func ask(t *testing.T, d *storage.Dir, id string) {
	t.Helper()
	requests, err := d.Control()
	if err != nil {
		t.Fatal(err)
	}
	u := xmlschema.NewURD("eleni", page(1))
	u.ID = id
	if _, err := requests.Put(t.Context(), []*xmlschema.URD{u}); err != nil {
		t.Fatal(err)
	}
}

func TestDirectoriesShareAControlStoreThatTheyDoNotClose(t *testing.T) {
	t.Parallel()
	store := outside(t)
	first, second := withStore(t, filepath.Join(t.TempDir(), "0"), store), withStore(t, filepath.Join(t.TempDir(), "1"), store)
	ask(t, first, "storms")
	requests, err := second.Control()
	if err != nil {
		t.Fatal(err)
	}
	if u, err := requests.Get(t.Context(), "storms"); err != nil || u.Owner != "eleni" {
		t.Errorf("what is asked for beside one directory is %v, %v beside the other", u, err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if _, err := first.Control(); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("a closed directory lends the store: %v", err)
	}
	ask(t, second, "floods")
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	if _, err := store.Get(t.Context(), "floods"); err != nil {
		t.Errorf("the store is closed with the directories: %v", err)
	}
	for _, dir := range []string{first.Path(""), second.Path("")} {
		for name := range contents(t, dir) {
			if strings.HasPrefix(name, "control") || name == control.KeyFile {
				t.Errorf("%s was made", name)
			}
		}
	}
}

// What is in a control.db of an earlier time is neither read nor changed, and nothing that is made of the directory has
// it or its key.
func TestAControlStoreFromOutsideIsNotKeptWithTheDirectory(t *testing.T) {
	t.Parallel()
	path, store := filled(t), outside(t)
	before := contents(t, path)
	d := withStore(t, path, store)
	ask(t, d, "storms")
	secret, err := credentials.NewSecret(credentials.KindBasic, "eleni", "not-a-real-one")
	if err == nil {
		err = store.SetSecret(t.Context(), "news", secret)
	}
	if err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join(t.TempDir(), "backup")
	m, err := d.BackupWithKey(t.Context(), backup)
	if err != nil {
		t.Fatal(err)
	}
	if !m.ControlElsewhere || m.Secrets != 0 || m.LacksKey() {
		t.Errorf("the manifest tells of a control store: %+v", m)
	}
	var found []fsck.Finding
	report := func(f fsck.Finding) { found = append(found, f) }
	if err := d.Check(t.Context(), true, report); err != nil || len(found) > 0 {
		t.Errorf("found %v, %v", found, err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := storage.Verify(t.Context(), backup, report); err != nil || len(found) > 0 {
		t.Errorf("found in the backup: %v, %v", found, err)
	}
	copied := t.TempDir()
	d, err = storage.OpenCopy(path, copied, storage.Options{ControlStore: store})
	if err != nil {
		t.Fatal(err)
	}
	ask(t, d, "floods")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	after := contents(t, path)
	for _, files := range []map[string]string{before, after} {
		maps.DeleteFunc(files, func(name, _ string) bool { return !strings.HasPrefix(name, "control") && name != control.KeyFile })
	}
	if len(before) < 2 || !maps.Equal(before, after) {
		t.Errorf("the store of an earlier time was %v, and is %v", before, after)
	}
	for _, dir := range []string{backup, copied} {
		for name := range before {
			if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is in %s: %v", name, dir, err)
			}
		}
	}
	restored := filepath.Join(t.TempDir(), "restored")
	if _, err := storage.Restore(t.Context(), backup, restored); err != nil {
		t.Fatal(err)
	}
	d = withStore(t, restored, store)
	defer d.Close()
	if requests, err := d.Control(); err != nil || requests != store {
		t.Errorf("the restored directory has another store: %v", err)
	}
	if _, err := d.Collect(t.Context(), storage.Retention{MaxBytes: 1}); err != nil {
		t.Error(err)
	}
}
