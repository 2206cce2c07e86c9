package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The contestants of a crawl that writes Markdown, and how many times the CPU time of one that writes nothing it may
// take.
const (
	crawlName   = "webrace crawl"
	treeName    = "webrace crawl --output DIR/"
	outputLimit = 1.5
)

// benchOutput crawls a whole site with and without writing a file of Markdown for each page.
func benchOutput(b *bench) error {
	dir, err := os.MkdirTemp("", "webrace-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	of, rounds := docSites[:2], 5 // large pages and small ones; the rest has more of both
	if b.quick {
		of, rounds = of[:1], 1
	}
	s, err := startSite(dir, of, b.note)
	if err != nil {
		return err
	}
	defer s.stop()
	c := &crawlBench{site: s, dir: dir, known: filepath.Join(dir, "known"), keeps: true}
	if err := c.setUp(b); err != nil {
		return err
	}
	crawl := func(dir string, more ...string) (*exec.Cmd, error) {
		args := []string{"crawl", c.site.base + startPath, "--depth", "0", "--config", filepath.Join("..", "pipelines.toml")}
		return c.webrace(dir, append(args, more...)...)
	}
	c.crawls = []crawler{
		{name: crawlName, command: func(dir string) (*exec.Cmd, error) { return crawl(dir) }},
		{name: treeName, command: func(dir string) (*exec.Cmd, error) {
			return crawl(dir, "--output", filepath.Join(dir, "tree")+"/")
		}, check: c.wroteEveryPage},
	}
	results, err := c.race(rounds, b.quick)
	if err != nil {
		return err
	}
	without, with := results[crawlName], results[treeName]
	b.table.value(crawlName+", CPU a page, min", without.perPage(best), "µs", nil)
	b.table.against(treeName+", CPU a page, min", with.perPage(best), "µs", crawlName, without.perPage(best), atMost(outputLimit))
	b.table.value(treeName+", pages missed", float64(with.missed), "", atMost(0))
	return nil
}

// wroteEveryPage checks that there is a file for each document of the site, and the list of them.
func (c *crawlBench) wroteEveryPage(dir string) error {
	files := 0
	err := filepath.WalkDir(filepath.Join(dir, "tree"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".md") {
			files++
		}
		return err
	})
	if err == nil && files < len(c.paths)*9/10 { // of pictures and archives among them there is none
		err = fmt.Errorf("%d files were written of %d documents", files, len(c.paths))
	}
	return err
}
