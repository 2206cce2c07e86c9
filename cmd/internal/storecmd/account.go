package storecmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/storage/control"
)

func newAccount(globals *cli.Globals) *cobra.Command {
	c := &cobra.Command{
		Use:   "account",
		Short: "who may log in, and what is theirs: add, link, list, lock, unlock, rm, export",
		Long: `An account lets a person log in to the web application, and own there what is stored
under its name. No command takes a password, or shows the hash of one: whoever has
a link that add or link prints sets it. The web application is the pipeline portal:
webrace-run webrace portal --continuous.`,
	}
	c.AddCommand(
		newAccountAdd(globals), newAccountLink(globals), newAccountList(globals), newAccountLock(globals), newAccountUnlock(globals),
		newAccountRm(globals), newAccountExport(globals),
	)
	return c
}

// accountNamed returns the account of a name, which must be there.
func accountNamed(c *cobra.Command, store *control.Store, name string) (control.Account, error) {
	a, err := store.Account(c.Context(), name)
	return a, noAccount(c, store, name, err)
}

// noAccount says of an error that there is no account of a name which it is, and which name was perhaps meant.
func noAccount(c *cobra.Command, store *control.Store, name string, err error) error {
	if !errors.Is(err, control.ErrNotFound) {
		return err
	}
	var names []string
	for a, err := range store.Accounts(c.Context()) {
		if err != nil {
			return err
		}
		names = append(names, a.Owner)
	}
	meant := suggest.DidYouMean(suggest.Nearest(name, names))
	return fmt.Errorf("there is no account %q%s: webrace-store account list shows those there are", name, meant)
}
