//go:build unix

package private

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestNoFileIsEverOpenToOthers looks at each file as the file system below leaves it, which is what a kill would leave.
func TestNoFileIsEverOpenToOthers(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0)) // so that what asks for more gets it
	dir := t.TempDir()
	all := disk{looking{vfs.Default, t}}
	const category = vfs.WriteCategoryUnspecified
	path := filepath.Join(dir, "file")
	for _, content := range []string{"first", "then"} {
		file, err := all.Create(path, category)
		mustWrite(t, file, err, content)
	}
	file, err := all.OpenReadWrite(path, category)
	mustWrite(t, file, err, "T")
	if got, err := os.ReadFile(path); string(got) != "Then" || err != nil {
		t.Errorf("the file holds %q, %v", got, err)
	}
	file, err = all.OpenReadWrite(filepath.Join(dir, "other"), category)
	mustWrite(t, file, err, "")
	held, err := all.Lock(filepath.Join(dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	held.Close()
	if entries, err := os.ReadDir(dir); len(entries) != 3 || err != nil {
		t.Errorf("%d files, %v", len(entries), err)
	}
	err = Wider(dir, func(path string, mode os.FileMode) error {
		if path != dir {
			t.Errorf("%s is left with mode %v", path, mode)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func mustWrite(t *testing.T, file vfs.File, err error, content string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(file, content); err != nil {
		t.Error(err)
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
}

// looking fails the test for what the file system made that others may use.
type looking struct {
	vfs.FS
	t *testing.T
}

func (l looking) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := l.FS.Create(name, c)
	l.look(name)
	return file, err
}

func (l looking) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	file, err := l.FS.OpenReadWrite(name, c, o...)
	l.look(name)
	return file, err
}

func (l looking) Lock(name string) (io.Closer, error) {
	held, err := l.FS.Lock(name)
	l.look(name)
	return held, err
}

func (l looking) look(name string) {
	info, err := os.Lstat(name)
	if err != nil {
		l.t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		l.t.Errorf("%s is there with mode %v", name, mode)
	}
}
