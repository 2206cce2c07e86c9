package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The contestants of a crawl. The raw loop is no crawler: it is told the URLs, and sets the measure.
const (
	rawLoopName   = "raw net/http loop"
	plainName     = "plain Go crawler"
	normalizeName = "webrace fetch > normalize"
	wholeName     = "webrace, whole pipeline"
	zstdName      = "webrace, whole pipeline, archive zstd"
	searchName    = "webrace, whole pipeline and search"
)

// What webrace is to reach, as multiples of the raw loop's CPU time, and in bytes.
const (
	normalizeLimit = 4.5
	wholeLimit     = 14
	zstdLimit      = 11
	peakLimit      = 200e6
)

// benchCrawl crawls a whole site on loopback from its first page, each contestant as a process of its own
// that starts with nothing. Pages are counted in the server's log.
func benchCrawl(b *bench) error {
	dir, err := os.MkdirTemp("", "webrace-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	of := docSites
	if b.quick {
		of = of[:1]
	} else {
		install(b.note)
	}
	s, err := startSite(dir, of, b.note)
	if err != nil {
		return err
	}
	defer s.stop()
	c := &crawlBench{site: s, dir: dir, known: filepath.Join(dir, "known")}
	if err := c.prepare(b); err != nil {
		return err
	}
	if err := c.links(b); err != nil {
		return err
	}
	if err := c.measure(b); err != nil {
		return err
	}
	if err := c.again(b); err != nil {
		return err
	}
	if err := c.sizes(b); err != nil {
		return err
	}
	if err := c.watches(b); err != nil {
		return err
	}
	return c.curve(b)
}

// measure lets everybody crawl, and adds what it took to the table.
func (c *crawlBench) measure(b *bench) error {
	rounds := 5
	if b.quick {
		rounds = 1
	}
	results, err := c.race(rounds, b.quick)
	if err != nil {
		return err
	}
	c.rows(b.table, results)
	return c.serverLimit(b)
}

type crawlBench struct {
	site    *site
	dir     string
	program string // webrace-run
	known   string // a file with the paths of all documents
	paths   []string
	crawls  []crawler
	runs    int
	keeps   bool // what a crawl leaves is removed at the end: file systems search long for a place where files just went
}

// crawler is one contestant.
type crawler struct {
	name    string
	command func(dir string) (*exec.Cmd, error) // in an empty directory of its own
	check   func(dir string) error              // what it left there; nil: nothing to check
	failing bool                                // it may end with an error: wget does at dead links
	slow    bool                                // it takes minutes: it crawls once, and not in a quick run
}

// prepare builds webrace-run, lets the plain crawler find out what there is, and lists the contestants.
func (c *crawlBench) prepare(b *bench) error {
	if err := c.setUp(b); err != nil {
		return err
	}
	b.note("crawl: webrace with its defaults for hosts that are admitted: no delay, 64 requests in flight, robots.txt "+
		"obeyed, no page asked for twice; what is archived is compressed with gzip level %d. Everybody else has %d in flight", archiveLevel, crawlWorkers)
	c.crawls = []crawler{
		{name: rawLoopName, command: func(string) (*exec.Cmd, error) { return child("raw", c.site.base, c.known) }},
		{name: plainName, command: func(dir string) (*exec.Cmd, error) {
			return child("plain", c.site.base, filepath.Join(dir, "found"))
		}},
		{name: normalizeName, command: c.normalize},
		{name: wholeName, command: c.whole, check: somebodyWasTold},
		{name: zstdName, command: c.wholeZstd, check: somebodyWasTold},
		{name: searchName, command: c.searching, check: somebodyWasTold},
	}
	c.crawls = append(c.crawls, c.peers(b)...)
	return nil
}

// setUp builds webrace-run, finds out what there is, and writes what the pipelines are given.
func (c *crawlBench) setUp(b *bench) error {
	if err := c.build(); err != nil {
		return err
	}
	walk, err := child("plain", c.site.base, c.known)
	if err != nil {
		return err
	}
	if _, err := runProcess(walk); err != nil {
		return err
	}
	text, err := os.ReadFile(c.known)
	if err != nil {
		return err
	}
	c.paths = strings.Fields(string(text))
	if err := checkKnown(c.paths); err != nil {
		return err
	}
	b.note("%d documents of %s", len(c.paths), c.site.what)
	return c.writeInput()
}

func (c *crawlBench) build() error {
	c.program = filepath.Join(c.dir, "webrace-run")
	build := exec.Command("go", "build", "-o", c.program, "./cmd/webrace-run")
	build.Dir, build.Env = "..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build webrace-run (bench is run in its own directory): %w\n%s", err, out)
	}
	return nil
}

