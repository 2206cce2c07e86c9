package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// hijacked gives a handler the connection itself.
func hijacked(serve func(net.Conn)) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		serve(conn)
	}
}

// forEver writes until the other side has had enough.
func forEver(w io.Writer, text string) {
	for {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
	}
}

// hostile are pages of servers that mean no good, and what is said of each.
var hostile = map[string]struct {
	serve http.HandlerFunc
	said  string
}{
	"/silent": {hijacked(func(c net.Conn) { io.Copy(io.Discard, c) }), "timeout"},
	"/endless-header": {hijacked(func(c net.Conn) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\n")
		forEver(c, "X-More: and more\r\n")
	}), "header"},
	"/drip": {hijacked(func(c net.Conn) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
		for {
			if _, err := io.WriteString(c, "x"); err != nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}), "timeout"},
	"/lying-length": {hijacked(func(c net.Conn) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\nhello")
	}), "unexpected EOF"},
	"/no-http":  {hijacked(func(c net.Conn) { io.WriteString(c, "SSH-2.0-OpenSSH_9.2\r\n") }), "HTTP"},
	"/hangs-up": {hijacked(func(net.Conn) {}), "EOF"},
	"/no-gzip": {func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Encoding", "gzip")
		io.WriteString(rw, "this is no gzip")
	}, "gzip"},
	"/nowhere": {func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusFound) }, "redirect without a location"},
}

// oversized are pages of which the beginning is kept.
var oversized = map[string]http.HandlerFunc{
	"/endless-body": func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		forEver(rw, "<p>"+strings.Repeat("more and more ", 100)+"</p>\n")
	},
	"/bomb": func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		rw.Header().Set("Content-Encoding", "gzip")
		rw.Write(bomb())
	},
}

// bomb is 50 MB of nothing, compressed.
var bomb = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(make([]byte, 50<<20))
	z.Close()
	return b.Bytes()
})

func TestHostilePagesCostNoGoodOneAndEachIsListedWithItsReason(t *testing.T) {
	t.Parallel()
	bomb() // takes longer to make than a request may take
	w := newWorld(t)
	const good = 20
	links := []string{"/loop", "/long/0"}
	for i := range good {
		path := fmt.Sprintf("/good/%d", i)
		links = append(links, path)
		w.page(path, fmt.Sprintf("good page %d has tea", i))
	}
	for path, page := range hostile {
		links = append(links, path)
		w.handle(path, page.serve)
	}
	for path, serve := range oversized {
		links = append(links, path)
		w.handle(path, serve)
	}
	w.redirect("/loop", "/loop/2")
	w.redirect("/loop/2", "/loop")
	for i := range 20 {
		w.redirect(fmt.Sprintf("/long/%d", i), fmt.Sprintf("/long/%d", i+1))
	}
	w.page("/", links...)

	report := w.reported(these(w.asks("ann", "/", depth(2), about("tea"))),
		"--set", "fetch.header_timeout=1s", "--set", "fetch.timeout=3s", "--set", "fetch.max_body=100kB",
		"--set", "frontier.attempts=1", "--set", "frontier.redirects=5")
	told := w.news()
	if len(told) != good {
		t.Errorf("told of %d pages, want of all %d good ones: %v", len(told), good, told)
	}
	if want := int64(1 + good + len(oversized)); report.Pages != want {
		t.Errorf("%d pages, want %d", report.Pages, want)
	}
	if report.Errors != int64(len(hostile)) || report.Deferred != 0 {
		t.Errorf("%d errors and %d deferred, want %d and none", report.Errors, report.Deferred, len(hostile))
	}
	for path := range oversized {
		if n := len(w.versions(path)); n != 1 {
			t.Errorf("%d versions of %s, want its beginning", n, path)
		}
	}
	fetch := report.Stages["fetch"].Counters
	if fetch["truncated"] != int64(len(oversized)) {
		t.Errorf("%d pages were cut, want %d", fetch["truncated"], len(oversized))
	}
	if n := report.Stages["frontier"].Counters["refused_redirects"]; n != 1 {
		t.Errorf("%d redirects were refused, want that of the long chain", n)
	}
	failures := w.failures()
	for path, page := range hostile {
		if !strings.Contains(failures[path], page.said) {
			t.Errorf("%s is said to fail by %q, want a word of %q", path, failures[path], page.said)
		}
	}
	if len(failures) != len(hostile) {
		t.Errorf("%d failures are listed, want %d: %v", len(failures), len(hostile), failures)
	}
}

// failures returns the paths that gave no document, and why.
func (w *world) failures() map[string]string {
	w.t.Helper()
	dir := w.open()
	defer dir.Close()
	store, err := dir.Frontier()
	if err != nil {
		w.t.Fatal(err)
	}
	listed, _, err := store.Failures(w.t.Context(), "webrace", 100)
	if err != nil {
		w.t.Fatal(err)
	}
	reasons := make(map[string]string)
	for _, f := range listed {
		reasons[strings.TrimPrefix(f.URL, w.URL)] = f.Visit.Error
	}
	return reasons
}
