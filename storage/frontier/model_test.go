package frontier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/testutil"
)

// The oracle keeps in plain maps what the frontier promises.
type oracle struct {
	crawls map[string]*oracleCrawl
	pages  map[string]*oraclePage
}

type oracleCrawl struct {
	webrace.Crawl
	round   int
	began   time.Time
	started bool // in this run
}

type oraclePage struct {
	seen    map[string]oracleSeen // by crawl
	waiting map[string]int        // by crawl: the distance that waits to be served
	visited time.Time
	tries   int
	from    []string // the pages that led here since it waits
}

type oracleSeen struct{ round, distance int }

func (o *oracle) page(url string) *oraclePage {
	p := o.pages[url]
	if p == nil {
		p = &oraclePage{seen: map[string]oracleSeen{}, waiting: map[string]int{}}
		o.pages[url] = p
	}
	return p
}

func (o *oracle) accept(url, crawl string, distance int) bool {
	p, c := o.page(url), o.crawls[crawl]
	if s, ok := p.seen[crawl]; ok && s.round == c.round && s.distance <= distance {
		return false
	}
	p.seen[crawl] = oracleSeen{c.round, distance}
	p.waiting[crawl] = distance
	return true
}

func (o *oracle) unfinished(crawl string) bool {
	for _, p := range o.pages {
		if _, ok := p.waiting[crawl]; ok {
			return true
		}
	}
	return false
}

func (o *oracle) due() (urls []string) {
	for url, p := range o.pages {
		for crawl := range p.waiting {
			if o.crawls[crawl].started {
				urls = append(urls, url)
				break
			}
		}
	}
	return urls
}

// waited counts what the crawls of this run wait for.
func (o *oracle) waited() (n int) {
	for _, p := range o.pages {
		for crawl := range p.waiting {
			if o.crawls[crawl].started {
				n++
			}
		}
	}
	return n
}

// run drives the frontier and the oracle through the same random steps.
type run struct {
	*fixture
	rng    *rand.Rand
	model  oracle
	leases map[string]*Lease
	led    map[string]bool // the leases out that have offered links
}

var modelCrawls = []webrace.Crawl{
	{ID: "a", Start: "http://h0/", Scope: webrace.ScopeAny, Urgency: 1},
	{ID: "b", Start: "http://h0/", Scope: webrace.ScopeAny, Levels: 3, Urgency: 3},
	{ID: "c", Start: "http://h1/", Scope: webrace.ScopeHost, Urgency: 2},
}

func (r *run) start() {
	c := modelCrawls[r.rng.IntN(len(modelCrawls))]
	m := r.model.crawls[c.ID]
	if m == nil {
		m = &oracleCrawl{Crawl: c}
		r.model.crawls[c.ID] = m
	}
	m.started = true
	resumed := r.model.unfinished(c.ID)
	newRound := r.rng.IntN(2) == 0
	got := r.fixture.start(c, newRound)
	if !resumed && newRound {
		m.round++
		m.began = got.Started
		r.model.accept(c.Start, c.ID, 0)
	}
	if got.Resumed != resumed || got.Number != m.round {
		r.t.Fatalf("start %s: round %+v, want number %d, resumed %v", c.ID, got, m.round, resumed)
	}
}

func (r *run) someURL() string {
	host := r.rng.IntN(6)
	if r.rng.IntN(2) == 0 {
		host = 0
	}
	return fmt.Sprintf("http://h%d/%d", host, r.rng.IntN(12))
}

// offer gives the links of a page that is out.
func (r *run) offer() {
	l := r.someLease()
	if l == nil {
		return
	}
	req := l.Request()
	links := webrace.Links{From: req.URL, Reach: req.Reach, Via: webrace.ViaLink}
	for range 1 + r.rng.IntN(5) {
		if u := r.someURL(); !slices.Contains(links.URLs, u) {
			links.URLs = append(links.URLs, u)
			links.Scores = append(links.Scores, uint8(r.rng.IntN(256)))
		}
	}
	want := Offered{}
	r.led[req.URL] = true
	for _, u := range links.URLs {
		p := r.model.page(u)
		if len(p.waiting) == 0 {
			p.from = nil
		}
		p.from = append(p.from, req.URL)
		accepted, why := false, Reason(0)
		for _, reach := range req.Reach {
			c := r.model.crawls[reach.Crawl]
			d := reach.Distance + 1
			switch {
			case c.Levels != 0 && d >= c.Levels:
				why = max(why, Depth)
			case c.Scope == webrace.ScopeHost && u[:len("http://h1/")] != "http://h1/":
				why = max(why, Scope)
			case r.model.accept(u, reach.Crawl, d):
				accepted = true
			default:
				why = max(why, Repeat)
			}
		}
		if accepted {
			want.Accepted++
		} else {
			want.Refused[why]++
		}
	}
	if got := r.fixture.offer(links); got != want {
		r.t.Fatalf("offer %v of %v: %+v, want %+v", links.URLs, links.Reach, got, want)
	}
}

func (r *run) someLease() *Lease {
	urls := make([]string, 0, len(r.leases))
	for u := range r.leases {
		urls = append(urls, u)
	}
	if len(urls) == 0 {
		return nil
	}
	slices.Sort(urls)
	return r.leases[urls[r.rng.IntN(len(urls))]]
}

