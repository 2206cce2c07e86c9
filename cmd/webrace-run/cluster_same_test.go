//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/xmlschema"
)

// clusterOf is nodes that crawl a federation over one PostgreSQL.
type clusterOf struct {
	t          *testing.T
	dir        string
	partitions int
	nodes      []string // their configurations
}

// newCluster makes one with the command.
func newCluster(t *testing.T, database string, partitions, nodes int) *clusterOf {
	t.Helper()
	c := &clusterOf{t: t, dir: t.TempDir(), partitions: partitions}
	shipped, err := os.ReadFile("../../pipelines.toml")
	if err != nil {
		t.Fatal(err)
	}
	for i := range nodes {
		config := filepath.Join(c.dir, fmt.Sprintf("node-%d.toml", i))
		table := fmt.Sprintf("data = %q\n\n[cluster]\ndatabase = %q\nnode = %d\n", c.data(i), database, i)
		writeFile(t, config, strings.Replace(string(shipped), "data = \"${WEBRACE_DATA:-./data}\"\n", table, 1))
		c.nodes = append(c.nodes, config)
	}
	c.store(0, "cluster", "create", "--partitions", fmt.Sprint(partitions), "--nodes", fmt.Sprint(nodes))
	return c
}

func (c *clusterOf) data(node int) string { return filepath.Join(c.dir, fmt.Sprint("data-", node)) }

// partition returns where a partition is.
func (c *clusterOf) partition(p int) string {
	return cli.PartitionDir(c.data(p%len(c.nodes)), p)
}

// store runs a command of webrace-store with the configuration of a node.
func (c *clusterOf) store(node int, args ...string) string {
	c.t.Helper()
	return storeCommand(c.t, append(args, "--config", c.nodes[node])...)
}

func storeCommand(t *testing.T, args ...string) string {
	t.Helper()
	out, complaints, err := webraceRun(append([]string{"store"}, args...)...)
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", args, err, out, complaints)
	}
	return out
}

// start starts a node.
func (c *clusterOf) start(node int, more ...string) *command {
	c.t.Helper()
	return startCommand(c.t, append([]string{"webrace", "--config", c.nodes[node], "--set", "fetch.allow_networks=loopback"}, more...)...)
}

// run runs all nodes to their end.
func (c *clusterOf) run(more ...string) {
	c.t.Helper()
	var running []*command
	for i := range c.nodes {
		running = append(running, c.start(i, more...))
	}
	for _, p := range running {
		p.mustExit(cli.OK)
	}
}

// documents lists what all partitions have stored.
func (c *clusterOf) documents() (all []string) {
	c.t.Helper()
	for p := range c.partitions {
		all = append(all, documents(c.t, "--config", c.nodes[p%len(c.nodes)], "--data", c.partition(p))...)
	}
	slices.Sort(all)
	return all
}

// documents lists what is stored.
func documents(t *testing.T, where ...string) []string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(storeCommand(t, append([]string{"cache", "ls"}, where...)...)), "\n")
	slices.Sort(lines)
	return slices.DeleteFunc(lines, func(l string) bool { return l == "" })
}

// toldBy returns the annotations that there are, by their ids, owners, URLs and versions.
func toldBy(t *testing.T, where ...string) (all []string) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(storeCommand(t, append([]string{"aci", "list", "--json"}, where...)...)))
	for decoder.More() {
		var a struct {
			ID, URI string
			Also    any
		}
		if err := decoder.Decode(&a); err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(a.ID, " ", a.URI, " ", a.Also))
	}
	slices.Sort(all)
	return all
}

func mustBeAlike(t *testing.T, what string, alone, parted []string) {
	t.Helper()
	if diff := cmp.Diff(alone, parted); diff != "" || len(alone) == 0 {
		t.Errorf("%s: one machine has %d, and the cluster %d (- one machine, + cluster):\n%s", what, len(alone), len(parted), diff)
	}
}

// requestLines writes requests as statuses and URLs, sorted.
func requestLines(requests []asked) (all []string) {
	for _, a := range requests {
		all = append(all, a.String())
	}
	slices.Sort(all)
	return all
}

