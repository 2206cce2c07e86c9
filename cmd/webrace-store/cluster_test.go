package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/storecmd"
	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/cluster"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
)

// overCluster is set, to the URL of a database whose server makes others, for commands that are to find a cluster
// where their data directory is named.
const overCluster = "WEBRACE_STORE_OVER_CLUSTER"

const clusterNodes, clusterPartitions = 2, 2

// emptyCluster is the database of a cluster in which nothing happened yet.
const emptyCluster = "empty_cluster"

// ofOneDirectory are scripts about what only a data directory has, with what that is.
var ofOneDirectory = map[string]string{
	"backup":             "a backup is of one partition",
	"backup_key":         "a backup is of one partition",
	"cache_import":       "documents are imported into one partition",
	"fsck":               "it looks for files of one machine",
	"nothing_is_removed": "it damages files of one machine",
	"place":              "a node has its data directory from its configuration alone",
	"quads":              "a cluster has no quads",
	"quads_kept":         "a cluster has no quads",

	"import_foreign": "nothing but URDs is opened",
	"unserved":       "nothing is opened",
	"useless":        "nothing but URDs is opened",
	"when":           "nothing but URDs is opened",
}

// Over a cluster of two nodes the same scripts see the same, whichever of them is asked: each command asks another
// than the one before.
func TestScriptsOverACluster(t *testing.T) {
	t.Parallel()
	server := postgres.New(t, postgres.Options{})
	server.Query(t, "CREATE DATABASE "+emptyCluster)
	if err := createCluster(t.Context(), databaseOf(server.URL("postgres"), emptyCluster)); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		name := strings.TrimSuffix(filepath.Base(script), ".txtar")
		if _, alone := ofOneDirectory[name]; alone {
			continue
		}
		text, err := os.ReadFile(script)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(script)), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	runScripts(t, dir, "cluster", func(e *testscript.Env) error {
		e.Setenv(overCluster, server.URL("postgres"))
		return nil
	})
}

// mainOverCluster runs a command on a node of the cluster that its --data names. What the environment's ONE_MACHINE
// names are data directories of one machine.
func mainOverCluster(server string) (status int) {
	args := os.Args[1:]
	rest, data := without(args, "data")
	if data != "" && !slices.Contains(strings.Fields(os.Getenv("ONE_MACHINE")), data) {
		rest, file := without(rest, "config")
		config, err := nodeFor(server, data, file)
		if err != nil {
			panic(err)
		}
		args = append([]string{"--config", config}, rest...)
	}
	return cli.Main(storecmd.New(args))
}

// without takes an option out of a command line, and returns its value.
func without(args []string, name string) (rest []string, value string) {
	i := slices.Index(args, "--"+name)
	if i < 0 || i+1 == len(args) {
		return args, ""
	}
	return slices.Delete(slices.Clone(args), i, i+2), args[i+1]
}

// nodeFor returns the configuration of the node that is asked next: the first one until it has its data directory,
// and then each in turn.
func nodeFor(server, data, file string) (string, error) {
	data, err := filepath.Abs(data)
	if err != nil {
		return "", err
	}
	base, err := makeCluster(server, data)
	if err != nil {
		return "", err
	}
	next := filepath.Join(base, "next")
	asked, _ := os.ReadFile(next) // nobody was
	node := len(asked) % clusterNodes
	if _, err := os.Stat(data); err != nil {
		node = 0
	} else if err := os.WriteFile(next, append(asked, '.'), 0o600); err != nil {
		return "", err
	}
	return configOf(base, data, file, node)
}

// dataOf returns the data directory of a node. That of the first is the one that was named.
func dataOf(base, data string, node int) string {
	if node == 0 {
		return data
	}
	return filepath.Join(base, fmt.Sprint("data-", node))
}

