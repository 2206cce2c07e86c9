package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// What to look again at a page is to cost that one URD watches and that has not changed, in microseconds, and how often
// all of them are looked at again.
const (
	watchLimit  = 500
	watchRounds = 3
)

// watches lets many URDs watch a page each, which makes a crawl of depth 1 each, and measures what a page costs the
// first time and, once all of them are known and none has changed, again.
func (c *crawlBench) watches(b *bench) error {
	numbers := []int{20_000, 60_000}
	if b.quick {
		numbers = []int{2_000}
	}
	for _, n := range numbers {
		if err := c.generated(n, 0, func(of *crawlBench) error { return of.watch(b, n) }); err != nil {
			return fmt.Errorf("%d watches: %w", n, err)
		}
	}
	return nil
}

// watch runs the whole pipeline over and over in one directory. What it takes to start is measured in the same
// directory: a run that is to look at one page alone.
func (c *crawlBench) watch(b *bench, n int) error {
	data, err := c.empty()
	if err != nil {
		return err
	}
	if err := c.importWatches(data, n); err != nil {
		return err
	}
	var start usage
	for range 2 { // the second time, that page is known, too
		if start, _, err = c.lookAt(data, "--set", onlyFirst); err != nil {
			return err
		}
	}
	var first, cheapest usage
	for round := range 1 + watchRounds {
		used, log, err := c.lookAt(data)
		if err != nil {
			return err
		}
		if fresh := log.count200(); log.total != n || round == 0 && fresh != n-1 || round > 0 && fresh > 0 {
			return fmt.Errorf("round %d: %d requests, of which %d brought a page", round, log.total, fresh)
		}
		switch {
		case round == 0:
			first = used
		case round == 1 || used.CPU < cheapest.CPU:
			cheapest = used
		}
	}
	name := fmt.Sprintf("webrace, %d URDs that watch a page each", n)
	perPage := func(u usage) float64 { return micros(u.CPU-start.CPU) / float64(n) }
	b.table.value(name+", the first time, CPU a page beyond starting", perPage(first), "µs", nil)
	b.table.value(name+", again and unchanged, CPU a page beyond starting", perPage(cheapest), "µs", atMost(watchLimit))
	b.table.value(name+", starting, CPU a page", micros(start.CPU)/float64(n), "µs", nil)
	b.table.value(name+", peak RSS", float64(cheapest.PeakRSS)/1e6, "MB", nil)
	return nil
}

// onlyFirst has a run start the crawl of the first watch alone.
const onlyFirst = `urds.ids=["w0"]`

// lookAt runs the whole pipeline for the URDs that a directory has, and returns what it asked for.
func (c *crawlBench) lookAt(data string, args ...string) (usage, *asked, error) {
	return c.logged(func() (usage, error) { return c.asking(data, args...) })
}

// importWatches stores a URD for each page of the site, by runs of a pipeline that has nothing to do yet.
func (c *crawlBench) importWatches(data string, n int) error {
	const atOnce = 20_000 // or the file is larger than one may be
	file := filepath.Join(c.dir, "watches.xml")
	for from := 0; from < n; from += atOnce {
		if err := c.writeWatches(file, from, min(n, from+atOnce)); err != nil {
			return err
		}
		imports := exec.Command(c.program, "gc", "--config", filepath.Join("..", "pipelines.toml"), "--data", filepath.Join(data, "data"), "--urds", file)
		if _, err := runProcess(imports); err != nil {
			return err
		}
	}
	return nil
}

// writeWatches writes the URDs of some pages. Some are told of their page.
func (c *crawlBench) writeWatches(path string, from, to int) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(file)
	fmt.Fprintln(w, `<urds xmlns="urn:webrace:1">`)
	for i := from; i < to; i++ {
		fmt.Fprintf(w, `<urd id="w%d" owner="owner%d"><uri>%s%s</uri><type protocol="http" method="pull" processtype="filter"/>`+
			`<keywords match="any" threshold="20"><keyword key="asyncio" weight="5"/><keyword key="event loop" weight="3"/></keywords>`+
			`<depth level="1"/><urgency urgent="1"/></urd>`+"\n", i, i%1000, c.site.base, standInPath(i))
	}
	fmt.Fprintln(w, "</urds>")
	return errors.Join(w.Flush(), file.Close())
}
