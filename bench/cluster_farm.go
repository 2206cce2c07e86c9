package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/webrace/webrace/storage/cluster"
)

// farm is sites on loopback, each at an address of its own, which lead to each other. All of it is reached from the
// first page of the first site.
type farm struct {
	hosts []string // with the port that all have
	pages int      // of a site
	delay time.Duration
	words []string

	mu    sync.Mutex
	asked []request

	server *http.Server
}

// request is what a farm was asked for, beside robots.txt.
type request struct {
	url string
	at  time.Time
}

// Of a page, so many links lead to the same site, and so many to others.
const linksAtHome, linksAbroad = 4, 2

// startFarm serves so many sites. Their addresses are such that each of the partitions has as many: what a cluster
// takes from unequal shares is not what is measured.
func startFarm(partitions, hosts, pages int, delay time.Duration) (*farm, error) {
	f := &farm{pages: pages, delay: delay, words: makeWords(rand.New(rand.NewPCG(1, 2)))}
	f.server = &http.Server{Handler: f}
	port := ""
	of := make(map[int]int) // partitions, and how many hosts each has
	for n := 2; len(f.hosts) < hosts; n++ {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.%d.%d:%s", n/250, 2+n%250, port))
		if err != nil {
			f.stop()
			return nil, err
		}
		host := listener.Addr().String()
		p := cluster.PartitionOf(host, partitions)
		if of[p]++; of[p] > (hosts+partitions-1)/partitions {
			listener.Close()
			continue
		}
		if port == "" {
			_, port, _ = net.SplitHostPort(host) // of a listener
		}
		f.hosts = append(f.hosts, host)
		go func() { _ = f.server.Serve(listener) }() // until it is stopped
	}
	return f, nil
}

func (f *farm) stop() { _ = f.server.Close() }

func (f *farm) start() string { return "http://" + f.hosts[0] + farmPath(0) }

func farmPath(page int) string { return fmt.Sprintf("/page%d.html", page) }

// all is how many pages there are.
func (f *farm) all() int { return len(f.hosts) * f.pages }

// asks returns how many requests there were since the last call of requests.
func (f *farm) asks() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.asked)
}

// requests returns what was asked for since the last call.
func (f *farm) requests() []request {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := f.asked
	f.asked = nil
	return asked
}

func (f *farm) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" {
		http.NotFound(w, r)
		return
	}
	f.mu.Lock()
	f.asked = append(f.asked, request{"http://" + r.Host + r.URL.Path, time.Now()})
	f.mu.Unlock()
	if err := sleep(r.Context(), f.delay); err != nil {
		return
	}
	page, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/page"), ".html"))
	if err != nil || page < 0 || page >= f.pages {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, f.page(r.Host, page)) // a client that went away was asked for it all the same
}

func sleep(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// page is the same each time. Each leads to two that nothing else needs to lead to; the first one of all leads to all
// sites.
func (f *farm) page(host string, n int) string {
	var b strings.Builder
	random := rand.New(rand.NewPCG(uint64(n), uint64(len(host))+hashOf(host)))
	fmt.Fprintf(&b, "<!DOCTYPE html><html lang=en><head><title>Page %d of %s</title></head><body><p>", n, host)
	if n%10 == 0 {
		b.WriteString("The regatta begins on the river. ")
	}
	for range 300 {
		b.WriteString(f.words[int(random.ExpFloat64()*100)%len(f.words)] + " ")
	}
	fmt.Fprintf(&b, "%d</p>", random.Uint64())
	link := func(host string, page int) {
		fmt.Fprintf(&b, "<a href=\"%s\">more</a>\n", (&url.URL{Scheme: "http", Host: host, Path: farmPath(page)}).String())
	}
	for i := range linksAtHome {
		if next := 2*n + 1 + i; i < 2 && next < f.pages {
			link(host, next)
		} else {
			link(host, random.IntN(f.pages))
		}
	}
	for range linksAbroad {
		link(f.hosts[random.IntN(len(f.hosts))], random.IntN(f.pages))
	}
	if n == 0 && host == f.hosts[0] {
		for _, other := range f.hosts {
			link(other, 0)
		}
	}
	return b.String() + "</body></html>\n"
}

func hashOf(text string) (h uint64) {
	for _, c := range text {
		h = h*31 + uint64(c)
	}
	return h
}
