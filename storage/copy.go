package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// copyTree makes a durable copy of a file, or of a directory with all that is in it. Nothing is no error.
// Files that are never written again are shared with the copy where the file system can.
func copyTree(from, to string) error {
	return copyTreeBy(from, to, func(path, target string) error {
		if isFinal(path) && os.Link(path, target) == nil {
			return nil
		}
		return copyFile(path, target)
	})
}

// copyTreeBy copies a tree, each file of it by a function.
func copyTreeBy(from, to string, copyFile func(path, target string) error) error {
	if !exists(from) {
		return nil
	}
	var made []string
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rest)
		switch {
		case entry.IsDir():
			made = append(made, target)
			return os.Mkdir(target, 0o700)
		case !entry.Type().IsRegular():
			return fmt.Errorf("%s is no file that belongs there", path)
		}
		return copyFile(path, target)
	})
	for _, dir := range made {
		err = errors.Join(err, flush(dir))
	}
	return err
}

// isFinal reports whether a file is never written again, by its name.
func isFinal(path string) bool {
	ext := filepath.Ext(path)
	return ext == ".sst" || ext == ".zap" || isSealed(path)
}

// isSealed reports whether a path is that of a segment with another one after it: the last one grows.
func isSealed(path string) bool {
	var number int
	name := filepath.Base(path)
	if _, err := fmt.Sscanf(name, "seg-%d.warc.", &number); err != nil || !strings.HasSuffix(name, ".gz") && !strings.HasSuffix(name, ".zst") {
		return false
	}
	after := filepath.Join(filepath.Dir(path), fmt.Sprintf("seg-%08d.warc", number+1))
	return exists(after+".gz") || exists(after+".zst")
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}
