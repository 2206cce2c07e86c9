package frontier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/testutil"
)

// cluster drives queues that share a random web, in random order and with power losses.
type cluster struct {
	t      *testing.T
	rng    *rand.Rand
	web    randomWeb
	crawls []webrace.Crawl
	nodes  []*clusterNode
	post   *post
	kills  bool

	round  *visits
	done   map[seenURL]int // how near a crawl was to what is done for it in this round
	ended  map[Pass]bool
	raised []webrace.Crawl // in this round, while it ran
	wider  int             // such rounds in all
	lost   int             // power losses
	twice  int             // letters received again
	sent   int
}

type clusterNode struct {
	*fixture
	*box
	work []*work
}

// work is a page that is being worked on.
type work struct {
	lease   *Lease
	offered bool
	waits   atomic.Int32 // for so many offers
}

func newCluster(t *testing.T, seed uint64, kills bool) *cluster {
	rng := rand.New(rand.NewPCG(seed, 30))
	hosts, partitions := 2+rng.IntN(9), 1<<(1+rng.IntN(2))
	c := &cluster{t: t, rng: rng, kills: kills, web: newRandomWeb(rng, hosts, 3+rng.IntN(8)), ended: map[Pass]bool{}}
	c.crawls = c.web.someCrawls(rng, hosts, 2+rng.IntN(4))
	c.post = &post{wait: map[string]map[int]bool{}, of: func(host string) int { return int(hostOf(host) % hostID(partitions)) }}
	var clock atomic.Int64
	c.post.late = func() bool { return rng.IntN(3) == 0 }
	options := clusterOptions(seed)
	for i := range partitions {
		n := &clusterNode{box: &box{post: c.post, here: i}}
		o := options
		o.Elsewhere = n.box
		skew := time.Duration(i) * time.Minute // no two clocks are compared
		n.fixture = newFixtureAt(t, o, func() time.Time { return time.Unix(1e9, clock.Add(int64(time.Microsecond))).Add(skew).UTC() })
		c.nodes = append(c.nodes, n)
	}
	return c
}

func clusterOptions(seed uint64) QueueOptions {
	return QueueOptions{
		Fresh: -1, Wait: -1, Window: 1 + int(seed%4), Repeats: 1 + int(seed%30), Order: Orders[seed%3],
		StartRedirects: []StartRedirects{Permanent, Anywhere, Nowhere}[seed/3%3], SitemapLevels: int(seed / 2 % 2),
	}
}

// step does something anywhere.
func (c *cluster) step() {
	n := c.nodes[c.rng.IntN(len(c.nodes))]
	switch p := c.rng.IntN(100); {
	case p < 25:
		c.take(n)
	case p < 55 && len(n.work) > 0:
		c.proceed(n, n.work[c.rng.IntN(len(n.work))])
	case p < 75:
		if len(n.box.sent) > 0 {
			n.ack()
			n.waitForCommit()
		}
	case p < 90:
		c.receive(n)
	case p < 97:
		n.look()
		c.end(n)
	case c.kills && p < 98:
		c.kill(n)
	}
}

// take takes a URL if there is one.
func (c *cluster) take(n *clusterNode) {
	n.q.mu.Lock()
	l, _, err := n.q.try(n.now())
	under := n.q.steps > 0
	n.q.mu.Unlock()
	if err != nil {
		c.t.Fatal(err)
	}
	if under { // what was found not to be handed out
		n.waitForCommit()
	}
	if l == nil {
		return
	}
	l.Release(webrace.HostReport{})
	r := l.Request()
	for _, reach := range r.Reach {
		if near, ok := c.done[seenURL{reach.Crawl, r.URL}]; ok && near <= reach.Distance && !r.Stored {
			c.t.Fatalf("%s is asked for again for %s, which is done with it", r.URL, reach.Crawl)
		}
		if home := c.home(reach.Crawl); !home.q.crawls.get(reach.Crawl).unfinished() {
			c.t.Fatalf("%s is handed out for %s, the round of which is over", r.URL, reach.Crawl)
		}
	}
	c.round.note(r, c.web)
	n.work = append(n.work, &work{lease: l})
}

