package main

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/webrace/webrace/cmd/webrace-run/internal/hostile"
)

const (
	chaosGood   = 300
	chaosMemory = 512 << 20 // the most that the process may ever have had: the site would send more by far
	chaosLeases = 64
)

// TestChaosOfAllHostileSites crawls a site that misbehaves in all ways at once, among three hundred good
// pages: each of these is asked for once, and memory is bounded.
func TestChaosOfAllHostileSites(t *testing.T) {
	if testing.Short() {
		t.Skip("a crawl of a large site, whose memory the race detector multiplies")
	}
	t.Parallel()
	crawl := newChaos(t)
	if output, err := crawl.run(nil); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for path, n := range crawl.site.Good() {
		if n != 1 {
			t.Errorf("the good page %s was asked for %d times, want once", path, n)
		}
	}
	report := crawl.mustBeWhole()
	for _, misbehaviour := range []string{
		"fetch.network_failures", "fetch.tls_failures", "fetch.address_refused", "fetch.undecodable", "fetch.truncated",
		"fetch.bad_redirects", "fetch.robots_refused", "fetch.status_429", "fetch.status_503", "frontier.refused_redirects",
		"frontier.refused_trap_dates", "frontier.refused_trap_queries", "frontier.refused_trap_repeats", "normalize.over_limit",
	} {
		stage, counter, _ := strings.Cut(misbehaviour, ".")
		if report.Stages[stage].Counters[counter] == 0 {
			t.Errorf("the site is said to be worse than that: no %s", misbehaviour)
		}
	}
}

// TestChaosKilledInTheMiddle kills that crawl with signal 9 when half of the good pages were asked for. The
// next one goes on: no page is lost, and none is fetched again but those that were in flight.
func TestChaosKilledInTheMiddle(t *testing.T) {
	if testing.Short() {
		t.Skip("a crawl of a large site, whose memory the race detector multiplies")
	}
	t.Parallel()
	crawl := newChaos(t)
	var asked atomic.Int64
	half := make(chan struct{})
	crawl.site.OnGood(func() {
		if asked.Add(1) == chaosGood/2 {
			close(half)
		}
	})
	output, err := crawl.run(half)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("%v, want it killed\n%s", err, output)
	}
	if output, err := crawl.run(nil); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	again := 0
	for path, n := range crawl.site.Good() {
		switch {
		case n == 0:
			t.Errorf("the good page %s was lost", path)
		case n > 2:
			t.Errorf("the good page %s was asked for %d times", path, n)
		case n == 2:
			again++
		}
	}
	if again > chaosLeases {
		t.Errorf("%d good pages were asked for again, want at most the %d that may be in flight", again, chaosLeases)
	}
	crawl.mustBeWhole()
}

// chaos is a crawl of all hostile sites in one.
type chaos struct{ *hostileCrawl }

func newChaos(t *testing.T) chaos {
	cases := hostile.Mixable()
	site := hostile.NewSite(chaosGood, cases...)
	t.Cleanup(site.Close)
	crawl := newHostileCrawl(t, site, hostile.Case{Scope: "any", Options: []string{
		"fetch.dns_servers=" + serveNames(t, noName),
		"frontier.attempts=2", "frontier.leases=64", "frontier.host_urls=3000", `frontier.rules=["deny regexp /leaf/"]`,
		"frontier.dated_pages=40", "frontier.far_dates=5", "frontier.path_queries=30",
		"fetch.max_body=4MB", "fetch.connect_timeout=2s", "fetch.header_timeout=5s", "fetch.timeout=8s",
		"fetch.backoff=500ms", "fetch.max_retry_after=1s", "fetch.circuit_wait=1s", "fetch.http2=auto",
	}})
	crawl.depth = 60
	return chaos{crawl}
}

// run crawls, and kills the crawl when a channel is closed. The memory that it had is bounded.
func (c chaos) run(kill <-chan struct{}) (output []byte, err error) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 3*time.Minute)
	defer cancel()
	command := c.command(ctx)
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	if err := command.Start(); err != nil {
		c.t.Fatal(err)
	}
	most := peakOf(command.Process)
	ended := make(chan struct{})
	go func() {
		select {
		case <-kill:
			_ = command.Process.Kill()
		case <-ended:
		}
	}()
	err = command.Wait()
	close(ended)
	peak := <-most
	c.t.Logf("%v, at most %d MB", command.ProcessState, peak>>20)
	if peak > chaosMemory {
		c.t.Errorf("the process had %d MB, want at most %d", peak>>20, chaosMemory>>20)
	}
	return said.Bytes(), err
}

// mustBeWhole holds the report and the store against what every such crawl comes to.
func (c chaos) mustBeWhole() (report runReport) {
	c.t.Helper()
	readJSON(c.t, c.report(), &report)
	if report.Deferred != 0 || report.Errors == 0 {
		c.t.Errorf("%d deferred and %d errors, want none deferred, and some errors", report.Deferred, report.Errors)
	}
	for stage, s := range report.Stages {
		if s.Errors != s.Counters["unreadable"] || s.Dropped > 0 {
			c.t.Errorf("%s failed on %d items, and dropped %d", stage, s.Errors, s.Dropped)
		}
	}
	c.mustSay(map[string]string{"/good/0": "crawl: fetched", "/good/299": "crawl: fetched"})
	return report
}
