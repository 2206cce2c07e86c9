package cluster

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/storage/control"
)

// made returns the URL of a database with a control store and a cluster.
func made(t *testing.T, s Shape) string {
	t.Helper()
	url := postgres.Database(t)
	makeIn(t, url, s)
	return url
}

// makeIn makes a control store and a cluster in an empty database.
func makeIn(t *testing.T, url string, s Shape) {
	t.Helper()
	store, err := control.OpenPostgres(t.Context(), url, filepath.Join(t.TempDir(), control.KeyFile), control.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Create(t.Context(), url, s); err != nil {
		t.Fatal(err)
	}
}

func join(t *testing.T, url string, node int, place string) *Cluster {
	t.Helper()
	c, err := Open(t.Context(), url, node, Options{Place: place})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// What is stored of a host is in the partition that was its on the day when it came.
func TestTheFunctionOfPartitionsNeverChanges(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"example.org": 18, "EXAMPLE.org": 18, "example.org:8080": 15, "a": 0, "webrace": 3, "": 1} {
		if got := PartitionOf(name, 32); got != want {
			t.Errorf("%q is of partition %d, want %d", name, got, want)
		}
		if got := PartitionOf(name, 1); got != 0 {
			t.Errorf("%q is of partition %d of one", name, got)
		}
	}
	counts := make([]int, 8)
	for i := range 8000 {
		counts[PartitionOf(strings.Repeat("x", i%7)+"host"+string(rune('a'+i%26))+strings.Repeat("y", i/26%31)+".example.org", 8)]++
	}
	if slices.Min(counts) < 500 || slices.Max(counts) > 1500 {
		t.Errorf("hosts are not spread: %v", counts)
	}
}

func TestNodesHaveThePartitionsThatTheyWereGiven(t *testing.T) {
	t.Parallel()
	url := made(t, Shape{8, 3})
	for node, want := range [][]int{{0, 3, 6}, {1, 4, 7}, {2, 5}} {
		if c := join(t, url, node, "here"); !slices.Equal(c.Mine(), want) || c.Partitions != 8 {
			t.Errorf("node %d has %v of %d", node, c.Mine(), c.Partitions)
		}
	}
}

func TestAClusterIsMadeOnce(t *testing.T) {
	t.Parallel()
	for s, want := range map[Shape]string{{12, 1}: "a power of two", {0, 1}: "a power of two", {2048, 1}: "up to 1024", {4, 5}: "no more than partitions", {4, 0}: "at least one"} {
		if err := Create(t.Context(), "postgres://127.0.0.1:1/d", s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", s, err, want)
		}
	}
	url := made(t, Shape{4, 2})
	if err := Create(t.Context(), url, Shape{8, 2}); err == nil || !strings.Contains(err.Error(), "there is a cluster in it already, of 4 partitions and 2 nodes") {
		t.Errorf("it is made again: %v", err)
	}
}

// Whoever cannot be a node learns what was found, and what to do.
func TestWhatKeepsAProcessFromBeingANodeIsSaid(t *testing.T) {
	t.Parallel()
	url := made(t, Shape{4, 2})
	empty := postgres.Database(t)
	join(t, url, 1, "there:/data")
	newer := made(t, Shape{4, 2})
	db, _, _, err := open(newer)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("UPDATE webrace.cluster SET format = 2"); err != nil {
		t.Fatal(err)
	}
	foreign := postgres.Database(t)
	other, _, _, err := open(foreign)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.Exec("CREATE SCHEMA webrace; CREATE TABLE webrace.cluster (name TEXT)"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		url  string
		node int
		want string
	}{
		{"postgres://u:hidden@127.0.0.1:1/d?sslmode=disable", 0, "refused"},
		{empty, 0, "there is no cluster in it yet: webrace-store cluster create --partitions 32 --nodes N makes one"},
		{foreign, 0, "its table webrace.cluster is of something else"},
		{url + "&default_transaction_read_only=on", 0, "the server is a standby, or read-only: name the primary"},
		{newer, 0, "it has a cluster of format 2, and this program knows format 1"},
		{url, 2, "node 2: the cluster has 2 nodes, from 0 to 1"},
		{url, 1, "node 1 runs already, at there:/data, where it was seen "},
	} {
		_, err := Open(t.Context(), c.url, c.node, Options{Place: "here:/data"})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s, node %d: %v, want %s", control.Redacted(c.url), c.node, err, c.want)
		}
	}
}

// A node that was killed is there again at once, because the lock of its data directory is proof that the old process
// is dead; one that has ended may be anywhere.
func TestANodeThatIsDeadMayBeAnotherProcess(t *testing.T) {
	t.Parallel()
	url := made(t, Shape{4, 2})
	join(t, url, 0, "here:/data")
	again := join(t, url, 0, "here:/data")
	s, err := StatusOf(t.Context(), url)
	if err != nil || !s.Nodes[0].Alive || s.Nodes[0].Place != "here:/data" || s.Nodes[0].Partitions != 2 || s.Nodes[1].Alive || s.Nodes[1].Place != "" {
		t.Errorf("%+v, %v", s, err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	join(t, url, 0, "elsewhere:/data")
}
