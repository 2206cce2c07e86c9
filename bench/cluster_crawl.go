package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/testutil/postgres"
)

// clusterCrawl lets the program crawl farms, alone and as nodes of clusters.
type clusterCrawl struct {
	*crawlBench
	server *postgres.Server
	h      *harness
	runs   int
}

// crawlers are the processes that crawl a farm together: nodes of a cluster, or one alone.
type crawlers struct {
	commands []*exec.Cmd
	configs  []string
	data     []string
	database string // of a cluster
}

// clusterRun is what a crawl took of all processes together.
type clusterRun struct {
	usage
	postgres time.Duration // CPU time of the server
	again    int           // requests for pages that had been asked for
	page     time.Duration // between two requests, in the middle of the crawl
	share    time.Duration // CPU time of the server a page, in that middle
}

// processes returns a process alone (no partitions), or nodes of a new cluster, that are to crawl a farm.
func (c *clusterCrawl) processes(f *farm, partitions, nodes int, more ...string) (p crawlers, err error) {
	c.runs++
	dir := filepath.Join(c.dir, fmt.Sprint("cluster", c.runs))
	shipped, err := os.ReadFile("../pipelines.toml")
	if err != nil {
		return p, err
	}
	if partitions > 0 {
		p.database = c.server.Database(c.h)
	}
	for i := range max(nodes, 1) {
		config, data := filepath.Join(dir, fmt.Sprintf("node-%d.toml", i)), filepath.Join(dir, fmt.Sprint("data-", i))
		table := fmt.Sprintf("data = %q\n", data)
		if partitions > 0 {
			table += fmt.Sprintf("\n[cluster]\ndatabase = %q\nnode = %d\nsecrets = %q\n", p.database, i, filepath.Join(dir, "secrets.key"))
		}
		text := strings.Replace(string(shipped), "data = \"${WEBRACE_DATA:-./data}\"\n", table, 1)
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(config, []byte(text), 0o600)); err != nil {
			return p, err
		}
		if i == 0 {
			if err := c.prepareStore(f, config, partitions, nodes); err != nil {
				return p, err
			}
		}
		args := append([]string{"webrace", "--config", config, "--set", "fetch.allow_networks=127.0.0.0/8"}, more...)
		p.commands, p.data = append(p.commands, exec.Command(c.program, args...)), append(p.data, data)
		p.configs = append(p.configs, config)
	}
	return p, nil
}

// prepareStore makes the cluster, if there is to be one, and stores who asks for the farm.
func (c *clusterCrawl) prepareStore(f *farm, config string, partitions, nodes int) error {
	if partitions > 0 {
		if err := c.store(config, "cluster", "create", "--partitions", fmt.Sprint(partitions), "--nodes", fmt.Sprint(nodes)); err != nil {
			return err
		}
	}
	return c.store(config, "urd", "add", "--url", f.start(), "--owner", "eleni", "--keyword", "regatta:5", "--depth", "0", "--scope", "any")
}

func (c *clusterCrawl) store(config string, args ...string) error {
	out, err := exec.Command(c.program, append(append([]string{"store"}, args...), "--config", config)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("webrace-store %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// crawl runs processes to their end, which are to ask for all pages of a farm.
func (c *clusterCrawl) crawl(f *farm, p crawlers) (all clusterRun, err error) {
	f.requests()
	before := c.server.CPU()
	ended := make(chan error, len(p.commands))
	used := make([]usage, len(p.commands))
	meter := c.meter(f)
	began := time.Now()
	for i, command := range p.commands {
		go func() {
			var said strings.Builder
			command.Stdout, command.Stderr = &said, &said
			var err error
			if used[i], err = runProcess(command); err != nil {
				err = fmt.Errorf("%w\n%s", err, said.String())
			}
			ended <- err
		}()
	}
	for range p.commands {
		err = errors.Join(err, <-ended)
	}
	all.Wall, all.postgres, all.share = time.Since(began), c.server.CPU()-before, meter()
	for _, u := range used {
		all.CPU += u.CPU
		all.PeakRSS = max(all.PeakRSS, u.PeakRSS)
	}
	asked := f.requests()
	times := make(map[string]int)
	for _, r := range asked {
		times[r.url]++
	}
	all.again = len(asked) - len(times)
	if first, last := len(asked)/10, len(asked)*9/10; first < last {
		all.page = asked[last].at.Sub(asked[first].at) / time.Duration(last-first)
	}
	if err == nil && len(times) != f.all() {
		err = fmt.Errorf("%d of %d pages were asked for", len(times), f.all())
	}
	return all, err
}

// meter begins to watch what a crawl takes of the server. It returns what ends that, and returns what a page took from
// when three tenths of the farm had been asked for until nine tenths had: what it takes to begin is over then, and
// what it takes to end has not begun. 0: there were no such pages.
func (c *clusterCrawl) meter(f *farm) func() time.Duration {
	type reading struct {
		pages int
		used  time.Duration
	}
	var first, last reading
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(200 * time.Millisecond): // between two readings
			}
			now := reading{f.asks(), c.server.CPU()}
			if first.pages == 0 && now.pages >= f.all()*3/10 {
				first = now
			}
			if now.pages <= f.all()*9/10 {
				last = now
			}
		}
	}()
	return func() time.Duration {
		close(stop)
		<-stopped
		if first.pages == 0 || last.pages <= first.pages {
			return 0
		}
		return (last.used - first.used) / time.Duration(last.pages-first.pages)
	}
}

