package storecmd

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/terminal"
)

// progressEvery is how often a line changes that would change all the time.
const progressEvery = 200 * time.Millisecond

// progress is a line on a terminal that says how far something is.
type progress struct {
	c     *cobra.Command
	shown bool
}

// newProgress returns one that says nothing unless stderr is a terminal.
func newProgress(c *cobra.Command) *progress {
	if !cli.IsTerminal(c.ErrOrStderr()) {
		c = nil
	}
	return &progress{c: c}
}

func (p *progress) show(format string, args ...any) {
	if p.c != nil {
		p.shown = true
		fmt.Fprint(cli.Exact(p.c.ErrOrStderr()), "\r\x1b[K"+terminal.Line(fmt.Sprintf(format, args...)))
	}
}

func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(cli.Exact(p.c.ErrOrStderr()), "\r\x1b[K")
		p.shown = false
	}
}
