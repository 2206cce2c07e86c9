package storecmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/fsck"
)

func newRestore(globals *cli.Globals) *cobra.Command {
	var verify bool
	var only string
	c := &cobra.Command{
		Use:   "restore DIR",
		Short: "make the data directory of a backup, which must not be there, or be empty; or bring one store of it back",
		Long: `restore copies a backup to the data directory, and refuses it if a file is not as
it was written. With --verify nothing is restored: the files are compared with the
manifest, and what is in them is checked as fsck does. With --only, one store of a
data directory that is there is replaced: frontier, objects, control, queues,
states or quads. What was there is renamed to *.set-aside; fsck says where the
stores do not fit together.`,
		Example: "  webrace-store --data new-data restore backup-2026-11-21\n  webrace-store restore backup-2026-11-21 --only control",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if verify && only != "" {
				return cli.Wrongf("choose --verify, which checks the whole backup, or --only")
			}
			if verify {
				return runVerify(c, globals.Path(args[0]))
			}
			to, err := globals.DataDir()
			if err != nil {
				return err
			}
			if c.Flags().Changed("only") {
				return restoreOnly(c, globals, globals.Path(args[0]), to, only)
			}
			m, err := storage.Restore(c.Context(), globals.Path(args[0]), to)
			if err != nil {
				return err
			}
			if m.LacksKey() {
				note(c, "the backup has %s and not their key: put its %s into %s, or they cannot be read", wording.Count(m.Secrets, "secret"), control.KeyFile, to)
			}
			_, err = fmt.Fprintf(cli.Prose(c.OutOrStdout()), "%s of %s in %s; webrace-run search fills the full-text index again\n",
				wording.Count(len(m.Files), "file"), m.Created.Format("2006-01-02 15:04:05Z"), to)
			return err
		},
	}
	c.Flags().BoolVar(&verify, "verify", false, "only check whether the backup could be restored")
	c.Flags().StringVar(&only, "only", "", "bring this `STORE` back into the data directory: frontier, objects, control, queues, states or quads")
	return c
}

func restoreOnly(c *cobra.Command, globals *cli.Globals, from, to, name string) error {
	if !slices.Contains(storage.Restorable, name) {
		return cli.Wrongf("--only %q: a backup has the stores %s", name, strings.Join(storage.Restorable, ", "))
	}
	if globals.Shared != nil {
		return &cli.Error{Status: cli.Environment, Err: fmt.Errorf("a store is restored at rest, and %s has the data directory open: stop it first", globals.Shared.Owner())}
	}
	m, err := storage.RestoreStore(c.Context(), from, to, name)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cli.Prose(c.OutOrStdout()), "%s of %s in %s; webrace-store fsck says whether it fits the rest\n", name, m.Created.Format("2006-01-02 15:04:05Z"), to)
	return err
}

func runVerify(c *cobra.Command, from string) error {
	var left int
	m, err := storage.Verify(c.Context(), from, func(f fsck.Finding) {
		left++
		fmt.Fprintln(cli.Prose(c.OutOrStdout()), f)
	})
	if err != nil {
		return err
	}
	if left > 0 {
		return fmt.Errorf("%s in the backup", wording.Count(left, "finding"))
	}
	if m.LacksKey() {
		note(c, "the backup has %s and not their key: after a restore they need the %s of then", wording.Count(m.Secrets, "secret"), control.KeyFile)
	}
	_, err = fmt.Fprintf(cli.Prose(c.OutOrStdout()), "%s of %s, nothing is wrong\n", wording.Count(len(m.Files), "file"), m.Created.Format("2006-01-02 15:04:05Z"))
	return err
}
