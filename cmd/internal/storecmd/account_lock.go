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
			return changeState(c, globals, args[0], func(a *control.Account) (said string, err error) {
				switch a.State {
				case control.AccountLeaving:
					return "", leaves(*a)
				case control.AccountLocked:
					return "account %s was locked before", nil
				}
				a.State = control.AccountLocked
				return "account %s is locked: nobody is logged in any more, and links that were given lead nowhere; webrace-store account unlock %[1]s", nil
			})
		},
	}
}

func newAccountUnlock(globals *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:   "unlock NAME",
		Short: "let the owner of an account log in again",
		Long: `unlock is for accounts that were locked, and for those whose owners asked for all to
be erased, until that is done: their URDs stay paused until they are resumed.`,
		Example: "  webrace-store account unlock eleni",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return changeState(c, globals, args[0], func(a *control.Account) (said string, err error) { return unlock(a), nil })
		},
	}
}

// unlock lets the owner of an account log in again, and says so.
func unlock(a *control.Account) (said string) {
	var rest string
	switch a.State {
	case control.AccountLeaving:
		rest = "; its URDs are paused, which webrace-store urd resume ends"
	case control.AccountLocked:
	default:
		return "account %s was not locked"
	}
	if a.HasPassword {
		a.State = control.AccountActive
		return "the owner of account %s may log in again, by the password that it had" + rest
	}
	a.State = control.AccountInvited
	return "account %s is not locked any more, and has no password yet: webrace-store account link %[1]s prints a link" + rest
}

// changeState changes an account by a function, and says of it, by its name, what the function does.
func changeState(c *cobra.Command, globals *cli.Globals, name string, change func(*control.Account) (said string, err error)) error {
	return withControl(globals, func(store *control.Store) error {
		var said string
		err := store.ChangeAccount(c.Context(), name, func(a *control.Account) (err error) {
			said, err = change(a)
			return err
		})
		if err != nil {
			return noAccount(c, store, name, err)
		}
		note(c, said, name)
		return nil
	})
}
