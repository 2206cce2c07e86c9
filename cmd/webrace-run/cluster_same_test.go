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
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/xmlschema"
)

// clusterOf is nodes that crawl a federation over one PostgreSQL.
type clusterOf struct {
	t          *testing.T
	dir        string
	partitions int
	nodes      []string    // their configurations
	moved      map[int]int // which node has a partition that was moved
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
		table += fmt.Sprintf("secrets = %q\n", filepath.Join(c.dir, "secrets.key"))
		writeFile(t, config, strings.Replace(string(shipped), "data = \"${WEBRACE_DATA:-./data}\"\n", table, 1))
		c.nodes = append(c.nodes, config)
	}
	c.store(0, "cluster", "create", "--partitions", fmt.Sprint(partitions), "--nodes", fmt.Sprint(nodes))
	return c
}

func (c *clusterOf) data(node int) string { return filepath.Join(c.dir, fmt.Sprint("data-", node)) }

// partition returns where a partition is.
func (c *clusterOf) partition(p int) string {
	return cli.PartitionDir(c.data(c.holder(p)), p)
}

// holder returns which node has a partition.
func (c *clusterOf) holder(p int) int {
	if node, moved := c.moved[p]; moved {
		return node
	}
	return p % len(c.nodes)
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
		all = append(all, documents(c.t, "--config", c.nodes[c.holder(p)], "--data", c.partition(p))...)
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

// ownersTold returns who was told of what, and for which of their requests.
func ownersTold(t *testing.T, where ...string) (all []string) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(storeCommand(t, append([]string{"aci", "list", "--json"}, where...)...)))
	for decoder.More() {
		var a struct{ Owner, URD, URI string }
		if err := decoder.Decode(&a); err != nil {
			t.Fatal(err)
		}
		all = append(all, a.Owner+" "+a.URD+" "+a.URI)
	}
	slices.Sort(all)
	return all
}

// crawler is one machine, or a cluster, that crawls the web.
type crawler struct {
	where []string // as options of webrace-store
	run   func(more ...string)
}

// Nodes of a cluster crawl sites that lead to each other, for requests of all scopes and depths, with and without
// credentials, as one machine does, and as an account says that a plain walk over the pages gives: what is asked for,
// with which secret, and who is told of what. What they store is the same, too. A second run confirms what there is.
func TestClusterSameAsOneMachine(t *testing.T) {
	t.Parallel()
	server := postgres.New(t, postgres.Options{})
	for seed := range testutil.Seeds(uint64(max(1, *clusterSeeds/3))) { // each takes as long as three that are killed
		w := newWeb(t, seed)
		data, c := t.TempDir(), newCluster(t, server.Database(t), 8, 3)
		machine := crawler{[]string{"--data", data}, func(more ...string) {
			startCommand(t, append([]string{"webrace", "--config", "../../pipelines.toml", "--data", data}, more...)...).mustExit(cli.OK)
		}}
		nodes := crawler{[]string{"--config", c.nodes[1]}, c.run}
		w.mustBeCrawled("one machine", machine)
		w.mustBeCrawled("the cluster", nodes)
		mustBeAlike(t, "documents", documents(t, machine.where...), documents(t, nodes.where...))
		mustBeAlike(t, "annotations", toldBy(t, machine.where...), toldBy(t, nodes.where...))
		for _, s := range w.secrets {
			of := []string{"cache", "ls", "--secret", s.name}
			if alone, parted := saidBy(append(of, machine.where...)...), saidBy(append(of, nodes.where...)...); alone != parted {
				t.Errorf("what was seen with %s is of one machine\n%s\nand of the cluster\n%s", s.name, alone, parted)
			}
		}
		if t.Failed() {
			t.Fatalf("with -seeds %d, the last of them", 3*(seed+1))
		}
	}
}

// mustBeCrawled crawls the web twice, and wants that to be as the account says.
func (w *web) mustBeCrawled(by string, c crawler) {
	w.t.Helper()
	w.ask(c.where)
	requests, told, a := w.account()
	c.run(w.options()...)
	w.mustAccount("requests of "+by, requests, w.requests())
	w.mustAccount("annotations of "+by, told, ownersTold(w.t, c.where...))
	for i := range requests {
		requests[i] = strings.Replace(requests[i], "200 ", "304 ", 1)
	}
	slices.Sort(requests)
	c.run(append(w.options(), askAll...)...)
	w.mustAccount("requests of the second run of "+by, requests, w.requests())
	w.mustAccount("annotations of the second run of "+by, told, ownersTold(w.t, c.where...))
	w.t.Logf("%s: %d requests, %d of them with a secret; %d annotations; of %d crawls %d were taken along by a redirect, %d of them with a secret",
		by, len(requests), a.secretly, len(told), len(a.crawls), a.landed, a.landedSecretly)
}

// mustAccount wants what the account says, neither more nor less, and each once.
func (w *web) mustAccount(what string, want, got []string) {
	w.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		w.t.Errorf("%s: %d, and by the account %d (- account, + seen):\n%s", what, len(got), len(want), diff)
	}
}

// ask stores secrets and URDs.
func (w *web) ask(where []string) {
	w.t.Helper()
	urds := filepath.Join(w.t.TempDir(), "urds.xml")
	writeFile(w.t, urds, string(xmlschema.URDs(w.urds).Canonical()))
	storeCommand(w.t, append([]string{"urd", "import", urds}, where...)...)
	for _, s := range w.secrets {
		args, value := append([]string{"secret", "set", s.name, "--insecure", "--kind", s.kind}, where...), s.value()
		switch s.kind {
		case "basic":
			args = append(args, "--user", s.name)
		case "header":
			args = append(args, "--header", "X-Key")
		case "cookie":
			value = "key=" + value
		}
		for _, host := range s.hosts {
			args = append(args, "--host", host)
		}
		set := newCommand(w.t, append([]string{"store"}, args...)...)
		set.Stdin = strings.NewReader(value)
		set.begin()
		set.mustExit(cli.OK)
	}
}
