//go:build unix

package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/storage"
)

// The page of any node, its metrics and top show all nodes: who is up, who is down, who runs something else, and which
// partitions are whose.
func TestAnyNodeShowsAllNodes(t *testing.T) {
	t.Parallel()
	database := postgres.Database(t)
	c := newCluster(t, database, 4, 3)
	socket := filepath.Join(c.data(0), storage.SocketName)
	get := func(path string) string {
		t.Helper()
		client := http.Client{Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return admin.Dial(ctx, socket) },
		}}
		response, err := client.Get("http://webrace" + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first := startCommand(t, "search", "--continuous", "--config", c.nodes[0])
	waitFor(t, func() bool { _, err := os.Lstat(socket); return err == nil }, first.said)
	second := startCommand(t, "search", "--continuous", "--config", c.nodes[1], "--set", "index.versions=2")
	waitFor(t, func() bool { return strings.Contains(get("/cluster"), `"differs":true`) }, func() string { return get("/cluster") + second.said() })
	mustSay(t, get("/cluster"), `{"node":0,"partitions":["00","03"],"state":"up"`, `{"node":1,"partitions":["01"],"state":"up"`, `{"node":2,"partitions":["02"],"state":"new"`)
	mustSay(t, get("/"), `<tr data-node="2">`, ", which differs</td>", "<td>00 03</td>", `>new</td>`)
	metrics := get("/metrics")
	mustSay(t, metrics, `node="0",partition="00",pipeline="search",stage="index"`, `node="0",partition="03",pipeline="search",`, `go_goroutines{node="0"}`)
	if strings.Contains(metrics, "search@") {
		t.Error("metrics name a pipeline with its partition")
	}

	second.signal(os.Kill)
	second.Wait()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `UPDATE webrace.node SET seen = seen - interval '1 minute' WHERE i = 1`); err != nil {
		t.Fatal(err)
	}
	mustSay(t, get("/"), `class="bad">down</td>`)
	top := startCommand(t, "top", "--once", "--interval", "100ms", "--config", c.nodes[0])
	top.mustExit(cli.OK)
	mustSay(t, top.said(), "search@03", "node 0\tup\t", "node 1\tdown\t", "node 2\tnew\t")
	first.signal(os.Interrupt)
	first.mustExit(cli.OK)
}
