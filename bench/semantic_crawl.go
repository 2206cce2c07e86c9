package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/fetch"
	"github.com/webrace/webrace/storage"
)

// What the phases may cost a page, in microseconds, and a crawl with all of them in bytes.
const (
	fetchLimit       = 26_000.0 / 30
	phasesLimit      = 3300
	semanticPeak     = 400e6
	phasesFlow       = "fetch > detect > transform > quad-index > quad-links"
	phasesPageQuads  = 20 // that a page states at least
	startOfSemantics = "index.html"
)

// pages measures the phases over pages with structured data: transform alone; and, from a server, fetch alone, all at
// once, and a crawl.
func (s *semanticBench) pages() error {
	pages := s.structuredPages(s.work(2000))
	if len(pages) == 0 {
		s.leftOut("transform, fetch and all phases", "no documentation is installed")
		return nil
	}
	root := filepath.Join(s.dir, "site")
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	if err := writePages(root, pages); err != nil {
		return err
	}
	if err := errors.Join(s.transform(pages), s.byXSLT(pages)); err != nil {
		return err
	}
	if err := needs("nginx-light"); err != nil {
		s.leftOut("fetch and all phases", err)
		return nil
	}
	if err := writeStart(root, pages, !s.quick); err != nil {
		return err
	}
	for _, dir := range []string{s.dir, root} { // the server reads as another user than the one who makes it
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
	site, err := startNginx(s.dir, root)
	if err != nil {
		return err
	}
	defer site.stop()
	if err := site.await(); err != nil {
		return err
	}
	if err := s.fetch(site, pages); err != nil {
		return fmt.Errorf("fetch: %w", err)
	}
	if err := s.phases(site, pages); err != nil {
		return fmt.Errorf("all phases: %w", err)
	}
	return s.crawl(site, len(pages))
}

// writeStart writes the page that a crawl begins at. It leads to all pages, and to what LV2 plugins state, if that is
// wanted and there are any.
func writeStart(root string, pages []*semanticPage, plugins bool) error {
	var b strings.Builder
	b.WriteString("<!doctype html><title>Start</title>\n")
	for _, p := range pages {
		fmt.Fprintf(&b, "<a href=%q>page</a>\n", filepath.Base(p.url))
	}
	if plugins && isThere(lv2) {
		if err := os.Symlink(lv2, filepath.Join(root, "lv2")); err != nil {
			return err
		}
		for _, path := range someFiles(lv2, "manifest.ttl", 1<<20) {
			fmt.Fprintf(&b, "<a href=%q>plugin</a>\n", "lv2"+strings.TrimPrefix(path, lv2))
		}
	}
	return os.WriteFile(filepath.Join(root, startOfSemantics), []byte(b.String()), 0o644)
}

// fetchOptions are those of a server on loopback that has no robots.txt.
func fetchOptions() fetch.Options {
	o := pipeline.DefaultRegistry.Defaults("fetch").(fetch.Options)
	o.AllowNetworks, o.Robots = []string{"loopback"}, false
	return o
}

func requestsFor(site *site, pages []*semanticPage) (requests []any) {
	for _, p := range pages {
		requests = append(requests, webrace.Request{URL: site.base + "/" + filepath.Base(p.url)})
	}
	return requests
}

// fetch asks for all pages, by the stage alone.
func (s *semanticBench) fetch(site *site, pages []*semanticPage) error {
	sizes := map[string]int{}
	for _, p := range pages {
		sizes[filepath.Base(p.url)] = len(p.body)
	}
	r := stagesRun{flow: "fetch", options: map[string]any{"fetch": fetchOptions()}, from: webrace.Request{}, look: func(d *webrace.Document) error {
		if want := sizes[filepath.Base(d.URL)]; d.Status != http.StatusOK || len(d.Body) != want {
			return fmt.Errorf("%s: status %d, %d of %d bytes", d.URL, d.Status, len(d.Body), want)
		}
		return nil
	}}
	value, err := least(s.rounds, len(pages), func() (cost, error) { return r.run(requestsFor(site, pages)) })
	if err != nil {
		return err
	}
	s.table.value("fetch alone, nginx on loopback, a page, CPU", value, "µs", atMost(fetchLimit))
	return nil
}

// phases has pages go through all phases, and be durable, each time in a new store.
func (s *semanticBench) phases(site *site, pages []*semanticPage) error {
	value, err := least(min(s.rounds, 3), len(pages), func() (c cost, err error) {
		return c, s.inStore(func(dir *storage.Dir) error {
			r := stagesRun{flow: phasesFlow, options: map[string]any{"fetch": fetchOptions()}, from: webrace.Request{}, dir: dir}
			if c, err = r.run(requestsFor(site, pages)); err != nil {
				return err
			}
			return says(dir, len(pages), phasesPageQuads*len(pages))
		})
	})
	if err != nil {
		return err
	}
	s.table.value("all phases at once, durable, a page, CPU", value, "µs", atMost(phasesLimit))
	return nil
}

// inStore opens a data directory that is empty, and removes it.
func (s *semanticBench) inStore(work func(dir *storage.Dir) error) error {
	path, err := s.empty("store")
	if err != nil {
		return err
	}
	defer os.RemoveAll(path)
	dir, err := storage.Open(path, storage.Options{})
	if err != nil {
		return err
	}
	err = work(dir)
	if closing := dir.Close(); err == nil {
		err = closing
	}
	return err
}

// says checks that a store states as much as it should.
func says(dir *storage.Dir, contexts, quads int) error {
	store, err := dir.Quads()
	if err != nil {
		return err
	}
	st, err := store.Stats()
	if err == nil && (st.Contexts != int64(contexts) || st.Quads < int64(quads)) {
		err = fmt.Errorf("the store has %d contexts of %d, and %d quads of at least %d", st.Contexts, contexts, st.Quads, quads)
	}
	return err
}

// crawl runs the shipped pipeline over the site, as a process of its own.
func (s *semanticBench) crawl(site *site, pages int) error {
	c := &crawlBench{site: site, dir: s.dir}
	if err := c.build(); err != nil {
		return err
	}
	data, err := s.empty("crawl")
	if err != nil {
		return err
	}
	start := site.base + "/" + startOfSemantics // leads to pages and manifests, and these to what plugins say
	command, err := c.webrace(data, "multicrawler", "--config", filepath.Join("..", "pipelines.toml"), "--set", "lines.urls="+start, "--set", "lines.depth=3")
	if err != nil {
		return err
	}
	used, err := runProcess(command)
	if err != nil {
		return err
	}
	dir, err := storage.Open(filepath.Join(data, "data"), storage.Options{})
	if err != nil {
		return err
	}
	defer dir.Close()
	store, err := dir.Quads()
	if err != nil {
		return err
	}
	st, err := store.Stats()
	if err != nil {
		return err
	}
	if int(st.Contexts) < pages {
		return fmt.Errorf("the crawl has %d contexts of at least %d", st.Contexts, pages)
	}
	s.note("semantic: the crawl has %d contexts and %d quads", st.Contexts, st.Quads)
	s.table.value("crawl with all stages, peak RSS", float64(used.PeakRSS)/1e6, "MB", atMost(semanticPeak/1e6))
	s.table.value("crawl with all stages, a document, CPU", micros(used.CPU)/float64(st.Contexts), "µs", nil)
	return nil
}
