package storecmd

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/control/accountfile"
)

func newAccountExport(globals *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:   "export NAME FILE.zip",
		Short: "write all that is stored of the owner of an account",
		Long: `export writes a zip file for the owner of an account: account.json, profile.xml
(who the owner is), urds.xml (which urd import reads), annotations.xml and
annotations.jsonl, withheld.xml (annotations that a budget kept back), marks.jsonl
(what was read, and found useful or not), channels.json (with the addresses that
messages go to) and sent.jsonl. Neither the password nor secrets are in it, nor what stands for them. Its
user alone may read the file, which is there when it is complete; one that is there
before is not replaced.`,
		Example: "  webrace-store account export eleni eleni.zip",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return lookIntoControl(globals, func(store *control.Store) error {
				a, err := accountNamed(c, store, args[0])
				if err != nil {
					return err
				}
				ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
				defer stop()
				var written accountfile.Written
				err = cli.WriteNew(globals.Path(args[1]), 0o600, func(w io.Writer) (err error) {
					written, err = accountfile.Write(ctx, w, store.Of(a.Owner), a)
					return err
				})
				if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
					return &cli.Error{Status: cli.Interrupted, Err: errors.New("interrupted: nothing was exported")}
				}
				if err == nil {
					note(c, "account %s is exported to %s, with %s and %s", a.Owner, args[1], wording.Count(written.URDs, "URD"), wording.Count(written.ACIs, "annotation"))
				}
				return err
			})
		},
	}
}
