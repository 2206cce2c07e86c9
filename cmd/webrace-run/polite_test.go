//go:build unix

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/xmlschema"
)

// politeSite is a server whose record alone tells how polite its crawler is. It has a start page that links to
// all others.
type politeSite struct {
	*httptest.Server
	pages  int
	robots string
	takes  time.Duration // to answer for a page

	mu      sync.Mutex
	arrived int // requests for pages
	killAt  map[int]bool
	crawler *command
	record  []*seen
	open    requestsOpen
}

// requestsOpen counts requests that are being answered. Unlike a WaitGroup, it minds nothing about one that comes
// while the test waits, as those of a killed crawler may.
type requestsOpen struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed when n is 0; nil until the test waits
}

func (o *requestsOpen) Add(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n += n; o.n == 0 && o.none != nil {
		close(o.none)
		o.none = nil
	}
}

func (o *requestsOpen) Done() { o.Add(-1) }

// Wait returns when no request is open.
func (o *requestsOpen) Wait() {
	o.mu.Lock()
	if o.n == 0 {
		o.mu.Unlock()
		return
	}
	if o.none == nil {
		o.none = make(chan struct{})
	}
	none := o.none
	o.mu.Unlock()
	<-none
}

// seen is a request as the server saw it.
type seen struct {
	path           string
	arrived, ended time.Time
	cut            bool // its crawler was gone before it was answered
}

func newPoliteSite(t *testing.T, pages int, robots string, takes time.Duration, killAt ...int) *politeSite {
	t.Helper()
	s := &politeSite{pages: pages, robots: robots, takes: takes, killAt: make(map[int]bool)}
	for _, n := range killAt {
		s.killAt[n] = true
	}
	s.Server = httptest.NewUnstartedServer(s)
	t.Cleanup(func() { s.Close() })
	return s
}

// serving starts the server, with another handler than its own if there is one.
func (s *politeSite) serving(h http.HandlerFunc) *politeSite {
	if h != nil {
		s.Config.Handler = h
	}
	s.Start()
	return s
}

func (s *politeSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.open.Add(1)
	defer s.open.Done()
	v, kill := s.begin(r.URL.Path)
	defer s.end(v)
	if kill {
		<-r.Context().Done()
		v.cut = true
		return
	}
	if r.URL.Path == "/robots.txt" {
		fmt.Fprint(w, s.robots)
		return
	}
	select {
	case <-time.After(s.takes):
	case <-r.Context().Done():
		v.cut = true
		return
	}
	var links []string
	for i := 1; i < s.pages && r.URL.Path == "/"; i++ {
		links = append(links, fmt.Sprintf("/%d", i))
	}
	serveDocument(w, r, document(links...))
}

// begin notes that a request arrived, and kills its crawler if it is that one's turn.
func (s *politeSite) begin(path string) (v *seen, kill bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v = &seen{path: path, arrived: time.Now()}
	s.record = append(s.record, v)
	if path != "/robots.txt" {
		s.arrived++
		kill = s.killAt[s.arrived]
	}
	if kill {
		_ = s.crawler.Process.Kill()
	}
	return v, kill
}

func (s *politeSite) end(v *seen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v.ended = time.Now()
}

// crawl runs the command until it comes to its end, however often it is killed on the way, and returns how
// often that was.
func (s *politeSite) crawl(t *testing.T, urds []*xmlschema.URD, set ...string) (kills int) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "urds.xml")
	writeFile(t, file, string(xmlschema.URDs(urds).Canonical()))
	args := []string{"webrace", "--urds", file, "--data", filepath.Join(dir, "data"), "--config", "../../pipelines.toml",
		"--set", "fetch.allow_networks=loopback"}
	for _, option := range set {
		args = append(args, "--set", option)
	}
	for {
		s.mu.Lock()
		s.crawler = startCommand(t, args...)
		s.mu.Unlock()
		killed := s.crawler.isKilled()
		s.open.Wait()
		if !killed {
			return kills
		}
		kills++
	}
}

// mustBeWhole wants every page answered for, and returns the record.
func (s *politeSite) mustBeWhole(t *testing.T) []*seen {
	t.Helper()
	answered := make(map[string]bool)
	for _, v := range s.record {
		answered[v.path] = answered[v.path] || !v.cut
	}
	delete(answered, "/robots.txt")
	if len(answered) != s.pages {
		t.Errorf("%d pages were asked for, want %d", len(answered), s.pages)
	}
	for path, whole := range answered {
		if !whole {
			t.Errorf("%s was never answered", path)
		}
	}
	return s.record
}

func start(url string) []*xmlschema.URD {
	u := xmlschema.NewURD("ann", url+"/")
	u.ID, u.Depth = "ann", 100
	return these(u)
}

// mustRest wants each request to come no sooner after the end of each answer than its pause demands.
func mustRest(t *testing.T, record []*seen, pause func(*seen) time.Duration) {
	t.Helper()
	for i, next := range record {
		for _, v := range record[:i] {
			if got, want := next.arrived.Sub(v.ended), pause(v); !v.cut && got < want {
				t.Errorf("%s was asked for %v after the end of the answer for %s, want %v", next.path, got, v.path, want)
			}
		}
	}
}