// crawledAlone is what one machine makes of a federation.
type crawledAlone struct{ requests, again, documents, told []string }

func crawlAlone(t *testing.T, f *federation, urds string) (c crawledAlone) {
	t.Helper()
	data := t.TempDir()
	storeCommand(t, "urd", "import", urds, "--data", data)
	run := []string{"webrace", "--config", "../../pipelines.toml", "--data", data, "--set", "fetch.allow_networks=loopback"}
	startCommand(t, run...).mustExit(cli.OK)
	c.requests = requestLines(f.requests())
	startCommand(t, append(run, askAll...)...).mustExit(cli.OK)
	c.again = requestLines(f.requests())
	c.documents, c.told = documents(t, "--data", data), toldBy(t, "--data", data)
	return c
}

// sameForBoth returns 50 sites, what one machine makes of them, and a cluster that has the same requests for them.
func sameForBoth(t *testing.T, nodes int) (*federation, crawledAlone, *clusterOf) {
	t.Helper()
	f := newFederation(t, 50)
	urds := filepath.Join(t.TempDir(), "urds.xml")
	writeFile(t, urds, string(xmlschema.URDs(f.asks()).Canonical()))
	c := newCluster(t, postgres.Database(t), 8, nodes)
	alone := crawlAlone(t, f, urds)
	c.store(0, "urd", "import", urds)
	return f, alone, c
}

// Nodes of a cluster crawl 50 sites that lead to each other, for requests of all scopes, as one machine does: what
// they ask for, store and tell is the same, and once. A second run of all confirms what there is.
func TestClusterSameAsOneMachine(t *testing.T) {
	t.Parallel()
	f, alone, c := sameForBoth(t, 3)
	c.run()
	mustBeAlike(t, "requests", alone.requests, requestLines(f.requests()))
	mustBeAlike(t, "documents", alone.documents, c.documents())
	mustBeAlike(t, "annotations", alone.told, toldBy(t, "--config", c.nodes[1]))
	t.Logf("%d requests, %d documents, %d annotations; %d requests in the second run", len(alone.requests), len(alone.documents), len(alone.told), len(alone.again))
	c.run(askAll...)
	mustBeAlike(t, "requests of the second run", alone.again, requestLines(f.requests()))
	mustBeAlike(t, "annotations after the second run", alone.told, toldBy(t, "--config", c.nodes[2]))
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

// A node is killed on the way, and started again: nothing is missing, nothing that was done is asked for again, and the
// owners are told what one machine tells them.
func TestClusterKilled(t *testing.T) {
	t.Parallel()
	f, alone, c := sameForBoth(t, 2)
	nodes := []*command{c.start(0), c.start(1)}
	var before []asked
	for kill := range 3 {
		waitFor(t, func() bool {
			before = append(before, f.requests()...)
			return len(before) > (1+kill)*len(alone.requests)/8
		}, func() string { return fmt.Sprintf("%d requests come, of %d", len(before), len(alone.requests)) })
		node := kill % 2
		nodes[node].signal(os.Kill)
		nodes[node].Wait()
		before = append(before, f.requests()...)
		urls := make([]string, len(before))
		for i, a := range before {
			urls[i] = a.path
		}
		done := c.finished(node, urls)
		nodes[node] = c.start(node)
		since := len(before)
		t.Logf("node %d was killed after %d of %d requests, with %d done", node, since, len(alone.requests), len(done))
		defer func() {
			for _, a := range before[since:] {
				if done[a.path] {
					t.Errorf("%s was done when node %d was killed, and is asked for again", a.path, node)
				}
			}
		}()
	}
	for _, p := range nodes {
		p.mustExit(cli.OK)
	}
	before = append(before, f.requests()...)
	mustBeAlike(t, "URLs asked for", slices.Compact(alone.requests), slices.Compact(requestLines(before)))
	mustBeAlike(t, "documents", alone.documents, c.documents())
	mustBeAlike(t, "annotations", alone.told, toldBy(t, "--config", c.nodes[0]))
}
