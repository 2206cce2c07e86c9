package storage_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// pebbleFile is where Pebble defines something.
var pebbleFile = regexp.MustCompile(`cockroachdb/pebble/v2[^/\\]*[/\\]([a-z_0-9/\\]+\.go)`)

// Whoever imports a package compiles what its types and the bodies of small functions lead to: of Pebble that was 4 MB
// and ten seconds for each package that named a store. What a compiler tells of a package to those who import it names
// the file of each type and function that it leads to, in fields that are not exported and in bodies as well.
func TestWhoeverNamesAStoreCompilesNoPebble(t *testing.T) {
	t.Parallel()
	const handle = "github.com/webrace/webrace/storage/internal/pebbledb"
	out, err := exec.CommandContext(t.Context(), "go", "list", "-export", "-f", "{{.ImportPath}} {{.Export}}", "./...", "../stages/gc").Output()
	if err != nil {
		t.Fatal(err, string(err.(*exec.ExitError).Stderr))
	}
	packages := 0
	for line := range strings.Lines(string(out)) {
		name, archive, _ := strings.Cut(strings.TrimSpace(line), " ")
		told, err := exported(archive)
		if err != nil {
			t.Fatal(name, err)
		}
		var files []string
		for _, m := range pebbleFile.FindAllSubmatch(told, -1) {
			if file := string(m[1]); !strings.HasPrefix(file, "vfs") { // its file system is interfaces, which lead nowhere
				files = append(files, file)
			}
		}
		switch {
		case name == handle && files == nil:
			t.Errorf("%s names Pebble in bodies, and nothing is seen of it: this test cannot fail", name)
		case name != handle && files != nil:
			t.Errorf("%s leads those who import it to what Pebble defines in %q: put that behind an interface of pebbledb", name, files)
		}
		packages++
	}
	if packages < 10 {
		t.Errorf("%d packages were looked at", packages)
	}
}

// A compiler compiles the methods of each instance of a generic type anew in every package that is led to it. So what
// stages get of stores and of the pipeline has internal/pointer where others have the standard library's.
func TestWhoeverNamesAStoreCompilesNoAtomicPointer(t *testing.T) {
	t.Parallel()
	for path, has := range map[string]bool{"../stages/gc": false, "../internal/match": true} {
		archive, err := exec.CommandContext(t.Context(), "go", "list", "-export", "-f", "{{.Export}}", path).Output()
		if err != nil {
			t.Fatal(err, string(err.(*exec.ExitError).Stderr))
		}
		content, err := os.ReadFile(strings.TrimSpace(string(archive)))
		if err != nil {
			t.Fatal(err)
		}
		if found := atomicPointer.Find(content); has != (found != nil) {
			t.Errorf("%s compiles %q; that it has methods of atomic.Pointer of ours should be %t", path, found, has)
		}
	}
}

// atomicPointer begins the name of a method of an atomic.Pointer to a type of ours.
var atomicPointer = regexp.MustCompile(`sync/atomic\.\(\*Pointer\[github\.com/webrace/[^\]]*\]`)

// exported is the first part of an archive: what the compiler tells of a package.
func exported(archive string) ([]byte, error) {
	content, err := os.ReadFile(archive)
	if err != nil {
		return nil, err
	}
	const header = 60
	_, rest, ok := bytes.Cut(content, []byte("!<arch>\n__.PKGDEF"))
	if !ok || len(rest) < header {
		return nil, fmt.Errorf("%s is no archive of a package", archive)
	}
	rest = rest[header-len("__.PKGDEF"):]
	size, err := strconv.Atoi(string(bytes.TrimSpace(content[8+48 : 8+58])))
	if err != nil || size > len(rest) {
		return nil, fmt.Errorf("%s: its first part has %d bytes: %w", archive, size, err)
	}
	return rest[:size], nil
}
