package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
)

// aCluster is a node of a cluster whose database nobody may reach: lint is not to try.
const aCluster = "[cluster]\ndatabase = \"postgres://u:hidden@127.0.0.1:1/d\"\nnode = 0\n"

// What cannot run in parts is refused with its place, by lint and by who would run it; all else is as it was. What is
// wrong with [cluster] itself is found without a network, and shows no password.
func TestClusterLint(t *testing.T) {
	t.Parallel()
	pipelines := map[string]struct{ pipeline, refused string }{
		"a sum of what is crawled":             {"flow = [\"urds > frontier > fetch > window > drop\", \"fetch.redirects > frontier\"]\nstage.window.size = \"1h\"", `1:36: stage "window"`},
		"a rate of what is crawled":            {"flow = [\"objects > throttle > drop\"]", `1:20: stage "throttle"`},
		"one of what is the same":              {"flow = [\"objects > once > drop\"]\nstage.once = { type = \"dedupe\", key = \"digest\" }", `1:20: stage "once"`},
		"a file of what is crawled":            {"flow = [\"objects > write-file\"]\nstage.write-file.path = \"f\"", `1:20: stage "write-file"`},
		"a queue of what is crawled":           {"flow = [\"objects > queue > drop\"]", `1:20: stage "queue"`},
		"a queue that another pipeline fills":  {"flow = [\"queue > drop\"]\nstage.queue.name = \"q\"", `1:10: stage "queue"`},
		"queries over what documents say":      {"flow = [\"sparql > drop\"]", `1:10: stage "sparql"`},
		"quads":                                {"flow = [\"objects > detect > transform > quad-index > drop\"]", `1:41: stage "quad-index"`},
		"a file of annotations":                {"flow = [\"acis > write-file\"]\nstage.write-file.path = \"f\"", ""},
		"a queue and a rate of annotations":    {"flow = [\"acis > queue > throttle > drop\"]", ""},
		"a queue of what is told, and watched": {"flow = [\"acis, source-watch > queue > drop\"]", `1:31: stage "queue"`},
	}
	for name, c := range pipelines {
		dir := t.TempDir()
		text := "version = 1\n" + aCluster + "[pipeline.p]\n" + c.pipeline + "\n"
		writeFile(t, filepath.Join(dir, "pipelines.toml"), text)
		writeFile(t, filepath.Join(dir, "alone.toml"), strings.Replace(text, aCluster, "", 1))
		for _, command := range [][]string{{"lint"}, {"run", "p", "--data", "d"}} {
			if c.refused == "" && command[0] == "run" {
				continue
			}
			p := newCommand(t, command...)
			p.Dir = dir
			p.begin()
			if c.refused == "" {
				p.mustExit(cli.OK)
				continue
			}
			p.mustExit(cli.Usage)
			if want := "pipelines.toml:6:" + strings.TrimPrefix(c.refused, "1:") + " cannot be in a pipeline of which each partition of a cluster has a part: "; !strings.Contains(p.said(), want) {
				t.Errorf("%s: %v does not say %q, but:\n%s", name, command, want, p.said())
			}
		}
		p := newCommand(t, "lint", "--config", "alone.toml")
		p.Dir = dir
		p.begin()
		p.mustExit(cli.OK)
	}
}

func TestWhatIsWrongWithAClusterIsSaidWithoutANetwork(t *testing.T) {
	t.Parallel()
	for wrong, says := range map[string]string{
		strings.Replace(aCluster, "node = 0", "node = \"node\"", 1):            `pipelines.toml:4:8: node: "node" is neither`,
		strings.Replace(aCluster, "/d", "", 1):                                 "pipelines.toml:3:12: database: it names no database",
		strings.Replace(aCluster, "postgres:", "mysql:", 1):                    "pipelines.toml:3:12: database: ",
		"control = \"postgres://u:hidden@127.0.0.1:1/d\"\n" + aCluster:         "pipelines.toml:2:1: control names a database, and so does [cluster]",
		aCluster + "adress = \"https://node-0:8643\"\n":                        `pipelines.toml:5:1: [cluster] has no "adress", only database, node, secrets, address and tls (did you mean address?)`,
		aCluster + "address = \"https://node-0:8643\"\n":                       "pipelines.toml:5:1: address: nodes are asked by those alone who show a certificate",
		"include = \"more.toml\"\n" + strings.Replace(aCluster, "\n", "\n", 1): `more.toml:2:2: "cluster" stands in the main file only`,
	} {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "pipelines.toml"), "version = 1\n"+wrong)
		writeFile(t, filepath.Join(dir, "more.toml"), "version = 1\n"+aCluster)
		for _, command := range [][]string{{"lint"}, {"store", "urd", "list"}} {
			p := newCommand(t, command...)
			p.Dir = dir
			p.begin()
			p.mustExit(cli.Usage)
			if said := p.said(); !strings.Contains(said, says) || strings.Contains(said, "hidden") {
				t.Errorf("%q: %v does not say %q, but:\n%s", wrong, command, says, said)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "data")); err == nil {
			t.Errorf("%q: a data directory was made", wrong)
		}
	}
}
