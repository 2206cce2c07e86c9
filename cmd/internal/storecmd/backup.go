package storecmd

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
)

func newBackup(globals *cli.Globals) *cobra.Command {
	var withKey bool
	c := &cobra.Command{
		Use:     "backup DIR",
		Short:   "write a copy of the data directory, also while it is in use",
		Example: "  webrace-store backup /backup/webrace",
		Long: `backup copies documents, control store, frontier, quads, queues and
what stages remember so that they fit together, and a manifest with the digest of every file at the end. The full-text index
is left out: after a restore, webrace-run search fills it again. So is the key of the
secrets, unless --with-key: who has both can read them.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return withDir(globals, func(dir *storage.Dir) error {
				backup := dir.Backup
				if withKey {
					backup = dir.BackupWithKey
				}
				m, err := backup(c.Context(), globals.Path(args[0]))
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(cli.Prose(c.OutOrStdout()), "%s, %s in %s\n", wording.Count(len(m.Files), "file"), terminal.Size(m.Bytes()), args[0])
				if m.ControlElsewhere {
					note(c, "without the control store, which is in a database: back that up now, as with pg_dump")
				}
				if err == nil && m.LacksKey() {
					note(c, "without the key of %s: keep a copy of %s elsewhere, or use --with-key", wording.Count(m.Secrets, "secret"), control.KeyFile)
				}
				return err
			})
		},
	}
	c.Flags().BoolVar(&withKey, "with-key", false, "also copy secrets.key, the key of the secrets")
	return c
}
