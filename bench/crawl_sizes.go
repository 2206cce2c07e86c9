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
	middleSite, hugeSite = 10_000, 1_000_000
	sizedWords           = 600 // a page
	flatLimit            = 1.15
)

// crawlFunc crawls the site of a benchmark once, in a directory that is empty at first.
type crawlFunc func(c *crawlBench, dir string) (usage, error)

type crawlWay struct {
	name  string
	crawl crawlFunc
}

// sizes crawls generated sites of several sizes: a page must not cost more because there are many.
func (c *crawlBench) sizes(b *bench) error {
	normalize := crawlWay{normalizeName, func(c *crawlBench, dir string) (usage, error) {
		command, err := c.normalize(dir)
		if err != nil {
			return usage{}, err
		}
		return runProcess(command)
	}}
	whole := crawlWay{wholeName, (*crawlBench).once}
	pairs := []struct {
		way          crawlWay
		small, large int
	}{{normalize, smallSite, largeSite}, {whole, smallSite, largeSite}, {whole, middleSite, hugeSite}}
	if b.quick {
		pairs = pairs[:2]
		pairs[0].large, pairs[1].large = 5*smallSite, 5*smallSite
	}
	for _, p := range pairs {
		if err := c.flat(b, p.way, p.small, p.large); err != nil {
			return err
		}
	}
	return nil
}

// flat compares what a page costs of a small site and of a large one.
func (c *crawlBench) flat(b *bench, way crawlWay, small, large int) error {
	start, err := c.sized(1, way.crawl)
	if err != nil {
		return err
	}
	perPage := make(map[int]float64)
	for _, pages := range []int{small, large} {
		used, err := c.sized(pages, way.crawl)
		if err != nil {
			return err
		}
		perPage[pages] = micros(used.CPU-start.CPU) / float64(pages)
		b.table.value(fmt.Sprintf("%s, %d generated pages, peak RSS", way.name, pages), float64(used.PeakRSS)/1e6, "MB", nil)
	}
	b.table.against(fmt.Sprintf("%s, %d generated pages, CPU a page beyond starting", way.name, large), perPage[large], "µs",
		fmt.Sprintf("%d pages", small), perPage[small], atMost(flatLimit))
	return nil
}

// sized crawls a generated site of so many pages, and returns the cheapest of a few runs.
func (c *crawlBench) sized(pages int, crawl crawlFunc) (cheapest usage, err error) {
	err = c.generated(pages, 0, func(of *crawlBench) error {
		for run := range 1 + min(4, largeSite/(10*pages)) {
			data, err := of.empty()
			if err != nil {
				return err
			}
			used, err := of.all(pages, func() (usage, error) { return crawl(of, data) })
			if err != nil {
				return err
			}
			if run == 0 || used.CPU < cheapest.CPU {
				cheapest = used
			}
			if err := os.RemoveAll(data); err != nil {
				return err
			}
		}
		return nil
	})
	return cheapest, err
}

// generated serves a site of so many pages, each of which is answered after the delay, to f.
func (c *crawlBench) generated(pages int, delay time.Duration, f func(of *crawlBench) error) error {
	dir, err := c.empty()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := startStandIn(filepath.Join(dir, "access.log"), pages, sizedWords, delay)
	if err != nil {
		return err
	}
	defer s.stop()
	if err := s.await(); err != nil {
		return err
	}
	of := &crawlBench{site: s, dir: dir, program: c.program}
	if err := of.writeInput(); err != nil {
		return err
	}
	return f(of)
}

// all runs a crawl that is to ask for so many pages, once each.
func (c *crawlBench) all(pages int, crawl func() (usage, error)) (usage, error) {
	used, log, err := c.logged(crawl)
	if err != nil {
		return usage{}, err
	}
	if got := log.count200(); got != pages || log.total != pages {
		return usage{}, fmt.Errorf("a site of %d pages: %d fetched with %d requests", pages, got, log.total)
	}
	return used, nil
}