// config is a pipeline that crawls and keeps nothing but its frontier, which is as durable as ever.
const config = `version = 1
[pipeline.links]
flow = ["lines > frontier > fetch > normalize > drop", "normalize.links, fetch.redirects > frontier"]
`

// urds are three owners who ask for the whole site.
const urds = `<urds xmlns="urn:webrace:1">
<urd id="u1" owner="eleni"><uri>%[1]s</uri><type protocol="http" method="pull" processtype="filter"/>
 <keywords match="any" threshold="20"><keyword key="asyncio" weight="5"/><keyword key="event loop" weight="3"/></keywords><depth level="0"/><urgency urgent="2"/></urd>
<urd id="u2" owner="costas"><uri>%[1]s</uri><type protocol="http" method="pull" processtype="filter"/>
 <keywords match="any" threshold="40"><keyword key="xml" weight="4"/><keyword key="parser" weight="5"/></keywords><depth level="0"/><urgency urgent="1"/></urd>
<urd id="u3" owner="maria"><uri>%[1]s</uri><type protocol="http" method="pull" processtype="filter"/>
 <keywords match="all" threshold="20"><keyword key="module" weight="2"/><keyword key="stream" weight="4"/></keywords><depth level="0"/><urgency urgent="1"/></urd>
</urds>
`

func (c *crawlBench) writeInput() error {
	return errors.Join(
		os.WriteFile(filepath.Join(c.dir, "links.toml"), []byte(config), 0o666),
		os.WriteFile(filepath.Join(c.dir, "urds.xml"), fmt.Appendf(nil, urds, c.site.base+startPath), 0o666),
	)
}

func (c *crawlBench) webrace(dir string, args ...string) (*exec.Cmd, error) {
	args = append(args, "--data", filepath.Join(dir, "data"), "--report", filepath.Join(dir, "report.json"),
		"--set", "fetch.allow_networks=127.0.0.0/8")
	return exec.Command(c.program, args...), nil
}

func (c *crawlBench) normalize(dir string) (*exec.Cmd, error) {
	return c.webrace(dir, "run", "links", "--config", filepath.Join(c.dir, "links.toml"),
		"--set", "lines.urls="+c.site.base+startPath, "--set", "lines.depth=0")
}

func (c *crawlBench) whole(dir string) (*exec.Cmd, error) {
	return c.webrace(dir, "webrace", "--config", filepath.Join("..", "pipelines.toml"), "--urds", filepath.Join(c.dir, "urds.xml"))
}

// wholeZstd keeps documents in records that are compressed by zstd.
func (c *crawlBench) wholeZstd(dir string) (*exec.Cmd, error) {
	command, err := c.whole(dir)
	if err == nil {
		command.Args = append(command.Args, "--set", "cache.archive=zstd")
	}
	return command, err
}

func (c *crawlBench) searching(dir string) (*exec.Cmd, error) {
	return c.webrace(dir, "webrace", "search", "--config", filepath.Join("..", "pipelines.toml"), "--urds", filepath.Join(c.dir, "urds.xml"))
}

// somebodyWasTold checks that the whole pipeline did all of its work: pages were matched and alerts stored.
func somebodyWasTold(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		return err
	}
	if text = bytes.TrimSpace(text); bytes.HasPrefix(text, []byte("{")) { // of one pipeline
		text = append(append([]byte("["), text...), ']')
	}
	var reports []struct{ Annotations int }
	if err := json.Unmarshal(text, &reports); err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	for _, r := range reports {
		if r.Annotations > 0 {
			return nil
		}
	}
	return errors.New("the whole pipeline told nobody of anything")
}

// crawlResult is what a contestant did in all of its rounds; counts are those of its worst.
type crawlResult struct {
	costs     []cost
	pages     int // distinct documents that were answered 200, the fewest
	missed    int // known documents that it did not get, the most
	requests  int
	refetched int
	peakRSS   int64
}