// home returns where a crawl begins.
func (c *cluster) home(crawl string) *clusterNode {
	i := slices.IndexFunc(c.crawls, func(cr webrace.Crawl) bool { return cr.ID == crawl })
	return c.nodes[c.post.of(strings.TrimSuffix(strings.SplitAfterN(c.crawls[i].Start, "/", 4)[2], "/"))]
}

// proceed offers what a page points to, or is done with it once all of that is certain.
func (c *cluster) proceed(n *clusterNode, w *work) {
	switch {
	case !w.offered:
		w.offered = true
		for _, links := range c.web.offers(w.lease) {
			w.waits.Add(1)
			n.q.Offer(&links, func(o Offered, err error) {
				if err == nil {
					c.sent += o.Sent
					w.waits.Add(-1)
				}
			})
		}
		n.waitForCommit()
	case w.waits.Load() == 0:
		n.finish(w.lease, n.visited(c.web[w.lease.Request().URL].status, 1))
		for _, reach := range w.lease.Request().Reach {
			c.done[seenURL{reach.Crawl, w.lease.Request().URL}] = reach.Distance
		}
		n.work = slices.DeleteFunc(n.work, func(other *work) bool { return other == w })
	}
}

// receive receives some letters in any order, some of which stay and come again.
func (c *cluster) receive(n *clusterNode) {
	all := n.inbox()
	c.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:min(len(all), 1+c.rng.IntN(4))]
	for _, l := range all {
		n.receive(c.t, l)
	}
	if c.rng.IntN(5) == 0 {
		c.twice += len(all)
		if c.kills && c.rng.IntN(5) == 0 {
			c.kill(n)
		}
		return
	}
	n.box.take(all...)
}

func (c *cluster) end(n *clusterNode) {
	for _, p := range n.box.end(c.t) {
		if c.ended[p] {
			c.t.Fatalf("%v is over twice", p)
		}
		c.ended[p] = true
		for _, other := range c.nodes {
			if cr := other.q.crawls.get(p.Crawl); cr != nil && cr.pending.Load() > 0 {
				c.t.Fatalf("%v is over while %d URLs wait in partition %d", p, cr.pending.Load(), other.here)
			}
		}
	}
}

// kill has a partition lose power, and go on.
func (c *cluster) kill(n *clusterNode) {
	c.lost++
	after := n.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: c.rng.IntN(101), RNG: c.rng})
	n.fixture.close()
	n.fs, n.work, n.box.sent = after, nil, nil
	n.open()
	n.q.Seal()
}

// begin has a crawl begun from any partition.
func (c *cluster) begin(cr webrace.Crawl) {
	n := c.nodes[c.rng.IntN(len(c.nodes))]
	begun := false
	if err := n.q.Begin(cr, true, func(_ Round, err error) { begun = err == nil }); err != nil {
		c.t.Fatal(err)
	}
	n.waitForCommit()
	n.ack()
	if !begun {
		c.t.Fatalf("%s is not begun", cr.ID)
	}
}

// raise widens the levels of a crawl whose round is not over, if that is certain.
func (c *cluster) raise() {
	cr := &c.crawls[c.rng.IntN(len(c.crawls))]
	home := c.home(cr.ID)
	known := home.q.crawls.get(cr.ID)
	if cr.Levels == 0 || known == nil || !known.unfinished() {
		return
	}
	cr.Levels++
	if _, err := home.q.Start(c.t.Context(), *cr, true); err != nil {
		c.t.Fatal(err)
	}
	c.raised = append(c.raised, *cr)
	c.wider++
}

