// Package build builds a webrace-run that has stages of other modules in it.
//
// The source of webrace stays as it is, be it a checkout or the module cache: Go's -overlay lays one more
// file beside the main package, which imports the plugins, and -modfile takes the place of its go.mod. So
// what is built is webrace-run itself, with what the plugins need decided by Go as always.
package build

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Module is the path of webrace's module.
const Module = "github.com/webrace/webrace"

// Build describes what to build.
type Build struct {
	With    []string // "example.org/shout@v1.2.0", or a directory that holds a module
	Replace []string // "MODULE=DIRECTORY" or "MODULE=MODULE@VERSION", as in a go.mod
	Source  string   // a checkout of webrace, or a version of it
	Output  string   // the program that is written

	Log  io.Writer      // where the output of the go command goes
	Step func(Progress) // is told what is done next
}

// Progress is what a build does next, and how far it is.
type Progress struct {
	Doing    string  // "getting the source of webrace v1.2.0"
	Package  int     // while packages are compiled, the number of this one, from 1; otherwise 0
	Packages int     // those to compile
	Left     float64 // what share of their source is still to be compiled: 1 before the first
}

// plugin is a package that registers stages.
type plugin struct {
	path    string // to import
	version string // of its module; empty for one in a directory
	dir     string
}

// Run builds. The error has what the go command said.
func (b Build) Run(ctx context.Context) error {
	if len(b.With) == 0 {
		return errors.New("name what to build with: --with example.org/shout@v1.2.0, or --with ./shout")
	}
	source, err := b.source(ctx)
	if err != nil {
		return err
	}
	var plugins []plugin
	for _, with := range b.With {
		p, err := b.plugin(ctx, with)
		if err != nil {
			return fmt.Errorf("--with %s: %w", with, err)
		}
		plugins = append(plugins, p)
	}
	output, err := filepath.Abs(b.Output)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "webrace-build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	w := workDir{Build: b, source: source, dir: work, mod: filepath.Join(work, "go.mod")}
	if err := w.prepare(ctx, plugins); err != nil {
		return err
	}
	return w.build(ctx, output)
}

// source returns the directory that webrace is built from.
func (b Build) source(ctx context.Context) (string, error) {
	if info, err := os.Stat(b.Source); err == nil && info.IsDir() {
		return filepath.Abs(b.Source)
	}
	var module struct{ Dir, Error string }
	b.Step(Progress{Doing: "getting the source of webrace " + b.Source})
	text, err := b.goCommand(ctx, "", "mod", "download", "-json", Module+"@"+b.Source)
	if json.Unmarshal(text, &module) == nil && module.Error != "" {
		err = errors.New(module.Error)
	}
	if err != nil {
		return "", fmt.Errorf("get the source of webrace %s: %w; name a checkout with --source DIR", b.Source, err)
	}
	return module.Dir, nil
}

func (b Build) plugin(ctx context.Context, with string) (plugin, error) {
	if path, version, found := strings.Cut(with, "@"); found {
		return plugin{path: path, version: version}, nil
	}
	dir, err := filepath.Abs(with)
	if err != nil {
		return plugin{}, err
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return plugin{}, fmt.Errorf("%s holds no go.mod; for a module that is not here, say which version: %s@latest", dir, with)
	}
	text, err := b.goCommand(ctx, dir, "mod", "edit", "-json")
	if err != nil {
		return plugin{}, err
	}
	var mod struct{ Module struct{ Path string } }
	if err := json.Unmarshal(text, &mod); err != nil {
		return plugin{}, fmt.Errorf("read %s: %w", filepath.Join(dir, "go.mod"), err)
	}
	return plugin{path: mod.Module.Path, dir: dir}, nil
}

// goCommand runs the go command and returns what it writes to standard output.
func (b Build) goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return b.goCompiling(ctx, dir, nil, args...)
}

// goCompiling is goCommand for what compiles these packages.
func (b Build) goCompiling(ctx context.Context, dir string, packages map[string]int64, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, "go", args...)
	var out, said bytes.Buffer
	c.Dir, c.Stdout, c.Stderr = dir, &out, newCompiled(packages, io.MultiWriter(&said, b.Log), b.Step)
	// It needs what the person's Go needs, and nothing of webrace's, such as the token of the admin page.
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "WEBRACE_") })
	c.Env = append(env, "GOWORK=off", "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -mod=mod"))
	if err := c.Run(); err != nil {
		return out.Bytes(), fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, bytes.TrimSpace(said.Bytes()))
	}
	return out.Bytes(), nil
}

// workDir is a directory with what one build needs beside the source.
type workDir struct {
	Build
	source, dir, mod string
}

