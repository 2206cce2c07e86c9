package main

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var allQuads = flag.Bool("all-quads", false, "let TestRealQuads and TestKillQuads crawl all that describes plugins, and not the smaller part of it: it takes minutes")

const seeAlso = "<http://www.w3.org/2000/01/rdf-schema#seeAlso>"

// rdfSite is the descriptions of audio plugins (LV2) that Debian's packages bring: Turtle, in which manifests name the
// rest by rdfs:seeAlso, C headers among it. nginx serves a copy of them without media types.
type rdfSite struct {
	realSite
	root  string
	start []string // URLs of the manifests
}

// startRDFSite serves the folders that are wanted.
func startRDFSite(t *testing.T, wanted func(folder string) bool) rdfSite {
	t.Helper()
	if testing.Short() {
		t.Skip("a crawl of a whole site: not in short mode")
	}
	const installed = "/usr/lib/lv2"
	for name, folder := range map[string]string{
		"lv2-dev": "core.lv2", "lsp-plugins-lv2": "lsp-plugins.lv2", "calf-plugins": "calf.lv2", "x42-plugins": "fil4.lv2", "swh-lv2": "amp-swh.lv2",
	} {
		if _, err := os.Stat(filepath.Join(installed, folder)); err != nil {
			t.Skipf("%s is not installed: apt-get install %s", name, name)
		}
	}
	if _, err := exec.LookPath("rapper"); err != nil {
		t.Skip("rapper is not installed: apt-get install raptor2-utils")
	}
	root := t.TempDir()
	var manifests []string
	err := filepath.WalkDir(installed, func(path string, entry fs.DirEntry, err error) error {
		within, _ := filepath.Rel(installed, path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && within != "." && !wanted(within):
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(root, within), 0o755)
		case filepath.Ext(path) == ".so": // as large as all the rest, and nothing leads there
			return nil
		case entry.Name() == "manifest.ttl":
			manifests = append(manifests, within)
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(root, within), body, 0o644)
	})
	if err != nil || len(manifests) == 0 {
		t.Fatalf("%d manifests, %v", len(manifests), err)
	}
	site := rdfSite{realSite: serveAs(t, root, `types {} default_type "";`), root: root}
	for _, m := range manifests {
		site.start = append(site.start, site.base+"/"+m)
	}
	return site
}

// settings are those of a crawl from all manifests.
func (s rdfSite) settings(t *testing.T, more ...string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "start")
	writeFile(t, path, strings.Join(s.start, "\n"))
	return append([]string{"fetch.allow_networks=loopback", "lines.path=" + path, "lines.depth=0"}, more...)
}

// crawl is webrace-run over the site.
func (s rdfSite) crawl(t *testing.T, data string, set ...string) *exec.Cmd {
	t.Helper()
	args := []string{"multicrawler", "--data", data, "--config", "../../pipelines.toml"}
	for _, setting := range s.settings(t, set...) {
		args = append(args, "--set", setting)
	}
	return exec.Command("webrace-run", args...)
}

// rapper returns what rapper reads of a document as N-Triples, and false if that is no Turtle.
func (s rdfSite) rapper(t *testing.T, address string) ([]byte, bool) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	said, err := exec.Command("rapper", "-q", "-i", "turtle", "-o", "ntriples", filepath.Join(s.root, u.Path), address).Output()
	var refused *exec.ExitError
	if err != nil && !errors.As(err, &refused) {
		t.Fatal(err)
	}
	return said, err == nil
}

// truth is what rapper reads of all that rdfs:seeAlso leads to from the manifests.
type truth struct {
	said   map[string][]byte // N-Triples, by URL
	silent map[string]bool   // what is no Turtle
}

// path is what a server is asked for.
func (s rdfSite) path(address string) string { return strings.TrimPrefix(address, s.base) }

func (s rdfSite) walkByRapper(t *testing.T) truth {
	t.Helper()
	all := truth{map[string][]byte{}, map[string]bool{}}
	queue := slices.Clone(s.start)
	for len(queue) > 0 {
		address := queue[0]
		queue = queue[1:]
		if all.silent[address] || all.said[address] != nil {
			continue
		}
		said, ok := s.rapper(t, address)
		if !ok {
			all.silent[address] = true
			continue
		}
		all.said[address] = said
		for line := range bytes.Lines(said) {
			if _, object, ok := bytes.Cut(line, []byte(" "+seeAlso+" <"+s.base+"/")); ok {
				next, _, _ := strings.Cut(s.base+"/"+strings.TrimSuffix(strings.TrimSpace(string(object)), "> ."), "#")
				queue = append(queue, next)
			}
		}
	}
	return all
}

// thin leaves one paragraph in five of a file, which are what a manifest says of a plugin, and the first, its prefixes.
func (s rdfSite) thin(t *testing.T, path string) {
	t.Helper()
	path = filepath.Join(s.root, path)
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for i, paragraph := range strings.Split(string(body), "\n\n") {
		if i%5 == 0 {
			left = append(left, paragraph)
		}
	}
	writeFile(t, path, strings.Join(left, "\n\n"))
}

// documents returns the paths of all.
func (s rdfSite) documents(all truth) map[string]bool {
	paths := map[string]bool{}
	for address := range all.said {
		paths[s.path(address)] = true
	}
	for address := range all.silent {
		paths[s.path(address)] = true
	}
	return paths
}
