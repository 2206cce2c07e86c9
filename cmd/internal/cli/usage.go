package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// Strict makes every command of a tree answer wrong arguments with [Usage] and a word on what to do. A
// command that only groups others refuses what is none of them.
func Strict(c *cobra.Command) {
	if !c.Runnable() {
		c.Args = cobra.ArbitraryArgs
		c.RunE = onlySubcommands
	}
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			if err == nil {
				return nil
			}
			if ours := (*Error)(nil); !errors.As(err, &ours) {
				err = miscounted(c, args, check)
			}
			return Wrongf("%w\nusage: %s", err, c.UseLine())
		}
	}
	for _, sub := range c.Commands() {
		Strict(sub)
	}
}

// miscounted says what is wrong with the number of arguments.
func miscounted(c *cobra.Command, args []string, check cobra.PositionalArgs) error {
	for n := len(args) - 1; n >= 0; n-- {
		if check(c, args[:n]) == nil {
			return fmt.Errorf("%q is one argument too many", args[n])
		}
	}
	if len(args) == 0 {
		return fmt.Errorf("%s needs an argument", c.CommandPath())
	}
	return fmt.Errorf("%s needs another argument", c.CommandPath())
}

func onlySubcommands(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	message := "%s has no subcommand %q"
	if near := nearest(c, args[0]); near != "" {
		return Wrongf(message+"; did you mean %s?", c.CommandPath(), args[0], near)
	}
	return Wrongf(message+"\nrun '%s --help' for what it has", c.CommandPath(), args[0], c.CommandPath())
}

// nearest returns the subcommand that was probably meant, or "".
func nearest(c *cobra.Command, typed string) string {
	for _, c.SuggestionsMinimumDistance = range []int{1, 2} {
		if near := c.SuggestionsFor(typed); len(near) > 0 {
			return near[0]
		}
	}
	return ""
}
