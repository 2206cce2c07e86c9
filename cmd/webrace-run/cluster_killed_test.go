//go:build unix

package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/cluster"
)

var clusterSeeds = flag.Int("seeds", 3, "how many clusters TestClusterKilled and TestClusterRounds kill nodes and servers of; TestClusterSameAsOneMachine and TestClusterQuotas take a third")

// mortalCluster is a cluster that runs, and of which nodes and the server of the database are killed.
type mortalCluster struct {
	*clusterOf
	sites   *federation
	options []string // of the nodes' command

	running []*service
	log     []asked       // what the sites have answered so far
	deaths  [][]time.Time // of each node
	done    []finished    // what was done at a node's deaths
}

// service is a node that is started again where it ends because the database is away, as systemd does it.
type service struct {
	*command
	ended chan struct{}
}

// startNode starts a node, again or for the first time.
func (m *mortalCluster) startNode(node int) {
	m.t.Helper()
	s := &service{m.start(node, m.options...), make(chan struct{})}
	m.running[node] = s
	go func() {
		s.Wait()
		close(s.ended)
	}()
}

// keepUp starts nodes again that found the database away, and reports whether all have ended.
func (m *mortalCluster) keepUp() (ended bool) {
	m.t.Helper()
	ended = true
	for i, s := range m.running {
		select {
		case <-s.ended:
			switch s.ProcessState.ExitCode() {
			case cli.OK:
			case cli.Environment:
				m.deaths[i] = append(m.deaths[i], time.Now())
				m.startNode(i)
				ended = false
			default:
				m.t.Fatalf("node %d: %v\n%s", i, s.ProcessState, s.said())
			}
		default:
			ended = false
		}
	}
	return ended
}

// finished are URLs that a node was done with when it was killed.
type finished struct {
	node int
	at   time.Time
	urls map[string]bool
}

// newMortalCluster starts all nodes of a cluster, each of whose hosts is to be asked for one thing at a time.
func newMortalCluster(t *testing.T, database string, f *federation, urds string, nodes int, options ...string) *mortalCluster {
	t.Helper()
	m := &mortalCluster{
		clusterOf: newCluster(t, database, 8, nodes), sites: f, options: append(options, oneAtATime...), deaths: make([][]time.Time, nodes),
	}
	m.store(0, "urd", "import", urds)
	f.begin()
	m.running = make([]*service, nodes)
	for i := range nodes {
		m.startNode(i)
	}
	return m
}

// oneAtATime lets hosts of this machine be asked as others are, at short intervals.
var oneAtATime = []string{
	"--set", "fetch.delay_admitted=true", "--set", "fetch.delay=1ms", "--set", "fetch.adaptive_delay=0", "--set", "fetch.per_address=false",
}

// until waits until something is true of all that the sites have answered.
func (m *mortalCluster) until(what string, is func() bool) {
	m.t.Helper()
	waitFor(m.t, func() bool {
		m.log = append(m.log, m.sites.requests()...)
		return m.keepUp() || is()
	}, func() string {
		said := fmt.Sprintf("never: %s; %d requests came", what, len(m.log))
		for i, p := range m.running {
			said += fmt.Sprintf("\nnode %d:\n%s", i, p.said())
		}
		return said
	})
}

// disturb kills a node or the server, or both, and starts what was killed again.
func (m *mortalCluster) disturb(random *rand.Rand, server *postgres.Server) {
	m.t.Helper()
	dies, away := random.IntN(5), time.Duration(random.IntN(400))*time.Millisecond
	ofNode, ofServer := dies > 1, dies < 3
	node := random.IntN(len(m.nodes))
	m.t.Logf("killed after %d requests: node %d %v, the server %v", len(m.log), node, ofNode, ofServer)
	if ofNode {
		m.killNode(node)
	}
	if ofServer {
		server.Kill(m.t)
		time.Sleep(away) // for any time: nodes have heard of it, or have not
		server.Start(m.t)
	}
	if ofNode {
		m.startNode(node)
	}
}

// killNode kills a node, and notes what it had done by then.
func (m *mortalCluster) killNode(node int) {
	m.t.Helper()
	_ = m.running[node].Process.Kill() // or it has ended, because the database was away
	<-m.running[node].ended
	at := time.Now()
	m.deaths[node] = append(m.deaths[node], at)
	m.log = append(m.log, m.sites.requests()...)
	m.done = append(m.done, finished{node, at, m.finished(node, urlsOf(m.log))})
}

// finished returns the URLs of those that a node has dealt with, while it does not run.
func (c *clusterOf) finished(node int, urls []string) map[string]bool {
	c.t.Helper()
	done := make(map[string]bool)
	for p := node; p < c.partitions; p += len(c.nodes) {
		if made, _ := filepath.Glob(filepath.Join(c.partition(p), "frontier", "marker.manifest.*")); len(made) == 0 {
			continue // the node was killed before it had opened the partition
		}
		dir, err := storage.Open(c.partition(p), storage.Options{ReadOnly: true})
		if err != nil {
			c.t.Fatal(err)
		}
		store, err := dir.Frontier()
		if err != nil {
			c.t.Fatal(err)
		}
		for _, url := range urls {
			if visit, _, err := store.LastVisitAt("webrace", "", url); err != nil {
				c.t.Fatal(err)
			} else if visit != nil {
				done[url] = true
			}
		}
		if err := dir.Close(); err != nil {
			c.t.Fatal(err)
		}
	}
	return done
}

