package storecmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/fsck"
)

func newFsck(place *cli.Place) *cobra.Command {
	var repair, deep, asJSON bool
	c := &cobra.Command{
		Use:     "fsck",
		Short:   "check everything that is stored, and that it fits together: store, what is wrong, where, details",
		Example: "  webrace-store fsck --deep",
		Long: `fsck verifies every store while nothing runs. It ends with status 1 if it found
damage that is not repaired. With --repair it repairs what can be, and says what
is lost. What a repair takes away is renamed to *.set-aside, never removed.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			open := lookIntoDir
			if repair {
				open = withDir
			}
			left, err := checkFormat(c, place, repair)
			if err != nil || left {
				return err
			}
			return open(place, func(dir *storage.Dir) error {
				if place.Shared != nil {
					return &cli.Error{Status: cli.Environment, Err: fmt.Errorf("fsck checks a data directory at rest, and %s has this one open: stop it first", dir.Owner())}
				}
				return runFsck(c, dir, repair, deep, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&repair, "repair", false, "repair what can be repaired")
	c.Flags().BoolVar(&deep, "deep", false, "also read every stored document")
	c.Flags().BoolVar(&asJSON, "json", false, "a JSON object a line")
	return c
}

// checkFormat checks the file without which a data directory cannot be opened, and reports whether it is left damaged.
func checkFormat(c *cobra.Command, place *cli.Place, repair bool) (left bool, err error) {
	if place.Shared != nil {
		return false, nil
	}
	path, err := place.DataDir()
	if err != nil {
		return false, err
	}
	err = storage.CheckFormat(path, repair, func(f fsck.Finding) {
		left = !f.Repaired
		fmt.Fprintln(c.OutOrStdout(), f)
	})
	if err == nil && left {
		err = errors.New("1 finding; --repair repairs what can be")
	}
	return left, err
}

// finding is one of the check, for programs.
type finding struct {
	Store    string `json:"store"`
	Kind     string `json:"kind"`
	Where    string `json:"where,omitempty"`
	Detail   string `json:"detail,omitempty"`
	Repaired bool   `json:"repaired"`
}

func runFsck(c *cobra.Command, dir *storage.Dir, repair, deep, asJSON bool) error {
	out := newEncoder(c.OutOrStdout())
	var found, left int
	var writeErr error
	check := dir.Check
	if deep {
		check = dir.CheckDeep
	}
	ctx, clearLine := withCheckProgress(c)
	err := check(ctx, repair, func(f fsck.Finding) {
		if found++; !f.Repaired {
			left++
		}
		clearLine()
		var err error
		if asJSON {
			err = out.Encode(finding(f))
		} else {
			_, err = fmt.Fprintln(c.OutOrStdout(), f)
		}
		if writeErr == nil {
			writeErr = err
		}
	})
	clearLine()
	switch {
	case err != nil:
		return err
	case writeErr != nil:
		return writeErr
	case left > 0 && !repair:
		return fmt.Errorf("%s; --repair repairs what can be", cli.Count(left, "finding"))
	case left > 0:
		return fmt.Errorf("%s not repaired: what is lost is in a backup, if anywhere (webrace-store restore BACKUP --only STORE)", cli.Count(left, "finding"))
	case found == 0:
		note(c, "nothing is wrong")
	}
	return noteSetAside(c, dir)
}

// withCheckProgress shows how far a check is: on a terminal as a line that is written over, elsewhere as a log line
// every ten seconds. What else is to be written there clears the line before.
func withCheckProgress(c *cobra.Command) (ctx context.Context, clearLine func()) {
	line, every, last := newProgress(c), progressEvery, time.Now()
	if line.c == nil {
		every = 10 * time.Second
	}
	return fsck.WithProgress(c.Context(), func(p fsck.Progress) {
		if time.Since(last) < every {
			return
		}
		last = time.Now()
		switch {
		case line.c == nil:
			slog.Info("progress", "store", p.Store, "step", p.Step, "done", p.Done, "total", p.Total)
		case p.Total > 0:
			line.show("checking %s: %s, %d %%", p.Store, p.Step, 100*p.Done/p.Total)
		default:
			line.show("checking %s: %s, %d", p.Store, p.Step, p.Done)
		}
	}), line.clear
}

// noteSetAside tells of what was set aside, which takes room for good.
func noteSetAside(c *cobra.Command, dir *storage.Dir) error {
	paths, bytes, err := dir.SetAside()
	if err == nil && len(paths) > 0 {
		note(c, "%s set aside, %.1f MB, as %s: webrace-store gc --set-aside removes them", cli.Count(len(paths), "file"), float64(bytes)/1e6, paths[0])
	}
	return err
}

func newBackup(place *cli.Place) *cobra.Command {
	var withKey bool
	c := &cobra.Command{
		Use:     "backup DIR",
		Short:   "write a copy of the data directory, also while it is in use",
		Example: "  webrace-store backup /backup/webrace",
		Long: `backup copies frontier, control store and documents so that they fit together, and
a manifest with the digest of every file at the end. The full-text index is left
out: after a restore, webrace-run search fills it again. So is the key of the
secrets, unless --with-key: who has both can read them.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return withDir(place, func(dir *storage.Dir) error {
				backup := dir.Backup
				if withKey {
					backup = dir.BackupWithKey
				}
				m, err := backup(c.Context(), place.Path(args[0]))
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(c.OutOrStdout(), "%s, %.1f MB in %s\n", cli.Count(len(m.Files), "file"), float64(m.Bytes())/1e6, args[0])
				if err == nil && m.LacksKey() {
					note(c, "without the key of %s: keep a copy of %s elsewhere, or use --with-key", cli.Count(m.Secrets, "secret"), control.KeyFile)
				}
				return err
			})
		},
	}
	c.Flags().BoolVar(&withKey, "with-key", false, "also copy secrets.key, the key of the secrets")
	return c
}