// configOf writes the configuration of a node, with what is in another one.
func configOf(base, data, file string, node int) (string, error) {
	if file == "" {
		file = "pipelines.toml"
	}
	given, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		given, err = []byte(webrace.Pipelines), nil
	}
	if err != nil {
		return "", err
	}
	database, err := os.ReadFile(filepath.Join(base, "database"))
	if err != nil {
		return "", err
	}
	lines := slices.DeleteFunc(strings.SplitAfter(string(given), "\n"), func(l string) bool { return strings.HasPrefix(l, "data ") || strings.HasPrefix(l, "data=") })
	text := fmt.Sprintf("data = %q\n%s\n[cluster]\ndatabase = %q\nnode = %d\nsecrets = %q\n",
		dataOf(base, data, node), strings.Join(lines, ""), database, node, filepath.Join(data, "secrets.key"))
	path := fmt.Sprintf("%s.node-%d", file, node) // beside it, as it may include others
	return path, os.WriteFile(path, []byte(text), 0o600)
}

func databaseOf(server, name string) string {
	return strings.Replace(server, "/postgres?", "/"+name+"?", 1)
}

// createCluster makes the tables of a cluster.
func createCluster(ctx context.Context, database string) error {
	store, err := control.OpenPostgres(ctx, database, "", control.Options{})
	if err == nil {
		err = store.Close()
	}
	if err != nil {
		return err
	}
	return cluster.Create(ctx, database, cluster.Shape{Partitions: clusterPartitions, Nodes: clusterNodes})
}

// makeCluster makes the cluster of a data directory, by its absolute path, if there is none yet, and returns where what
// it consists of is.
func makeCluster(server, data string) (base string, err error) {
	base = data + ".cluster"
	if _, err := os.Stat(base); err == nil {
		return base, nil
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	name := "script_" + strings.ToLower(rand.Text())
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+emptyCluster); err != nil {
		return "", err
	}
	database := databaseOf(server, name)
	for node := 1; node < clusterNodes; node++ {
		if err := os.MkdirAll(dataOf(base, data, node), 0o700); err != nil {
			return "", err
		}
	}
	if err := os.WriteFile(filepath.Join(base, "database"), []byte(database), 0o600); err != nil {
		return "", err
	}
	return base, joinAll(ctx, base, data, database)
}

// joinAll makes known where the nodes have their data, as each does when it first runs. The first one has none yet.
func joinAll(ctx context.Context, base, data, database string) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	for node := range clusterNodes {
		c, err := cluster.Open(ctx, database, node, cluster.Options{Place: host + ":" + dataOf(base, data, node)})
		if err == nil {
			err = c.Close()
		}
		if err == nil && node > 0 {
			err = withStores(base, data, node, dataOf(base, data, node), func(*storage.Dir) error { return nil })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// withStores opens a data directory as a node does, or one of a partition of it.
func withStores(base, data string, node int, dir string, f func(*storage.Dir) error) error {
	config, err := configOf(base, data, filepath.Join(base, "none.toml"), node)
	if err != nil {
		return err
	}
	globals := cli.Globals{Config: config, Data: dir}
	stores, err := globals.OpenStores()
	if err != nil {
		return err
	}
	return errors.Join(f(stores.Dir), stores.Close())
}

// withPartition opens the partition of the site that scripts fill in. The others are as they are where nothing was
// found yet.
func withPartition(server, data string, f func(*storage.Dir) error) error {
	base, err := makeCluster(server, data)
	if err == nil {
		err = withStores(base, data, 0, data, func(*storage.Dir) error { return nil })
	}
	home := cluster.PartitionOf("site.example", clusterPartitions)
	for p := 0; p < clusterPartitions && err == nil; p++ {
		do := crawlNothing
		if p == home {
			do = f
		}
		node := p % clusterNodes
		err = withStores(base, data, node, cli.PartitionDir(dataOf(base, data, node), p), do)
	}
	return err
}

func crawlNothing(dir *storage.Dir) error {
	store, err := dir.Frontier()
	if err != nil {
		return err
	}
	queue, err := store.Queue("webrace", frontier.QueueOptions{})
	if err != nil {
		return err
	}
	return queue.Close()
}
