package storecmd

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
)

// Within returns a command of another program that is all that webrace-store is. Its subcommands are made when they are
// asked for, so the program's other commands do not pay for them.
func Within() *cobra.Command {
	c := &cobra.Command{
		Use:                "store COMMAND",
		Short:              "look into the stores of a data directory, and change them: all that webrace-store is",
		Example:            "  webrace-run store urd list\n  webrace-run store explain https://example.org/news eleni",
		DisableFlagParsing: true,
		RunE:               runWithin,
		ValidArgsFunction:  completeWithin,
	}
	c.SetHelpFunc(func(c *cobra.Command, _ []string) { executeWithin(c, []string{"--help"}) })
	return c
}

func runWithin(c *cobra.Command, args []string) error {
	if status := executeWithin(c, args); status != cli.OK {
		return &cli.Error{Status: status}
	}
	return nil
}

// executeWithin runs a command as one of c, which stands in front of it in usage and examples.
func executeWithin(c *cobra.Command, args []string) (status int) {
	root := New(args)
	root.Annotations[cobra.CommandDisplayNameAnnotation] = c.CommandPath()
	nameExamples(root, c.CommandPath())
	root.SetIn(c.InOrStdin())
	root.SetOut(cli.Exact(c.OutOrStdout())) // Execute makes visible what is for a terminal
	return cli.Execute(c.Context(), root, cli.Exact(c.ErrOrStderr()))
}

func nameExamples(c *cobra.Command, program string) {
	c.Example = strings.ReplaceAll(c.Example, Name, program)
	for _, sub := range c.Commands() {
		nameExamples(sub, program)
	}
}

// completeWithin completes as webrace-store does, which cobra tells by its output alone: a completion a line, and last
// the directive, behind a colon.
func completeWithin(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	var out strings.Builder
	root := New(slices.Concat([]string{cobra.ShellCompRequestCmd}, args, []string{begun}))
	root.SetOut(&out)
	cli.Execute(c.Context(), root, io.Discard)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	last := len(lines) - 1
	directive, err := strconv.Atoi(strings.TrimPrefix(lines[last], ":"))
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return lines[:last], cobra.ShellCompDirective(directive)
}
