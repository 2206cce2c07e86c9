package fulltext

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// copyAtOneMoment copies a directory in which files come and go, as the index merges its segments: until
// none has done so meanwhile.
func copyAtOneMoment(t *testing.T, to, from string) {
	t.Helper()
	for range 1000 {
		before := listing(t, from)
		err := os.CopyFS(to, os.DirFS(from))
		if err == nil && slices.Equal(before, listing(t, from)) {
			return
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the index never comes to rest")
}

func listing(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if info, err := d.Info(); err == nil {
			files = append(files, fmt.Sprint(path, info.Size(), info.ModTime()))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// What Index acknowledged is on the disk, not on its way there: a copy of the files made right after it
// is what kill -9 would leave.
func TestWhatWasIndexedSurvivesAKill(t *testing.T) {
	s := filled(t)
	for i := range 5 {
		if err := s.Index(t.Context(), []Document{{URL: fmt.Sprint("http://more/", i), Body: "more"}}); err != nil {
			t.Fatal(err)
		}
		left := filepath.Join(t.TempDir(), "copy")
		copyAtOneMoment(t, left, s.path)
		after, err := Open(left, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := after.Count(); err != nil || int(n) != len(library)+i+1 {
			t.Errorf("%d documents, %v", n, err)
		}
		if got := find(t, after, "+annotations"); got != "english" {
			t.Errorf("found %q", got)
		}
		after.Close()
	}
}

func TestReopen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fulltext")
	for i := range 3 {
		s, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := s.Count(); err != nil || int(n) != i {
			t.Errorf("%d documents, %v", n, err)
		}
		if err := s.Index(t.Context(), []Document{{URL: fmt.Sprint("http://", i), Body: "same"}}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOpenMakesAnIndexWhereACrashLeftHalfOfOne(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fulltext")
	for _, half := range []string{dir, dir + ".new/store"} { // an empty directory, and one that was being made
		if err := os.MkdirAll(half, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

func TestADamagedIndexIsRefusedWithAClearError(t *testing.T) {
	for name, damage := range map[string]func(dir string) error{
		"no metadata":  func(dir string) error { return os.Remove(filepath.Join(dir, "index_meta.json")) },
		"bad metadata": func(dir string) error { return os.WriteFile(filepath.Join(dir, "index_meta.json"), []byte("{"), 0o644) },
		"no root": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "store", "root.bolt"), []byte("garbage"), 0o644)
		},
		"no segments":   func(dir string) error { return eachSegment(dir, os.Remove) },
		"torn segments": func(dir string) error { return eachSegment(dir, func(p string) error { return os.Truncate(p, 10) }) },
	} {
		t.Run(name, func(t *testing.T) {
			s := filled(t)
			dir := filepath.Join(t.TempDir(), "copy")
			copyAtOneMoment(t, dir, s.path)
			if err := damage(dir); err != nil {
				t.Fatal(err)
			}
			opened, err := Open(dir, Options{})
			if err == nil {
				opened.Close()
			}
			if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), dir) {
				t.Errorf("opened: %v", err)
			}
		})
	}
}

// TestATornRootEndsNoProcess cuts the file that lists which segments there are, at each of its pages: the library that
// maps it into memory reads pages which are no longer there. What opens works as if nothing had happened.
func TestATornRootEndsNoProcess(t *testing.T) {
	s := filled(t)
	sound := t.TempDir()
	copyAtOneMoment(t, filepath.Join(sound, "index"), s.path)
	want, err := s.Count()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(sound, "index", "store", "root.bolt"))
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for size := info.Size() - int64(os.Getpagesize()); size > 0; size -= int64(os.Getpagesize()) {
		dir := filepath.Join(t.TempDir(), "copy")
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(sound, "index"))); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(dir, "store", "root.bolt"), size); err != nil {
			t.Fatal(err)
		}
		opened, err := Open(dir, Options{})
		if err != nil {
			if refused++; !errors.Is(err, ErrCorrupt) {
				t.Errorf("cut to %d bytes: %v", size, err)
			}
			continue
		}
		n, err := opened.Count()
		if n != want || err != nil {
			t.Errorf("cut to %d bytes, it has %d documents of %d: %v", size, n, want, err)
		}
		if err := errors.Join(opened.Index(t.Context(), []Document{{URL: "http://a.example/", Body: "more"}}), opened.Close()); err != nil {
			t.Errorf("cut to %d bytes: %v", size, err)
		}
	}
	if refused == 0 {
		t.Error("no cut was noticed: the test tests nothing")
	}
}

func eachSegment(dir string, do func(path string) error) error {
	paths, err := filepath.Glob(filepath.Join(dir, "store", "*.zap"))
	if len(paths) == 0 {
		err = errors.Join(err, errors.New("there are no segments"))
	}
	for _, p := range paths {
		err = errors.Join(err, do(p))
	}
	return err
}

func TestAnotherFormatIsRefused(t *testing.T) {
	s := filled(t)
	if err := s.index.SetInternal(formatKey, []byte("0")); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, err := Open(s.path, Options{}); !errors.Is(err, ErrFormat) {
		t.Errorf("opened: %v", err)
	}
}
