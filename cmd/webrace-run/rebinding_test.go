package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestANameThatMovesToAForbiddenAddressIsNotFollowed crawls a host whose name stands for an admitted address
// until a page was served, and for a forbidden one from then on (DNS rebinding). Nothing listens to the crawler
// there: requests after the change are refused, and the pages of another host are all fetched.
func TestANameThatMovesToAForbiddenAddressIsNotFollowed(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]string{"loopback": "127.0.0.2", "metadata": "169.254.169.254"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mustNotFollow(t, netip.MustParseAddr(target))
		})
	}
}

func mustNotFollow(t *testing.T, target netip.Addr) {
	const good, moving = 20, 20
	r := newRebinding(t, target, good, moving)
	dir := t.TempDir()
	report := filepath.Join(dir, "report.json")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args := []string{"crawl", "http://good.test:" + r.port + "/", "--data", filepath.Join(dir, "data"), "--report", report, "--depth", "0", "--scope", "any"}
	for _, option := range []string{
		"fetch.allow_networks=127.0.0.1", "fetch.dns_servers=" + r.names, "fetch.dns_min_ttl=0s", "frontier.attempts=1",
	} {
		args = append(args, "--set", option)
	}
	if output, err := hostileCommand(ctx, args).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if n := r.reached.Load(); n != 0 {
		t.Errorf("%d connections to %s", n, target)
	}
	for i := range good {
		if n := r.asked(fmt.Sprintf("good.test:%s/good/%d", r.port, i)); n != 1 {
			t.Errorf("page %d of the good host was asked for %d times", i, n)
		}
	}
	var got runReport
	readJSON(t, report, &got)
	// The first page of the host that moves was fetched, and leads to the others.
	if n := got.Stages["fetch"].Counters["address_refused"]; n != moving || got.Pages != good+2 || got.Errors != moving {
		t.Errorf("%d requests were refused, %d pages, %d errors; want %d, %d and %d", n, got.Pages, got.Errors, moving, good+2, moving)
	}
}

// rebinding is a web server with two names, of which one moves away.
type rebinding struct {
	port, names string
	moved       atomic.Bool
	reached     atomic.Int64 // connections to where it moves

	mu       sync.Mutex
	requests map[string]int // by host and path
}

func newRebinding(t *testing.T, target netip.Addr, good, moving int) *rebinding {
	t.Helper()
	r := &rebinding{requests: make(map[string]int)}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { r.serve(w, q, good, moving) }))
	_, r.port, _ = net.SplitHostPort(server.Listener.Addr().String())
	server.Start() // whose port this was may still call
	t.Cleanup(server.Close)
	r.names = serveNames(t, func(name string) netip.Addr {
		switch {
		case name == "good.test" || name == "moving.test" && !r.moved.Load():
			return netip.MustParseAddr("127.0.0.1")
		case name == "moving.test":
			return target
		}
		return netip.Addr{}
	})
	if target.IsLoopback() {
		r.listenAt(t, net.JoinHostPort(target.String(), r.port))
	}
	return r
}

// listenAt counts who comes to where the name moves.
func (r *rebinding) listenAt(t *testing.T, address string) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("this system has no second address of loopback: %v", err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			r.reached.Add(1)
			conn.Close()
		}
	}()
}

// serve lets the name move with the first page. That connection is closed, since one that stays open stays
// at the address that was checked.
func (r *rebinding) serve(w http.ResponseWriter, q *http.Request, good, moving int) {
	if q.URL.Path == "/robots.txt" {
		w.Header().Set("Connection", "close")
		http.NotFound(w, q)
		return
	}
	r.mu.Lock()
	r.requests[q.Host+q.URL.Path]++
	r.mu.Unlock()
	var links strings.Builder
	switch {
	case q.URL.Path != "/":
	case strings.HasPrefix(q.Host, "moving."):
		r.moved.Store(true)
		w.Header().Set("Connection", "close")
		for i := range moving {
			links.WriteString(`<a href="/secret/` + strconv.Itoa(i) + `">secret</a> `)
		}
	default:
		links.WriteString(`<a href="http://moving.test:` + r.port + `/">moving</a> `)
		for i := range good {
			links.WriteString(`<a href="/good/` + strconv.Itoa(i) + `">good</a> `)
		}
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<p>%s %s %s", q.Host, q.URL.Path, links.String())
}

func (r *rebinding) asked(url string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests[url]
}
