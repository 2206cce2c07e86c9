//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/xmlschema"
)

// The program of an exec is there once in a process that has eight partitions, and works for all of them.
func TestClusterStartsAProgramOnceInAProcess(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	library, err := filepath.Abs("../internal/scaffold/python")
	if err != nil {
		t.Fatal(err)
	}
	f := newFederation(t, 12)
	c := newCluster(t, postgres.Database(t), 8, 1)
	urds := filepath.Join(t.TempDir(), "urds.xml")
	writeFile(t, urds, string(xmlschema.URDs(these(f.sites[0].asks("ann", "/", depth(4), within(xmlschema.ScopeAny), about("tea")))).Canonical()))
	c.store(0, "urd", "import", urds)
	starts := filepath.Join(c.dir, "starts")
	program := filepath.Join(c.dir, "program.py")
	writeFile(t, program, "from webrace_stage import stage\nopen("+`"`+starts+`"`+", 'a').write('x')\n@stage()\ndef work(item, options):\n    yield item.keep()\nwork.run()\n")
	text := strings.Replace(readFile(t, c.nodes[0]), "> normalize > cache >", "> normalize > watched > cache >", 1) +
		"\n[pipeline.webrace.stage.watched]\ntype = \"exec\"\ncommand = [\"python3\", \"" + program + "\"]\nenv = { PYTHONPATH = \"" + library + "\" }\n"
	writeFile(t, c.nodes[0], text)
	c.run()
	if started, err := os.ReadFile(starts); err != nil || string(started) != "x" {
		t.Errorf("the program was started %d times, %v", len(started), err)
	}
	if n := len(c.documents()); n < 30 {
		t.Errorf("%d documents are stored", n)
	}
}
