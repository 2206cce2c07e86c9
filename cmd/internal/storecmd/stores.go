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
	"github.com/webrace/webrace/xmlschema"
)

// opening opens the data directory for f: withDir, or lookIntoDir.
type opening func(globals *cli.Globals, f func(*storage.Dir) error) error

// withDir runs f on the data directory, which must be there.
func withDir(globals *cli.Globals, f func(*storage.Dir) error) error {
	return inDir(globals.OpenExisting, f)
}

// lookIntoDir runs f on the data directory, which must be there and is not changed.
func lookIntoDir(globals *cli.Globals, f func(*storage.Dir) error) error {
	return inDir(globals.OpenToLook, f)
}

// fillDir runs f on the data directory, which may be new.
func fillDir(globals *cli.Globals, f func(*storage.Dir) error) error {
	return inDir(globals.OpenToFill, f)
}

// inDir closes the directory when the work on it has ended, and reports what went wrong with either.
func inDir(open func() (*cli.Stores, error), f func(*storage.Dir) error) error {
	dir, err := open()
	if err != nil {
		return err
	}
	err = f(dir.Dir)
	if closeErr := dir.Close(); closeErr != nil {
		return errors.Join(err, closeErr)
	}
	return err
}

// lookIntoObjects runs f on the object cache, which is not changed.
func lookIntoObjects(globals *cli.Globals, f func(*objects.Store) error) error {
	return lookIntoDir(globals, on((*storage.Dir).Objects, f))
}

// lookIntoControl runs f on the control store, which is not changed.
func lookIntoControl(globals *cli.Globals, f func(*control.Store) error) error {
	return lookIntoDir(globals, on((*storage.Dir).Control, f))
}

// withControl runs f on the control store.
func withControl(globals *cli.Globals, f func(*control.Store) error) error {
	return withDir(globals, on((*storage.Dir).Control, f))
}

// fillControl runs f on the control store of a data directory that may be new.
func fillControl(globals *cli.Globals, f func(*control.Store) error) error {
	return fillDir(globals, on((*storage.Dir).Control, f))
}

// on returns what runs f on a store of a data directory.
func on[S any](store func(*storage.Dir) (S, error), f func(S) error) func(*storage.Dir) error {
	return func(dir *storage.Dir) error {
		s, err := store(dir)
		if err != nil {
			return err
		}
		return f(s)
	}
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
	normalized, err := urlnorm.ParseAddress(url)
	if errors.Is(err, urlnorm.ErrScheme) {
		normalized, err = xmlschema.ParseStart(url)
	}
	if err != nil {
		return "", cli.Wrongf("%q is no address of a document: write it in full, as https://example.org/ or mid:ID@example.org", url)
	}
	return normalized, nil
}

// note prints something about the output on stderr.
func note(c *cobra.Command, format string, args ...any) {
	fmt.Fprintf(cli.Prose(c.ErrOrStderr()), format+"\n", args...)
}
