package htmltext_test

import (
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// site is the documentation of a program as Debian has it.
type site struct {
	dir, pkg            string
	pages, words, links int // at least so many, or something was not read
}

var (
	python   = site{"/usr/share/doc/python3.11/html", "python3.11-doc", 500, 1_500_000, 150_000}
	postgres = site{"/usr/share/doc/postgresql-doc-15/html", "postgresql-doc-15", 1_000, 1_000_000, 20_000}
	sites    = []site{python, postgres}
)

// each calls f for every page of the site, and returns how many there are.
func (s site) each(tb testing.TB, f func(path string, src []byte)) (pages int) {
	tb.Helper()
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, compressed := strings.CutSuffix(path, ".gz")
		if filepath.Ext(name) != ".html" {
			return nil
		}
		src, err := read(path, compressed)
		if err == nil {
			pages++
			f(path, src)
		}
		return err
	})
	if os.IsNotExist(err) {
		tb.Skipf("real pages are missing: install the Debian package %s", s.pkg)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return pages
}

// read returns a file's content; Debian compresses what is large and seldom read.
func read(path string, compressed bool) ([]byte, error) {
	if !compressed {
		return os.ReadFile(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// documentation calls f for every page of the Python documentation.
func documentation(tb testing.TB, f func(path string, src []byte)) { python.each(tb, f) }
