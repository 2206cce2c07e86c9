//go:build unix

package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/storage"
)

// One machine is killed in the middle of a crawl, and what it has is imported into a cluster of two nodes, by commands
// that are killed after each of their steps. The cluster goes on as the machine itself does: it asks for the same,
// tells the same, by the same ids, and so it does when pages have changed since.
func TestClusterImport(t *testing.T) {
	t.Parallel()
	w := newWeb(t, 1)
	data := filepath.Join(t.TempDir(), "data")
	machine := crawler{[]string{"--data", data}, func(more ...string) { w.machine(data, more...).mustExit(cli.OK) }}
	w.ask(machine.where)
	killed := w.machine(data, w.options()...)
	waitFor(t, func() bool { return w.hasAsked(60) }, killed.said)
	killed.signal(os.Kill)
	if !killed.isKilled() {
		t.Fatal(killed.said())
	}
	w.proxy.CloseClientConnections() // what it had asked for, and was not answered yet, is none of the rest
	w.requests()
	c := newCluster(t, postgres.Database(t), 4, 2)
	m := importing{c, filepath.Join(t.TempDir(), "copy")}
	if err := errors.Join(os.Remove(filepath.Join(data, storage.SocketName)), os.CopyFS(m.from, os.DirFS(data))); err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(c.dir, "secrets.key")
	m.mustRefuse(0, cli.Environment, m.from, "no such file or directory", "the key of the cluster's secrets is "+key, "copy "+filepath.Join(m.from, "secrets.key"))
	if err := os.Link(filepath.Join(data, "secrets.key"), key); err != nil {
		t.Fatal(err)
	}
	m.does(0, "control copied", "begun", "copied", "taken")
	said, notes, err := webraceRun("store", "cluster", "status", "--config", c.nodes[0])
	mustSay(t, fmt.Sprint(said, notes, err), "0\t2\t", "1\t0\t", "partition 01 is on its way to node 1", "or webrace-store cluster import DIR")
	m.does(1)
	mustSay(t, c.store(1, "fsck"))

	nodes := crawler{[]string{"--config", c.nodes[1]}, c.run}
	w.mustGoOnAlike("the rest", machine, nodes, w.options()...)
	for n, url := range slices.Sorted(maps.Keys(w.pages)) {
		if p := w.pages[url]; n%5 == 0 {
			p.words = append(slices.Clone(p.words), webWords[n%len(webWords)], fmt.Sprint("new", n))
			w.pages[url] = p
		}
	}
	w.mustGoOnAlike("what has changed", machine, nodes, append(w.options(), askAll...)...)
	for _, url := range []string{"/b/1", "/", "/a"} {
		of := []string{"cache", "versions", "http://" + w.hosts[3] + url}
		if alone, parted := saidBy(append(of, machine.where...)...), saidBy(append(of, nodes.where...)...); alone != parted {
			t.Errorf("%v: of one machine\n%s\nand of the cluster\n%s", of, alone, parted)
		}
	}
	m.mustRefuse(0, cli.Environment, data, "begun with another import, or with this directory in another state")
}

// What cannot be imported is refused, with what to do.
func TestClusterImportIsRefused(t *testing.T) {
	t.Parallel()
	c := newCluster(t, postgres.Database(t), 2, 2)
	m := importing{c, filepath.Join(t.TempDir(), "data")}
	m.mustRefuse(0, cli.Usage, m.from, "there is no data directory")
	m.mustRefuse(0, cli.Usage, c.dir, "is no data directory: it holds other files")
	dir, err := storage.Open(m.from, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m.mustRefuse(0, cli.Environment, m.from, "is in use by process "+fmt.Sprint(os.Getpid()))
	if err := dir.Close(); err != nil {
		t.Fatal(err)
	}
	m.mustRefuse(0, cli.Usage, m.from, "has no control store")
	storeCommand(t, "urd", "add", "--url", "http://example.org/", "--owner", "ann", "--keyword", "tea", "--data", m.from)
	writeFile(t, filepath.Join(m.from, "format"), "99\n")
	m.mustRefuse(0, cli.Environment, m.from, "use the newer program")
	writeFile(t, filepath.Join(m.from, "format"), fmt.Sprintln(storage.Format))
	m.mustRefuse(0, cli.Usage, c.data(0), "is the data directory of this node")
	c.store(0, "urd", "add", "--url", "http://example.org/", "--owner", "ben", "--keyword", "tea")
	m.mustRefuse(0, cli.Environment, m.from, "is not empty: it has rows in its table urd")
}

// importing is the import of a directory into a cluster.
type importing struct {
	*clusterOf
	from string
}

// does runs the command on a node, after it was killed after each of some steps.
func (m importing) does(node int, steps ...string) {
	m.t.Helper()
	for _, step := range steps {
		p := newCommand(m.t, m.args(node, m.from)...)
		p.Env = append(os.Environ(), killedInMove+"="+step)
		p.begin()
		if !p.isKilled() {
			m.t.Fatalf("it is not killed after the step %q, but says:\n%s", step, p.said())
		}
	}
	if said, notes, err := webraceRun(m.args(node, m.from)...); err != nil {
		m.t.Fatal(said, notes, err)
	}
}

func (m importing) mustRefuse(node, status int, from string, says ...string) {
	m.t.Helper()
	_, complaints, err := webraceRun(m.args(node, from)...)
	if is := new(cli.Error); !errors.As(err, &is) || is.Status != status {
		m.t.Errorf("it ends with %v, and not with status %d", err, status)
	}
	mustSay(m.t, complaints, says...)
}

func (m importing) args(node int, from string) []string {
	return []string{"store", "cluster", "import", from, "--config", m.nodes[node]}
}

// machine starts one machine.
func (w *web) machine(data string, more ...string) *command {
	return startCommand(w.t, append([]string{"webrace", "--config", "../../pipelines.toml", "--data", data}, more...)...)
}

func (w *web) hasAsked(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.asked) >= n
}

// mustGoOnAlike has one machine and a cluster run, and wants them to ask for the same, and to have and tell the same
// afterwards.
func (w *web) mustGoOnAlike(what string, machine, nodes crawler, options ...string) {
	w.t.Helper()
	machine.run(options...)
	alone := w.requests()
	nodes.run(options...)
	mustBeAlike(w.t, "requests for "+what, alone, w.requests())
	w.t.Logf("%s: %d requests, the last %q", what, len(alone), alone[len(alone)-1])
	mustBeAlike(w.t, "documents after "+what, documents(w.t, machine.where...), documents(w.t, nodes.where...))
	mustBeAlike(w.t, "annotations after "+what, toldBy(w.t, machine.where...), toldBy(w.t, nodes.where...))
}
