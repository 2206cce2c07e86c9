package storecmd

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
)

// TestWithinAnotherProgramAllHelpIsTheSame compares what every command prints of itself: usage, flags and examples.
func TestWithinAnotherProgramAllHelpIsTheSame(t *testing.T) {
	t.Parallel()
	run := func(root *cobra.Command, args ...string) string {
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetArgs(args)
		if status := cli.Execute(t.Context(), root, &out); status != cli.OK {
			t.Errorf("%v: exit status %d: %s", args, status, &out)
		}
		return out.String()
	}
	commands := 0
	var compare func(c *cobra.Command)
	compare = func(c *cobra.Command) {
		commands++
		args := append(strings.Fields(c.CommandPath())[1:], "--help")
		other := &cobra.Command{Use: "other"}
		other.PersistentFlags().String("config", "", "of the other")
		other.PersistentFlags().String("memory", "", "of the other")
		other.AddCommand(Within())
		want := strings.ReplaceAll(run(New(args), args...), Name, "other store")
		got := run(other, append([]string{"store"}, args...)...)
		if got = strings.ReplaceAll(got, Name, "other store"); got != want { // sentences name the program as it is known
			t.Errorf("other store %v:\n%s\nwant\n%s", args, got, want)
		}
		for _, sub := range c.Commands() {
			compare(sub)
		}
	}
	compare(New(nil))
	if commands < 50 {
		t.Errorf("%d commands are compared", commands)
	}
}
