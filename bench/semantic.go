package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// benchSemantic measures reading, keeping and asking RDF, and sharing the work among processes, a part after the
// other.
func benchSemantic(b *bench) error {
	semanticPrograms.install(b.note)
	dir, err := os.MkdirTemp("", "webrace-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s := &semanticBench{bench: b, dir: dir, rounds: 5}
	if b.quick {
		s.rounds = 2
	}
	for _, part := range []func() error{
		func() error { return benchJSONLD(b) }, s.syntaxes, s.detect, s.pages, s.catalogue, s.rings, func() error { return benchProcesses(b) },
	} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// semanticBench is what the parts share.
type semanticBench struct {
	*bench
	dir    string
	rounds int
}

// leftOut notes that a row is missing, and why.
func (s *semanticBench) leftOut(row string, why any) {
	s.note("semantic: %s is left out: %v", row, why)
}

// beaten notes which rival does the same work for less.
func (s *semanticBench) beaten(row, rival string, ours, rivals float64) {
	if rivals < ours {
		s.note("semantic: %s: %s wins, with %.3g of our CPU time", row, rival, rivals/ours)
	}
}

// against adds a row beside a rival's value, and names a rival that wins.
func (s *semanticBench) against(name string, value float64, unit, rival string, rivals float64, g *goal) {
	s.table.against(name, value, unit, fmt.Sprintf("%s %s %s", rival, number(rivals), unit), rivals, g)
	s.beaten(name, rival, value, rivals)
}

// empty makes a directory of its own.
func (s *semanticBench) empty(name string) (string, error) { return os.MkdirTemp(s.dir, name) }

// packages are Debian packages, each with a file or a program that it brings.
type packages map[string]string

// semanticPrograms are the rivals, and what real RDF is taken from.
var semanticPrograms = packages{
	"nginx-light": "nginx", "tidy": "tidy", "xsltproc": "xsltproc", "raptor2-utils": "rapper", "redland-utils": "rdfproc",
	"librdf-storage-sqlite": "/usr/lib/*/redland/librdf_storage_sqlite.so",
	"python3-extruct":       "/usr/lib/python3/dist-packages/extruct", "python3-rdflib": "/usr/lib/python3/dist-packages/rdflib",
	"lv2-dev": "/usr/lib/lv2/core.lv2", "lsp-plugins-lv2": "/usr/lib/lv2/lsp-plugins.lv2", "calf-plugins": "/usr/lib/lv2/calf.lv2",
	"x42-plugins": "/usr/lib/lv2/balance.lv2", "swh-lv2": "/usr/lib/lv2/amp-swh.lv2",
}

// install sees to it that the packages are there, as far as that is allowed. What is missing in the end is found out by
// those who look for it.
func (p packages) install(note func(string, ...any)) {
	var missing []string
	for packaged, brings := range p {
		if !isThere(brings) {
			missing = append(missing, packaged)
		}
	}
	if len(missing) == 0 {
		return
	}
	if os.Geteuid() != 0 {
		note("not installed, and only root can install them: %s", strings.Join(missing, ", "))
		return
	}
	note("installing %s", strings.Join(missing, ", "))
	for _, packaged := range missing { // one at a time: what one release has not, another has
		if out, err := exec.Command("apt-get", "install", "-y", "-qq", "--no-install-recommends", packaged).CombinedOutput(); err != nil {
			note("apt-get install %s: %v: %s", packaged, err, lastLine(out))
		}
	}
}

// isThere reports whether there is a program, or a file of a pattern.
func isThere(what string) bool {
	if filepath.IsAbs(what) {
		found, _ := filepath.Glob(what) // the patterns are well-formed
		return len(found) > 0
	}
	_, err := exec.LookPath(what)
	return err == nil
}

// debianPython is the interpreter that Debian's packages are for.
const debianPython = "/usr/bin/python3"

// needs returns an error that names the package that something is missing of.
func needs(packaged string) error {
	if !isThere(semanticPrograms[packaged]) {
		return errors.New(packaged + " is not installed")
	}
	return nil
}