// nodeOf returns the node that has the site of a URL.
func (m *mortalCluster) nodeOf(address string) int {
	m.t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		m.t.Fatal(err)
	}
	return cluster.PartitionOf(u.Host, m.partitions) % len(m.nodes)
}

// diedBetween returns how often the node that has the site of a URL was killed within a time.
func (m *mortalCluster) diedBetween(address string, from, to time.Time) (n int) {
	for _, at := range m.deaths[m.nodeOf(address)] {
		if at.After(from) && at.Before(to) {
			n++
		}
	}
	return n
}

// mustEnd waits for the end of all nodes.
func (m *mortalCluster) mustEnd() {
	m.t.Helper()
	m.until("the end of all nodes", m.keepUp)
	m.log = append(m.log, m.sites.requests()...)
}

// mustBeOnce wants all URLs asked for that one machine asks for, none of them twice in the life of a node, nor once the
// node was done with it, nor two at a time of a site.
func (m *mortalCluster) mustBeOnce(alone crawledAlone) {
	m.t.Helper()
	mustBeAlike(m.t, "URLs asked for", alone.urls(), urlsOf(m.answered()))
	m.mustNotRepeat("in all", m.answered())
	for _, killed := range m.done {
		for _, a := range m.log {
			if a.at.After(killed.at) && killed.urls[a.path] {
				m.t.Errorf("%s was done when node %d was killed, and is asked for again", a.path, killed.node)
			}
		}
	}
	m.sites.mustBeOneAtATime()
}

// mustNotRepeat wants nothing asked for twice in the life of a node.
func (m *mortalCluster) mustNotRepeat(when string, log []asked) {
	m.t.Helper()
	last := make(map[string]time.Time)
	for _, a := range log {
		if before, again := last[a.path]; again && m.diedBetween(a.path, before, a.at) == 0 {
			m.t.Errorf("%s, %s is asked for twice, and its node %d was not killed between", when, a.path, m.nodeOf(a.path))
		}
		last[a.path] = a.at
	}
}

// urlsOf returns which URLs were asked for, sorted.
func urlsOf(requests []asked) (urls []string) {
	for _, a := range requests {
		urls = append(urls, a.path)
	}
	slices.Sort(urls)
	return slices.Compact(urls)
}

// urls returns which URLs one machine asks for, sorted.
func (c *crawledAlone) urls() (urls []string) {
	for _, line := range c.requests {
		_, url, _ := strings.Cut(line, " ")
		urls = append(urls, url)
	}
	slices.Sort(urls)
	return slices.Compact(urls)
}

// answered returns what was asked for by those who waited for the answer, in order.
func (m *mortalCluster) answered() []asked {
	log := slices.DeleteFunc(slices.Clone(m.log), func(a asked) bool { return a.cut })
	slices.SortStableFunc(log, func(a, b asked) int { return a.at.Compare(b.at) })
	return log
}

// mustTellAlike wants stored and told what one machine stores and tells.
func (m *mortalCluster) mustTellAlike(alone crawledAlone) {
	m.t.Helper()
	mustBeAlike(m.t, "documents", alone.documents, m.documents())
	mustBeAlike(m.t, "annotations", alone.told, toldBy(m.t, "--config", m.nodes[0]))
}

// Nodes and the server of the database are killed on the way, and started again: nothing is missing, nothing that was
// done is asked for again, no site is asked for two things at once, and owners are told what one machine tells them.
func TestClusterKilled(t *testing.T) {
	t.Parallel()
	server := postgres.New(t, postgres.Options{})
	f, urds, alone := sameForBoth(t)
	for seed := range testutil.Seeds(uint64(*clusterSeeds)) {
		random := rand.New(rand.NewPCG(seed, 30))
		m := newMortalCluster(t, server.Database(t), f, urds, 2+int(seed%2))
		for kill := range 4 {
			at := (1 + 2*kill) * len(alone.requests) / 9
			m.until("a ninth more of the requests", func() bool { return len(m.log) > at })
			m.disturb(random, server)
		}
		m.mustEnd()
		m.mustBeOnce(alone)
		m.mustTellAlike(alone)
		if t.Failed() {
			t.Fatalf("with -seeds %d, the last of them", seed+1)
		}
	}
}

// A server that is gone for good is replaced by its synchronous standby, while nodes write. What the standby has not
// heard of, because it was halted, nobody was told to be done.
func TestClusterStandby(t *testing.T) {
	t.Parallel()
	server := postgres.New(t, postgres.Options{})
	f, urds, alone := sameForBoth(t)
	database, err := url.Parse(server.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	standby := server.Standby(t)
	database.Host += "," + standby.Address()
	database.RawQuery += "&target_session_attrs=read-write"
	m := newMortalCluster(t, database.String(), f, urds, 3)
	m.until("a third of the requests", func() bool { return len(m.log) > len(alone.requests)/3 })
	standby.Freeze(t)
	testutil.Await(t, "nodes wait for the standby", func() bool {
		return server.Query(t, "SELECT count(*) > 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == "t"
	})
	server.Kill(t)
	standby.Thaw(t)
	standby.Promote(t)
	m.mustEnd()
	m.mustBeOnce(alone)
	m.mustTellAlike(alone)
}
