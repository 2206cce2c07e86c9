// Package scaffold writes the beginnings of a stage of one's own: code, a test, a pipeline that uses it and
// a README, all of which work as they are.
package scaffold

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"
)

//go:embed python gostage
var templates embed.FS

// Kinds of stages that there are beginnings of.
const (
	Go         = "go"
	ExecPython = "exec-python"
)

// Stage describes what to write.
type Stage struct {
	Kind   string // one of those above
	Name   string // of the stage type: "big-news"
	Module string // of a stage in Go: "example.org/bignews"; empty for example.org/NAME

	// Where a stage in Go takes webrace from: a directory, or a version.
	Source, Version string
}

var name = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// Package returns the name without what a package's name cannot have.
func (s Stage) Package() string { return strings.ReplaceAll(s.Name, "-", "") }

// Python returns the name as one of Python.
func (s Stage) Python() string { return strings.ReplaceAll(s.Name, "-", "_") }

// Files returns what is to be written, by its name.
func (s Stage) Files() (map[string][]byte, error) {
	if !name.MatchString(s.Name) {
		return nil, fmt.Errorf("%q is no name for a stage: it consists of small letters, digits and - between them, as big-news", s.Name)
	}
	folder := map[string]string{Go: "gostage", ExecPython: "python"}[s.Kind]
	if folder == "" {
		return nil, fmt.Errorf("--kind %s: it is %s or %s", s.Kind, Go, ExecPython)
	}
	s.Module = cmp.Or(s.Module, "example.org/"+s.Package())
	files := make(map[string][]byte)
	err := fs.WalkDir(templates, folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		to, content, err := s.render(file)
		files[to] = content
		return err
	})
	return files, err
}

// render fills in a template. What is no template is taken as it is.
func (s Stage) render(file string) (to string, content []byte, err error) {
	source, err := templates.ReadFile(file)
	if err != nil {
		return "", nil, err
	}
	to, isTemplate := strings.CutSuffix(path.Base(file), ".tmpl")
	if !isTemplate {
		return to, source, nil
	}
	own := s.Package()
	if s.Kind == ExecPython {
		own = s.Python()
	}
	to = strings.ReplaceAll(to, "NAME", own)
	t, err := template.New(file).Delims("«", "»").Parse(string(source))
	if err != nil {
		return "", nil, err
	}
	var b strings.Builder
	err = t.Execute(&b, s)
	return to, []byte(b.String()), err
}

// Write writes the files into a directory, which is made. It writes none if there is one of them already.
func (s Stage) Write(dir string) (written []string, err error) {
	files, err := s.Files()
	if err != nil {
		return nil, err
	}
	for file := range files {
		if _, err := os.Lstat(filepath.Join(dir, file)); err == nil {
			return nil, fmt.Errorf("%s is there already, and nothing is overwritten", filepath.Join(dir, file))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for file, content := range files {
		to := filepath.Join(dir, file)
		if err := writeNew(to, content); err != nil {
			return written, err
		}
		written = append(written, to)
	}
	return written, nil
}

// writeNew writes a file that is not there.
func writeNew(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}
