package main

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/build"
	"github.com/webrace/webrace/cmd/internal/cli"
)

func newBuild() *cobra.Command {
	var b build.Build
	c := &cobra.Command{
		Use:   "build --with MODULE@VERSION|DIRECTORY…",
		Short: "build a webrace-run that has stages of other modules",
		Long: `build makes a program that is webrace-run, and has the stages of other modules in
Go as well. It needs the go command.`,
		Example: `  webrace-run build --with example.org/shout@v1.2.0 --output ./webrace-run
  webrace-run build --with ./shout --with ./whisper`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			line := cli.NewProgress(c)
			defer line.Clear()
			b.Log = aboveProgress{c.ErrOrStderr(), line}
			b.Step = buildProgress(c.ErrOrStderr(), line)
			b.Source = cmp.Or(b.Source, checkout(), sourceVersion(""))
			if err := b.Run(c.Context()); err != nil {
				return err
			}
			line.Clear()
			fmt.Fprintln(c.OutOrStdout(), b.Output)
			return nil
		},
	}
	c.Flags().StringArrayVar(&b.With, "with", nil, "a `MODULE@VERSION` or a directory that holds one, as often as needed")
	c.Flags().StringArrayVar(&b.Replace, "replace", nil, "`MODULE=DIRECTORY` or MODULE=MODULE@VERSION, as replace in a go.mod")
	c.Flags().StringVar(&b.Source, "source", "", "the `DIRECTORY` with the source of webrace, or its version (default: the checkout we are in, or this program's version)")
	c.Flags().StringVar(&b.Output, "output", "webrace-run", "the program to write, a `FILE`")
	return c
}

// buildProgress shows what a build is at: on a terminal in a line that is written over, elsewhere in one for each step,
// and for what compiles every ten seconds.
func buildProgress(w io.Writer, line *cli.Progress) func(build.Progress) {
	var began time.Time // to compile
	last := time.Now()
	return func(p build.Progress) {
		every := cli.ProgressEvery
		if !line.Shows() {
			every = 10 * time.Second
		}
		if p.Package == 1 {
			began = time.Now()
		}
		if p.Package > 0 && time.Since(last) < every {
			return
		}
		last = time.Now()
		text := p.Doing
		if p.Package > 0 {
			text = compiling(p, time.Since(began))
		}
		if line.Show("%s", text); !line.Shows() {
			fmt.Fprintln(w, text)
		}
	}
}

// compiling describes a build that has compiled for so long: which package of all, and after the first seconds how long
// the rest will take if its source is compiled as fast as what was.
func compiling(p build.Progress, since time.Duration) string {
	text := fmt.Sprintf("%d of %d packages after %v", p.Package, p.Packages, since.Round(time.Second))
	if p.Left < 1 && since > 5*time.Second {
		left := time.Duration(float64(since) * p.Left / (1 - p.Left))
		text += fmt.Sprintf(", %v to go", max(left.Round(5*time.Second), 5*time.Second))
	}
	return text + ": " + p.Doing
}

// aboveProgress writes lines of others where the line of progress was.
type aboveProgress struct {
	io.Writer
	line *cli.Progress
}

func (a aboveProgress) Write(p []byte) (int, error) {
	a.line.Clear()
	return a.Writer.Write(p)
}
