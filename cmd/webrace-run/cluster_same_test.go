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

// sameForBoth returns 50 sites, requests for them, and what one machine makes of these.
func sameForBoth(t *testing.T) (f *federation, urds string, alone crawledAlone) {
	t.Helper()
	f = newFederation(t, 50)
	urds = f.write(f.asks())
	return f, urds, crawlAlone(t, f, urds)
}

// Nodes of a cluster crawl 50 sites that lead to each other, for requests of all scopes, as one machine does: what
// they ask for, store and tell is the same, and once. A second run of all confirms what there is.
func TestClusterSameAsOneMachine(t *testing.T) {
	t.Parallel()
	c := newCluster(t, postgres.Database(t), 8, 3)
	f, urds, alone := sameForBoth(t)
	c.store(0, "urd", "import", urds)
	c.run()
	mustBeAlike(t, "requests", alone.requests, requestLines(f.requests()))
	mustBeAlike(t, "documents", alone.documents, c.documents())
	mustBeAlike(t, "annotations", alone.told, toldBy(t, "--config", c.nodes[1]))
	t.Logf("%d requests, %d documents, %d annotations; %d requests in the second run", len(alone.requests), len(alone.documents), len(alone.told), len(alone.again))
	c.run(askAll...)
	mustBeAlike(t, "requests of the second run", alone.again, requestLines(f.requests()))
	mustBeAlike(t, "annotations after the second run", alone.told, toldBy(t, "--config", c.nodes[2]))
}
