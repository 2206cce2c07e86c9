package filestate

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFilesAreOutdatedOnceTheyHoldSomethingElse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var f Files
	if _, err := f.Read(path); !os.IsNotExist(err) || f.Outdated() {
		t.Errorf("a file that is missing was read: %v", err)
	}
	write("one")
	if text, err := f.Read(path); string(text) != "one" || err != nil {
		t.Errorf("it reads %q, %v", text, err)
	}
	for _, step := range []struct {
		change   func()
		outdated bool
	}{
		{func() {}, false}, {func() { write("one") }, false}, {func() { write("two") }, true}, {func() { write("one") }, false},
		{func() { _ = os.Remove(path) }, true},
	} {
		if step.change(); f.Outdated() != step.outdated {
			t.Errorf("outdated: %v", !step.outdated)
		}
	}
}
