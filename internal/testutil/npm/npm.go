// Package npm has tests use what others publish as packages of npm.
package npm

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Package returns the folder of a package, as NAME@VERSION, as its authors have published it, without what it depends
// on. It skips the test where npm is missing, or cannot have it.
func Package(t testing.TB, name string) string {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed")
	}
	dir := t.TempDir()
	out, err := exec.CommandContext(t.Context(), "npm", "pack", "--silent", "--prefer-offline", "--pack-destination", dir, name).CombinedOutput()
	packed, _ := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(packed) != 1 {
		t.Skipf("npm cannot have %s: %v: %s", name, err, out)
	}
	file, err := os.Open(packed[0])
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	content, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(content); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return filepath.Join(dir, "package")
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag != tar.TypeReg || !filepath.IsLocal(header.Name) {
			continue
		}
		if err := write(filepath.Join(dir, header.Name), files); err != nil {
			t.Fatal(err)
		}
	}
}

func write(path string, content io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	body, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	return os.WriteFile(path, body, 0o644)
}