// race lets everybody crawl in turn. The first round counts for correctness, and not for time; who takes
// minutes has one round.
func (c *crawlBench) race(rounds int, quick bool) (map[string]*crawlResult, error) {
	results := make(map[string]*crawlResult)
	if err := c.site.mark(); err != nil {
		return nil, err
	}
	for round := range rounds + 1 {
		for _, contestant := range c.crawls {
			if contestant.slow && (quick || round != 1) {
				continue
			}
			if err := c.crawl(contestant, results, round > 0); err != nil {
				return nil, fmt.Errorf("%s: %w", contestant.name, err)
			}
		}
	}
	return results, nil
}

// crawl lets one crawl once.
func (c *crawlBench) crawl(contestant crawler, results map[string]*crawlResult, timed bool) error {
	dir, err := c.empty()
	if err != nil {
		return err
	}
	if !c.keeps {
		defer os.RemoveAll(dir)
	}
	command, err := contestant.command(dir)
	if err != nil {
		return err
	}
	used, err := runProcess(command)
	var exit *exec.ExitError
	if err != nil && !(contestant.failing && errors.As(err, &exit)) {
		return err
	}
	if contestant.check != nil {
		if err := contestant.check(dir); err != nil {
			return err
		}
	}
	if err := c.site.mark(); err != nil {
		return err
	}
	log, err := c.site.sinceMark()
	if err != nil {
		return err
	}
	if results[contestant.name] == nil {
		results[contestant.name] = &crawlResult{pages: math.MaxInt}
	}
	results[contestant.name].add(log, c.paths, used, timed)
	return nil
}

// empty makes a directory for one run.
func (c *crawlBench) empty() (string, error) {
	c.runs++
	dir := filepath.Join(c.dir, fmt.Sprint("run", c.runs))
	return dir, os.Mkdir(dir, 0o777)
}

func (r *crawlResult) add(log *asked, known []string, used usage, timed bool) {
	found, missed := 0, 0
	for _, got := range log.found {
		if got {
			found++
		}
	}
	for _, path := range known {
		if !log.found[path] {
			missed++
		}
	}
	r.pages = min(r.pages, found)
	r.missed = max(r.missed, missed)
	r.requests = max(r.requests, log.total)
	r.refetched = max(r.refetched, log.total-len(log.times))
	r.peakRSS = max(r.peakRSS, used.PeakRSS)
	if timed {
		r.costs = append(r.costs, used.cost)
	}
}

// rows adds to the table what everybody did.
func (c *crawlBench) rows(t *table, results map[string]*crawlResult) {
	limits := map[string]*goal{normalizeName: atMost(normalizeLimit), wholeName: atMost(wholeLimit), zstdName: atMost(zstdLimit)}
	raw, plain := results[rawLoopName], results[plainName]
	for _, contestant := range c.crawls {
		r, name := results[contestant.name], contestant.name
		if r == nil { // of a quick run
			continue
		}
		least := name + ", CPU a page, min"
		if r == raw {
			t.value(least, r.perPage(best), "µs", nil)
			t.value(name+", CPU a page, median", r.perPage(middle), "µs", nil)
		} else {
			t.against(least, r.perPage(best), "µs", rawLoopName, raw.perPage(best), limits[name])
			t.against(name+", CPU a page, median", r.perPage(middle), "µs", rawLoopName, raw.perPage(middle), nil)
		}
		var peak, none *goal
		if limits[name] != nil {
			none = atMost(0)
			t.against(least, r.perPage(best), "µs", plainName, plain.perPage(best), nil)
		}
		if name == wholeName {
			peak = atMost(peakLimit / 1e6)
		}
		t.value(name+", pages a second", float64(r.pages)/best(r.costs, wallOf).Seconds(), "", nil)
		t.value(name+", peak RSS", float64(r.peakRSS)/1e6, "MB", peak)
		t.value(name+", pages", float64(r.pages), "", nil)
		t.value(name+", pages missed", float64(r.missed), "", none)
		t.value(name+", requests", float64(r.requests), "", nil)
		t.value(name+", requests repeated", float64(r.refetched), "", none)
	}
}

// perPage is the CPU time of a page in microseconds.
func (r *crawlResult) perPage(pick func([]cost, func(cost) time.Duration) time.Duration) float64 {
	return float64(pick(r.costs, cpuOf).Nanoseconds()) / 1000 / float64(r.pages)
}
