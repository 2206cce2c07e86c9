// Command release builds the archives of a release: the program, static, and its second name, for each system, and
// SHA256SUMS.
//
//	go run ./release [--out dist] [OS/ARCH…]
//
// The same commit gives the same bytes wherever it is built, with the same version of Go: paths are trimmed,
// and every file in an archive has the time of the commit.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

var targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// release is what is built, and how it is called.
type release struct {
	out     string
	version string
	time    time.Time // of everything in it
	program string    // the package of a command
	alias   string    // what its command store is called besides
	extras  []string  // files that go along
}

func main() {
	out := flag.String("out", "dist", "the directory to write to")
	flag.Parse()
	if err := run(*out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(out string, chosen []string) error {
	if len(chosen) == 0 {
		chosen = targets
	}
	version, err := output("git", "describe", "--tags", "--always", "--dirty")
	if err != nil {
		return err
	}
	committed, err := output("git", "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(committed, 10, 64)
	if err != nil {
		return fmt.Errorf("the time of the commit: %w", err)
	}
	r := release{
		out: out, version: version, time: time.Unix(seconds, 0).UTC(),
		program: "./cmd/webrace-run", alias: "webrace-store",
		extras: []string{"README.md", "pipelines.toml", "release/webrace.service"},
	}
	return r.build(chosen)
}

// build writes an archive for each target, and their sums.
func (r release) build(chosen []string) error {
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	var sums strings.Builder
	for _, target := range chosen {
		name, err := r.archive(target)
		if err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
		content, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), name)
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

// archive builds the program for a target, and packs it with what goes along.
func (r release) archive(target string) (name string, err error) {
	system, machine, ok := strings.Cut(target, "/")
	if !ok {
		return "", fmt.Errorf("a target is written OS/ARCH, as %s", targets[0])
	}
	built, err := os.MkdirTemp("", "webrace-release-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(built)
	path := filepath.Join(built, filepath.Base(r.program))
	if system == "windows" {
		path += ".exe"
	}
	// What debuggers read would be left out in the end, and takes a quarter of the compiler's time.
	c := exec.Command("go", "build", "-trimpath", "-gcflags=all=-dwarf=false", "-ldflags=-s -w -buildid=", "-o", path, r.program)
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+machine, "GOFLAGS=", "GOAMD64=v1")
	if said, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", r.program, err, said)
	}
	alias, err := r.aliasOf(path, system)
	if err != nil {
		return "", err
	}
	files := []file{{path, 0o755}, {alias, 0o755}}
	for _, path := range r.extras {
		files = append(files, file{path, 0o644})
	}
	base := fmt.Sprintf("webrace_%s_%s_%s", r.version, system, machine)
	if system == "windows" {
		return base + ".zip", r.zip(base+".zip", base, files)
	}
	return base + ".tar.gz", r.tar(base+".tar.gz", base, files)
}

// aliasOf makes what the command store of a program is called besides: a link, which the program knows its name by, or
// on Windows, whose archives hold none, a batch file.
func (r release) aliasOf(program, system string) (path string, err error) {
	path = filepath.Join(filepath.Dir(program), r.alias)
	if system == "windows" {
		path += ".cmd"
		return path, os.WriteFile(path, fmt.Appendf(nil, "@\"%%~dp0%s\" store %%*\r\n", filepath.Base(program)), 0o755)
	}
	return path, os.Symlink(filepath.Base(program), path)
}

func output(program string, args ...string) (string, error) {
	said, err := exec.Command(program, args...).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", program, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(said)), nil
}
