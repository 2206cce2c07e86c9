//go:build unix

package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/storage/fulltext"
)

var kills = flag.Int("kills", 8, "how often TestKilledCrawlsLoseNothing, TestKilledAnnotations, TestKilledDeliveriesLoseNothingToPeople and TestKilledAgentsLoseNothing kill the program")

// A crawl of a real site, followed by the search index, is killed at random moments while requests are out.
// Nothing that was accepted is lost, nothing that was done is fetched again, no owner is told twice, and what
// lies on the disk is what would lie there if nothing had happened.
func TestKilledCrawlsLoseNothing(t *testing.T) {
	site := startRealSite(t)
	urds, whole := site.urds(t), t.TempDir()
	mustSucceed(t, site.command(t, urds, whole))
	want, _ := site.requests(t, 0)
	wanted := alerts(t, whole)

	working := make(map[string]int)
	done, repeats := 0, 0
	for done < *kills {
		c := &mortalCrawl{t: t, site: site, urds: urds, data: t.TempDir(), pages: want["200"]}
		_, c.since = site.requests(t, 0)
		for c.dies(uint64(done)) {
			done++
			for _, stage := range c.working {
				working[stage]++
			}
		}
		repeats += c.mustBeWhole()
		if got := alerts(t, c.data); !slices.Equal(got, wanted) {
			t.Errorf("%d alerts, want the same %d as without a kill", len(got), len(wanted))
		}
		c.mustBeStrictWARC()
		c.mustIndexAlike()
	}
	t.Logf("%d kills of a crawl of %d documents; %d fetched again; %d alerts", done, len(want["200"]), repeats, len(wanted))
	for _, stage := range slices.Sorted(maps.Keys(working)) {
		t.Logf("killed while %s was working: %d times", stage, working[stage])
	}
}

const killedLeases = 16

// mortalCrawl is a crawl that is killed until it is done.
type mortalCrawl struct {
	t        *testing.T
	site     realSite
	urds     string
	data     string
	pages    map[string]int
	since    int      // how many requests the site had answered before
	kills    int      // so far
	working  []string // the stages that were, when it was last killed
	finished []string // the documents that were, then
}

// dies runs the crawl, and reports whether it was killed; otherwise it is done.
func (m *mortalCrawl) dies(seed uint64) bool {
	m.t.Helper()
	_, before := m.site.requests(m.t, 0)
	c := exec.Command("webrace-run-mortal", fmt.Sprint(seed), fmt.Sprint(len(m.pages)/6), m.data, m.urds)
	var output bytes.Buffer
	c.Stdout, c.Stderr = &output, &output
	err := c.Run()
	killed := c.ProcessState.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
	if err != nil && !killed {
		m.t.Fatalf("%v\n%s", err, output.String())
	}
	if killed {
		_, stages, found := strings.Cut(output.String(), killedAt)
		if !found {
			m.t.Fatalf("killed, but not by itself:\n%s", output.String())
		}
		m.kills++
		m.working = strings.Fields(stages)
	}
	m.mustNotRepeat(before)
	return killed
}

// mustNotRepeat checks that what had been finished before the last start was not asked for since, and notes
// what is finished now.
func (m *mortalCrawl) mustNotRepeat(since int) {
	m.t.Helper()
	m.site.mustNotAskFor(m.t, m.finished, since)
	m.finished = m.site.finished(m.t, m.data, "webrace", m.pages)
}

// mustNotAskFor checks that no path of some was asked for since so many requests.
func (s realSite) mustNotAskFor(t *testing.T, finished []string, since int) {
	t.Helper()
	requests, _ := s.requests(t, since)
	for _, path := range finished {
		for status, n := range requests {
			if n[path] > 0 {
				t.Errorf("%s was finished before a kill, and asked for again (%s)", path, status)
			}
		}
	}
}

