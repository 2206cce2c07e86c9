package storage_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/objects"
)

// Whatever is done to a copy, also what moves and removes files as the collection of garbage does, the original stays
// byte for byte as it was.
func TestACopyHoldsEverythingAndLeavesTheOriginalAsItIs(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"filled": filled(t), "not closed": killed(t), "another format": unpackGolden(t, 1)} {
		before := contents(t, path)
		to := t.TempDir()
		d, err := storage.OpenCopy(path, to, storage.Options{Objects: objects.Options{SegmentSize: 4000}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		links := slices.Collect(maps.Values(contents(t, to)))
		switch shared := slices.Contains(links, "a link"); {
		case name == "another format":
			mustHoldAndFindTheDemo(t, d)
		case !shared:
			t.Errorf("%s: all files were copied", name)
		default:
			mustHoldWhatWasFilled(t, d)
			mustGoOn(t, d)
		}
		second, err := storage.OpenCopy(path, t.TempDir(), storage.Options{})
		if err != nil {
			t.Fatalf("%s: a second copy beside the first: %v", name, err)
		}
		if collected, err := d.Collect(t.Context(), storage.Retention{Unmatched: time.Nanosecond, MaxBytes: 1}); err != nil || collected.Segments == 0 {
			t.Errorf("%s: collected %+v in the copy: %v", name, collected, err)
		}
		if err := errors.Join(d.Close(), second.Close()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if after := contents(t, path); !maps.Equal(after, before) {
			t.Errorf("%s: the original held\n%v\nand holds\n%v", name, before, after)
		}
		open(t, path) // which nothing holds any more
		var locked *storage.LockedError
		if _, err := storage.OpenCopy(path, t.TempDir(), storage.Options{}); !errors.As(err, &locked) || locked.Readers {
			t.Errorf("%s: a copy of a directory that is owned: %v", name, err)
		}
	}
}

func TestACopyOfNothingIsEmpty(t *testing.T) {
	t.Parallel()
	empty, none := t.TempDir(), filepath.Join(t.TempDir(), "none")
	write(t, filepath.Join(empty, "notes"), "of another program")
	for _, path := range []string{empty, none} {
		to := t.TempDir()
		d, err := storage.OpenCopy(path, to, storage.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Objects(); err != nil {
			t.Error(err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(to, "notes")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("what belongs to no store was copied: %v", err)
		}
	}
	if left := contents(t, empty); len(left) != 2 {
		t.Errorf("the directory holds %v", left)
	}
	if _, err := os.Stat(none); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory was made: %v", err)
	}
}

// killed returns a data directory as it is while its owner works, which a crash would leave.
func killed(t *testing.T) string {
	t.Helper()
	d := open(t, filled(t))
	for _, err := range []error{second(d.Control()), second(d.Frontier()), second(d.Objects())} {
		if err != nil {
			t.Fatal(err)
		}
	}
	left := filepath.Join(t.TempDir(), "data")
	err := os.CopyFS(left, os.DirFS(d.Path(""))) // which makes files that others can read
	for errors.Is(err, fs.ErrNotExist) {         // a file was replaced meanwhile
		if err = os.RemoveAll(left); err == nil {
			err = os.CopyFS(left, os.DirFS(d.Path("")))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(left, "secrets.key"), 0o600); err != nil {
		t.Fatal(err)
	}
	return left
}

func second[T any](_ T, err error) error { return err }

// contents returns what there is in a directory, with the digests and modes of files.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		switch {
		case err != nil:
		case e.Type()&fs.ModeSymlink != 0:
			found[name] = "a link"
		case e.IsDir():
			found[name] = "a directory"
		default:
			var content []byte
			if content, err = os.ReadFile(path); err == nil {
				var info fs.FileInfo
				if info, err = e.Info(); err == nil {
					found[name] = fmt.Sprintf("%v %x", info.Mode(), sha256.Sum256(content))
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
