package storecmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/storage/control"
)

func newSecretGrant(globals *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:   "grant NAME OWNER",
		Short: "let the owner of an account use a secret that is not theirs",
		Long: `grant lets URDs name a secret that a person stores in the web application: those may
otherwise name their own alone. They see its name, and where it may be sent, and
never the secret. Whoever uses these commands may name any secret in URDs.`,
		Example: "  webrace-store secret grant bank eleni",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return withControl(globals, func(store *control.Store) error {
				if err := store.GrantSecret(c.Context(), args[0], args[1]); err != nil {
					return noSecret(c, store, args[0], err)
				}
				note(c, "%s may use secret %s", args[1], args[0])
				return noteNobody(c, store, args[1])
			})
		},
	}
}

// noSecret says of an error that there is no secret of a name which one was perhaps meant.
func noSecret(c *cobra.Command, store *control.Store, name string, err error) error {
	if !errors.Is(err, control.ErrNotFound) {
		return err
	}
	var names []string
	for s, err := range store.Secrets(c.Context()) {
		if err != nil {
			return err
		}
		names = append(names, s.Name)
	}
	return fmt.Errorf("%w%s: %s", err, suggest.DidYouMean(suggest.Nearest(name, names)), listSecrets)
}

// noteNobody notes that nobody of a name has an account.
func noteNobody(c *cobra.Command, store *control.Store, name string) error {
	if has, err := hasAccount(c, store, name); err != nil || has {
		return err
	}
	err := noAccount(c, store, name, control.ErrNotFound)
	note(c, "%v", err)
	return nil
}

func newSecretRevoke(globals *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:     "revoke NAME OWNER",
		Short:   "take back what grant gave; URDs that name the secret stay as they are",
		Example: "  webrace-store secret revoke bank eleni",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return withControl(globals, func(store *control.Store) error {
				err := store.RevokeSecret(c.Context(), args[0], args[1])
				if errors.Is(err, control.ErrNotFound) {
					return fmt.Errorf("secret %s is not granted to %s: webrace-store secret list shows to whom secrets are", args[0], args[1])
				}
				if err == nil {
					note(c, "%s may not use secret %s any more: what their URDs ask for with it goes on until they are changed", args[1], args[0])
				}
				return err
			})
		},
	}
}
