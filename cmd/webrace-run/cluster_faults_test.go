//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/xmlschema"
)

// mustRefuse runs a command that is to end with a status, and to say why, without a password.
func mustRefuse(t *testing.T, status int, says string, args ...string) {
	t.Helper()
	p := startCommand(t, args...)
	p.mustExit(status)
	if said := p.said(); !strings.Contains(said, says) || strings.Contains(said, "hidden") {
		t.Errorf("%v: it does not say %q, but:\n%s", args, says, said)
	}
}

// What keeps a machine from being a node is found when it starts: what was found, and the command that mends it.
func TestWhatKeepsAMachineFromBeingANodeIsSaid(t *testing.T) {
	t.Parallel()
	c := newCluster(t, postgres.Database(t), 4, 2)
	node := func(change ...string) string {
		config := filepath.Join(t.TempDir(), "pipelines.toml")
		text := readFile(t, c.nodes[1])
		writeFile(t, config, strings.NewReplacer(change...).Replace(text))
		return config
	}
	data := "data = \"" + c.data(1) + "\""
	elsewhere := "data = \"" + t.TempDir() + "\""
	database := strings.Split(strings.Split(readFile(t, c.nodes[1]), "database = \"")[1], "\"")[0]
	none := node(database, strings.Replace(postgres.Database(t), "@", ":hidden@", 1))
	for config, says := range map[string]string{
		none: "there is no cluster in it yet: webrace-store cluster create --partitions 32 --nodes N",
		node(database, "postgres://u:hidden@127.0.0.1:1/d"): "refused",
		node("node = 1", "node = 2"):                        "node 2: the cluster has 2 nodes, from 0 to 1",
		node(database, strings.Replace(strings.Replace(database, "/test", "/no", 1), "@", ":hidden@", 1)): "does not exist",
	} {
		mustRefuse(t, cli.Environment, says, "webrace", "--config", config)
	}
	mustRefuse(t, cli.Environment, "there is no cluster in it yet", "store", "cluster", "status", "--config", none)
	mustRefuse(t, cli.Environment, "there is a cluster in it already, of 4 partitions and 2 nodes", "store", "cluster", "create", "--config", c.nodes[0])
	mustRefuse(t, cli.Usage, "12 partitions: it is a power of two", "store", "cluster", "create", "--partitions", "12", "--config", none)
	mustRefuse(t, cli.Failed, "partition 3 has no envelope 7", "store", "cluster", "skip", "3", "7", "--config", c.nodes[0])

	running := c.start(1, "--continuous")
	waitFor(t, func() bool { _, err := os.Lstat(filepath.Join(c.partition(1), storage.SocketName)); return err == nil }, func() string { return running.said() })
	mustRefuse(t, cli.Environment, "node 1 runs already, at ", "webrace", "--config", node(data, elsewhere))
	mustRefuse(t, cli.Environment, "is in use by process", "webrace", "--config", c.nodes[1])
	if said := c.store(0, "cluster", "status"); !strings.Contains(said, "0\t2\tnew\t") || !strings.Contains(said, "1\t2\tup\t") {
		t.Errorf("the status is\n%s", said)
	}
	running.signal(os.Interrupt)
	running.mustExit(cli.OK)
}

// A node runs what it is configured for, and not what a machine alone can do; who asks its directory for what is done
// of a partition is led to these.
func TestWhatANodeDoesNotDoIsRefused(t *testing.T) {
	t.Parallel()
	c := newCluster(t, postgres.Database(t), 4, 1)
	urds := filepath.Join(t.TempDir(), "urds.xml")
	writeFile(t, urds, string(xmlschema.URDs(these(xmlschema.NewURD("ann", "https://example.org/"))).Canonical()))
	for says, args := range map[string][]string{
		"--dry: a node of a cluster does not run dry":      {"webrace", "--dry"},
		"--urds: a node of a cluster does not run":         {"webrace", "--urds", urds},
		"a node of a cluster does not run this command":    {"crawl", "https://example.org/"},
		"partitions/00 is a partition: a node runs all":    {"webrace", "--data", c.partition(0)},
		"cannot be in a pipeline of which each partition ": {"sparql"},
	} {
		mustRefuse(t, cli.Usage, says, append(args, "--config", c.nodes[0])...)
	}
	c.run()
	mustRefuse(t, cli.Usage, "name one of its partitions with --data", "store", "cache", "import", urds, "--config", c.nodes[0])
	mustRefuse(t, cli.Usage, "name one of its partitions with --data", "store", "cache", "export", "--wacz", "x.wacz", "--config", c.nodes[0])
	for _, args := range [][]string{{"quads", "stats"}, {"backup", filepath.Join(t.TempDir(), "b")}} {
		mustRefuse(t, cli.Usage, "this is done of each of its partitions, which are data directories, as --data "+c.partition(0), append([]string{"store"}, append(args, "--config", c.nodes[0])...)...)
	}
	storeCommand(t, "fsck", "--config", c.nodes[0]) // of the control store, and of all partitions
	if err := os.Remove(filepath.Join(c.partition(2), "format")); err != nil {
		t.Fatal(err)
	}
	out, complaints, err := webraceRun("store", "fsck", "--config", c.nodes[0])
	if !strings.Contains(out, "02/") || err == nil {
		t.Errorf("of a partition that has lost its format, fsck of the node says\n%s\n%s\n%v", out, complaints, err)
	}
	storeCommand(t, "fsck", "--repair", "--config", c.nodes[0])
	storeCommand(t, "fsck", "--config", c.nodes[0])
	storeCommand(t, "fsck", "--data", c.partition(1), "--config", c.nodes[0])
	storeCommand(t, "backup", filepath.Join(t.TempDir(), "b"), "--data", c.partition(1), "--config", c.nodes[0])
}

// A partition that fails would keep the run from its end on all nodes: its node ends, for what started it to start it
// again.
func TestAPartitionThatFailsEndsItsNode(t *testing.T) {
	t.Parallel()
	c, s := newCluster(t, postgres.Database(t), 4, 1), newSite(t)
	s.page("/", "Of this, no number can be made.")
	writeFile(t, c.nodes[0], readFile(t, c.nodes[0])+`
[pipeline.numbers]
flow = ["urds > frontier > fetch > numbered", "numbered.first > drop", "numbered.other > drop"]
stage.numbered = { type = "route", ports = [{ name = "first", when = "int(path(url)) == 1" }], on_error = "stop" }
`)
	urds := filepath.Join(t.TempDir(), "urds.xml")
	writeFile(t, urds, string(xmlschema.URDs(these(s.asks("ann", "/"))).Canonical()))
	c.store(0, "urd", "import", urds)
	p := startCommand(t, "numbers", "--config", c.nodes[0], "--set", "fetch.allow_networks=loopback")
	p.mustExit(cli.Failed)
	mustSay(t, p.said(), "numbers@", " has failed, and no other node has its part: finishing what is in flight", "error: stage numbered: ")
	if said := c.store(0, "cluster", "status"); !strings.Contains(said, "0\t4\tended\t") {
		t.Errorf("the status is\n%s", said)
	}
}
