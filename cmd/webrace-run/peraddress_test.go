package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// arrival is a request as its server saw it: when it came, and when it was answered.
type arrival struct {
	host       string
	came, left time.Time
}

// hosting is a machine with many names at one address, and beside it machines with one each.
type hosting struct {
	shared, others []string // starts, one a name

	mu       sync.Mutex
	requests []arrival
}

const (
	namesOfOne  = 20
	leftAlone   = 50 * time.Millisecond // each host, after an answer
	ofOneServer = ".shared.test"
)

func newHosting(t *testing.T) (h *hosting, names string) {
	t.Helper()
	h = &hosting{}
	server := httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	addresses := make(map[string]netip.Addr)
	for i := range namesOfOne {
		shared, other := fmt.Sprintf("n%d%s", i, ofOneServer), fmt.Sprintf("n%d.other.test", i)
		addresses[shared], addresses[other] = netip.MustParseAddr("127.0.0.1"), netip.AddrFrom4([4]byte{127, 0, 3, byte(i + 1)})
		listener, err := net.Listen("tcp", net.JoinHostPort(addresses[other].String(), port))
		if err != nil {
			t.Skipf("this system has no further addresses of loopback: %v", err)
		}
		alone := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(h.serve)}}
		alone.Start()
		t.Cleanup(alone.Close)
		h.shared, h.others = append(h.shared, "http://"+shared+":"+port+"/"), append(h.others, "http://"+other+":"+port+"/")
	}
	return h, serveNames(t, func(name string) netip.Addr { return addresses[name] })
}

func (h *hosting) serve(w http.ResponseWriter, r *http.Request) {
	came := time.Now()
	if r.URL.Path == "/robots.txt" {
		fmt.Fprint(w, "User-agent: *\nAllow: /\n")
	} else {
		fmt.Fprint(w, "<title>page</title><p>tea")
	}
	w.(http.Flusher).Flush()
	h.mu.Lock()
	defer h.mu.Unlock()
	name, _, _ := strings.Cut(r.Host, ":")
	h.requests = append(h.requests, arrival{name, came, time.Now()})
}

// crawl asks for all starts, and returns the requests in the order in which they came.
func (h *hosting) crawl(t *testing.T, names string, more ...string) []arrival {
	t.Helper()
	args := slices.Concat([]string{"crawl", "--depth", "1", "--data", t.TempDir()}, h.shared, h.others)
	for _, option := range []string{
		"fetch.allow_networks=loopback", "fetch.delay_admitted=true", "fetch.delay=" + leftAlone.String(), "fetch.adaptive_delay=0", "fetch.dns_servers=" + names, "fetch.workers=2",
	} {
		args = append(args, "--set", option)
	}
	h.requests = nil
	startCommand(t, append(args, more...)...).mustExit(0)
	slices.SortFunc(h.requests, func(a, b arrival) int { return a.came.Compare(b.came) })
	return h.requests
}

// together returns how often a request came to the names of one address before the one before it was answered and
// its pause was over, and the last place at which a name with an address of its own was asked, counted in requests
// to the others.
func together(requests []arrival) (tooSoon, ahead int) {
	var last time.Time
	shared := 0
	for _, r := range requests {
		if !strings.HasSuffix(r.host, ofOneServer) {
			ahead = shared
			continue
		}
		if shared++; shared > 1 && r.came.Sub(last) < leftAlone {
			tooSoon++
		}
		last = r.left
	}
	return tooSoon, ahead
}

// TestNamesOfOneAddressShareItsTurn: as its server sees it, 20 names are asked as one host is, one request at a time
// and a pause after each, while those that have addresses of their own do not wait for them, with two workers for
// all.
func TestNamesOfOneAddressShareItsTurn(t *testing.T) {
	t.Parallel()
	h, names := newHosting(t)
	requests := h.crawl(t, names)
	tooSoon, ahead := together(requests)
	if len(requests) != 4*namesOfOne { // each its robots.txt, and a page
		t.Errorf("asked %d times, want %d", len(requests), 4*namesOfOne)
	}
	if tooSoon > 0 {
		t.Errorf("%d requests came to the address before the pause after the one before was over", tooSoon)
	}
	if ahead > namesOfOne {
		t.Errorf("the last of the others came after %d of %d requests to the address", ahead, 2*namesOfOne)
	}
	if tooSoon, _ := together(h.crawl(t, names, "--set", "fetch.per_address=false")); tooSoon == 0 {
		t.Error("without per_address all the same are asked one by one")
	}
}
