// Package storecmd is what webrace-store does, apart from its main function: the process that owns a data
// directory runs the same commands for those who ask it.
//
// What it prints for programs is stable: fields between tabs, JSON lines with --json, or XML. On a
// terminal the same is aligned under a header, or is a text to be read. That there is nothing to print is
// said on stderr, and is no error.
//
// A command is in the file of its name: cache export in cache_export.go; the short ones of a group share the
// group's, as owner quota owner.go.
package storecmd

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/remote"
	_ "github.com/webrace/webrace/stages/all" // the configuration names them
	"github.com/webrace/webrace/storage"
)

// Name is the program's.
const Name = "webrace-store"

// New returns the command with its subcommands, for arguments. If a process has the data directory open, and
// answers, it is asked to run the command; of commands that are about the partitions of a cluster, searches alone.
func New(args []string) *cobra.Command {
	globals := &cli.Globals{Args: args}
	root := newRoot(globals)
	root.SetArgs(args)
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if isMCPServer(c) {
			return nil
		}
		path := remote.Path
		if asksParts(c, globals) {
			if !isSearch(c) {
				return nil
			}
			path = remote.ClusterPath
		}
		if err := askOwner(c, globals, args, path); err != nil {
			return err
		}
		orOwner(c, func() error { return askOwner(c, globals, args, path) })
		return nil
	}
	return root
}

// orOwner has a command ask the process that has taken the data directory between the look for one and its own opening.
// What reads standard input may have read it by then.
func orOwner(c *cobra.Command, ask func() error) {
	run := c.RunE
	if run == nil {
		return
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		err := run(c, args)
		var locked *storage.LockedError
		if !errors.As(err, &locked) || slices.Contains(args, "-") {
			return err
		}
		return cmp.Or(ask(), err)
	}
}

func newRoot(globals *cli.Globals) *cobra.Command {
	root := &cobra.Command{
		Use:   Name,
		Short: "look into the stores of a data directory, and change them",
		Example: `  webrace-store urd add --url https://example.org/ --owner eleni --keyword ibm:3 --depth 2
  webrace-store aci list --owner eleni --since 24h
  webrace-store explain https://example.org/news eleni`,
	}
	globals.AddFlags(root)
	globals.Notes = func() io.Writer { return cli.Prose(root.ErrOrStderr()) }
	root.AddCommand(
		newURD(globals), newACI(globals), newOwner(globals), newSecret(globals), newCache(globals),
		newAccount(globals), newOutbox(globals), newMCP(globals),
		newSearch(globals), newQuads(globals), newExplain(globals), newRematch(globals), newWhy(globals),
		newFrontier(globals), newScope(globals), newDLQ(globals), newGC(globals),
		newFsck(globals), newBackup(globals), newRestore(globals), newControl(globals), newCluster(globals),
	)
	cli.Versioned(root)
	cli.Strict(root)
	return root
}
