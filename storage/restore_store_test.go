package storage_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/fsck"
)

// copyOf copies a directory for a test that changes it.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// backupOf backs a data directory up.
func backupOf(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "backup")
	in(t, dir, func(d *storage.Dir) error {
		_, err := d.Backup(t.Context(), to)
		return err
	})
	return to
}

// editManifest changes the manifest of a backup.
func editManifest(t *testing.T, backup string, edit func(*storage.Manifest)) {
	t.Helper()
	path := filepath.Join(backup, "manifest.json")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m storage.Manifest
	if err := json.Unmarshal(content, &m); err != nil {
		t.Fatal(err)
	}
	edit(&m)
	if content, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	write(t, path, string(content))
}

// contentOf reads all files of a directory but the lock, which names who held it.
func contentOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == "lock" {
			return err
		}
		content, err := os.ReadFile(path)
		files[path] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestAStoreIsRestoredOfAWholeBackupAlone tries backups that are wrong, and wants the directory to be as it was, so
// that the right backup can still be restored.
func TestAStoreIsRestoredOfAWholeBackupAlone(t *testing.T) {
	t.Parallel()
	sound := filled(t)
	whole := backupOf(t, sound)
	for name, c := range map[string]struct {
		damage func(t *testing.T, backup string)
		want   string // in the error
	}{
		"no backup":          {func(t *testing.T, backup string) { remove(t, filepath.Join(backup, "manifest.json")) }, "it is no backup"},
		"a damaged manifest": {func(t *testing.T, backup string) { write(t, filepath.Join(backup, "manifest.json"), "{") }, "read manifest.json"},
		"a file outside of the backup": {func(t *testing.T, backup string) {
			editManifest(t, backup, func(m *storage.Manifest) { m.Files[0].Path = "../control.db" })
		}, "outside"},
		"a lost file":    {func(t *testing.T, backup string) { remove(t, filepath.Join(backup, "control.db")) }, "control.db"},
		"a changed file": {func(t *testing.T, backup string) { write(t, filepath.Join(backup, "control.db"), "other") }, "not as it was written"},
		"the manifest of another backup": {func(t *testing.T, backup string) {
			other, err := os.ReadFile(filepath.Join(backupOf(t, unpackGolden(t, 1)), "manifest.json"))
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(backup, "manifest.json"), string(other))
		}, "not as it was written"},
		"a newer format": {func(t *testing.T, backup string) {
			editManifest(t, backup, func(m *storage.Manifest) { m.Format = storage.Format + 1 })
		}, "use the newer program"},
		"an older format": {func(t *testing.T, backup string) {
			editManifest(t, backup, func(m *storage.Manifest) { m.Format = storage.Format - 1 })
		}, "restore the whole backup into a new directory"},
		"no such store in it": {func(t *testing.T, backup string) {
			editManifest(t, backup, func(m *storage.Manifest) {
				for i := range m.Files {
					m.Files[i].Path = strings.Replace(m.Files[i].Path, "control.db", "secrets.key", 1)
				}
			})
		}, "no store control"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, backup := copyOf(t, sound), copyOf(t, whole)
			before := contentOf(t, dir)
			c.damage(t, backup)
			_, err := storage.RestoreStore(t.Context(), backup, dir, "control")
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), backup) {
				t.Errorf("got %v, want an error with %q and the backup's name", err, c.want)
			}
			var newer *storage.FormatError
			if strings.HasPrefix(name, "a newer") && !errors.As(err, &newer) {
				t.Errorf("got %v, want a FormatError", err)
			}
			after := contentOf(t, dir)
			for path, content := range before {
				if after[path] != content {
					t.Errorf("%s is changed, or gone", path)
				}
			}
			if len(after) != len(before) {
				t.Errorf("there were %d files, and are %d", len(before), len(after))
			}
			if _, err := storage.RestoreStore(t.Context(), whole, dir, "control"); err != nil {
				t.Errorf("the whole backup: %v", err)
			}
		})
	}
}

func TestAStoreIsRestoredIntoADirectoryThatIsThere(t *testing.T) {
	t.Parallel()
	backup := backupOf(t, filled(t))
	to := filepath.Join(t.TempDir(), "misspelt")
	if _, err := storage.RestoreStore(t.Context(), backup, to, "control"); err == nil || !strings.Contains(err.Error(), "is no data directory") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(to); err == nil {
		t.Error("it has made a directory")
	}
}

// TestAStoreOfAnotherDirectoryIsToldNotToFit restores stores from a backup of another directory: no file tells which
// directory it is of, so the check has to tell. The store that was there comes back by its name.
func TestAStoreOfAnotherDirectoryIsToldNotToFit(t *testing.T) {
	t.Parallel()
	sound := filled(t)
	other := backupOf(t, unpackGolden(t, 1))
	for store, file := range map[string]string{"control": "control.db", "objects": "objects/seg-00000007.warc.gz"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			dir := copyOf(t, sound)
			before, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := storage.RestoreStore(t.Context(), other, dir, store); err != nil {
				t.Fatal(err)
			}
			var found []fsck.Finding
			in(t, dir, func(d *storage.Dir) error {
				return d.Check(t.Context(), false, func(f fsck.Finding) { found = append(found, f) })
			})
			if len(found) == 0 {
				t.Error("the check does not say that the stores do not fit together")
			}
			first, rest, _ := strings.Cut(file, "/")
			aside, err := os.ReadFile(filepath.Join(dir, first+".set-aside", rest))
			if err != nil || !bytes.Equal(aside, before) {
				t.Errorf("what was there is not set aside as it was: %v", err)
			}
		})
	}
}
