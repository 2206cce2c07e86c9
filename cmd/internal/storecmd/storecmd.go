// Package storecmd is what webrace-store does, apart from its main function: the process that owns a data
// directory runs the same commands for those who ask it.
//
// What it prints for programs is stable: fields between tabs, JSON lines with --json, or XML. Somebody at
// a terminal gets the same aligned under a header, or a readable text. That there is nothing to print is
// said on stderr, and is no error.
package storecmd

import (
	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	_ "github.com/webrace/webrace/stages/all" // the configuration names them
)

// New returns the command with its subcommands, for arguments. If a process has the data directory open, and
// answers, it is asked to run the command.
func New(args []string) *cobra.Command {
	place := new(cli.Place)
	root := newRoot(place)
	root.SetArgs(args)
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error { return askOwner(c, place, args) }
	return root
}

func newRoot(place *cli.Place) *cobra.Command {
	root := &cobra.Command{
		Use:   "webrace-store",
		Short: "look into the stores of a data directory, and change them",
		Example: `  webrace-store urd add --url https://example.org/ --owner eleni --keyword ibm:3 --depth 2
  webrace-store aci list --owner eleni --since 24h
  webrace-store explain https://example.org/news eleni`,
	}
	place.AddFlags(root)
	root.AddCommand(
		newURD(place), newACI(place), newOwner(place), newSecret(place), newCache(place),
		newSearch(place), newExplain(place), newRematch(place), newWhy(place),
		newFrontier(place), newScope(place), newDLQ(place), newGC(place),
		newFsck(place), newBackup(place), newRestore(place),
	)
	cli.Versioned(root)
	cli.Strict(root)
	return root
}
