//go:build unix

package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// underUmask runs a program under a umask, and wants it to end with a status; it returns what the program said.
func underUmask(t *testing.T, umask string, status int, command ...string) string {
	t.Helper()
	c := exec.Command("sh", append([]string{"-c", "umask " + umask + `; exec "$@"`, "sh"}, command...)...)
	said, err := c.CombinedOutput()
	if c.ProcessState.ExitCode() != status {
		t.Fatalf("%s: %v, want status %d\n%s", strings.Join(command, " "), err, status, said)
	}
	return string(said)
}

// mustBePrivate fails unless all in a directory is for its owner alone, and returns how much that is.
func mustBePrivate(t *testing.T, dir string) (files int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it went meanwhile
		}
		info, err := os.Lstat(path)
		if err != nil {
			return nil
		}
		files++
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s is %04o, want %04o", path, got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Whatever the umask: what a crawl, search, owners, backups and garbage collection leave is for its owner alone, and so
// is the socket. What was made wider is told, and narrowed.
func TestTheDataDirectoryIsPrivate(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many commands twice: not in short mode")
	}
	t.Parallel()
	for _, umask := range []string{"022", "000"} {
		data := filepath.Join(t.TempDir(), "data")
		if err := os.Mkdir(data, 0o755); err != nil { // by hand
			t.Fatal(err)
		}
		underUmask(t, umask, 0, "webrace-run", "demo", "--data", data)
		if files := mustBePrivate(t, data); files < 20 {
			t.Fatalf("only %d files in it", files)
		}
		if umask == "022" {
			continue
		}
		store := func(status int, args ...string) string {
			t.Helper()
			return underUmask(t, umask, status, append([]string{"webrace-store", "--data", data}, args...)...)
		}
		copied, restored := filepath.Join(t.TempDir(), "copy"), filepath.Join(t.TempDir(), "restored")
		store(0, "urd", "add", "--url", "http://127.0.0.1:1/", "--owner", "ann", "--keyword", "tea:3")
		store(0, "gc")
		store(0, "backup", copied)
		mustBePrivate(t, copied)
		underUmask(t, umask, 0, "webrace-store", "--data", restored, "restore", copied)
		mustBePrivate(t, restored)
		store(0, "restore", copied, "--only", "objects")
		mustBePrivate(t, data)

		running := exec.Command("sh", "-c", "umask 000; exec webrace-run search --continuous --data "+data)
		if err := running.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { running.Process.Kill() })
		waitFor(t, func() bool { _, err := os.Lstat(filepath.Join(data, "webrace.sock")); return err == nil }, func() string { return "it does not listen" })
		mustBePrivate(t, data)
		running.Process.Signal(syscall.SIGINT)
		running.Wait()

		store(0, "fsck")
		widen(t, data)
		if said := store(1, "fsck"); !strings.Contains(said, "open to other users") {
			t.Errorf("fsck says %s", said)
		}
		store(0, "fsck", "--repair")
		mustBePrivate(t, data)
		store(0, "fsck")
	}
}

// widen makes a directory as releases left it that followed the umask.
func widen(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if e.IsDir() {
			mode = 0o755
		}
		return os.Chmod(path, mode)
	})
	if err != nil {
		t.Fatal(err)
	}
}
