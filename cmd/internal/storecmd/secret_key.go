package storecmd

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/httpsign"
	"github.com/webrace/webrace/storage/control"
)

func newSecretGenerate(globals *cli.Globals) *cobra.Command {
	var kind string
	c := &cobra.Command{
		Use:   "generate NAME",
		Short: "make a key that requests are signed with, store it, and print the key directory to publish",
		Long: `generate makes a key of kind ed25519, stores it encrypted as all secrets are, and prints the key directory to publish
at https://HOST` + httpsign.DirectoryPath + `, as
` + httpsign.DirectoryType + `. The private key is never printed.
With fetch.sign = "NAME" and fetch.signature_agent = "https://HOST", requests are signed with it.`,
		Example: "  webrace-store secret generate crawler --kind ed25519 > http-message-signatures-directory",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if credentials.Kind(kind) != credentials.KindEd25519 {
				return cli.Wrongf("--kind %s: what is generated is a key of kind %s; others are stored by webrace-store secret set", kind, credentials.KindEd25519)
			}
			return fillControl(globals, func(store *control.Store) error { return generateKey(c, store, args[0]) })
		},
	}
	c.Flags().StringVar(&kind, "kind", string(credentials.KindEd25519), "the `KIND` of the key: ed25519")
	return c
}

// generateKey stores a new key. One that is published is never replaced by the way.
func generateKey(c *cobra.Command, store *control.Store, name string) error {
	taken, err := isStored(c.Context(), store, name)
	if err != nil {
		return err
	}
	if taken {
		return fmt.Errorf("a secret is named %s already: take another name, or webrace-store secret rm %[1]s first", name)
	}
	key := httpsign.NewKey()
	secret, err := credentials.NewSecret(credentials.KindEd25519, "", key.Text())
	if err != nil {
		return err
	}
	if err := store.SetSecret(c.Context(), name, secret); err != nil {
		return err
	}
	note(c, "secret %s is stored; its keyid is %s", name, key.ID())
	return printDirectory(c, key.Public())
}

func newSecretDirectory(globals *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:   "directory NAME…",
		Short: "print the key directory to publish of keys that requests are signed with",
		Long: `directory prints the public parts of keys of kind ed25519: of one that secret set has stored, or of the next beside the
present one, so that verifiers know both before requests are signed with the next.`,
		Example: "  webrace-store secret directory crawler crawler-next > http-message-signatures-directory",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return lookIntoControl(globals, func(store *control.Store) error {
				var keys []ed25519.PublicKey
				for _, name := range args {
					key, err := storedKey(c.Context(), store, name)
					if err != nil {
						return noSecret(c, store, name, err)
					}
					keys = append(keys, key.Public())
				}
				return printDirectory(c, keys...)
			})
		},
	}
}

func storedKey(ctx context.Context, store *control.Store, name string) (httpsign.Key, error) {
	secret, err := store.Secret(ctx, name)
	if err != nil {
		return httpsign.Key{}, err
	}
	if secret.Kind() != credentials.KindEd25519 {
		return httpsign.Key{}, fmt.Errorf("secret %s is of kind %s, and has no public part: a key is made by webrace-store secret generate", name, secret.Kind())
	}
	_, value := secret.Reveal()
	key, err := httpsign.ParseKey(value)
	if err != nil {
		return key, fmt.Errorf("secret %s: %w", name, err)
	}
	return key, nil
}

func printDirectory(c *cobra.Command, keys ...ed25519.PublicKey) error {
	_, err := c.OutOrStdout().Write(httpsign.Directory(keys...))
	return err
}

// checkKeyFlags refuses flags that mean nothing for a key, which is sent to nobody.
func checkKeyFlags(kind credentials.Kind, hosts []string, insecure bool) error {
	if kind == credentials.KindEd25519 && (len(hosts) > 0 || insecure) {
		return errors.New("--kind ed25519 signs requests to all hosts and is sent to none: --host and --insecure are for other kinds")
	}
	return nil
}

// checkKey refuses what is no key, before it is stored.
func checkKey(kind credentials.Kind, value string) error {
	if kind != credentials.KindEd25519 {
		return nil
	}
	if _, err := httpsign.ParseKey(value); err != nil {
		return fmt.Errorf("nothing is stored: %w", err)
	}
	return nil
}
