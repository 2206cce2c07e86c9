//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil/postgres"
)

// The commands of the page set a cluster up of two nodes, of which each tells all that was found.
func TestTheCommandsOfTheClusterPageSetOneUp(t *testing.T) {
	t.Parallel()
	page := readFile(t, "../../docs/cluster.md")
	s, dir, database := newSite(t), t.TempDir(), postgres.Database(t)
	s.page("/", "The ferry leaves.", "/news")
	s.page("/news", "News of the ferry.")
	const data = "data = \"${WEBRACE_DATA:-./data}\"\n"
	config := strings.Replace(readFile(t, "../../pipelines.toml"), data, fenced(page, "toml")[0], 1)
	config = strings.Replace(config, "[defaults.fetch]\n", "[defaults.fetch]\nallow_networks = [\"loopback\"]\n", 1)
	writeFile(t, filepath.Join(dir, "pipelines.toml"), config)
	blocks := fenced(page, "sh")
	commands, moves := blocks[0], blocks[2]
	for _, replaced := range [][2]string{
		{"postgres://webrace@db.example/webrace", `"` + database + `"`},
		{"https://example.org/", s.URL + "/"},
	} {
		if !strings.Contains(commands, replaced[0]) {
			t.Fatalf("the page has no %s any more", replaced[0])
		}
		commands = strings.ReplaceAll(commands, replaced[0], replaced[1])
	}
	said, err := shell(dir, commands)
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	mustSay(t, said, "a cluster of 8 partitions and 2 nodes at postgres://", "0\t4\tended\t", "1\t4\tended\t", s.URL+"/news")
	if said, err = shell(dir, "export WEBRACE_DATABASE=\""+database+"\"\n"+moves+"HOSTNAME=webrace-0 webrace-store cluster status\n"); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	mustSay(t, said, "partition 06 is node 1's", "0\t3\tended\t", "1\t5\tended\t")
	if n := len(s.requestsInOrder()); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}
