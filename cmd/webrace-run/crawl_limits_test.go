package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// crawls is the command that crawls the site from its start to all levels, with further arguments.
func (w *world) crawls(more ...string) []string {
	return append([]string{"crawl", w.URL + "/", "--depth", "0", "--data", w.data, "--set", "fetch.allow_networks=loopback"}, more...)
}

// chains makes a site of n pages in five chains, with some addresses on the way that give no document.
func (w *world) chains(n int) {
	w.page("/", "start", "/0", "/1", "/2", "/3", "/4", "/missing")
	for i := range n - 1 {
		w.page(fmt.Sprintf("/%d", i), strings.Repeat("tea ", 100), fmt.Sprintf("/%d", i+5), fmt.Sprintf("/to/%d", i+5))
		w.redirect(fmt.Sprintf("/to/%d", i), fmt.Sprintf("/%d", i))
	}
}

// documents counts the requests that brought one.
func documentsOf(requests []string) (n int) {
	for _, r := range requests {
		if strings.HasPrefix(r, "200 ") {
			n++
		}
	}
	return n
}

func TestCrawlLimits(t *testing.T) {
	t.Parallel()
	const pages = 30
	t.Run("pages", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.chains(pages)
		file := filepath.Join(t.TempDir(), "report.json")
		for left := pages; left > 0; left -= 12 { // the next run goes on from there
			p := startCommand(t, w.crawls("--pages", "12", "--report", file)...)
			p.mustExit(0)
			if got := documentsOf(w.requests()); got != min(12, left) {
				t.Errorf("with %d pages left, %d were fetched:\n%s", left, got, p.said())
			}
			var report runReport
			readJSON(t, file, &report)
			if left > 12 {
				mustSay(t, p.said(), "ended: 12 documents", "frontier.run_pages", "left for the next run")
			}
			if (left > 12) != (report.Deferred > 0) || (left >= 12) != (report.Ended != "") {
				t.Errorf("with %d pages left: %+v", left, report)
			}
		}
	})
	t.Run("bytes", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.chains(pages)
		p := startCommand(t, w.crawls("--bytes", "1KB", "--set", "frontier.leases=2")...)
		p.mustExit(0)
		mustSay(t, p.said(), "ended: ", "frontier.run_bytes", "left for the next run")
		if got := documentsOf(w.requests()); got < 3 || got > 6 { // 400 bytes each, and two in flight
			t.Errorf("%d pages were fetched", got)
		}
	})
	t.Run("time", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		const long = 20_000
		w.page("/", "/0")
		for i := range long {
			w.page(fmt.Sprintf("/%d", i), "tea", fmt.Sprintf("/%d", i+1))
		}
		p := startCommand(t, w.crawls("--time", "1s", "--set", "fetch.delay_admitted=true", "--set", "fetch.delay=1ms")...)
		p.mustExit(0)
		mustSay(t, p.said(), "ended: 1s", "frontier.run_time")
		if got := documentsOf(w.requests()); got >= long {
			t.Errorf("all %d pages were fetched", got)
		}
	})
	t.Run("wrong", func(t *testing.T) {
		t.Parallel()
		for _, wrong := range [][2]string{{"--pages", "0"}, {"--pages", "-1"}, {"--time", "soon"}, {"--time", "0s"}, {"--bytes", "much"}, {"--bytes", "0"}} {
			p := startCommand(t, "crawl", "http://a.example/", wrong[0], wrong[1])
			p.mustExit(2)
			mustSay(t, p.said(), wrong[0])
		}
	})
}