// prepare writes the go.mod, the file that imports the plugins, and the overlay that puts it in its place.
func (w workDir) prepare(ctx context.Context, plugins []plugin) error {
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(w.source, name))
		if err != nil {
			return fmt.Errorf("%s is no source of webrace: %w", w.source, err)
		}
		if err := os.WriteFile(filepath.Join(w.dir, name), text, 0o600); err != nil {
			return err
		}
	}
	var imports strings.Builder
	imports.WriteString("package main\n\nimport (\n")
	for _, p := range plugins {
		fmt.Fprintf(&imports, "\t_ %q\n", p.path)
		if p.dir != "" {
			w.Replace = append(w.Replace, p.path+"="+p.dir)
		}
	}
	imports.WriteString(")\n")
	main := filepath.Join(w.dir, "plugins.go")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(w.source, "cmd", "webrace-run", "plugins_of_this_build.go"): main,
	}})
	if err != nil {
		return err
	}
	if err := errors.Join(
		os.WriteFile(main, []byte(imports.String()), 0o600),
		os.WriteFile(filepath.Join(w.dir, "overlay.json"), overlay, 0o600),
	); err != nil {
		return err
	}
	return w.require(ctx, plugins)
}

// require makes the plugins requirements of the module.
func (w workDir) require(ctx context.Context, plugins []plugin) error {
	edit := []string{"mod", "edit"}
	for _, replace := range w.Replace {
		old, by, found := strings.Cut(replace, "=")
		if !found {
			return fmt.Errorf("--replace %s: it is MODULE=DIRECTORY or MODULE=MODULE@VERSION", replace)
		}
		if strings.HasPrefix(by, ".") {
			absolute, err := filepath.Abs(by)
			if err != nil {
				return err
			}
			by = absolute
		}
		edit = append(edit, "-replace="+old+"="+by)
	}
	var get []string
	for _, p := range plugins {
		if p.dir != "" {
			edit = append(edit, "-require="+p.path+"@v0.0.0")
		} else {
			get = append(get, p.path+"@"+p.version)
		}
	}
	if _, err := w.goCommand(ctx, "", append(edit, w.mod)...); err != nil {
		return err
	}
	if get == nil {
		return nil
	}
	w.Step(Progress{Doing: "getting " + strings.Join(get, ", ")})
	_, err := w.goCommand(ctx, w.source, append([]string{"get", "-modfile=" + w.mod}, get...)...)
	return err
}

func (w workDir) build(ctx context.Context, output string) error {
	flags := []string{"-modfile=" + w.mod, "-overlay=" + filepath.Join(w.dir, "overlay.json"), "-buildvcs=false"}
	packages := w.stale(ctx, flags)
	w.Step(Progress{Doing: fmt.Sprintf("compiling webrace-run and what it needs, of which %d packages are to be compiled", len(packages))})
	_, err := w.goCompiling(ctx, w.source, packages, slices.Concat([]string{"build", "-v"}, flags, []string{"-o", output, mainPackage})...)
	return err
}

const mainPackage = "./cmd/webrace-run"

// stale returns the packages to compile, each with the size of its source: what takes long to compile is long. If they
// cannot be listed the build will fail for the same reason, and report it.
func (w workDir) stale(ctx context.Context, flags []string) map[string]int64 {
	w.Log = io.Discard
	const format = `{{if .Stale}}{{if ne .StaleReason "not installed but available in build cache"}}` +
		"{{.ImportPath}}\t{{.Dir}}\t{{join .GoFiles \"\t\"}}{{end}}{{end}}"
	text, err := w.goCommand(ctx, w.source, slices.Concat([]string{"list", "-deps", "-f", format}, flags, []string{mainPackage})...)
	if err != nil {
		return nil
	}
	packages := make(map[string]int64)
	for line := range strings.Lines(string(text)) {
		words := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(words) < 3 {
			continue
		}
		for _, name := range words[2:] {
			if info, err := os.Stat(filepath.Join(words[1], name)); err == nil { // the file of the overlay is elsewhere
				packages[words[0]] += info.Size()
			}
		}
	}
	return packages
}

// compiled separates, in what the go command prints with -v, the packages that it compiles from the rest.
type compiled struct {
	log       io.Writer
	step      func(Progress)
	packages  map[string]int64 // the size of each one's source
	all, left int64            // of these sizes
	n         int
	rest      []byte // of a line
}

func newCompiled(packages map[string]int64, log io.Writer, step func(Progress)) *compiled {
	c := &compiled{log: log, step: step, packages: packages}
	for _, size := range packages {
		c.all += size
	}
	c.left = c.all
	return c
}

func (c *compiled) Write(p []byte) (int, error) {
	c.rest = append(c.rest, p...)
	for {
		line, rest, whole := bytes.Cut(c.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		if isPackage(string(line)) {
			c.n++
			c.step(Progress{"compiling " + string(line), c.n, max(c.n, len(c.packages)), float64(c.left) / float64(max(c.all, 1))})
			c.left -= c.packages[string(line)]
		} else if _, err := c.log.Write(append(line, '\n')); err != nil {
			return 0, err
		}
		c.rest = append(c.rest[:0:0], rest...)
	}
}

// isPackage reports whether a line is the path of a package and nothing else.
func isPackage(line string) bool {
	return line != "" && !strings.ContainsAny(line, " \t:#") && !strings.HasPrefix(line, ".")
}
