package storecmd

import (
	"errors"
	"fmt"
	"net/mail"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage/control"
)

func newAccountAdd(globals *cli.Globals) *cobra.Command {
	var inherit bool
	var at site
	a := control.Account{State: control.AccountInvited}
	c := &cobra.Command{
		Use:   "add NAME",
		Short: "add an account, and print the link by which its owner sets a password",
		Long: `add prints a link, which is good once, and for a week: send it to the person whom
the account is for, by a way that nobody else reads. What was stored under the name
before is not given to them, unless --inherit says so.`,
		Example: `  webrace-store account add eleni --mail eleni@example.org --url https://webrace.example.org
  webrace-store account add costas --admin`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := errors.Join(at.check(), checkMail(a.Mail)); err != nil {
				return cli.Wrong(err)
			}
			a.Owner = args[0]
			return fillControl(globals, func(store *control.Store) error {
				if err := store.AddAccount(c.Context(), a, inherit); err != nil {
					return whoseIsIt(err)
				}
				if err := giveLink(c, store, a, at); err != nil {
					return fmt.Errorf("account %s is added, without a link, which webrace-store account link makes: %w", a.Owner, err)
				}
				return nil
			})
		},
	}
	c.Flags().StringVar(&a.Mail, "mail", "", "the mail `ADDRESS` for messages about the account")
	c.Flags().BoolVar(&a.Admin, "admin", false, "its owner may manage the accounts of others")
	c.Flags().BoolVar(&inherit, "inherit", false, "also if URDs, annotations or secrets are stored under the name: they are the account's then")
	at.register(c)
	return c
}

func checkMail(address string) error {
	if address == "" {
		return nil
	}
	if a, err := mail.ParseAddress(address); err != nil || a.Address != address {
		return fmt.Errorf("--mail %q is no mail address: write it as eleni@example.org, without a name", address)
	}
	return nil
}

// whoseIsIt adds to the error that a name or an address is taken what to do about it.
func whoseIsIt(err error) error {
	var taken *control.TakenError
	switch {
	case !errors.As(err, &taken):
		return err
	case taken.By != "":
		return fmt.Errorf("%w: take another name, or --inherit, which gives them to the account", err)
	}
	return fmt.Errorf("%w: webrace-store account list shows who has it", err)
}
