package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/internal/testutil/npm"
)

// What reads a folder of Markdown as others do.
const (
	npmMarkdown = "markdown-it@14.1.0"
	npmYAML     = "yaml@2.8.1"
)

// documentation is that of three Debian packages, each by another generator; of its pages every so many is taken.
var documentation = []struct {
	packaged, dir string
	every         byte
	least         int // pages
}{
	{"git-doc", "/usr/share/doc/git-doc", 3, 150},                          // AsciiDoc
	{"postgresql-doc-15", "/usr/share/doc/postgresql-doc-15/html", 11, 90}, // DocBook
	{"cmake-doc", "/usr/share/doc/cmake-data/html", 25, 60},                // Sphinx
}

// TestOutputTreeIsTheSiteAsOthersReadIt: what a crawl writes to a folder are the words, links, titles and digests of
// the site's pages, by programs that share nothing with it.
func TestOutputTreeIsTheSiteAsOthersReadIt(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it crawls sites and installs packages: not in short mode")
	}
	python, modules := testutil.Python(t, "html.parser", "python3"), npm.Install(t, npmMarkdown, npmYAML)
	for _, d := range documentation {
		t.Run(d.packaged, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			urls := w.documents(d.dir, d.every)
			if len(urls) == 0 {
				t.Skipf("%s is not there: apt-get install %s", d.dir, d.packaged)
			}
			if len(urls) < d.least {
				t.Fatalf("%d pages are chosen, want %d", len(urls), d.least)
			}
			dir := filepath.Join(t.TempDir(), "pages")
			w.crawlsTo(dir+"/", "--all", "--set", "fetch.delay=0s")
			var read struct {
				URLs                      []string
				Words, Links, Differences int
			}
			differences := readByOthers(t, modules, dir, &read, python, "testdata/reading/compare.py")
			slices.Sort(read.URLs)
			mustBe(t, "pages that have a file", read.URLs, urls...)
			if read.Differences != 0 {
				t.Errorf("%d differences:\n%.8000s", read.Differences, differences)
			}
			t.Logf("%d pages: %d words, %d links", len(urls), read.Words, read.Links)
			if read.Words < 100*len(urls) || read.Links < 5*len(urls) {
				t.Errorf("%d words and %d links are too few to tell anything", read.Words, read.Links)
			}
		})
	}
}

// documents serves every so many of the pages and texts below a folder, and a page that leads to all of them. It
// returns their URLs.
func (w *world) documents(dir string, every byte) (urls []string) {
	w.t.Helper()
	var links strings.Builder
	err := filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, file)
		mediaType := map[string]string{".html": "text/html", ".txt": "text/plain"}[filepath.Ext(file)]
		if err != nil || !entry.Type().IsRegular() || mediaType == "" || sha256.Sum256([]byte(name))[3]%every != 0 {
			return err
		}
		body, err := os.ReadFile(file)
		path := (&url.URL{Path: "/" + name}).EscapedPath()
		w.file("/"+name, mediaType+"; charset=utf-8", body)
		links.WriteString(`<li><a href="` + path + `">` + name + "</a>\n")
		urls = append(urls, w.URL+path)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	if len(urls) > 0 {
		w.raw("/", "<!DOCTYPE html><title>All of them</title><ul>"+links.String()+"</ul>")
		urls = append(urls, w.URL+"/")
	}
	return urls
}

// readByOthers has the files of a folder read by programs of npm, hands what these read to another program, and takes
// its answer. It returns what that complains of.
func readByOthers(t *testing.T, modules, dir string, answer any, program string, args ...string) (complaints string) {
	t.Helper()
	files := outputWith(t, nil, nil, "node", "testdata/reading/render.cjs", filepath.Join(modules, "node_modules"), dir)
	var told bytes.Buffer
	out := outputWith(t, files, &told, program, args...)
	if err := json.Unmarshal(out, answer); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return told.String()
}

// outputWith runs a program that is to end well, and returns what it writes to standard output; what it complains of
// goes to a buffer, if there is one.
func outputWith(t *testing.T, input []byte, told *bytes.Buffer, program string, args ...string) []byte {
	t.Helper()
	if told == nil {
		told = new(bytes.Buffer)
	}
	c := exec.CommandContext(t.Context(), program, args...)
	c.Stdin, c.Stderr = bytes.NewReader(input), told
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%.8000s", program, args, err, told)
	}
	return out
}
