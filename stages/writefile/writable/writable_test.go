package writable

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatCanBeWrittenAndWhatCannot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		check func(string) error
		path  string
		want  string // empty: it can be written
	}{
		{"a file that is there", File, file, ""},
		{"one that is not", File, filepath.Join(dir, "new"), ""},
		{"one in directories that are not", File, filepath.Join(dir, "a", "b", "new"), ""},
		{"a directory as a file", File, dir, "is a directory"},
		{"a file in a file", File, filepath.Join(file, "new"), "not a directory"},
		{"what is no file", File, os.DevNull, ""},
		{"a directory", Dir, dir, ""},
		{"one that is not there", Dir, filepath.Join(dir, "a", "b"), ""},
		{"a file as a directory", Dir, file, "is no directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.check(c.path)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.path, err, c.want)
			}
		})
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if len(entries) != 1 || err != nil || string(content) != "kept" {
		t.Errorf("the directory holds %v, the file %q (%v)", entries, content, err)
	}
}

func TestADirectoryThatMayNotBeWrittenIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		dir = "/proc" // root may write nearly everywhere
		if _, err := os.Stat(dir); err != nil {
			t.Skip("there is no directory that root may not write")
		}
	}
	if File(filepath.Join(dir, "new")) == nil {
		t.Error("a file could be made in a directory that may not be written")
	}
}
