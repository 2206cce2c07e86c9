package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

func TestDemoOfAClusterTellsWhatOneMachineTells(t *testing.T) {
	t.Parallel()
	if postgresPrograms() == "" {
		t.Skip("no PostgreSQL is installed (apt-get install postgresql)")
	}
	p := startCommand(t, "demo", "cluster")
	p.mustExit(cli.OK)
	mustSay(t, p.said(), "One machine asked for ", "Node 1 is killed (kill -9) after ")
	for owner, least := range map[string]string{"costas": "6 pages", "eleni": "11 pages", "maria": "9 pages"} {
		mustSay(t, p.said(), owner+" was told of "+least+" by one machine, and of the same by the cluster, by the same ids.")
	}
}

func TestDemoOfAClusterSeesADifference(t *testing.T) {
	t.Parallel()
	of := func(ids ...string) map[string][]control.ACI {
		told := make(map[string][]control.ACI)
		for _, id := range ids {
			told["ann"] = append(told["ann"], control.ACI{ACI: &xmlschema.ACI{ID: id}})
		}
		return told
	}
	c := &cobra.Command{}
	c.SetOut(new(bytes.Buffer))
	d := &clusterShow{c: c}
	if err := d.compare(of("a", "b"), of("b", "a")); err != nil {
		t.Error(err)
	}
	for _, parted := range []map[string][]control.ACI{of("a"), of("a", "b", "b"), of("a", "c"), {}} {
		if err := d.compare(of("a", "b"), parted); err == nil {
			t.Errorf("%v passes for the same", parted)
		}
	}
}

func TestDemoOfAClusterSaysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", "")
	t.Setenv("WEBRACE_DATABASE", "")
	before := debianPrograms
	t.Cleanup(func() { debianPrograms = before })
	debianPrograms = ""
	_, _, err := webraceRun("demo", "cluster")
	if err == nil || !strings.Contains(err.Error(), "apt-get install postgresql") {
		t.Errorf("it says %v", err)
	}
	if _, _, err := webraceRun("demo", "clster"); err == nil || !strings.Contains(err.Error(), "did you mean cluster?") {
		t.Errorf("it says %v", err)
	}
	if _, _, err := webraceRun("demo", "cluster", "--data", "d"); err == nil || !strings.Contains(err.Error(), "neither --data") {
		t.Errorf("it says %v", err)
	}
}
