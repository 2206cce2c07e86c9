package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/webrace/webrace/internal/terminal"
)

// Helpful makes the help of a tree of commands fit the terminal that it is shown on. Elsewhere it stays as it was.
func Helpful(root *cobra.Command) {
	elsewhere := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		columns := Columns(c.OutOrStdout())
		if columns == 0 {
			elsewhere(c, args)
			return
		}
		io.WriteString(c.OutOrStdout(), helpOf(c, columns))
	})
}

// helpOf writes what cobra's template does, within so many columns.
func helpOf(c *cobra.Command, columns int) string {
	about := cmp.Or(c.Long, c.Short)
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	parts := []string{terminal.Paragraphs(about, columns) + "\n"}
	section := func(title, text string) {
		if text != "" {
			parts = append(parts, title+":\n"+strings.TrimSuffix(text, "\n")+"\n")
		}
	}
	usage := ""
	if c.Runnable() {
		usage = "  " + c.UseLine() + "\n"
	}
	if c.HasAvailableSubCommands() {
		usage += "  " + c.CommandPath() + " [command]\n"
	}
	section("Usage", terminal.Wrap(usage, columns))
	section("Examples", examples(c.Example, columns))
	var commands []terminal.Definition
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			commands = append(commands, terminal.Definition{Term: sub.Name(), Text: sub.Short})
		}
	}
	section("Available Commands", terminal.Definitions(commands, 2, columns))
	section("Flags", terminal.Definitions(flagsOf(c.LocalFlags()), 2, columns))
	section("Global Flags", terminal.Definitions(flagsOf(c.InheritedFlags()), 2, columns))
	text := strings.Join(parts, "\n")
	if c.HasAvailableSubCommands() {
		more := fmt.Sprintf("Use \"%s [command] --help\" for more information about a command.\n", c.CommandPath())
		text += "\n" + terminal.Wrap(more, columns)
	}
	return text
}

// flagsOf returns the descriptions of flags, as pflag gives them.
func flagsOf(flags *pflag.FlagSet) (all []terminal.Definition) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		term := "    --" + f.Name
		if f.Shorthand != "" {
			term = "-" + f.Shorthand + ", --" + f.Name
		}
		value, usage := pflag.UnquoteUsage(f)
		if value != "" {
			term += " " + value
		}
		if d := f.DefValue; d != "" && d != "false" && d != "[]" && d != "0" && d != "0s" && !strings.Contains(usage, "(default ") {
			if f.Value.Type() == "string" {
				d = fmt.Sprintf("%q", d)
			}
			usage += " (default " + d + ")"
		}
		all = append(all, terminal.Definition{Term: term, Text: usage})
	})
	return all
}

// examples fits examples: what is said of a command that takes the whole line stands below it, and a command that is
// longer goes on in another line as a shell reads it.
func examples(text string, columns int) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		if terminal.Columns(line) <= columns {
			b.WriteString(line + "\n")
			continue
		}
		command, remark := strings.TrimSpace(line), ""
		if gap := strings.Index(command, "   "); gap > 0 {
			command, remark = command[:gap], strings.TrimSpace(command[gap:])
		}
		b.WriteString(continued("  "+command, columns) + "\n")
		if remark != "" {
			b.WriteString("      " + strings.Join(terminal.Fill(remark, columns-6, columns-6), "\n      ") + "\n")
		}
	}
	return b.String()
}

// continued breaks a command in front of flags and behind pipes.
func continued(command string, columns int) string {
	var lines []string
	for terminal.Columns(command) > columns {
		cut := -1
		for i := range command {
			rest := command[i:]
			if i > 0 && i <= columns-2 && (strings.HasPrefix(rest, " --") || strings.HasPrefix(rest, " | ")) {
				cut = i
			}
		}
		if cut <= 2 || strings.TrimSpace(command[:cut]) == "" {
			break
		}
		lines = append(lines, command[:cut]+` \`)
		command = "      " + strings.TrimLeft(command[cut:], " ")
	}
	return strings.Join(append(lines, command), "\n")
}
