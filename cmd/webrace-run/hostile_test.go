package main

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/webrace/webrace/cmd/internal/storecmd"
	"github.com/webrace/webrace/cmd/webrace-run/internal/hostile"
)

// hostileAtOnce is how many hostile sites are crawled at a time: most of the time they wait.
const hostileAtOnce = 6

// TestHostileSite crawls each of the sites that misbehave, with the program as it is installed. Each crawl
// ends by itself, has asked for every good page once, by the site's own record, and reports what happened.
func TestHostileSite(t *testing.T) {
	t.Parallel()
	next := make(chan hostile.Case)
	var workers sync.WaitGroup
	for range hostileAtOnce {
		workers.Go(func() {
			for c := range next {
				t.Run(c.Name, func(t *testing.T) { mustSurvive(t, c) })
			}
		})
	}
	for i, c := range bySlowness() {
		if !testing.Short() || i%10 == 0 && !strings.HasPrefix(c.Name, "pdf-") { // which take long to read where all is raced
			next <- c
		}
	}
	close(next)
	workers.Wait()
}

// bySlowness begins with the cases that wait.
func bySlowness() []hostile.Case {
	cases := hostile.Cases()
	slices.SortStableFunc(cases, func(a, b hostile.Case) int {
		switch {
		case a.Slow == b.Slow:
			return 0
		case a.Slow:
			return -1
		}
		return 1
	})
	return cases
}

const hostileGood = 10

func mustSurvive(t *testing.T, c hostile.Case) {
	site := hostile.NewSite(hostileGood, c)
	defer site.Close()
	crawl := newHostileCrawl(t, site, c)
	crawl.mustCome(c.Expect)
	if c.Again != nil {
		site.Forget()
		crawl.options = append(crawl.options, "frontier.fresh=0s")
		again := *c.Again
		again.Counters = maps.Clone(again.Counters)
		again.Counters["not_modified"] += hostileGood + 1
		crawl.mustCome(again)
	}
}

// hostileCrawl is a crawl of a hostile site, in a process of its own.
type hostileCrawl struct {
	t       *testing.T
	site    *hostile.Site
	dir     string
	depth   int
	scope   string
	options []string
}

func newHostileCrawl(t *testing.T, site *hostile.Site, c hostile.Case) *hostileCrawl {
	crawl := &hostileCrawl{t: t, site: site, dir: t.TempDir(), depth: c.Depth, scope: c.Scope}
	if crawl.scope == "" {
		crawl.scope = "host"
	}
	trusted := filepath.Join(crawl.dir, "ca.pem")
	writeFile(t, trusted, string(hostile.CertificatePEM()))
	crawl.options = append([]string{"fetch.allow_networks=loopback", "fetch.ca_file=" + trusted}, c.Options...)
	return crawl
}

// command is the crawl, to be started.
func (h *hostileCrawl) command(ctx context.Context) *exec.Cmd {
	h.t.Helper()
	args := []string{"crawl", h.site.URL + "/", "--data", h.data(), "--report", h.report(), "--depth", strconv.Itoa(h.depth), "--scope", h.scope}
	for _, option := range h.options {
		args = append(args, "--set", option)
	}
	return hostileCommand(ctx, args)
}

// hostileCommand is a run of the program that shows what it hangs in when its time is over.
func hostileCommand(ctx context.Context, args []string) *exec.Cmd {
	c := exec.CommandContext(ctx, "webrace-run", args...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGQUIT) }
	return c
}

func (h *hostileCrawl) data() string   { return filepath.Join(h.dir, "data") }
func (h *hostileCrawl) report() string { return filepath.Join(h.dir, "report.json") }

// mustCome runs the crawl to its end, which has to be as expected.
func (h *hostileCrawl) mustCome(to hostile.Expect) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	c := h.command(ctx)
	if output, err := c.CombinedOutput(); err != nil {
		h.t.Fatalf("%v\n%s", err, output)
	}
	for path, n := range h.site.Good() {
		if n != 1 {
			h.t.Errorf("the good page %s was asked for %d times, want once", path, n)
		}
	}
	if n := h.site.Asked(); to.AtMost > 0 && n > to.AtMost || to.AtMost == 0 && n != to.Asked {
		h.t.Errorf("%d other requests, want %d (or at most %d): %v", n, to.Asked, to.AtMost, h.site.AskedFor())
	}
	h.mustCount(to.Counters)
	h.mustSay(to.Why)
}

// mustCount holds the report against what is expected of it.
func (h *hostileCrawl) mustCount(expected map[string]int64) {
	h.t.Helper()
	var report runReport
	readJSON(h.t, h.report(), &report)
	want := map[string]int64{"errors": 0, "deferred": 0, "pages": 0, "not_modified": 0}
	maps.Copy(want, expected)
	if want["not_modified"] == 0 {
		want["pages"] += hostileGood + 1
	}
	got := map[string]int64{"errors": report.Errors, "deferred": report.Deferred, "pages": report.Pages, "not_modified": report.NotModified}
	for stage, s := range report.Stages {
		for name, n := range s.Counters {
			got[stage+"."+name] = n
		}
		if s.Errors != s.Counters["unreadable"] || s.Dropped > 0 { // a document that cannot be read is left to the error policy
			h.t.Errorf("%s failed on %d items, and dropped %d", stage, s.Errors, s.Dropped)
		}
	}
	for name, n := range want {
		if got[name] != n {
			all, _ := json.Marshal(got)
			h.t.Errorf("%s: %d, want %d, of %s", name, got[name], n, all)
		}
	}
}

// mustSay asks the store why URLs are where they are.
func (h *hostileCrawl) mustSay(why map[string]string) {
	h.t.Helper()
	for _, url := range slices.Sorted(maps.Keys(why)) {
		said, err := webraceStore("why", "--data", h.data(), h.site.Resolve(url))
		if err != nil || !strings.Contains(said, why[url]) {
			h.t.Errorf("why %s: %s %v\nwant %q", url, said, err, why[url])
		}
	}
}

// webraceStore runs webrace-store within this process, and returns all that it prints.
func webraceStore(args ...string) (said string, err error) {
	store := storecmd.New(args)
	store.SilenceErrors, store.SilenceUsage = true, true
	var out bytes.Buffer
	store.SetOut(&out)
	store.SetErr(&out)
	err = store.Execute()
	return out.String(), err
}