func newRestore(place *cli.Place) *cobra.Command {
	var verify bool
	var only string
	c := &cobra.Command{
		Use:   "restore DIR",
		Short: "make the data directory of a backup, which must not be there, or be empty; or bring one store of it back",
		Long: `restore copies a backup to the data directory, and refuses it if a file is not as
it was written. With --verify nothing is restored: the files are compared with the
manifest, and what is in them is checked as fsck does. With --only, one store of a
data directory that is there is replaced: frontier, objects or control. What was
there is renamed to *.set-aside; fsck says where the stores do not fit together.`,
		Example: "  webrace-store --data new-data restore backup-2026-11-21\n  webrace-store restore backup-2026-11-21 --only control",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if verify && only != "" {
				return cli.Wrongf("choose --verify, which checks the whole backup, or --only")
			}
			if verify {
				return runVerify(c, place.Path(args[0]))
			}
			to, err := place.DataDir()
			if err != nil {
				return err
			}
			if c.Flags().Changed("only") {
				return restoreOnly(c, place, place.Path(args[0]), to, only)
			}
			m, err := storage.Restore(c.Context(), place.Path(args[0]), to)
			if err != nil {
				return err
			}
			if m.LacksKey() {
				note(c, "the backup has %s and not their key: put its %s into %s, or they cannot be read", cli.Count(m.Secrets, "secret"), control.KeyFile, to)
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s of %s in %s; webrace-run search fills the full-text index again\n",
				cli.Count(len(m.Files), "file"), m.Created.Format("2006-01-02 15:04:05Z"), to)
			return err
		},
	}
	c.Flags().BoolVar(&verify, "verify", false, "only check whether the backup could be restored")
	c.Flags().StringVar(&only, "only", "", "bring this `STORE` back into the data directory: frontier, objects or control")
	return c
}

func restoreOnly(c *cobra.Command, place *cli.Place, from, to, name string) error {
	if !slices.Contains(storage.Restorable, name) {
		return cli.Wrongf("--only %q: a backup has the stores %s", name, strings.Join(storage.Restorable, ", "))
	}
	if place.Shared != nil {
		return &cli.Error{Status: cli.Environment, Err: fmt.Errorf("a store is restored at rest, and %s has the data directory open: stop it first", place.Shared.Owner())}
	}
	m, err := storage.RestoreStore(c.Context(), from, to, name)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s of %s in %s; webrace-store fsck says whether it fits the rest\n", name, m.Created.Format("2006-01-02 15:04:05Z"), to)
	return err
}

func runVerify(c *cobra.Command, from string) error {
	var left int
	m, err := storage.Verify(c.Context(), from, func(f fsck.Finding) {
		left++
		fmt.Fprintln(c.OutOrStdout(), f)
	})
	if err != nil {
		return err
	}
	if left > 0 {
		return fmt.Errorf("%s in the backup", cli.Count(left, "finding"))
	}
	if m.LacksKey() {
		note(c, "the backup has %s and not their key: after a restore they need the %s of then", cli.Count(m.Secrets, "secret"), control.KeyFile)
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s of %s, nothing is wrong\n", cli.Count(len(m.Files), "file"), m.Created.Format("2006-01-02 15:04:05Z"))
	return err
}
