package storage_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/storage"
)

// holdVariable makes the test binary a process that opens the directory it names and waits.
const holdVariable = "WEBRACE_TEST_HOLD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdVariable); dir != "" {
		hold(dir)
		return
	}
	os.Exit(m.Run())
}

func hold(dir string) {
	d, err := storage.Open(dir, storage.Options{})
	if err == nil {
		_, err = d.Control()
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("held")
	select {} // until killed
}

func open(t *testing.T, dir string) *storage.Dir {
	t.Helper()
	d, err := storage.Open(dir, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestASecondOwnerIsToldWhoTheFirstIs(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	first := open(t, dir)
	_, err := storage.Open(dir, storage.Options{})
	var locked *storage.LockedError
	if !errors.As(err, &locked) || locked.Owner.PID != os.Getpid() || locked.Dir != first.Path("") {
		t.Fatalf("got %v, want it locked by %d", err, os.Getpid())
	}
	if since := time.Since(locked.Owner.Since); since < 0 || since > time.Hour {
		t.Errorf("locked since %v", locked.Owner.Since)
	}
	for _, want := range []string{fmt.Sprint(os.Getpid()), filepath.Base(os.Args[0]), dir, "--data"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
}

func TestAnOwnerThatHasNotSaidWhoItIsIsRespected(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "x", "12a host", "\x00\xff"} {
		dir := t.TempDir()
		open(t, dir)
		if err := os.WriteFile(filepath.Join(dir, "lock"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := storage.Open(dir, storage.Options{})
		var locked *storage.LockedError
		if !errors.As(err, &locked) || locked.Owner.PID != 0 || !strings.Contains(err.Error(), "another process") {
			t.Errorf("%q: got %v", content, err)
		}
	}
}

func TestAnOwnerWaitsForReaders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := open(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	var readers []*storage.Dir
	for range 2 {
		reader, err := storage.Open(dir, storage.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		readers = append(readers, reader)
	}
	time.AfterFunc(50*time.Millisecond, func() {
		for _, reader := range readers {
			reader.Close()
		}
	})
	open(t, dir)
	_, err := storage.Open(dir, storage.Options{ReadOnly: true})
	var locked *storage.LockedError
	if !errors.As(err, &locked) || locked.Readers || locked.Owner.PID != os.Getpid() {
		t.Errorf("a reader beside an owner: %v", err)
	}
}

func TestAKilledOwnerHoldsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), holdVariable+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("the child said %q: %v", line, err)
	}
	_, err = storage.Open(dir, storage.Options{})
	var locked *storage.LockedError
	if !errors.As(err, &locked) || locked.Owner.PID != child.Process.Pid {
		t.Errorf("got %v, want it locked by %d", err, child.Process.Pid)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err == nil {
		t.Error("the child was not killed")
	}
	open(t, dir)
}

func TestFormats(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{"2\n": "", "1": "", "3\n": "newer program", "99": "newer program", "": "damaged", "one": "damaged", "0": "damaged", "-1": "damaged"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "format"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 { // a refusal leaves the directory as it was, and unlocked
			d, err := storage.Open(dir, storage.Options{})
			if err == nil {
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("format %q: got %v, want %q", content, err, want)
			}
			var newer *storage.FormatError
			if errors.As(err, &newer) != (want == "newer program") {
				t.Errorf("format %q: got a %T", content, err)
			}
		}
	}
}

func TestANewDirectoryHasAFormat(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open(t, dir)
	if content, err := os.ReadFile(filepath.Join(dir, "format")); string(content) != "2\n" {
		t.Errorf("format %q: %v", content, err)
	}
}

func TestStoresAreOpenedWhenAskedForAndSharedUntilClosed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, dir)
	stores := map[string]func() (any, error){
		"frontier":   func() (any, error) { return d.Frontier() },
		"objects":    func() (any, error) { return d.Objects() },
		"control.db": func() (any, error) { return d.Control() },
		"fulltext":   func() (any, error) { return d.Fulltext() },
	}
	for name, use := range stores {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there before it is asked for: %v", name, err)
		}
		first, err := use()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := use(); again != first || err != nil {
			t.Errorf("%s is opened again: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s is not where it belongs: %v", name, err)
		}
	}
	for range 2 {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	for name, use := range stores {
		if _, err := use(); !errors.Is(err, storage.ErrClosed) {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
	if _, err := open(t, dir).Control(); err != nil {
		t.Errorf("after Close, a store does not open: %v", err)
	}
}

func TestAStoreThatFailsToOpenMayBeTriedAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, dir)
	obstacle := filepath.Join(dir, "control.db")
	if err := os.Mkdir(obstacle, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Control(); err == nil {
		t.Fatal("a directory was opened as a database")
	}
	if err := os.Remove(obstacle); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Control(); err != nil {
		t.Error(err)
	}
}

func TestADirectoryThatCannotBeMadeIsNamed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := storage.Open(filepath.Join(file, "data"), storage.Options{}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("got %v", err)
	}
}