// quiet reports whether nothing is to be done anywhere.
func (c *cluster) quiet() bool {
	if len(c.post.rows) > 0 {
		return false
	}
	for _, n := range c.nodes {
		if len(n.work) > 0 || len(n.box.sent) > 0 || len(n.q.Leaving()) > 0 {
			return false
		}
	}
	for _, n := range c.nodes {
		c.take(n)
		if !n.q.Idle() {
			return false
		}
	}
	return true
}

// run has all crawls make a round.
func (c *cluster) run() {
	c.round, c.done, c.raised, c.post.over = newVisits(), map[seenURL]int{}, nil, false
	before := slices.Clone(c.crawls)
	for _, n := range c.nodes {
		n.reopen()
		n.work, n.box.sent = nil, nil
	}
	for i, cr := range before {
		if i > 0 && c.rng.IntN(2) == 0 {
			for range 10 {
				c.step()
			}
		}
		c.begin(cr)
	}
	for _, n := range c.nodes {
		n.q.Seal()
	}
	for steps := 0; !c.quiet(); steps++ {
		if steps > 200_000 {
			c.t.Fatalf("it does not end: %d letters, %v", len(c.post.rows), c.post.wait)
		}
		if steps < 60 && c.rng.IntN(10) == 0 {
			c.raise()
		}
		c.step()
	}
	c.post.over = true
	for _, n := range c.nodes {
		n.q.Wake()
		n.fixture.end()
		for _, cr := range n.q.crawls.all() {
			if cr.unfinished() {
				c.t.Errorf("partition %d does not know that the round of %s is over", n.here, cr.pass().ID)
			}
		}
	}
}

// alone has one queue make the round that the cluster has made.
func (c *cluster) alone(f *fixture, crawls []webrace.Crawl) *visits {
	v := newVisits()
	f.reopen()
	for _, cr := range crawls {
		f.start(cr, true)
	}
	for _, cr := range c.raised {
		f.start(cr, true)
	}
	f.q.Seal()
	for {
		l, err := f.q.Take(context.Background())
		if errors.Is(err, io.EOF) {
			return v
		}
		if err != nil {
			c.t.Fatal(err)
		}
		v.note(l.Request(), c.web)
		for _, links := range c.web.offers(l) {
			f.offer(links)
		}
		f.finish(l, f.visited(c.web[l.Request().URL].status, 1))
	}
}

// Queues that each have some of the hosts hand out what one queue would that has all, each URL once a round, and come
// to the same least distances, in whatever order envelopes arrive, and however often: over random webs, with redirects
// and sitemaps, for crawls of all scopes. Their rounds end once, and not before the last page.
func TestQueuesOfAClusterHandOutWhatOneQueueWould(t *testing.T) {
	t.Parallel()
	for seed := range testutil.Seeds(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, seed, seed%2 == 1)
			f := newFixtureAt(t, clusterOptions(seed), time.Now)
			for round := range 3 {
				before := slices.Clone(c.crawls)
				c.run()
				c.compare(round, c.alone(f, before))
			}
			t.Logf("%d pages, %d links sent, %d letters twice, %d levels raised, %d power losses", len(c.web), c.sent, c.twice, c.wider, c.lost)
		})
	}
}

func (c *cluster) compare(round int, want *visits) {
	c.t.Helper()
	for url := range want.asked {
		if c.round.asked[url] == 0 {
			c.t.Errorf("round %d: %s is never asked for", round, url)
		}
	}
	for url := range c.round.asked {
		if want.asked[url] == 0 {
			c.t.Errorf("round %d: %s is asked for, and one queue does not", round, url)
		}
	}
	if !maps.Equal(c.round.near, want.near) {
		for at, d := range want.near {
			if got, ok := c.round.near[at]; !ok || got != d {
				c.t.Errorf("round %d: %s comes to %s at %d (%v), one queue at %d", round, at.crawl, at.url, got, ok, d)
			}
		}
		for at := range c.round.near {
			if _, ok := want.near[at]; !ok {
				c.t.Errorf("round %d: %s comes to %s, in one queue it does not", round, at.crawl, at.url)
			}
		}
	}
}
