package cli

import "github.com/spf13/cobra"

// Strict makes every command of a tree answer wrong arguments with [Usage] and a word on what to do. A
// command that only groups others refuses what is none of them.
func Strict(c *cobra.Command) {
	if !c.Runnable() {
		c.Args = cobra.ArbitraryArgs
		c.SuggestionsMinimumDistance = 2
		c.RunE = onlySubcommands
	}
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return Wrongf("%w\nusage: %s", err, c.UseLine())
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		Strict(sub)
	}
}

func onlySubcommands(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	message := "%s has no subcommand %q"
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		return Wrongf(message+"; did you mean %s?", c.CommandPath(), args[0], near[0])
	}
	return Wrongf(message+"\nrun '%s --help' for what it has", c.CommandPath(), args[0], c.CommandPath())
}
