package storecmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/fsck"
)

func newFsck(globals *cli.Globals) *cobra.Command {
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
			report := reportFindings(c, asJSON)
			left, err := checkFormat(globals, repair, report)
			if err != nil || left {
				return err
			}
			return open(globals, func(dir *storage.Dir) error {
				if globals.Shared != nil {
					return &cli.Error{Status: cli.Environment, Err: fmt.Errorf("fsck checks a data directory at rest, and %s has this one open: stop it first", dir.Owner())}
				}
				return runFsck(c, dir, repair, deep, report)
			})
		},
	}
	c.Flags().BoolVar(&repair, "repair", false, "repair what can be repaired")
	c.Flags().BoolVar(&deep, "deep", false, "also read every stored document")
	c.Flags().BoolVar(&asJSON, "json", false, "a JSON object a line")
	return c
}

// checkFormat checks the file without which a data directory cannot be opened, and reports whether it is left damaged.
func checkFormat(globals *cli.Globals, repair bool, report func(fsck.Finding) error) (left bool, err error) {
	if globals.Shared != nil {
		return false, nil
	}
	path, err := globals.DataDir()
	if err != nil {
		return false, err
	}
	var writeErr error
	err = storage.CheckFormat(path, repair, func(f fsck.Finding) {
		left, writeErr = !f.Repaired, report(f)
	})
	if err = errors.Join(err, writeErr); err == nil && left {
		err = errors.New("1 finding; --repair repairs what can be")
	}
	return left, err
}

// fsckFinding is one of the check, for programs.
type fsckFinding struct {
	Store    string `json:"store"`
	Kind     string `json:"kind"`
	Where    string `json:"where,omitempty"`
	Detail   string `json:"detail,omitempty"`
	Repaired bool   `json:"repaired"`
}

// reportFindings returns what writes a finding, as a line for a person or as one of JSON.
func reportFindings(c *cobra.Command, asJSON bool) func(fsck.Finding) error {
	if asJSON {
		out := cli.NewEncoder(c.OutOrStdout())
		return func(f fsck.Finding) error { return out.Encode(fsckFinding(f)) }
	}
	out := cli.Prose(c.OutOrStdout())
	return func(f fsck.Finding) error {
		_, err := fmt.Fprintln(out, f)
		return err
	}
}

func runFsck(c *cobra.Command, dir *storage.Dir, repair, deep bool, report func(fsck.Finding) error) error {
	var found, left int
	var writeErr error
	check := dir.Check
	if deep {
		check = dir.CheckDeep
	}
	ctx, clearLine := withCheckProgress(c)
	tell := func(f fsck.Finding) {
		if found++; !f.Repaired {
			left++
		}
		clearLine()
		if err := report(f); writeErr == nil {
			writeErr = err
		}
	}
	err := check(ctx, repair, tell)
	if err == nil && !dir.OwnsControl() {
		err = on((*storage.Dir).Control, func(s *control.Store) error { return s.Check(ctx, repair, tell) })(dir)
	}
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
	line, every, last := cli.NewProgress(c), cli.ProgressEvery, time.Now()
	if !line.Shows() {
		every = 10 * time.Second
	}
	return fsck.WithProgress(c.Context(), func(p fsck.Progress) {
		if time.Since(last) < every {
			return
		}
		last = time.Now()
		switch {
		case !line.Shows():
			slog.Info("progress", "store", p.Store, "step", p.Step, "done", p.Done, "total", p.Total)
		case p.Total > 0:
			line.Show("checking %s: %s, %d %%", p.Store, p.Step, 100*p.Done/p.Total)
		default:
			line.Show("checking %s: %s, %d", p.Store, p.Step, p.Done)
		}
	}), line.Clear
}

// noteSetAside tells of what was set aside, which takes room for good.
func noteSetAside(c *cobra.Command, dir *storage.Dir) error {
	paths, bytes, err := dir.SetAside()
	if err == nil && len(paths) > 0 {
		note(c, "%s set aside, %s, as %s: webrace-store gc --set-aside removes them", cli.Count(len(paths), "file"), terminal.Size(bytes), paths[0])
	}
	return err
}
