//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/storecmd"
	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/storage"
)

// killedInMove is the variable of the environment that names a step of a move after which the process kills itself.
const killedInMove = "WEBRACE_TEST_KILLED_IN_MOVE"

func init() {
	at := os.Getenv(killedInMove)
	if at == "" {
		return
	}
	storecmd.ReachedInMove = func(step string) {
		if step == at {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // until it is dead
		}
	}
}

// moving is a partition that moves between nodes that do not run.
type moving struct {
	*clusterOf
	p int
}

// command returns the command that moves it, on a node.
func (m moving) command(node int, args ...string) *command {
	return newCommand(m.t, append([]string{"store", "cluster", "move", fmt.Sprint(m.p), "--config", m.nodes[node]}, args...)...)
}

// does runs the command, after it was killed at each of some steps.
func (m moving) does(node int, args []string, steps ...string) {
	m.t.Helper()
	for _, step := range steps {
		p := m.command(node, args...)
		p.Env = append(os.Environ(), killedInMove+"="+step)
		p.begin()
		if !p.isKilled() {
			m.t.Fatalf("%v is not killed after the step %q, but says:\n%s", args, step, p.said())
		}
	}
	p := m.command(node, args...)
	p.begin()
	p.mustExit(cli.OK)
}

// mustRefuse wants the command to end with a status, and to say why.
func (m moving) mustRefuse(node, status int, args []string, says ...string) {
	m.t.Helper()
	p := m.command(node, args...)
	p.begin()
	p.mustExit(status)
	mustSay(m.t, p.said(), says...)
}

// A node is killed in the middle of a crawl, and one of its partitions moves to another node, by commands that are
// killed after each of their steps. Nothing is missing, nothing that was done is asked for again, neither then nor when
// all is asked for once more, and owners are told what one machine tells them, once.
func TestClusterMove(t *testing.T) {
	t.Parallel()
	f, urds, alone := sameForBoth(t)
	m := newMortalCluster(t, postgres.Database(t), f, urds, 3)
	opened := filepath.Join(m.partition(3), "format")
	m.until("a third of the requests, and the partition that moves is open", func() bool {
		_, err := os.Stat(opened)
		return len(m.log) > len(alone.requests)/3 && err == nil
	})
	m.killNode(0)
	m.killNode(2)
	p, backup := moving{m.clusterOf, 3}, filepath.Join(m.dir, "backup")
	give := []string{"--to", "2", "--into", backup}
	p.does(0, give, "backed up", "verified", "given", "set aside", "in place")
	m.moved = map[int]int{3: 2}
	carried := filepath.Join(m.dir, "carried")
	if err := os.Rename(backup, carried); err != nil {
		t.Fatal(err)
	}
	p.does(2, []string{"--from", carried}, "restored", "taken")
	m.startNode(0)
	m.startNode(2)
	m.mustEnd()
	m.mustBeOnce(alone)
	m.mustTellAlike(alone)

	f.begin()
	m.run(askAll...)
	mustBeAlike(t, "requests when all is asked for again", alone.again, requestLines(f.requests()))
	m.mustTellAlike(alone)
}

