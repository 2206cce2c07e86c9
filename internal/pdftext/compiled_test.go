package pdftext

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// compiledIn makes an engine with a cache in a directory, and fails if it does not read. It returns the files there.
func compiledIn(t *testing.T, dir string) []string {
	t.Helper()
	e, err := startEngine(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer e.runtime.Close(context.Background())
	body := testutil.WritePDF("Title", testutil.PDFText("A text"))
	if d := e.read(t.Context(), body, Default, nil); text(d) != "A text\n" {
		t.Fatalf("%q (%+v)", text(d), d.Unread)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestMachineCodeIsKeptForOtherProcesses makes engines one after the other, as processes do: the first one keeps what
// it compiled, the second takes it, and damage to it is none to those that follow.
func TestMachineCodeIsKeptForOtherProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles PDFium")
	}
	dir := t.TempDir()
	files := compiledIn(t, dir)
	if len(files) != 1 {
		t.Fatalf("%q are kept, want one file", files)
	}
	kept, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(files[0])
	if err != nil {
		t.Fatal(err)
	}
	compiledIn(t, dir)
	if after, err := os.Stat(files[0]); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("it was written anew (%v): not taken from there", err)
	}
	kept[len(kept)/2] ^= 0xff
	for _, damaged := range [][]byte{kept[:len(kept)/2], kept} {
		if err := os.WriteFile(files[0], damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		compiledIn(t, dir)
	}
}

func TestACacheThatCannotBeUsedIsNone(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, dir string){
		"a file":            func(t *testing.T, dir string) { mustNot(t, os.WriteFile(dir, nil, 0o600)) },
		"open to others":    func(t *testing.T, dir string) { mustNot(t, os.Mkdir(dir, 0o700)); mustNot(t, os.Chmod(dir, 0o777)) },
		"a link to another": func(t *testing.T, dir string) { mustNot(t, os.Symlink(t.TempDir(), dir)) },
	} {
		t.Run(name, func(t *testing.T) {
			user := t.TempDir()
			t.Setenv("XDG_CACHE_HOME", user)
			t.Setenv("HOME", user)
			if dir := cacheDirectory(); filepath.Base(dir) != "webrace" {
				t.Fatalf("%q, want one named webrace", dir)
			}
			dir := cacheDirectory()
			mustNot(t, os.Remove(dir))
			make(t, dir)
			if got := cacheDirectory(); got != "" {
				t.Errorf("%q is used", got)
			}
		})
	}
}

func mustNot(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
