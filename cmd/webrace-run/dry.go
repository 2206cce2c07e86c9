package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/watch"
	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
)

// dryFlags are those of a run that shows what it would do.
type dryFlags struct {
	dry   bool
	items int64
}

func (f *dryFlags) addFlags(c *cobra.Command) {
	c.Flags().BoolVar(&f.dry, "dry", false, "show what would be stored, sent and written, and do nothing of it: the stores are copies, which are thrown away")
	c.Flags().Int64Var(&f.items, "items", 10, "with --dry: end after `N` URLs of the frontier, or items of the sources where there is no queue; 0 has no limit")
}

func (f *dryFlags) check(c *cobra.Command) error {
	switch {
	case !f.dry && c.Flags().Changed("items"):
		return cli.Wrongf("--items goes with --dry")
	case f.items < 0:
		return cli.Wrongf("--items %d: it is at least 1, or 0 for no limit", f.items)
	}
	return nil
}

// dryRun shows what pipelines would do. A nil one is none.
type dryRun struct {
	flags dryFlags
	w     io.Writer
	out   *output
	named bool // pipelines have to be told apart
	since reached
}

func newDryRun(flags dryFlags, w io.Writer, out *output, named bool) *dryRun {
	if !flags.dry {
		return nil
	}
	return &dryRun{flags: flags, w: w, out: out, named: named}
}

// options returns what makes a run a dry one.
func (d *dryRun) options() *pipeline.Dry {
	if d == nil {
		return nil
	}
	return &pipeline.Dry{Items: d.flags.items, Show: d.show}
}

// begin notes what is stored before the run.
func (d *dryRun) begin(ctx context.Context, dir *storage.Dir) (err error) {
	if d != nil {
		d.since, err = reachedNow(ctx, dir)
	}
	return err
}

// show prints what would be done with an item: on a terminal in a few lines, elsewhere in one with its JSON.
func (d *dryRun) show(effect string, item pipeline.Tapped) {
	line := fmt.Sprintf("%s would %s:", item.Stage, effect)
	if d.named {
		line = item.Pipeline + ": " + line
	}
	d.out.mu.Lock()
	defer d.out.mu.Unlock()
	d.out.clear()
	if s := newScreen(d.w); s.width > 0 {
		s.line(run{line, plain})
		s.line(run{"  ", plain}, fitting(shownLines*(s.width-2), abridged(item))...)
		return
	}
	if line += " " + string(item.Value); item.BodySize > 0 {
		line += fmt.Sprintf(" and a body of %s", terminal.Size(int64(item.BodySize)))
	}
	fmt.Fprintln(d.w, terminal.Line(line))
}

// shownLines is how many lines of an item a terminal is shown, and shownText how many characters of a field.
const (
	shownLines = 3
	shownText  = 60
)

// abridged returns what an item is, and its fields with the beginnings of what is long.
func abridged(item pipeline.Tapped) []run {
	what, fields := watch.Describe(item)
	runs := []run{{what, bold}}
	for _, f := range fields {
		text := []rune(f.Text)
		switch digest, err := hex.DecodeString(f.Text); {
		case err == nil && len(digest) == sha256.Size:
			text = text[:12]
		case len(text) > shownText:
			text = append(text[:shownText], '…')
		}
		runs = append(runs, run{" " + f.Name + "=" + string(text), plain})
	}
	return runs
}

// tell shows what would have been stored, and who would have been told of what.
func (d *dryRun) tell(ctx context.Context, dir *storage.Dir) error {
	if d == nil {
		return nil
	}
	w := cli.Prose(d.w)
	return errors.Join(listPages(ctx, w, dir, d.since, "would be stored:", ""), d.tellACIs(ctx, w, dir))
}

func (d *dryRun) tellACIs(ctx context.Context, w io.Writer, dir *storage.Dir) error {
	store, err := dir.Control()
	if err != nil {
		return err
	}
	told := make(map[string][]control.ACI)
	var owners []string
	for aci, err := range store.ACIs(ctx, control.Filter{After: d.since.annotation}) {
		if err != nil {
			return err
		}
		if !slices.Contains(owners, aci.Owner) {
			owners = append(owners, aci.Owner)
		}
		told[aci.Owner] = append(told[aci.Owner], aci)
	}
	for _, owner := range owners {
		acis := told[owner]
		cli.SortByRelevance(acis)
		fmt.Fprintf(w, "%s would be told of %s:\n", owner, wording.Count(len(acis), "page"))
		shown := acis[:min(len(acis), shownPages)]
		for _, aci := range shown {
			cli.PrintACI(w, aci.ACI)
		}
		tellMore(w, len(acis)-len(shown), "")
	}
	return nil
}
