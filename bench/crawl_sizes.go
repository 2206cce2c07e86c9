package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The sizes of the generated sites, and by how much a page of the largest may cost more than one of the
// smallest.
const (
	smallSite, largeSite = 1_000, 100_000
	sizedWords           = 600 // a page
	flatLimit            = 1.15
)

// sizes crawls generated sites of two sizes: a page must not cost more because there are many.
func (c *crawlBench) sizes(b *bench) error {
	large := largeSite
	if b.quick {
		large = 5 * smallSite
	}
	for _, way := range []struct {
		name  string
		crawl func(c *crawlBench, dir string) (usage, error)
	}{
		{normalizeName, func(c *crawlBench, dir string) (usage, error) {
			command, err := c.normalize(dir)
			if err != nil {
				return usage{}, err
			}
			return runProcess(command)
		}},
		{wholeName, (*crawlBench).once},
	} {
		start, err := c.sized(1, way.crawl)
		if err != nil {
			return err
		}
		perPage := make(map[int]float64)
		for _, pages := range []int{smallSite, large} {
			used, err := c.sized(pages, way.crawl)
			if err != nil {
				return err
			}
			perPage[pages] = float64(used.CPU-start.CPU) / float64(time.Microsecond) / float64(pages)
			b.table.value(fmt.Sprintf("%s, %d generated pages, peak RSS", way.name, pages), float64(used.PeakRSS)/1e6, "MB", nil)
		}
		b.table.against(fmt.Sprintf("%s, %d generated pages, CPU a page beyond starting", way.name, large), perPage[large], "µs",
			fmt.Sprintf("%d pages", smallSite), perPage[smallSite], atMost(flatLimit))
	}
	return nil
}

// sized crawls a generated site of so many pages, and returns the cheapest of a few runs.
func (c *crawlBench) sized(pages int, crawl func(*crawlBench, string) (usage, error)) (usage, error) {
	dir, err := c.empty()
	if err != nil {
		return usage{}, err
	}
	defer os.RemoveAll(dir)
	s, err := startStandIn(filepath.Join(dir, "access.log"), pages, sizedWords, 0)
	if err != nil {
		return usage{}, err
	}
	defer s.stop()
	if err := s.await(); err != nil {
		return usage{}, err
	}
	of := &crawlBench{site: s, dir: dir, program: c.program}
	if err := of.writeInput(); err != nil {
		return usage{}, err
	}
	var cheapest usage
	for run := range 1 + min(4, largeSite/(10*pages)) {
		data, err := of.empty()
		if err != nil {
			return usage{}, err
		}
		used, log, err := of.logged(func() (usage, error) { return crawl(of, data) })
		if err != nil {
			return usage{}, err
		}
		if got := log.count200(); got != pages || log.total != pages {
			return usage{}, fmt.Errorf("a site of %d pages: %d fetched with %d requests", pages, got, log.total)
		}
		if run == 0 || used.CPU < cheapest.CPU {
			cheapest = used
		}
		if err := os.RemoveAll(data); err != nil {
			return usage{}, err
		}
	}
	return cheapest, nil
}
