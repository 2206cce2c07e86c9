package storage

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// backedUp returns a backup of a data directory with a document, and its number.
func backedUp(t *testing.T) (backup string, id BackupID) {
	t.Helper()
	d, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Frontier(); err != nil {
		t.Fatal(err)
	}
	backup = filepath.Join(t.TempDir(), "backup")
	if _, err := d.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	if id, err = IDOfBackup(backup); err != nil {
		t.Fatal(err)
	}
	return backup, id
}

func mustTakeIn(t *testing.T, backup, path string) {
	t.Helper()
	if err := TakeIn(t.Context(), backup, path); err != nil {
		t.Fatal(err)
	}
}

// What came in a backup stays as it is when that is taken in again; what was there before is set aside, and so is known
// by its backup later. What a killed process has left half is made anew.
func TestABackupIsTakenInOnce(t *testing.T) {
	t.Parallel()
	first, firstID := backedUp(t)
	second, secondID := backedUp(t)
	if firstID == secondID {
		t.Fatal("two backups have one number")
	}
	path := filepath.Join(t.TempDir(), "a [1]*", "06")
	if err := os.MkdirAll(path+".partial", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path+".partial", "half"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mustTakeIn(t, first, path)
	written := filepath.Join(path, "written since")
	if err := os.WriteFile(written, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mustTakeIn(t, first, path)
	if !exists(written) || exists(filepath.Join(path, "half")) {
		t.Error("it was taken in anew, or with what was left half")
	}
	mustTakeIn(t, second, path)
	for id, want := range map[BackupID]string{firstID: path + ".set-aside", secondID: path, 1: ""} {
		if at, err := Moved(path, id); err != nil || at != want {
			t.Errorf("what moved in %s is at %q, %v; want %q", id, at, err, want)
		}
	}
	if !exists(filepath.Join(path+".set-aside", filepath.Base(written))) {
		t.Error("what was there is lost")
	}
	d, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Frontier(); err != nil {
		t.Error(err)
	}
}

// A backup that is damaged leaves what is there as it is.
func TestADamagedBackupIsNotTakenIn(t *testing.T) {
	t.Parallel()
	backup, _ := backedUp(t)
	m, err := ReadManifest(backup)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(m.Files, func(f ManifestFile) bool { return f.Size > 0 && f.Path != formatFile })
	if err := os.Truncate(filepath.Join(backup, filepath.FromSlash(m.Files[i].Path)), 0); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "06")
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := TakeIn(t.Context(), backup, path); err == nil {
		t.Error("it was taken in")
	}
	if entries, err := os.ReadDir(path); err != nil || len(entries) != 0 || exists(path+".set-aside") {
		t.Errorf("what was there has changed: %v, %v", entries, err)
	}
}
