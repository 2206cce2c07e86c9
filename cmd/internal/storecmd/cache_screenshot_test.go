package storecmd

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
)

// screenOf is a terminal that keeps what is written to it.
type screenOf struct{ bytes.Buffer }

func (*screenOf) IsTerminal() bool { return true }

func TestAScreenshotIsNotWrittenToATerminal(t *testing.T) {
	t.Parallel()
	var terminal screenOf
	root := newRoot(new(cli.Globals))
	root.SetArgs([]string{"cache", "screenshot", "http://a.example/", "--data", t.TempDir()})
	root.SetOut(&terminal)
	root.SetErr(io.Discard)
	root.SilenceUsage = true
	if err := root.Execute(); err == nil || !strings.Contains(err.Error(), "name a file with --output") || terminal.Len() > 0 {
		t.Errorf("%v; written: %q", err, terminal.String())
	}
}
