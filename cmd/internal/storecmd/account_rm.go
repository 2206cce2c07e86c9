package storecmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage/control"
)

func newAccountRm(globals *cli.Globals) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "rm NAME",
		Short: "erase an account, and all that is stored of its owner",
		Long: `rm says what there is, and with --yes erases it for good: the account, URDs,
annotations, secrets, channels and what was sent on them, quota, budget and usage,
also of an owner who has no account. Nothing brings it back but a backup of before:
webrace-store account export writes it down. The file of the control store is
written anew, which takes as much room as it has; backups keep what they have.

There is no command that removes an account alone: webrace-store account lock keeps
its owner out.`,
		Example: `  webrace-store account rm eleni
  webrace-store account rm eleni --yes`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if !yes {
				return lookIntoControl(globals, func(store *control.Store) error { return sayWhatGoes(c, store, args[0]) })
			}
			return withControl(globals, func(store *control.Store) error { return erase(c, store, args[0]) })
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "erase it")
	return c
}

// sayWhatGoes is the error that an owner is not erased without --yes, which says what that would be.
func sayWhatGoes(c *cobra.Command, store *control.Store, name string) error {
	has, err := hasAccount(c, store, name)
	if err != nil {
		return err
	}
	there, err := storedOf(c, store, name)
	switch {
	case err != nil:
		return err
	case !has && there == (control.Erased{}):
		return noAccount(c, store, name, control.ErrNotFound)
	}
	return fmt.Errorf("nothing is erased yet: --yes erases for good %s", whatOf(name, has, there))
}

func hasAccount(c *cobra.Command, store *control.Store, name string) (bool, error) {
	_, err := store.Account(c.Context(), name)
	if errors.Is(err, control.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// storedOf counts what would be erased of an owner.
func storedOf(c *cobra.Command, store *control.Store, name string) (there control.Erased, err error) {
	for o, err := range store.Owners(c.Context()) {
		if err != nil {
			return there, err
		}
		if o.Name == name {
			there.URDs = o.URDs
		}
	}
	for _, err := range store.ACIs(c.Context(), control.Filter{Owner: name}) {
		if err != nil {
			return there, err
		}
		there.ACIs++
	}
	for s, err := range store.Secrets(c.Context()) {
		if err != nil {
			return there, err
		}
		if s.Owner == name {
			there.Secrets++
		}
	}
	for ch, err := range store.AllChannels(c.Context()) {
		if err != nil {
			return there, err
		}
		if ch.Owner == name {
			there.Channels++
		}
	}
	return there, nil
}

// whatOf names what there is of an owner, or was.
func whatOf(name string, hasAccount bool, e control.Erased) string {
	whose := "of " + name + ", who has no account"
	if hasAccount {
		whose = "account " + name
	}
	var all []string
	for _, part := range []struct {
		n    int
		what string
	}{{e.URDs, "URD"}, {e.ACIs, "annotation"}, {e.Secrets, "secret"}, {e.Channels, "channel"}} {
		if part.n > 0 {
			all = append(all, wording.Count(part.n, part.what))
		}
	}
	if len(all) == 0 {
		return whose + ", with neither URDs nor annotations"
	}
	return whose + ", with " + suggest.And(all)
}

// erase erases an owner. Of one of whom nothing is stored, or is any more, that too: what an attempt before could not
// take out of the log goes now.
func erase(c *cobra.Command, store *control.Store, name string) error {
	has, err := hasAccount(c, store, name)
	if err != nil {
		return err
	}
	erased, err := store.EraseOwner(c.Context(), name)
	if err != nil {
		return err
	}
	if !has && erased == (control.Erased{}) {
		return noAccount(c, store, name, control.ErrNotFound)
	}
	note(c, "erased: %s", whatOf(name, has, erased))
	return nil
}
