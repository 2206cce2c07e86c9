package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// docSite is a Debian package that brings a site, and where in it the pages are.
type docSite struct{ name, packaged, pages string }

// The sites that are crawled, about 15,600 pages of very different make. A quick run takes the first alone.
var docSites = []docSite{
	{"python", "python3.11-doc", "usr/share/doc/python3.11/html"},
	{"postgresql", "postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html"},
	{"java", "openjdk-17-doc", "usr/share/doc/openjdk-17-jre-headless/api"},
	{"boost", "libboost1.74-doc", "usr/share/doc/libboost1.74-doc/doc/html"},
}

// programs are the Debian packages of what serves and of the rivals, each with a program that it brings.
var programs = map[string]string{
	"nginx-light": "nginx", "wget": "wget", "wget2": "wget2", "wrk": "wrk", "python3-scrapy": "scrapy",
}

// install sees to it that the programs and the documentation are there, as far as that is allowed. What is
// missing in the end is found out by those who look for it.
func install(note func(string, ...any)) {
	var missing []string
	for packaged, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, packaged)
		}
	}
	for _, d := range docSites {
		if !hasPages(filepath.Join("/", d.pages)) {
			missing = append(missing, d.packaged)
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
	for _, args := range [][]string{{"update", "-qq"}, append([]string{"install", "-y", "-qq", "--no-install-recommends"}, missing...)} {
		if out, err := exec.Command("apt-get", args...).CombinedOutput(); err != nil {
			note("apt-get %s: %v: %s", args[0], err, lastLine(out))
			return
		}
	}
}

// hasPages reports whether a directory has pages: packages may be installed without their documentation.
func hasPages(dir string) bool {
	found, _ := filepath.Glob(filepath.Join(dir, "*.html")) // the pattern is well-formed
	return len(found) > 0
}

// gatherPages makes a directory that is served as one site, with a start page that leads to each
// documentation, and returns what it is made of. It is empty if nothing is there.
func gatherPages(dir string, of []docSite, note func(string, ...any)) (root, what string, err error) {
	root = filepath.Join(dir, "site")
	if err := os.Mkdir(root, 0o755); err != nil {
		return "", "", err
	}
	start := "<!doctype html><title>Documentation</title>\n"
	var names []string
	for _, d := range of {
		pages := filepath.Join("/", d.pages)
		if !hasPages(pages) {
			note("%s has no pages here: it is left out", d.packaged)
			continue
		}
		if err := os.Symlink(pages, filepath.Join(root, d.name)); err != nil {
			return "", "", err
		}
		start += fmt.Sprintf("<a href=\"/%s/index.html\">%[1]s</a>\n", d.name)
		names = append(names, d.packaged)
	}
	if len(names) == 0 {
		return "", "", nil
	}
	// The server reads as another user than the one who makes it.
	for at := root; at != filepath.Dir(dir); at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			return "", "", err
		}
	}
	return root, strings.Join(names, ", "), os.WriteFile(filepath.Join(root, startPath), []byte(start), 0o644)
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}
