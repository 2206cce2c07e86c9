package storecmd

import (
	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage/control"
)

func newAccountLock(globals *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:   "lock NAME",
		Short: "let nobody log in to an account; what its owner asked for goes on",
		Long: `lock ends all log-ins of an account, and makes useless all links and tokens that
were given for it. Its URDs, annotations and channels stay as they are, and go on.`,
		Example: "  webrace-store account lock eleni",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return changeState(c, globals, args[0], func(a *control.Account) (said string) {
				if a.State == control.AccountLocked {
					return "account %s was locked before"
				}
				a.State = control.AccountLocked
				return "account %s is locked: nobody is logged in any more, and links that were given lead nowhere; webrace-store account unlock %[1]s"
			})
		},
	}
}

func newAccountUnlock(globals *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:     "unlock NAME",
		Short:   "let the owner of an account log in again",
		Example: "  webrace-store account unlock eleni",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return changeState(c, globals, args[0], func(a *control.Account) (said string) {
				switch {
				case a.State != control.AccountLocked:
					return "account %s was not locked"
				case a.HasPassword:
					a.State = control.AccountActive
					return "the owner of account %s may log in again, by the password that it had"
				}
				a.State = control.AccountInvited
				return "account %s is not locked any more, and has no password yet: webrace-store account link %[1]s prints a link"
			})
		},
	}
}

// changeState changes an account by a function, and says of it, by its name, what the function does.
func changeState(c *cobra.Command, globals *cli.Globals, name string, change func(*control.Account) (said string)) error {
	return withControl(globals, func(store *control.Store) error {
		var said string
		err := store.ChangeAccount(c.Context(), name, func(a *control.Account) error {
			if a.State == control.AccountLeaving {
				return leaves(*a)
			}
			said = change(a)
			return nil
		})
		if err != nil {
			return noAccount(c, store, name, err)
		}
		note(c, said, name)
		return nil
	})
}
