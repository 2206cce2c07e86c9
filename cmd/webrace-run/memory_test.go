package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var memoryFull = flag.Bool("memory.full", false, "let TestMemory crawl and index 120 large pages and 10,000 small ones, and keep 100,000 items: it takes minutes")

// memoryLoad is what TestMemory makes a process deal with.
type memoryLoad struct {
	large, small, items int
}

const (
	largePage   = 7_900_000 // bytes: fetch.max_body is 8 MB
	largeRecord = 1500
)

// TestMemory crawls pages that together are many times the share of what flows, beside a stage that keeps items,
// and with one that is slow, and indexes them.
func TestMemory(t *testing.T) {
	load, limit := memoryLoad{large: 24, small: 200, items: 60_000}, 5*time.Minute
	switch {
	case *memoryFull:
		load, limit = memoryLoad{large: 120, small: 10_000, items: 100_000}, time.Hour
	case testing.Short():
		t.Skip("tens of megabytes to index: not in short mode")
	}
	if runtime.GOOS != "linux" {
		t.Skip("reads the peak of a process from /proc")
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not here")
	}
	const budget = 256 << 20
	dir := t.TempDir()
	server := httptest.NewServer(load)
	t.Cleanup(server.Close)
	load.configure(t, dir, server.URL)
	report := filepath.Join(dir, "report.json")
	p := newCommand(t, "run", "site", "records", "search", "--report", report)
	p.Dir = dir
	p.begin()
	peak := p.peak(limit)
	t.Logf("%d pages of %d bytes, %d small ones, %d records: peak RSS %d MiB with a budget of %d", load.large, largePage, load.small, load.items, peak>>20, budget>>20)
	if peak > budget*14/10 {
		t.Errorf("peak RSS %d MiB, more than 1.4 times the budget", peak>>20)
	}
	load.mustBeThere(t, report)
}

// configure writes the configuration, the program and the records.
func (l memoryLoad) configure(t *testing.T, dir, site string) {
	t.Helper()
	scaffold := newCommand(t, "new-stage", "--kind", "exec-python", "hold")
	scaffold.Dir = dir
	if err := scaffold.Run(); err != nil {
		t.Fatalf("%v\n%s", err, scaffold.said())
	}
	record := fmt.Sprintf(`{"text": "%s"}`+"\n", strings.Repeat("x", largeRecord))
	for name, text := range map[string]string{
		"records.jsonl": strings.Repeat(record, l.items),
		"hold/hold.py": `import time
from webrace_stage import stage

@stage(takes="document", gives="document", fields=["url"])
def hold(item, options):
    if "large" in item.url:
        time.sleep(0.1)
    yield item.keep()

if __name__ == "__main__":
    hold.run()
`,
		"pipelines.toml": fmt.Sprintf(`version = 1
data = "data"
memory = "256MiB"
[defaults.fetch]
allow_networks = ["loopback"]
[pipeline.site]
flow = ["lines > frontier > fetch > normalize > cache > hold > drop", "normalize.links, cache.links, fetch.redirects > frontier"]
[pipeline.site.stage.lines]
urls = ["%s/"]
depth = 3
[pipeline.site.stage.hold]
type = "exec"
command = ["python3", "hold/hold.py"]
ready = "5m"
takes = ["document"]
gives = [{ kind = "document" }]
[pipeline.search]
flow = ["objects > index"]
[pipeline.records]
flow = ["read-file > batch > drop"]
[pipeline.records.stage.read-file]
paths = ["records.jsonl"]
format = "jsonl"
[pipeline.records.stage.batch]
count = 100000
max_items = 100000
period = "10m"
`, site),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// linksOnAPage is how many links the pages have that lead to the others.
const linksOnAPage = 1000

func (l memoryLoad) lists() int { return (l.large + l.small + linksOnAPage - 1) / linksOnAPage }

// ServeHTTP serves the site: a page that links to lists, which link to the pages.
func (l memoryLoad) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	kind, number, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	n, _ := strconv.Atoi(number)
	switch kind {
	case "":
		for i := range l.lists() {
			fmt.Fprintf(w, `<a href="/list/%d">list</a> `, i)
		}
	case "list":
		for i := n * linksOnAPage; i < min((n+1)*linksOnAPage, l.large+l.small); i++ {
			if i < l.large {
				fmt.Fprintf(w, `<a href="/large/%d">page</a> `, i)
			} else {
				fmt.Fprintf(w, `<a href="/small/%d">page</a> `, i)
			}
		}
	case "large":
		writeWords(w, n, largePage)
	case "small":
		writeWords(w, n, 4000)
	default:
		http.NotFound(w, r)
	}
}

// writeWords writes a page of about so many bytes.
func writeWords(w io.Writer, seed, size int) {
	random := rand.New(rand.NewPCG(uint64(seed), 1))
	fmt.Fprintf(w, "<title>page %d</title>", seed)
	var paragraph []byte
	for written := 0; written < size-1000; written += len(paragraph) {
		paragraph = append(paragraph[:0], "<p>"...)
		for range 60 {
			paragraph = strconv.AppendInt(append(paragraph, " word"...), int64(random.ExpFloat64()*2000), 36)
		}
		if _, err := w.Write(append(paragraph, '\n')); err != nil {
			return
		}
	}
}

// peak waits for the end of the process, and returns its largest resident set. That of its resource usage would be the
// parent's if that was larger.
func (p *command) peak(limit time.Duration) (bytes int) {
	p.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- p.Wait() }()
	look, late := time.NewTicker(20*time.Millisecond), time.After(limit)
	defer look.Stop()
	for {
		select {
		case err := <-ended:
			if err != nil {
				p.t.Fatalf("%v\n%s", err, p.said())
			}
			return bytes
		case <-late:
			_ = p.Process.Signal(syscall.SIGQUIT) // shows what it hangs in
			<-ended
			p.t.Fatalf("it has not ended after %v:\n%s", limit, p.said())
		case <-look.C:
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
			_, rest, _ := strings.Cut(string(status), "VmHWM:")
			var kib int
			if _, err := fmt.Sscan(rest, &kib); err == nil {
				bytes = kib << 10
			}
		}
	}
}

func (l memoryLoad) mustBeThere(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	var reports []runReport
	if err == nil {
		err = json.Unmarshal(text, &reports)
	}
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]int64)
	for _, r := range reports {
		got["pages"] += r.Pages
		got["errors"] += r.Errors
		got["indexed"] += r.Stages["index"].Counters["indexed"]
		got["held"] += r.Stages["hold"].Out
		got["kept"] += r.Stages["batch"].In
	}
	pages := int64(1 + l.lists() + l.large + l.small)
	for what, want := range map[string]int64{"pages": pages, "indexed": pages, "held": pages, "kept": int64(l.items), "errors": 0} {
		if got[what] != want {
			t.Errorf("%s: %d, want %d", what, got[what], want)
		}
	}
}
