package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/watch"
	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/admin"
)

func newTap(globals *cli.Globals) *cobra.Command {
	var q admin.TapQuery
	var once, asJSON bool
	c := &cobra.Command{
		Use:   "tap [NAME] STAGE[.PORT]",
		Short: "watch items pass a stage of a running pipeline",
		Long: `tap shows some of the items that leave a stage of a pipeline that runs, as they
pass. STAGE is its default output, STAGE.PORT another one, as errors, and STAGE:in
is what comes in. NAME may be left out where one pipeline runs, or one has the stage.

Nothing is changed or held back: at most 20 items a second are looked at, for at
most a hundredth of a processor, and who reads too slowly, or has a condition that
takes more than 50 ms on an item, misses some. On a terminal an item is a line for a
person, elsewhere a line of JSON.`,
		Example: `  webrace-run tap fetch                                  what is fetched
  webrace-run tap fetch.errors --body                    what could not be processed
  webrace-run tap webrace keyword-filter:in --once --json | jq .
  webrace-run tap fetch --where 'media_type != "text/html"'`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			name := ""
			if len(args) == 2 {
				name = args[0]
			}
			q.Stage = args[len(args)-1]
			if once {
				q.Limit = 1
			}
			show := newItemPrinter(c.OutOrStdout(), asJSON, q.Body > 0)
			return tapRunning(c, globals, name, q, show)
		},
	}
	c.Flags().BoolVar(&once, "once", false, "show one item, and end; exit status 1 if none came")
	c.Flags().StringVar(&q.Where, "where", "", "show items that an `EXPRESSION` is true of (docs/expressions.md)")
	c.Flags().IntVar(&q.Limit, "limit", 0, "end after so many items")
	c.Flags().IntVar(&q.Rate, "rate", 0, "show at most so many items a second (default 20)")
	c.Flags().IntVar(&q.Body, "body", -1, "show the beginning of bodies, up to so many `BYTES` (4096)")
	c.Flags().Lookup("body").NoOptDefVal = "4096"
	c.Flags().Lookup("body").DefValue = "-1"
	c.Flags().BoolVar(&asJSON, "json", false, "items as lines of JSON, also on a terminal")
	return c
}

// tapRunning watches until the tap ends, or the user interrupts it.
func tapRunning(c *cobra.Command, globals *cli.Globals, name string, q admin.TapQuery, show func(pipeline.Tapped) error) error {
	stage, _, err := pipeline.ParseTapPoint(q.Stage)
	if err != nil {
		return cli.Wrong(err)
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
	if name == "" {
		name, err = pipelineOf(states, stage)
	} else {
		err = mustRun(states, name)
	}
	if err != nil {
		return err
	}
	var last pipeline.Tapped
	shown := int64(0)
	opened := func() {
		fmt.Fprintf(cli.Prose(c.ErrOrStderr()), "watching %s of %s; Ctrl-C ends this, and nothing else\n", q.Stage, name)
	}
	end, err := process.Client.Tap(ctx, name, q, opened, func(item pipeline.Tapped) error {
		last = item
		shown++
		return show(item)
	})
	switch refused := (*admin.RefusedError)(nil); {
	case errors.As(err, &refused):
		return refusal(refused)
	case ctx.Err() != nil:
		end, err = admin.TapEnd{Passed: last.Number, Shown: shown, Missed: last.Missed}, nil
	case err != nil:
		return err
	}
	return tapEnded(c.ErrOrStderr(), end, q)
}

// refusal tells what is not there from what was asked for wrongly.
func refusal(e *admin.RefusedError) error {
	if e.Status == 404 {
		return e
	}
	return cli.Wrong(e)
}

// tapEnded prints how much was shown, and why not more.
func tapEnded(w io.Writer, end admin.TapEnd, q admin.TapQuery) error {
	if end.Failed {
		return fmt.Errorf("%s", end.Reason)
	}
	if q.Limit == 0 || end.Shown < int64(q.Limit) {
		text := fmt.Sprintf("%d of %s shown", end.Shown, wording.Count(end.Passed, "item"))
		if end.Missed > 0 {
			text += fmt.Sprintf(", %d missed", end.Missed)
		}
		fmt.Fprintln(cli.Prose(w), strings.TrimSuffix(cmp.Or(end.Reason, "ended")+": "+text, "\n"))
	}
	if q.Limit == 1 && end.Shown == 0 {
		return &cli.Error{Status: cli.Failed}
	}
	return nil
}

// newItemPrinter returns what writes an item: for a person on a terminal, as JSON elsewhere.
func newItemPrinter(w io.Writer, asJSON, body bool) func(pipeline.Tapped) error {
	if asJSON || !cli.IsTerminal(w) {
		encoder := cli.NewEncoder(w)
		return func(item pipeline.Tapped) error { return encoder.Encode(item) }
	}
	s, last := newScreen(w), int64(0)
	return func(item pipeline.Tapped) error {
		s.item(item, item.Number-last-1)
		last = item.Number
		if body {
			s.body(item)
		}
		return s.err
	}
}

// item writes an item, with how many have passed unseen since the one before.
func (s *screen) item(item pipeline.Tapped, unseen int64) {
	what, rest := watch.Describe(item)
	runs := []run{{what, bold}}
	if item.Port != "" && item.Port != pipeline.TapInput {
		runs = append(runs, run{" " + item.Port, good})
	}
	if unseen > 0 {
		runs = append(runs, run{fmt.Sprintf(" (%d passed before it)", unseen), dim})
	}
	for _, f := range rest {
		runs = append(runs, run{" " + f.Name + "=", dim}, run{f.Text, plain})
	}
	at := run{item.Time.Local().Format("15:04:05") + " ", dim}
	if s.width > 0 {
		runs = fitting(s.width-terminal.Columns(at.text), runs)
	}
	s.line(at, runs...)
}

// fitting returns as many runs as fit in so many columns, but at least the first.
func fitting(width int, runs []run) []run {
	for i, r := range runs {
		if width -= terminal.Columns(r.text); width < 0 && i > 0 {
			return runs[:i]
		}
	}
	return runs
}

// body writes the beginning of a body under its item.
func (s *screen) body(item pipeline.Tapped) {
	text, ok := item.Text()
	if !ok {
		s.line(run{"    ", plain}, run{fmt.Sprintf("%d bytes that are no text", item.BodySize), dim})
		return
	}
	for line := range strings.Lines(text) {
		s.line(run{"    ", plain}, run{line, plain})
	}
	if cut := item.BodySize - len(text); cut > 0 {
		s.line(run{"    ", plain}, run{fmt.Sprintf("… %d more bytes", cut), dim})
	}
}