// finished returns those of some paths that a pipeline is done with, by the queue in a data directory.
func (s realSite) finished(t *testing.T, data, pipeline string, paths map[string]int) (finished []string) {
	t.Helper()
	dir, err := storage.Open(data, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	store, err := dir.Frontier()
	if err != nil {
		t.Fatal(err)
	}
	queue, err := store.Queue(pipeline, frontier.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer queue.Close()
	for path := range paths {
		explanations, err := queue.Why(s.base + path)
		if err != nil {
			t.Fatal(err)
		}
		if len(explanations) > 0 && explanations[0].State == frontier.Completed {
			finished = append(finished, path)
		}
	}
	return finished
}

// mustBeWhole wants every document fetched, and returns how many were fetched again: no more than can have
// been in flight.
func (m *mortalCrawl) mustBeWhole() (repeats int) {
	m.t.Helper()
	return m.site.mustHaveAll(m.t, m.pages, m.since, m.kills)
}

func (s realSite) mustHaveAll(t *testing.T, paths map[string]int, since, kills int) (repeats int) {
	t.Helper()
	got, _ := s.requests(t, since)
	for path := range paths {
		n := got["200"][path] + got["304"][path]
		if n == 0 {
			t.Errorf("%s was lost", path)
		}
		repeats += max(n-1, 0)
	}
	if repeats > kills*killedLeases {
		t.Errorf("%d documents were fetched again, more than were in flight at %d kills", repeats, kills)
	}
	return repeats
}

func (m *mortalCrawl) mustBeStrictWARC() {
	m.t.Helper()
	segments, err := filepath.Glob(filepath.Join(m.data, "objects", "*.warc.gz"))
	if err != nil || len(segments) == 0 {
		m.t.Fatalf("%v, %v", segments, err)
	}
	for _, segment := range segments {
		mustBeStrictWARC(m.t, segment)
	}
}

// mustIndexAlike wants the search index, which followed the crawl through all kills, to be the one that is
// made of the cache from the beginning.
func (m *mortalCrawl) mustIndexAlike() {
	m.t.Helper()
	followed := m.search()
	if err := os.RemoveAll(filepath.Join(m.data, "fulltext")); err != nil {
		m.t.Fatal(err)
	}
	mustSucceed(m.t, exec.Command("webrace-run", "search", "--data", m.data, "--config", "../../pipelines.toml", "--set", "objects.restart=true"))
	rebuilt := m.search()
	if len(followed) < len(m.pages)/2 {
		m.t.Errorf("only %d documents are found", len(followed))
	}
	if !slices.Equal(followed, rebuilt) {
		m.t.Errorf("the index that followed finds %d documents, the rebuilt one %d, or others", len(followed), len(rebuilt))
	}
}

// search returns the documents that the index finds for some words, with their versions, and how many it
// has.
func (m *mortalCrawl) search() (found []string) {
	m.t.Helper()
	index, err := fulltext.Open(filepath.Join(m.data, "fulltext"), fulltext.Options{})
	if err != nil {
		m.t.Fatal(err)
	}
	defer index.Close()
	count, err := index.Count()
	if err != nil {
		m.t.Fatal(err)
	}
	found = append(found, fmt.Sprintf("%d documents", count))
	for _, query := range []string{"python", "asyncio", `"event loop"`, "xml", "title:module", "host:127.0.0.1"} {
		results, err := index.Search(m.t.Context(), fulltext.Query{Text: query, Size: 5000, History: true})
		if err != nil {
			m.t.Fatal(err)
		}
		var hits []string
		for _, hit := range results.Hits {
			hits = append(hits, fmt.Sprintf("%s: %s version %d", query, hit.URL, hit.Version))
		}
		slices.Sort(hits)
		found = append(found, hits...)
	}
	return found
}

// killedAt is what a mortal crawl prints before it kills itself, and after it the stages that are at work.
const killedAt = "killed at work: "

func init() { programs["webrace-run-mortal"] = mortal }

// mortal is webrace-run for the pipelines webrace and search, in a process that kills itself at a random
// moment while requests are out: SEED ITEMS DATA URDS [STAGE]. The moment comes after up to ITEMS items were handed
// out, and with STAGE, while that stage is at work.
func mortal() {
	var seed, items uint64
	fmt.Sscan(os.Args[1], &seed)
	fmt.Sscan(os.Args[2], &items)
	stage := append(os.Args, "")[5]
	if err := runMortal(context.Background(), rand.New(rand.NewPCG(seed, 9)), int64(items), os.Args[3], os.Args[4], stage); err != nil {
		cli.Report(os.Stderr, err)
		os.Exit(cli.Failed)
	}
}

func runMortal(ctx context.Context, rng *rand.Rand, items int64, data, urds, stage string) error {
	set := []string{"fetch.allow_networks=loopback", "frontier.fresh=0s", fmt.Sprintf("frontier.leases=%d", killedLeases)}
	globals := cli.Globals{Config: "../../pipelines.toml", Data: data}
	names := []string{"webrace", "search"}
	loaded, err := globals.Load(config.LoadOptions{Run: names, Set: set})
	if err != nil {
		return err
	}
	out, err := newOutput(os.Stderr, "text", "")
	if err != nil {
		return err
	}
	stores, err := cli.Place{Data: data}.Open(storage.Options{})
	if err != nil {
		return err
	}
	defer stores.Close()
	dir := stores.Dir
	requests, err := readURDs(os.Stderr, &cli.Globals{}, urds, "")
	if err != nil {
		return err
	}
	if _, err := importURDs(ctx, dir, requests); err != nil {
		return err
	}
	p := &process{sessions: []*session{{dir: dir}}, out: out, admin: admin.New()}
	runs, err := p.start(ctx, loaded, names)
	if err != nil {
		return err
	}
	go dieAtWork(runs[0], 1+rng.Int64N(items), time.Duration(rng.IntN(5000))*time.Microsecond, stage)
	waitAll(runs)
	_, err = p.results(runs, false)
	return err
}

// dieAtWork kills the process a moment after so many items were handed out, as soon as a stage works on one: any, or
// the one that is named.
func dieAtWork(run *pipeline.Run, items int64, moment time.Duration, named string) {
	for run.Snapshot().Stages["frontier"].Out < items {
		time.Sleep(100 * time.Microsecond)
	}
	time.Sleep(moment) // any may be the one at which it dies
	for {
		var working []string
		for name, stage := range run.Snapshot().Stages {
			if stage.Busy > 0 && name != "frontier" && name != "urds" {
				working = append(working, name)
			}
		}
		if len(working) > 0 && (named == "" || slices.Contains(working, named)) {
			fmt.Fprintln(os.Stderr, killedAt+strings.Join(working, " "))
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		time.Sleep(20 * time.Microsecond) // then looks again who works
	}
}
