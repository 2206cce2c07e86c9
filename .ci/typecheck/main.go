// Typecheck reports what of this module does not type-check on another system. It compiles nothing, which takes a
// tenth of the time, and looks into no function of other modules:
//
//	go run ./.ci/typecheck windows/amd64 ./...
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// listed is what go list tells of a package.
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	ImportMap  map[string]string // of those that are imported by another path than their own
	Module     *struct {
		Main      bool
		GoVersion string
	}
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 || !strings.Contains(args[0], "/") {
		return errors.New("usage: typecheck SYSTEM/ARCHITECTURE PACKAGE…")
	}
	system, architecture, _ := strings.Cut(args[0], "/")
	all, err := list(system, architecture, args[1:])
	if err != nil {
		return err
	}
	files := token.NewFileSet()
	parsed, err := parse(files, all)
	if err != nil {
		return err
	}
	known := map[string]*types.Package{"unsafe": types.Unsafe}
	var wrong []error
	for i, p := range all { // each behind those that it imports
		if p.ImportPath == "unsafe" {
			continue
		}
		mine := p.Module != nil && p.Module.Main
		config := types.Config{
			Sizes: types.SizesFor("gc", architecture), IgnoreFuncBodies: !mine,
			Importer: importer{p.ImportMap, known},
			Error: func(err error) {
				if mine {
					wrong = append(wrong, err)
				}
			},
		}
		if p.Module != nil && p.Module.GoVersion != "" {
			config.GoVersion = "go" + p.Module.GoVersion
		}
		known[p.ImportPath], _ = config.Check(p.ImportPath, files, parsed[i], nil) // Error has what is wrong
	}
	return errors.Join(wrong...)
}

// list returns packages and all that they need, each behind what it imports.
func list(system, architecture string, patterns []string) (all []listed, err error) {
	c := exec.Command("go", append([]string{"list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module"}, patterns...)...)
	c.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+architecture, "CGO_ENABLED=0")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for from := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := from.Decode(&p); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

// parse reads the files of all packages, as many at once as there are processors.
func parse(files *token.FileSet, all []listed) ([][]*ast.File, error) {
	parsed, failed := make([][]*ast.File, len(all)), make([]error, len(all))
	var working sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, p := range all {
		free <- struct{}{}
		working.Go(func() {
			defer func() { <-free }()
			for _, name := range p.GoFiles {
				file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
				if err != nil {
					failed[i] = errors.Join(failed[i], err)
				}
				parsed[i] = append(parsed[i], file)
			}
		})
	}
	working.Wait()
	return parsed, errors.Join(failed...)
}

// importer gives a package what it imports.
type importer struct {
	paths map[string]string
	known map[string]*types.Package
}

func (i importer) Import(path string) (*types.Package, error) {
	if is, ok := i.paths[path]; ok {
		path = is
	}
	if p := i.known[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s is not known", path)
}