// What a crawl by a cluster may take: of the processor, as a multiple of what one machine takes, and of PostgreSQL, in
// µs a page; and of memory.
const (
	clusterLimit   = 1.1
	postgresLimit  = 60
	crawlingLimit  = 700e6
	atRestLimit    = 15e6
	mostPartitions = 32
	clusterHosts   = 64
)

// cpu measures what a page costs one process of 32 partitions, beside one that has no cluster.
func (c *clusterCrawl) cpu(b *bench) error {
	small, large, rounds := 10, 100, 3
	if b.quick {
		large, rounds = 40, 1
	}
	alone, parted := map[int]clusterRun{}, map[int]clusterRun{} // the cheapest, by pages of a site
	for range rounds {
		for _, pages := range []int{small, large} {
			f, err := startFarm(mostPartitions, clusterHosts, pages, 0)
			if err != nil {
				return err
			}
			for _, of := range []struct {
				partitions int
				cheapest   map[int]clusterRun
			}{{0, alone}, {mostPartitions, parted}} {
				used, err := c.run(f, of.partitions, 1)
				if err != nil {
					f.stop()
					return err
				}
				if was, some := of.cheapest[pages]; !some || used.CPU < was.CPU {
					of.cheapest[pages] = used
				}
			}
			f.stop()
		}
	}
	pages := float64(clusterHosts * (large - small))
	const name = "32 partitions in one process"
	b.table.against(name+", a page, CPU beyond starting", micros(parted[large].CPU-parted[small].CPU)/pages, "µs",
		"one data directory", micros(alone[large].CPU-alone[small].CPU)/pages, atMost(clusterLimit))
	b.table.value(name+", a page, CPU of PostgreSQL", micros(parted[large].postgres-parted[small].postgres)/pages, "µs", atMost(postgresLimit))
	b.table.against(fmt.Sprintf("%s, %d pages from start to end, CPU", name, clusterHosts*small), parted[small].CPU.Seconds()*1000, "ms",
		"one data directory", alone[small].CPU.Seconds()*1000, nil)
	b.table.value(name+", crawling, peak RSS", float64(parted[large].PeakRSS)/1e6, "MB", atMost(crawlingLimit/1e6))
	return nil
}

// run crawls a farm with new processes.
func (c *clusterCrawl) run(f *farm, partitions, nodes int, more ...string) (clusterRun, error) {
	p, err := c.processes(f, partitions, nodes, more...)
	if err != nil {
		return clusterRun{}, err
	}
	return c.crawl(f, p)
}

const (
	scaledNodes  = 8
	scaledDelay  = 250 * time.Millisecond
	scaledAtOnce = "fetch.workers=8" // of a process: eight of them do not fill two processors
	scaledLimit  = 8 / 7.2           // 7.2 times
)

// scale measures how many times as fast 8 processes are as one, if they wait for answers: by the server's log, in the
// middle of the crawl.
func (c *clusterCrawl) scale(b *bench) error {
	pages := 12 // of a site of the one: long enough that what is said once a second is most of it
	if b.quick {
		pages = 6
	}
	one, err := c.scaled(0, 1, pages/3)
	if err != nil {
		return err
	}
	all, err := c.scaled(scaledNodes, scaledNodes, pages*scaledNodes)
	if err != nil {
		return err
	}
	b.note("8 processes are %.2f times as fast as one, answers of %v, a third of the links to other sites; each has an eighth of these", float64(one.page)/float64(all.page), scaledDelay)
	name := fmt.Sprintf("8 processes, answers of %v", scaledDelay)
	b.table.against(name+", a page, wall", micros(all.page)/1000, "ms", "an eighth of one process", micros(one.page)/1000/scaledNodes, atMost(scaledLimit))
	b.table.value(name+", requested twice", float64(all.again+one.again), "", atMost(0))
	b.table.value(name+", a page, CPU of PostgreSQL", micros(all.share), "µs", atMost(postgresLimit))
	b.table.value(name+", CPU of PostgreSQL beside that, to start and end a node", (all.postgres-all.share*time.Duration(clusterHosts*pages*scaledNodes)).Seconds()*1000/scaledNodes, "ms", nil)
	return nil
}

// scaled crawls a farm of slow sites of so many pages.
func (c *clusterCrawl) scaled(partitions, nodes, pages int) (clusterRun, error) {
	f, err := startFarm(scaledNodes, clusterHosts, pages, scaledDelay)
	if err != nil {
		return clusterRun{}, err
	}
	defer f.stop()
	return c.run(f, partitions, nodes, "--set", scaledAtOnce)
}
