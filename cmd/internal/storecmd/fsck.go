package storecmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/internal/wording"
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
is lost. What a repair takes away is renamed to *.set-aside, never removed. Of a node of a
cluster it checks all partitions that the node has.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			f := &fsckRun{c: c, repair: repair, deep: deep, report: reportFindings(c, asJSON)}
			if err := f.dir(globals); err != nil {
				return err
			}
			if err := f.partitions(globals); err != nil {
				return err
			}
			return f.conclude()
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

// fsckRun is a check of a data directory, or of all of a node.
type fsckRun struct {
	c            *cobra.Command
	repair, deep bool
	report       func(fsck.Finding) error
	found, left  int

	aside      []string // files that were set aside
	asideBytes int64
}

// dir checks a data directory.
func (f *fsckRun) dir(globals *cli.Globals) error {
	left, err := checkFormat(globals, f.repair, f.report)
	if err != nil || left {
		return err
	}
	open := lookIntoDir
	if f.repair {
		open = withDir
	}
	return open(globals, func(dir *storage.Dir) error {
		if globals.Shared != nil {
			return &cli.Error{Status: cli.Environment, Err: fmt.Errorf("fsck checks a data directory at rest, and %s has this one open: stop it first", dir.Owner())}
		}
		if err := f.check(dir, globals.Outside == nil && !dir.OwnsControl()); err != nil {
			return err
		}
		if place, err := globals.Place(); err == nil && place.Node {
			return nil // its partitions have stores, it has none; partitions that moved are the operator's to remove
		}
		paths, bytes, err := dir.SetAside()
		f.aside, f.asideBytes = append(f.aside, paths...), f.asideBytes+bytes
		return err
	})
}

// partitions checks those that a node has.
func (f *fsckRun) partitions(globals *cli.Globals) error {
	place, err := globals.Place()
	if err != nil || !place.Node || globals.Shared != nil {
		return nil // a directory alone, which is checked
	}
	dirs, err := filepath.Glob(filepath.Join(filepath.Dir(cli.PartitionDir(place.Data, 0)), "*"))
	if err != nil || len(dirs) == 0 {
		return err
	}
	control, err := place.OpenControl(!f.repair)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if _, err := strconv.ParseUint(filepath.Base(dir), 10, 31); err != nil {
			continue // what was set aside when it moved to another node
		}
		part := *globals
		part.Data, part.Outside = dir, control
		report := f.report
		f.report = func(finding fsck.Finding) error {
			finding.Store = filepath.Base(dir) + "/" + finding.Store
			return report(finding)
		}
		err = errors.Join(err, f.dir(&part))
		f.report = report
	}
	return errors.Join(err, control.Close())
}

// check checks the stores of a directory, and the control store that is not in it.
func (f *fsckRun) check(dir *storage.Dir, outside bool) error {
	var writeErr error
	check := dir.Check
	if f.deep {
		check = dir.CheckDeep
	}
	ctx, clearLine := withCheckProgress(f.c)
	tell := func(finding fsck.Finding) {
		if f.found++; !finding.Repaired {
			f.left++
		}
		clearLine()
		if err := f.report(finding); writeErr == nil {
			writeErr = err
		}
	}
	err := check(ctx, f.repair, tell)
	if err == nil && outside {
		err = on((*storage.Dir).Control, func(s *control.Store) error { return s.Check(ctx, f.repair, tell) })(dir)
	}
	clearLine()
	return errors.Join(err, writeErr)
}

// conclude says what was found.
func (f *fsckRun) conclude() error {
	switch {
	case f.left > 0 && !f.repair:
		return fmt.Errorf("%s; --repair repairs what can be", wording.Count(f.left, "finding"))
	case f.left > 0:
		return fmt.Errorf("%s not repaired: what is lost is in a backup, if anywhere (webrace-store restore BACKUP --only STORE)", wording.Count(f.left, "finding"))
	case f.found == 0:
		note(f.c, "nothing is wrong")
	}
	if len(f.aside) > 0 { // which take room for good
		note(f.c, "%s set aside, %s, as %s: webrace-store gc --set-aside removes them", wording.Count(len(f.aside), "file"), terminal.Size(f.asideBytes), f.aside[0])
	}
	return nil
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
