package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// How often the site is crawled again, how much cheaper that is to be than the first time, and by how much
// memory may grow from the first to the last of them.
const (
	recrawls    = 3
	againLimit  = 1. / 3
	growthLimit = 1.1
)

// again lets the whole pipeline crawl a site that does not change, and that it knows.
func (c *crawlBench) again(b *bench) error {
	dir, err := c.empty()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var runs []usage
	for run := range 1 + recrawls {
		used, log, err := c.logged(func() (usage, error) { return c.once(dir) })
		if err != nil {
			return err
		}
		if fetched := len(log.found); run > 0 && log.count200() > 0 {
			return fmt.Errorf("crawling again fetched %d of %d pages that had not changed", log.count200(), fetched)
		}
		runs = append(runs, used)
	}
	first, cheapest := runs[0], runs[1]
	for _, r := range runs[2:] {
		if r.CPU < cheapest.CPU {
			cheapest = r
		}
	}
	perPage := func(u usage) float64 { return float64(u.CPU) / float64(time.Microsecond) / float64(len(c.paths)) }
	b.table.against("webrace, whole pipeline again, CPU a page, min", perPage(cheapest), "µs", "the first time", perPage(first), atMost(againLimit))
	b.table.against("webrace, whole pipeline again, wall", cheapest.Wall.Seconds(), "s", "the first time", first.Wall.Seconds(), nil)
	last := runs[len(runs)-1]
	b.table.against(fmt.Sprintf("webrace, whole pipeline again, peak RSS of the %dth time", recrawls), float64(last.PeakRSS)/1e6, "MB",
		"the 1st time again", float64(runs[1].PeakRSS)/1e6, atMost(growthLimit))
	return nil
}

// once runs the whole pipeline in a directory that may know the site.
func (c *crawlBench) once(dir string) (usage, error) {
	return c.asking(dir, "--urds", filepath.Join(c.dir, "urds.xml"))
}

// asking runs the whole pipeline, which asks for every page, however lately it did.
func (c *crawlBench) asking(dir string, args ...string) (usage, error) {
	args = append([]string{"webrace", "--config", filepath.Join("..", "pipelines.toml"), "--set", "frontier.fresh=0s"}, args...)
	command, err := c.webrace(dir, args...)
	if err != nil {
		return usage{}, err
	}
	return runProcess(command)
}

// logged runs something, and returns what was asked for meanwhile.
func (c *crawlBench) logged(run func() (usage, error)) (usage, *asked, error) {
	if err := c.site.mark(); err != nil {
		return usage{}, nil, err
	}
	used, err := run()
	if err != nil {
		return usage{}, nil, err
	}
	if err := c.site.mark(); err != nil {
		return usage{}, nil, err
	}
	log, err := c.site.sinceMark()
	return used, log, err
}

// count200 returns how many documents were answered 200.
func (a *asked) count200() (n int) {
	for _, got := range a.found {
		if got {
			n++
		}
	}
	return n
}
