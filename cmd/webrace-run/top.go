package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/watch"
	"github.com/webrace/webrace/pipeline/admin"
	"golang.org/x/term"
)

func newTop(globals *cli.Globals) *cobra.Command {
	var once, asJSON bool
	var interval time.Duration
	c := &cobra.Command{
		Use:   "top [NAME…]",
		Short: "show what the stages of running pipelines do, live",
		Long: `top shows the stages of pipelines that run, of all or of those that are named: how
many items a second, how many wait, where the time goes. It asks the process; what it
shows is the difference between two answers.

On a terminal the table is live, and a pipeline can be paused, drained or tapped from
it: ? tells the keys. Elsewhere, or with --once, the table is printed once.`,
		Example: `  webrace-run top
  webrace-run top webrace --once
  webrace-run top --json | jq '.[].stages[] | select(.busy > 0.9)'`,
		RunE: func(c *cobra.Command, names []string) error {
			if interval < 100*time.Millisecond {
				return cli.Wrongf("--interval %s: it is 100ms or more", interval)
			}
			process, err := findRunning(globals)
			if err != nil {
				return err
			}
			ctx, stop := untilInterrupted(c)
			defer stop()
			states, err := process.states(ctx)
			if err != nil {
				return err
			}
			for _, name := range names {
				if err := mustRun(states, name); err != nil {
					return err
				}
			}
			if !once && !asJSON && cli.IsTerminal(os.Stdin) && cli.IsTerminal(os.Stdout) {
				return topLive(ctx, process, names, interval)
			}
			return topOnce(ctx, c.OutOrStdout(), process, states, names, interval, asJSON)
		},
	}
	c.Flags().BoolVar(&once, "once", false, "print the table of one interval")
	c.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	c.Flags().DurationVar(&interval, "interval", time.Second, "between two looks")
	return c
}

// topOnce prints what was done between now and an interval later; since the start, where it has ended then.
func topOnce(ctx context.Context, w io.Writer, process *runningProcess, before []admin.State, names []string, interval time.Duration, asJSON bool) error {
	select {
	case <-time.After(interval):
	case <-ctx.Done():
		return nil
	}
	after, err := process.Pipelines(ctx)
	if err != nil {
		before, after = nil, before
	}
	tables := watch.Compare(before, after)
	if len(names) > 0 {
		tables = slices.DeleteFunc(tables, func(t watch.Table) bool { return !slices.Contains(names, t.Name) })
	}
	if !asJSON {
		nodes, nodesErr := process.Nodes(ctx)
		if errors.Is(nodesErr, admin.ErrNobody) { // it has ended
			nodesErr = nil
		}
		return errors.Join(watch.Print(w, tables), printNodes(w, nodes), nodesErr)
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(tables)
}

// topLive shows the table until the user quits, or the process has ended, which leaves the last
// table on the screen.
func topLive(ctx context.Context, process *runningProcess, names []string, interval time.Duration) error {
	keyboard, screen := int(os.Stdin.Fd()), int(os.Stdout.Fd())
	before, err := term.MakeRaw(keyboard)
	if err != nil {
		return fmt.Errorf("read keys from the terminal: %w", err)
	}
	size := func() (int, int) {
		width, height, err := term.GetSize(screen)
		if err != nil {
			return 80, 24
		}
		return width, height
	}
	model := watch.New(ctx, process, names, interval, os.Getenv("NO_COLOR") == "")
	err = watch.Run(os.Stdin, os.Stdout, size, model)
	if err := errors.Join(err, term.Restore(keyboard, before)); err != nil {
		return fmt.Errorf("show the table: %w", err)
	}
	if ended := model.Err(); ended != nil {
		if !errors.Is(ended, admin.ErrNobody) {
			return ended
		}
		if err := watch.Print(os.Stdout, model.Tables()); err != nil {
			return err
		}
		fmt.Println("the process has ended")
	}
	return nil
}