func mostInFlight(record []*seen) (most int) {
	for _, v := range record {
		n := 0
		for _, other := range record {
			if !other.arrived.After(v.arrived) && other.ended.After(v.arrived) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// What a host may expect holds by its own record, also if the crawler is killed while requests are out, and
// started again.
func TestPolitenessByTheRecordOfTheServer(t *testing.T) {
	t.Parallel()
	const polite = "fetch.delay_admitted=true"
	constant := func(d time.Duration) func(*seen) time.Duration { return func(*seen) time.Duration { return d } }
	for name, c := range map[string]struct {
		robots   string
		takes    time.Duration
		set      []string
		inFlight int
		pause    func(*seen) time.Duration
	}{
		"delay": {
			set: []string{polite, "fetch.delay=250ms"}, inFlight: 1, pause: constant(250 * time.Millisecond),
		},
		"adaptive delay": {
			takes: 60 * time.Millisecond, set: []string{polite, "fetch.delay=10ms", "fetch.adaptive_delay=3"}, inFlight: 1,
			pause: func(v *seen) time.Duration { return 3 * v.ended.Sub(v.arrived) },
		},
		"crawl delay": {
			robots: "User-agent: *\nCrawl-delay: 0.3\n", inFlight: 1, pause: constant(300 * time.Millisecond),
		},
		"crawl delay with more at once": {
			robots: "User-agent: *\nCrawl-delay: 0.3\n", set: []string{polite, "fetch.per_host=3", "fetch.delay=10ms"}, inFlight: 1, pause: constant(300 * time.Millisecond),
		},
		"in flight": {
			takes: 50 * time.Millisecond, set: []string{polite, "fetch.delay=1ms", "fetch.adaptive_delay=0", "fetch.per_host=3"}, inFlight: 3,
		},
	} {
		for _, killAt := range [][]int{nil, {2, 5}} {
			t.Run(fmt.Sprintf("%s with %d kills", name, len(killAt)), func(t *testing.T) {
				t.Parallel()
				s := newPoliteSite(t, 8, c.robots, c.takes, killAt...).serving(nil)
				if kills := s.crawl(t, start(s.URL), c.set...); kills != len(killAt) {
					t.Errorf("killed %d times, want %d", kills, len(killAt))
				}
				record := s.mustBeWhole(t)
				if n := mostInFlight(record); n > c.inFlight {
					t.Errorf("%d requests in flight, want %d at most", n, c.inFlight)
				}
				if c.pause != nil {
					mustRest(t, record, c.pause)
				}
			})
		}
	}
}

// A host that asks to be left alone is, by its own record, also if the crawler is killed meanwhile.
func TestRetryAfterIsKeptAcrossAKill(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"seconds": http.StatusServiceUnavailable, "date": http.StatusTooManyRequests} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var refusedUntil time.Time
			refused := make(chan struct{})
			busy := newPoliteSite(t, 4, "", 0)
			var once sync.Once
			busy.serving(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/2" {
					once.Do(func() {
						value, until := "2", time.Now().Add(2*time.Second)
						if name == "date" {
							value = until.Add(time.Second).UTC().Format(http.TimeFormat)
							until, _ = http.ParseTime(value)
						}
						w.Header().Set("Retry-After", value)
						w.WriteHeader(status)
						refusedUntil = until
						close(refused)
					})
					if w.Header().Get("Retry-After") != "" {
						return
					}
				}
				busy.ServeHTTP(w, r)
			})
			other := newLongWay(t, 40, refused)
			kills := other.crawl(t, append(start(busy.URL), startOf("bob", other.URL)...))
			if kills != 1 {
				t.Errorf("killed %d times, want once", kills)
			}
			<-refused
			after := 0
			for _, v := range busy.mustBeWhole(t) {
				if v.arrived.After(other.killed) {
					after++
					if v.arrived.Before(refusedUntil) {
						t.Errorf("%s was asked for %v too early", v.path, refusedUntil.Sub(v.arrived))
					}
				}
			}
			if after == 0 {
				t.Error("nothing was asked for after the kill")
			}
			other.mustBeWhole(t)
		})
	}
}

// longWay is a site each of whose pages leads to the next. It waits in the middle until another host refused,
// and some pages later kills the crawler: each of them is asked for only once what came of the one before is
// durable, and so is the refusal by then.
type longWay struct {
	*politeSite
	refused <-chan struct{}
	killed  time.Time
}

func newLongWay(t *testing.T, pages int, refused <-chan struct{}) *longWay {
	c := &longWay{politeSite: newPoliteSite(t, pages, "", 0, 3*pages/4), refused: refused}
	c.serving(func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(strings.Trim(r.URL.Path, "/"))
		switch {
		case r.URL.Path != "/" && err != nil:
			c.ServeHTTP(w, r)
			return
		case n == pages/4:
			select {
			case <-c.refused:
			case <-r.Context().Done():
			}
		}
		c.open.Add(1)
		defer c.open.Done()
		v, kill := c.begin(r.URL.Path)
		defer c.end(v)
		if kill {
			c.killed = v.arrived
			<-r.Context().Done()
			v.cut = true
			return
		}
		if n++; n < pages {
			serveDocument(w, r, document(fmt.Sprintf("/%d", n)))
			return
		}
		serveDocument(w, r, document("the end"))
	})
	return c
}

func startOf(owner, url string) []*xmlschema.URD {
	urds := start(url)
	urds[0].ID, urds[0].Owner = owner, owner
	return urds
}
