package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
)

func TestTheShippedPipelinesPassTheirTests(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	root := newRoot()
	root.SetOut(&out)
	root.SetArgs([]string{"test", "../../pipelines_test.toml", "--verbose"})
	if status := cli.Execute(t.Context(), root, &out); status != cli.OK {
		t.Fatalf("exit status %d:\n%s", status, out.String())
	}
	for _, name := range []string{"archive", "crawl", "export", "search", "webrace"} {
		if !strings.Contains(out.String(), "ok    "+name+": ") {
			t.Errorf("pipeline %s has no test:\n%s", name, out.String())
		}
	}
}
