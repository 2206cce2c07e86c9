package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/storecmd"
)

// TestEveryCommandHasExamplesThatItUnderstands parses each line of each example as the program would.
func TestEveryCommandHasExamplesThatItUnderstands(t *testing.T) {
	t.Parallel()
	for _, fresh := range []func() *cobra.Command{newRoot, func() *cobra.Command { return storecmd.New(nil) }} {
		var look func(c *cobra.Command)
		look = func(c *cobra.Command) {
			if c.Example == "" && !c.HasSubCommands() {
				t.Errorf("%s has no example", c.CommandPath())
			}
			for _, line := range strings.Split(c.Example, "\n") {
				understands(t, fresh(), c.CommandPath(), line)
			}
			for _, sub := range c.Commands() {
				look(sub)
			}
		}
		look(fresh())
	}
}

// understands fails unless a line is a call of a command with flags and arguments that it has.
func understands(t *testing.T, root *cobra.Command, path, line string) {
	t.Helper()
	line = strings.TrimSpace(line)
	if line == "" {
		return
	}
	line, _, _ = strings.Cut(line, "   ") // what it does stands behind it
	words := shellWords(line)
	from := slices.Index(words, root.Name()) // what is piped into it stands in front
	if from < 0 {
		t.Errorf("%s: the example %q is no call of it", path, line)
		return
	}
	words = words[from:]
	if to := slices.IndexFunc(words, func(w string) bool { return w == "|" || w == "<" || w == ">" }); to > 0 {
		words = words[:to]
	}
	c, rest, err := root.Find(words[1:])
	if err == nil {
		err = c.ParseFlags(rest)
	}
	if err == nil && c.Args != nil {
		err = c.Args(c, c.Flags().Args())
	}
	if err != nil {
		t.Errorf("%s: the example %q: %v", path, line, err)
	}
}

// shellWords splits a line as a shell does, with quotes and without variables.
func shellWords(line string) (words []string) {
	var word strings.Builder
	inside, quote := false, rune(0)
	for _, c := range line + " " {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '"' || c == '\'':
			quote, inside = c, true
		case c == ' ':
			if inside {
				words = append(words, word.String())
				word.Reset()
			}
			inside = false
		default:
			word.WriteRune(c)
			inside = true
		}
	}
	return words
}
