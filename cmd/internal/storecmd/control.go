package storecmd

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage/control"
)

func newControl(globals *cli.Globals) *cobra.Command {
	c := &cobra.Command{Use: "control", Short: "where URDs, annotations and secrets are kept: copy"}
	c.AddCommand(newControlCopy(globals))
	return c
}

func newControlCopy(globals *cli.Globals) *cobra.Command {
	var to string
	c := &cobra.Command{
		Use:   "copy",
		Short: "copy the control store into a database of PostgreSQL, or back into a data directory",
		Example: `  webrace-store control copy --to postgres://webrace@db.example/webrace
  webrace-store control copy --to ./data                back from there`,
		Long: `copy copies URDs, annotations, owners, secrets, cursors and dead letters, as they
are at one moment, all or nothing, and only into what is empty. Nothing may run
meanwhile. Then the configuration's control = names the database, or nothing. The
key of the secrets, secrets.key in the data directory, is not copied.

Without --to, the database is the one that the environment's WEBRACE_DATABASE
names, so that no list of processes shows a password.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if to == "" {
				to = os.Getenv("WEBRACE_DATABASE")
			}
			if to == "" {
				return cli.Wrongf("say where to with --to URL, or --to DIR, or set WEBRACE_DATABASE")
			}
			if globals.Shared != nil {
				return errors.New("stop the process that has the data directory first: what it writes after the copy would not be in it")
			}
			return copyControl(c, globals, to)
		},
	}
	c.Flags().StringVar(&to, "to", "", "the `URL` of the database, or a data directory that has no control store")
	return c
}

func copyControl(c *cobra.Command, globals *cli.Globals, to string) error {
	from, keyFile, closeAll, err := globals.OpenControlToCopy()
	if err != nil {
		return err
	}
	defer closeAll()
	var counts control.Counts
	shown := to
	if strings.Contains(to, "://") {
		shown = control.Redacted(to)
		counts, err = copyToDatabase(c, from, keyFile, to)
	} else {
		counts, err = cli.TakeControl(c.Context(), from, globals.Path(to))
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cli.Prose(c.OutOrStdout()), "%s, %s, %s withheld, %s, %s and %s copied to %s\n",
		wording.Count(counts.URDs, "URD"), wording.Count(counts.ACIs, "annotation"), wording.Count(counts.Withheld, "annotation"), wording.Count(counts.Secrets, "secret"),
		wording.Count(counts.DeadLetters, "dead letter"), wording.Count(counts.Cursors, "cursor"), shown)
	return err
}

func copyToDatabase(c *cobra.Command, from *control.Store, keyFile, to string) (control.Counts, error) {
	if err := control.CheckURL(to); err != nil {
		return control.Counts{}, cli.Wrong(err)
	}
	target, err := control.OpenPostgres(c.Context(), to, keyFile, control.Options{})
	if err != nil {
		return control.Counts{}, &cli.Error{Status: cli.Environment, Err: err}
	}
	counts, err := control.CopyAll(c.Context(), from, target)
	return counts, errors.Join(err, target.Close())
}
