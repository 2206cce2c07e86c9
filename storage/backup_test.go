package storage_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/fsck"
)

// backedUp returns a backup of the demo's data directory.
func backedUp(t *testing.T) string {
	t.Helper()
	d := open(t, unpackGolden(t, 1))
	to := filepath.Join(t.TempDir(), "backups", "one")
	m, err := d.Backup(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	if m.Bytes() == 0 || len(m.Files) < 5 {
		t.Errorf("manifest %+v", m)
	}
	return to
}

func TestARestoredBackupHoldsEverythingAndIsSearchableAfterItIsIndexedAgain(t *testing.T) {
	t.Parallel()
	from := backedUp(t)
	to := filepath.Join(t.TempDir(), "data")
	if _, err := storage.Restore(t.Context(), from, to); err != nil {
		t.Fatal(err)
	}
	d := open(t, to)
	store, err := d.Objects()
	if err != nil {
		t.Fatal(err)
	}
	if cursor, err := store.Cursor(storage.SearchCursor); cursor != 0 || err != nil {
		t.Errorf("the index is filled from %d: %v", cursor, err)
	}
	mustHoldTheDemo(t, d)
}

func TestADamagedOrIncompleteBackupIsRefused(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, dir string){
		"it was not completed": func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "manifest.json")) },
		"manifest damaged":     func(t *testing.T, dir string) { write(t, filepath.Join(dir, "manifest.json"), "{") },
		"file missing":         func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "control.db")) },
		"bit flipped": func(t *testing.T, dir string) {
			path := filepath.Join(dir, "objects", "seg-00000001.warc.gz")
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			content[len(content)/2] ^= 1
			write(t, path, string(content))
		},
		"file outside": func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "manifest.json"), `{"format": 1, "files": [{"path": "../x"}]}`)
		},
		"newer format": func(t *testing.T, dir string) { write(t, filepath.Join(dir, "manifest.json"), `{"format": 99}`) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := backedUp(t)
			damage(t, from)
			to := filepath.Join(t.TempDir(), "data")
			if _, err := storage.Restore(t.Context(), from, to); err == nil || !strings.Contains(err.Error(), from) {
				t.Errorf("got %v", err)
			}
			if _, err := os.Stat(filepath.Join(to, "format")); err == nil {
				t.Error("it became a data directory")
			}
		})
	}
}

func TestNothingIsRestoredOrBackedUpOverSomethingElse(t *testing.T) {
	t.Parallel()
	from, to := backedUp(t), t.TempDir()
	write(t, filepath.Join(to, "precious"), "")
	if _, err := storage.Restore(t.Context(), from, to); err == nil || !strings.Contains(err.Error(), "precious") {
		t.Errorf("restore: got %v", err)
	}
	if _, err := open(t, t.TempDir()).Backup(t.Context(), to); err == nil || !strings.Contains(err.Error(), "precious") {
		t.Errorf("backup: got %v", err)
	}
}

// TestTheKeyInABackupIsThatOfItsSecrets rotates the key while backups are made.
func TestTheKeyInABackupIsThatOfItsSecrets(t *testing.T) {
	t.Parallel()
	d := open(t, filled(t))
	store, err := d.Control()
	if err != nil {
		t.Fatal(err)
	}
	rotated := make(chan error, 1)
	go func() {
		for range 200 {
			if _, err := store.RotateKey(t.Context()); err != nil {
				rotated <- err
				return
			}
		}
		rotated <- nil
	}()
	for rotating := true; rotating; {
		select {
		case err := <-rotated:
			if err != nil {
				t.Fatal(err)
			}
			rotating = false // and a last one is made
		default:
		}
		to := filepath.Join(t.TempDir(), "copy")
		m, err := d.BackupWithKey(t.Context(), to)
		if err != nil {
			t.Fatal(err)
		}
		if m.Secrets != 1 || m.LacksKey() {
			t.Errorf("manifest %+v", m)
		}
		if info, err := os.Stat(filepath.Join(to, control.KeyFile)); err != nil || info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
			t.Errorf("the key is %v: %v", info, err)
		}
		filler{t, open(t, to)}.mustHoldRequests()
	}
}

func TestABackupWithoutTheKeySaysSoAndIsSound(t *testing.T) {
	t.Parallel()
	d := open(t, filled(t))
	to := filepath.Join(t.TempDir(), "copy")
	if m, err := d.Backup(t.Context(), to); err != nil || !m.LacksKey() {
		t.Errorf("manifest %+v: %v", m, err)
	}
	if _, err := os.Stat(filepath.Join(to, control.KeyFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the key: %v", err)
	}
	m, err := storage.Verify(t.Context(), to, func(f fsck.Finding) { t.Errorf("found %v", f) })
	if err != nil || !m.LacksKey() {
		t.Errorf("manifest %+v: %v", m, err)
	}
}
