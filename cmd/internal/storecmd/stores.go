package storecmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
)

// opening opens the data directory for f: withDir, or lookIntoDir.
type opening func(globals *cli.Globals, f func(*storage.Dir) error) error

// withDir runs f on the data directory, which must be there.
func withDir(globals *cli.Globals, f func(*storage.Dir) error) error {
	dir, err := globals.OpenExisting()
	if err != nil {
		return err
	}
	return closing(dir, f(dir.Dir))
}

// lookIntoDir runs f on the data directory, which must be there and is not changed.
func lookIntoDir(globals *cli.Globals, f func(*storage.Dir) error) error {
	dir, err := globals.OpenToLook()
	if err != nil {
		return err
	}
	return closing(dir, f(dir.Dir))
}

// lookIntoObjects runs f on the object cache, which is not changed.
func lookIntoObjects(globals *cli.Globals, f func(*objects.Store) error) error {
	return lookIntoDir(globals, func(dir *storage.Dir) error { return onObjects(dir, f) })
}

// lookIntoControl runs f on the control store, which is not changed.
func lookIntoControl(globals *cli.Globals, f func(*control.Store) error) error {
	return lookIntoDir(globals, func(dir *storage.Dir) error { return onControl(dir, f) })
}

// withControl runs f on the control store.
func withControl(globals *cli.Globals, f func(*control.Store) error) error {
	return withDir(globals, func(dir *storage.Dir) error { return onControl(dir, f) })
}

func onControl(dir *storage.Dir, f func(*control.Store) error) error {
	store, err := dir.Control()
	if err != nil {
		return err
	}
	return f(store)
}

// fillDir runs f on the data directory, which may be new.
func fillDir(globals *cli.Globals, f func(*storage.Dir) error) error {
	dir, err := globals.OpenToFill()
	if err != nil {
		return err
	}
	return closing(dir, f(dir.Dir))
}

// fillControl runs f on the control store of a data directory that may be new.
func fillControl(globals *cli.Globals, f func(*control.Store) error) error {
	return fillDir(globals, func(dir *storage.Dir) error { return onControl(dir, f) })
}

func onObjects(dir *storage.Dir, f func(*objects.Store) error) error {
	store, err := dir.Objects()
	if err != nil {
		return err
	}
	return f(store)
}

// closing closes the directory when its work has ended, and reports what went wrong with either.
func closing(dir *cli.Stores, err error) error {
	if closeErr := dir.Close(); closeErr != nil {
		return errors.Join(err, closeErr)
	}
	return err
}

// hinting adds to an error that wraps sentinel what to do about it.
func hinting(err, sentinel error, hint string) error {
	if errors.Is(err, sentinel) {
		return fmt.Errorf("%w: %s", err, hint)
	}
	return err
}

// normal returns a URL as it is written in the stores.
func normal(url string) (string, error) {
	normalized, err := urlnorm.ParseMarked(url)
	if err != nil {
		return "", cli.Wrongf("%q is no http or https URL: write it in full, as https://example.org/", url)
	}
	return normalized, nil
}

// note prints something about the output on stderr.
func note(c *cobra.Command, format string, args ...any) {
	fmt.Fprintf(cli.Prose(c.ErrOrStderr()), format+"\n", args...)
}
