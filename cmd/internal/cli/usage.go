package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/webrace/webrace/internal/suggest"
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

// miscounted returns what is wrong with the number of arguments.
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

// wrongFlag returns what is wrong with a flag, and which may have been meant.
func wrongFlag(c *cobra.Command, err error) error {
	meant := ""
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := suggest.Nearest(unknown.GetSpecifiedName(), names); near != "" {
			meant = fmt.Sprintf(" (did you mean --%s?)", near)
		}
	}
	return Wrongf("%w%s\nrun '%s --help' for what it understands", err, meant, c.CommandPath())
}

func onlySubcommands(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	message := "%s has no subcommand %q"
	if near := suggestion(c, args[0]); near != "" {
		return Wrongf(message+"; did you mean %s?", c.CommandPath(), args[0], near)
	}
	return Wrongf(message+"\nrun '%s --help' for what it has", c.CommandPath(), args[0], c.CommandPath())
}

// suggestion returns the subcommand that was probably meant, or "": like cobra, and unlike internal/suggest, it also
// takes the beginning of a name for the whole.
func suggestion(c *cobra.Command, typed string) string {
	for _, c.SuggestionsMinimumDistance = range []int{1, 2} {
		if near := c.SuggestionsFor(typed); len(near) > 0 {
			return near[0]
		}
	}
	return ""
}