func (r *run) take() {
	var free []string
	for _, u := range r.model.due() {
		if r.leases[u] == nil {
			free = append(free, u)
		}
	}
	switch {
	case len(free) == 0:
		r.none()
		return
	case !slices.ContainsFunc(free, r.comesAtOnce):
		return
	}
	l := r.fixture.take()
	r.check(l, free)
	r.leases[l.Request().URL] = l
}

// comesAtOnce reports whether a URL waits for none that leads there and may not have offered it yet, since a crash; nor
// for one that waits so itself.
func (r *run) comesAtOnce(url string) bool { return !r.mayWait(url, map[string]bool{}) }

func (r *run) mayWait(url string, looked map[string]bool) bool {
	if looked[url] {
		return false
	}
	looked[url] = true
	return slices.ContainsFunc(r.model.page(url).from, func(from string) bool {
		if r.leases[from] != nil {
			return !r.led[from]
		}
		return r.mayWait(from, looked)
	})
}

func (r *run) check(l *Lease, free []string) {
	req := l.Request()
	if !slices.Contains(free, req.URL) {
		r.t.Fatalf("took %s, which is leased or not due (due: %v)", req.URL, free)
	}
	p := r.model.page(req.URL)
	if len(req.Reach) != len(p.waiting) {
		r.t.Fatalf("reach of %s is %v, want %v", req.URL, req.Reach, p.waiting)
	}
	for _, reach := range req.Reach {
		if d, ok := p.waiting[reach.Crawl]; !ok || d != reach.Distance {
			r.t.Fatalf("reach of %s is %v, want %v", req.URL, req.Reach, p.waiting)
		}
	}
	if (req.Visit != nil) != (!p.visited.IsZero() || p.tries > 0) {
		r.t.Fatalf("visit of %s is %v, visited: %v, tries: %d", req.URL, req.Visit, p.visited, p.tries)
	}
	stored := false
	for crawl := range p.waiting {
		stored = stored || !p.visited.Before(r.model.crawls[crawl].began)
	}
	r.wantStored(l, stored)
}

func (r *run) done() {
	l := r.someLease()
	if l == nil {
		return
	}
	req := l.Request()
	delete(r.leases, req.URL)
	delete(r.led, req.URL)
	p := r.model.page(req.URL)
	if r.rng.IntN(8) == 0 && p.tries < 2 {
		p.tries++
		r.fixture.finish(l, Outcome{Err: errors.New("reset"), RetryAt: r.now()})
		return
	}
	r.fixture.done(l)
	p.visited = r.now()
	p.tries = 0
	for _, reach := range req.Reach {
		if d, ok := p.waiting[reach.Crawl]; ok && d >= reach.Distance {
			delete(p.waiting, reach.Crawl)
		}
	}
}

// crash loses power; every lease is handed out again.
func (r *run) crash() {
	percent := r.rng.IntN(101)
	cfg := vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: r.rng}
	after := r.fs.CrashClone(cfg)
	r.close()
	r.fs = after
	r.open()
	r.leases, r.led = map[string]*Lease{}, map[string]bool{}
	for _, c := range r.model.crawls {
		c.started = false
	}
}

// What the frontier hands out, accepts and refuses is what its model expects, whatever happens in which
// order, and however often power is lost.
func TestTheFrontierAgreesWithItsModel(t *testing.T) {
	t.Parallel()
	for seed := range testutil.Seeds(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := &run{
				rng:    rand.New(rand.NewPCG(seed, 1)),
				model:  oracle{crawls: map[string]*oracleCrawl{}, pages: map[string]*oraclePage{}},
				leases: map[string]*Lease{},
				led:    map[string]bool{},
			}
			var clock atomic.Int64
			now := func() time.Time { return time.Unix(1e9, clock.Add(int64(time.Microsecond))).UTC() }
			r.fixture = newFixtureAt(t, QueueOptions{Window: 1 + int(seed%3), Repeats: 1 + int(seed%20), Fresh: -1, Order: Orders[seed%3]}, now)
			for range 400 {
				switch n := r.rng.IntN(100); {
				case n < 6:
					r.start()
				case n < 36:
					r.offer()
				case n < 66:
					r.take()
				case n < 97:
					r.done()
				default:
					r.crash()
				}
				if got, want := r.q.Stats().Due, r.model.waited(); got != want {
					t.Fatalf("the crawls of this run wait for %d URLs, want %d", got, want)
				}
			}
			r.finishUp()
		})
	}
}

// finishUp starts every crawl and works everything off.
func (r *run) finishUp() {
	for len(r.leases) > 0 {
		r.done()
	}
	for _, c := range r.model.crawls {
		c.started = true
		r.fixture.start(c.Crawl, false)
	}
	r.q.Seal()
	for {
		due := r.model.due()
		l, err := r.q.Take(context.Background())
		if errors.Is(err, io.EOF) {
			if len(due) > 0 {
				r.t.Fatalf("the end came with %v due", due)
			}
			break
		}
		if err != nil {
			r.t.Fatal(err)
		}
		r.check(l, due)
		r.leases[l.Request().URL] = l
		r.done()
	}
	if s := r.q.Stats(); s.Queued != 0 || s.Due != 0 || s.Delayed != 0 || s.Hosts != 0 {
		r.t.Errorf("stats at the end: %+v", s)
	}
}
