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
type opening func(place *cli.Place, f func(*storage.Dir) error) error

// withDir runs f on the data directory, which must be there.
func withDir(place *cli.Place, f func(*storage.Dir) error) error {
	dir, err := place.OpenExisting()
	if err != nil {
		return err
	}
	return closing(dir, f(dir.Dir))
}

// lookIntoDir runs f on the data directory, which must be there and is not changed.
func lookIntoDir(place *cli.Place, f func(*storage.Dir) error) error {
	dir, err := place.OpenToLook()
	if err != nil {
		return err
	}
	return closing(dir, f(dir.Dir))
}

// lookIntoObjects runs f on the object cache, which is not changed.
func lookIntoObjects(place *cli.Place, f func(*objects.Store) error) error {
	return lookIntoDir(place, func(dir *storage.Dir) error { return onObjects(dir, f) })
}

// lookIntoControl runs f on the control store, which is not changed.
func lookIntoControl(place *cli.Place, f func(*control.Store) error) error {
	return lookIntoDir(place, func(dir *storage.Dir) error { return onControl(dir, f) })
}

// withControl runs f on the control store.
func withControl(place *cli.Place, f func(*control.Store) error) error {
	return withDir(place, func(dir *storage.Dir) error { return onControl(dir, f) })
}

func onControl(dir *storage.Dir, f func(*control.Store) error) error {
	store, err := dir.Control()
	if err != nil {
		return err
	}
	return f(store)
}

// fillControl runs f on the control store of a data directory that may be new.
func fillControl(place *cli.Place, f func(*control.Store) error) error {
	dir, err := place.OpenToFill()
	if err != nil {
		return err
	}
	store, err := dir.Control()
	if err != nil {
		return closing(dir, err)
	}
	return closing(dir, f(store))
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

// hinting adds to an error that says sentinel what to do about it.
func hinting(err, sentinel error, hint string) error {
	if errors.Is(err, sentinel) {
		return fmt.Errorf("%w: %s", err, hint)
	}
	return err
}

// normal returns a URL as it is written in the stores.
func normal(url string) (string, error) {
	normalized, err := urlnorm.Parse(url)
	if err != nil {
		return "", cli.Wrongf("%q is no http or https URL: write it in full, as https://example.org/", url)
	}
	return normalized, nil
}

// note says something about the output to whoever reads it.
func note(c *cobra.Command, format string, args ...any) {
	fmt.Fprintf(c.ErrOrStderr(), format+"\n", args...)
}
