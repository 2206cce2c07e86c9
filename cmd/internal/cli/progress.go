package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/internal/terminal"
)

// ProgressEvery is how often a line changes that would change all the time.
const ProgressEvery = 200 * time.Millisecond

// Progress is a line on a terminal that shows how far something is.
type Progress struct {
	c     *cobra.Command
	shown bool
}

// NewProgress returns one that prints nothing unless stderr is a terminal.
func NewProgress(c *cobra.Command) *Progress {
	if !IsTerminal(c.ErrOrStderr()) {
		c = nil
	}
	return &Progress{c: c}
}

// Show replaces the line.
func (p *Progress) Show(format string, args ...any) {
	if p.c != nil {
		p.shown = true
		fmt.Fprint(Exact(p.c.ErrOrStderr()), "\r\x1b[K"+terminal.Line(fmt.Sprintf(format, args...)))
	}
}

// Clear takes the line away: what else is written there comes after.
func (p *Progress) Clear() {
	if p.shown {
		fmt.Fprint(Exact(p.c.ErrOrStderr()), "\r\x1b[K")
		p.shown = false
	}
}

// Shows reports whether there is a terminal for the line.
func (p *Progress) Shows() bool { return p.c != nil }