// A move that makes no sense is refused, with what to do, and a partition that is on its way is missed by name; whoever
// gave it away may take it back, and then its backup is of no use.
func TestClusterMoveIsRefused(t *testing.T) {
	t.Parallel()
	database := postgres.Database(t)
	f := newFederation(t, 12)
	c := newCluster(t, database, 4, 2)
	c.store(0, "urd", "import", f.write(f.asks()))
	c.run()
	before, m := c.documents(), moving{c, 2}
	into := func(name string) string { return filepath.Join(c.dir, name) }
	give := func(to int, name string) []string { return []string{"--to", fmt.Sprint(to), "--into", into(name)} }

	for _, bad := range [][]string{{}, {"--to", "1"}, {"--to", "2", "--into", "x"}, {"--to", "1", "--from", "x"}, {"--from", "x", "--into", "y"}, {"--to", "-1", "--into", "x"}} {
		m.mustRefuse(0, cli.Usage, bad)
	}
	moving{c, 4}.mustRefuse(0, cli.Usage, give(1, "b"), "the cluster has 4, from 0 to 3")
	moving{c, 1}.mustRefuse(0, cli.Failed, give(0, "b"), "partition 01 is node 1's: give the command there")
	m.mustRefuse(0, cli.Usage, []string{"--to", "1", "--into", c.dir}, "is not empty")
	node := c.start(0, "--continuous")
	answers := func(node int) {
		t.Helper()
		socket := filepath.Join(c.data(node), storage.SocketName)
		waitFor(t, func() bool { _, err := os.Lstat(socket); return err == nil }, func() string { return socket + " is not there" })
	}
	answers(0)
	m.mustRefuse(0, cli.Environment, give(1, "b"), "node 0 runs, in process "+fmt.Sprint(node.Process.Pid), "kill -INT")
	node.signal(os.Interrupt)
	node.mustExit(cli.OK)

	held, err := storage.Open(c.data(0), storage.Options{}) // by who does not answer
	if err != nil {
		t.Fatal(err)
	}
	m.mustRefuse(0, cli.Environment, give(1, "b"), "node 0 runs, in process "+fmt.Sprint(os.Getpid()), "kill -INT")
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}

	// On its way, nobody has it, and a node that starts says what to do.
	m.does(0, give(1, "first"))
	m.mustRefuse(1, cli.Failed, []string{"--from", c.dir}, "it is no backup")
	m.mustRefuse(0, cli.Failed, []string{"--from", into("first")}, "on its way to node 1, and this is node 0")
	m.mustRefuse(0, cli.Failed, give(1, "other"), "name the directory that was named first")
	m.mustRefuse(1, cli.Failed, give(1, "other"), "give the command on the node that had it")
	mustSay(t, mustFail(t, cli.Environment, "store", "cache", "ls", "--config", c.nodes[1]), "missing is what partition 02 has", "cluster move")
	mustSay(t, mustFail(t, cli.Environment, "store", "search", "tea", "--config", c.nodes[0]), "missing is what partition 02 has")
	_, said, err := webraceRun("store", "cluster", "status", "--config", c.nodes[0])
	if err != nil {
		t.Fatal(err)
	}
	mustSay(t, said, "partition 02 is on its way to node 1: there, webrace-store cluster move 2 --from BACKUP takes it in")
	node = c.start(1, "--continuous")
	node.waitUntil("partition 02 is on its way to node 1")
	answers(1)
	node.signal(os.Interrupt)
	node.mustExit(cli.OK)

	// Back again, as often as it takes.
	m.does(0, []string{"--to", "0"}, "put back")
	mustBeAlike(t, "documents", before, c.documents())
	m.mustRefuse(1, cli.Failed, []string{"--from", into("first")}, "is node 0's")
	m.does(0, give(1, "second"))
	m.mustRefuse(1, cli.Failed, []string{"--from", into("first")}, "of another move")
	damaged := into("damaged")
	if err := os.CopyFS(damaged, os.DirFS(into("second"))); err != nil {
		t.Fatal(err)
	}
	damageOne(t, filepath.Join(damaged, "objects"))
	m.mustRefuse(1, cli.Failed, []string{"--from", damaged}, "is not as it was written")
	m.does(1, []string{"--from", into("second")})
	c.moved = map[int]int{2: 1}
	mustBeAlike(t, "documents", before, c.documents())
	m.does(1, []string{"--from", into("second")})
	m.mustRefuse(1, cli.Failed, []string{"--from", into("first")}, "is this node's already")
	m.mustRefuse(0, cli.Failed, []string{"--to", "0"}, "is node 1's: give the command there")
	m.does(1, give(0, "third"))
	m.does(0, []string{"--from", into("third")})
	c.moved = nil
	mustBeAlike(t, "documents", before, c.documents())

	// A node may give all away.
	for _, p := range []int{1, 3} {
		moving{c, p}.does(1, give(0, fmt.Sprint("all-", p)))
		moving{c, p}.does(0, []string{"--from", into(fmt.Sprint("all-", p))})
	}
	c.moved = map[int]int{1: 0, 3: 0}
	f.begin()
	c.run()
	mustBeAlike(t, "documents", before, c.documents())
	mustSay(t, c.store(0, "cluster", "status"), "0\t4\tended", "1\t0\tended")
	mustSay(t, c.store(1, "fsck"))
}

// mustFail runs the command, which is to end with a status, and returns what it says about that.
func mustFail(t *testing.T, status int, args ...string) string {
	t.Helper()
	p := startCommand(t, args...)
	p.mustExit(status)
	return p.said()
}

// damageOne changes a byte of the first file that has any in a directory, or within those in it: a partition may have
// no documents.
func damageOne(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil || len(content) == 0 {
			return err
		}
		content[len(content)/2] ^= 1
		writeFile(t, path, string(content))
		return fs.SkipAll
	})
	if err != nil {
		t.Fatal(err)
	}
}
