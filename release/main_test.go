package main

import (
	"archive/zip"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestTheSameSourcesGiveTheSameBytes builds a small program in two places.
func TestTheSameSourcesGiveTheSameBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("builds with other flags than all else")
	}
	source, err := os.ReadFile("testdata/hello/main.go")
	if err != nil {
		t.Fatal(err)
	}
	var sums []string
	for range 2 {
		place := t.TempDir()
		for path, content := range map[string]string{"go.mod": "module hello\n\ngo 1.26\n", "hello/main.go": string(source), "README.md": "hello"} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(place, path)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(place, path), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		t.Chdir(place)
		r := release{out: "dist", version: "v1", time: time.Unix(1e9, 0), program: "./hello", alias: "hello-again", extras: []string{"README.md"}}
		if err := r.build([]string{runtime.GOOS + "/" + runtime.GOARCH}); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile("dist/SHA256SUMS")
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, string(got))
	}
	if sums[0] != sums[1] || strings.Count(sums[0], "\n") != 1 {
		t.Errorf("first\n%sthen\n%s", sums[0], sums[1])
	}
}

func TestBothKindsOfArchiveAreTheSameEachTime(t *testing.T) {
	r := release{out: t.TempDir(), time: time.Unix(1e9, 0)}
	files := []file{{"main.go", 0o755}, {"webrace.service", 0o644}}
	for name, pack := range map[string]func(name, under string, files []file) error{"a.zip": r.zip, "a.tar.gz": r.tar} {
		var packed [2]string
		for i := range packed {
			if err := pack(name, "webrace", files); err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(filepath.Join(r.out, name))
			if err != nil {
				t.Fatal(err)
			}
			packed[i] = string(content)
		}
		if packed[0] != packed[1] || len(packed[0]) < 1000 {
			t.Errorf("%s: %d and %d bytes, not the same", name, len(packed[0]), len(packed[1]))
		}
		if err := pack(name, "webrace", []file{{"missing", 0o644}}); err == nil {
			t.Errorf("%s: a file that is not there is packed", name)
		}
	}
}

// TestAnArchiveHoldsTheProgramOnce unpacks a release, and looks at what its second name is.
func TestAnArchiveHoldsTheProgramOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("builds with other flags than all else")
	}
	r := release{out: t.TempDir(), version: "v1", time: time.Unix(1e9, 0), program: "./testdata/hello", alias: "hello-again"}
	if err := r.build([]string{"linux/amd64", "windows/amd64"}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if out, err := exec.Command("tar", "-xzf", filepath.Join(r.out, "webrace_v1_linux_amd64.tar.gz"), "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	if to, err := os.Readlink(filepath.Join(dir, "webrace_v1_linux_amd64", "hello-again")); to != "hello" {
		t.Errorf("the second name leads to %q, %v", to, err)
	}
	windows, err := zip.OpenReader(filepath.Join(r.out, "webrace_v1_windows_amd64.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer windows.Close()
	batch, err := fs.ReadFile(windows, "webrace_v1_windows_amd64/hello-again.cmd")
	if want := "@\"%~dp0hello.exe\" store %*\r\n"; string(batch) != want {
		t.Errorf("the second name is %q, %v; want %q", batch, err, want)
	}
}

func TestATargetIsWrittenWithASlash(t *testing.T) {
	if err := (release{out: t.TempDir()}).build([]string{"linux"}); err == nil || !strings.Contains(err.Error(), "linux/amd64") {
		t.Errorf("got %v", err)
	}
}
