//go:build unix

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/xmlschema"
)

// TestDescriptors has clients open 5,000 connections and finish no request, at each address that a process listens on,
// while it may have few files and connections open: it crawls, indexes, answers and takes requests all the same.
func TestDescriptors(t *testing.T) {
	t.Parallel()
	const halfOpen, pages = 5000, 300
	requireDescriptors(t, 2*halfOpen)
	for _, limit := range []int{256, 1024} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			w := newWorld(t)
			links := []string{"starts here"}
			for i := range pages {
				links = append(links, fmt.Sprintf("/page/%d", i))
				w.page(links[i+1], fmt.Sprintf("the ferry number%d", i))
			}
			w.page("/", links...)
			p, hook, query := w.startLimited(limit)
			admin := served.FindStringSubmatch(p.said())[1]
			besiege(t, halfOpen, admin, hook, query)

			file := filepath.Join(t.TempDir(), "urds.xml")
			writeFile(t, file, string(xmlschema.URDs(these(w.asks("ann", "/", depth(2), about("ferry")))).Canonical()))
			if said, err := exec.Command("webrace-store", "--data", w.data, "urd", "import", file).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			for i := range 20 {
				mustAnswer(t, p, hook+"/", "application/json", fmt.Sprintf(`{"n":%d}`, i))
				mustAnswer(t, p, query+"/sparql?query="+url.QueryEscape("ASK {}"), "", "")
				mustAnswer(t, p, admin+"/pipelines", "", "")
			}
			waitFor(t, func() bool {
				said, err := exec.Command("webrace-store", "--data", w.data, "search", "--limit", "1000", "--json", "ferry").CombinedOutput()
				return err == nil && strings.Count(string(said), "/page/") >= pages
			}, p.said)
			p.signal(os.Interrupt)
			p.mustExit(0)
			if said := p.said(); strings.Contains(said, "too many open files") {
				t.Errorf("it says\n%s", said)
			}
			if told := w.acis(); len(told) != pages {
				t.Errorf("%d annotations, want %d", len(told), pages)
			}
		})
	}
}

// startLimited starts pipelines that crawl, index and listen, in a process that may have so many files open; it returns
// where http-in and the SPARQL endpoint answer.
func (w *world) startLimited(limit int) (p *command, hook, query string) {
	w.t.Helper()
	hook, query = testutil.FreeAddress(w.t), testutil.FreeAddress(w.t)
	dir := w.t.TempDir()
	writeFile(w.t, filepath.Join(dir, "pipelines.toml"), readFile(w.t, "../../pipelines.toml")+`
[pipeline.hook]
flow = ["http-in > write-file"]
[pipeline.hook.stage.http-in]
listen = "`+hook+`"
path = "/"
[pipeline.hook.stage.write-file]
path = "`+filepath.Join(dir, "hook.jsonl")+`"
[pipeline.sparql.stage.sparql]
listen = "`+query+`"
`)
	p = newCommand(w.t)
	p.Path, p.Args = "/bin/sh", []string{"sh", "-c", fmt.Sprintf(`ulimit -n %d && exec webrace-run "$@"`, limit), "sh",
		"webrace", "search", "sparql", "hook", "--continuous", "--config", filepath.Join(dir, "pipelines.toml"), "--data", w.data,
		"--admin", "127.0.0.1:0", "--set", "fetch.allow_networks=loopback"}
	p.begin()
	p.waitUntil("admin server at")
	for _, address := range []string{hook, query} {
		waitFor(w.t, func() bool {
			conn, err := net.Dial("tcp", address)
			if err == nil {
				conn.Close()
			}
			return err == nil
		}, p.said)
	}
	return p, "http://" + hook, "http://" + query
}

// besiege opens connections, at each address in turn, on which requests begin and never end.
func besiege(t *testing.T, connections int, urls ...string) {
	t.Helper()
	for i := range connections {
		conn, err := net.Dial("tcp", strings.TrimPrefix(urls[i%len(urls)], "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nX: ") // it may be closed already
	}
}

// mustAnswer asks, by POST where there is a body, on a connection of its own.
func mustAnswer(t *testing.T, p *command, url, mediaType, body string) {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", mediaType)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatalf("%v\n%s", err, p.said())
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s %s, %v\n%s", method, url, answer.Status, text, err, p.said())
	}
}

// requireDescriptors skips a test of this process that needs so many descriptors where it may not have them.
func requireDescriptors(t *testing.T, n int) {
	t.Helper()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur < uint64(n) {
		t.Skipf("this process may have %d files open, and needs %d", limit.Cur, n)
	}
}

// check tells of a limit that is too low, which is not in the way.
func TestCheckTellsOfFewDescriptors(t *testing.T) {
	t.Parallel()
	said, err := exec.Command("/bin/sh", "-c", "ulimit -n 256 && exec webrace-run check search --config ../../pipelines.toml --data "+t.TempDir()).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	mustSay(t, string(said), "lets this process have 256 files and connections open", "ulimit -n 1024")
}
