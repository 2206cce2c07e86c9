package storecmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage/control"
	"golang.org/x/term"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/secretfile"
)

func newSecret(globals *cli.Globals) *cobra.Command {
	c := &cobra.Command{
		Use:   "secret",
		Short: "what sources want to see before they show documents: set, generate, list, remove, rotate, grant, revoke",
		Long: `Secrets are kept encrypted, under a key in the file secrets.key of the data directory; with --from-file
and --from-command it is kept where they come from, and they are read from there.
A URD names one with secret="NAME", and its crawl presents it: to the hosts that --host names, or else to
the host at which the crawl begins, and by https alone unless --insecure. No command ever shows one.`,
	}
	c.AddCommand(
		newSecretSet(globals), newSecretGenerate(globals), newSecretDirectory(globals), newSecretList(globals), newSecretRm(globals), newSecretRotate(globals),
		newSecretGrant(globals), newSecretRevoke(globals),
	)
	return c
}

const listSecrets = "webrace-store secret list shows what there is"

func newSecretSet(globals *cli.Globals) *cobra.Command {
	var kind, user, header string
	var hosts []string
	var insecure, models bool
	var form formFlags
	var from originFlags
	holdsNothing := func() bool { return credentials.Kind(kind) == credentials.KindNone }
	secretOf := func(value string) (credentials.Secret, error) {
		if holdsNothing() && (len(hosts) > 0 || insecure || from.given()) {
			return credentials.Secret{}, cli.Wrongf("--kind none sends nothing: --host, --insecure, --from-file and --from-command are for other kinds")
		}
		if user != "" && header != "" {
			return credentials.Secret{}, cli.Wrongf("--user is for --kind basic, --header for --kind header: a secret is one of them")
		}
		if err := checkKeyFlags(credentials.Kind(kind), hosts, insecure); err != nil {
			return credentials.Secret{}, cli.Wrong(err)
		}
		bounds, err := credentials.NewBounds(hosts, insecure)
		if err != nil {
			return credentials.Secret{}, cli.Wrong(err)
		}
		bounds.Models = models
		if value, err = cookiesOf(credentials.Kind(kind), value, bounds); err != nil {
			return credentials.Secret{}, cli.Wrong(err)
		}
		if secret, ok, err := form.secret(credentials.Kind(kind), value); ok || err != nil {
			if err != nil {
				return credentials.Secret{}, cli.Wrong(err)
			}
			if len(bounds.Hosts) == 0 {
				bounds.Hosts = secret.Bounds().Hosts
			}
			return secret.Within(bounds), nil
		}
		secret, err := credentials.NewSecret(credentials.Kind(kind), user+header, value)
		if err != nil {
			return credentials.Secret{}, cli.Wrong(err)
		}
		return secret.Within(bounds), nil
	}
	c := &cobra.Command{
		Use:   "set NAME --kind basic --user USER",
		Short: "store a secret, read from a terminal without showing it, or from standard input; or where it comes from",
		Example: `  webrace-store secret set bank --kind basic --user eleni
  pass show api/token | webrace-store secret set api --kind bearer
  webrace-store secret set api --kind bearer --from-command 'pass show api/token'
  webrace-store secret set hook --kind bearer --from-file /run/secrets/hook
  webrace-store secret set feed --kind header --header X-Api-Key --host api.example.org < key.txt
  webrace-store secret set forum --kind cookie --host forum.example.org < cookies.txt
  webrace-store secret set club --kind form --page https://club.example.org/login --field user=eleni --password password --success css:.logout
  webrace-store secret set private --kind none
  webrace-store secret set crawler --kind ed25519 < key.pem`,
		Args: cobra.ExactArgs(1),
		PersistentPreRunE: func(c *cobra.Command, args []string) error {
			trial := "any"
			if holdsNothing() {
				trial = ""
			}
			if _, err := secretOf(trial); err != nil { // before one is typed in vain
				return err
			}
			if holdsNothing() {
				return askElsewhere(c, args)
			}
			if from.given() {
				if _, err := from.origin(globals); err != nil {
					return err
				}
				return askElsewhere(c, args)
			}
			return promptSecret(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			origin, err := from.origin(globals)
			if err != nil {
				return err
			}
			var value string
			switch {
			case holdsNothing():
			case origin.IsZero():
				value, err = readSecret(c.InOrStdin())
			default:
				value, err = readOrigin(c.Context(), origin, credentials.Kind(kind))
			}
			if err != nil {
				return err
			}
			if err := checkKey(credentials.Kind(kind), value); err != nil {
				return cli.Wrong(err)
			}
			secret, err := secretOf(value)
			if err != nil {
				return err
			}
			return fillControl(globals, func(store *control.Store) error {
				replaces, err := isStored(c.Context(), store, args[0])
				if err != nil {
					return err
				}
				if err := store.SetSecret(c.Context(), args[0], secret.From(origin)); err != nil {
					return err
				}
				instead := ""
				if replaces {
					instead = ", in place of the one of that name"
				}
				if origin.IsZero() {
					note(c, "secret %s is stored%s", args[0], instead)
				} else {
					note(c, "where secret %s comes from is stored%s: %s, which was tried", args[0], instead, origin)
				}
				return nil
			})
		},
	}
	c.Flags().StringVar(&kind, "kind", string(credentials.KindBasic), "basic (user and password), bearer (token), header, cookie (a Cookie field, or a cookies.txt of a browser), form (filled in to log in), none (nothing: keeps what is fetched apart), or ed25519 (a private key that requests are signed with: PEM or JWK)")
	c.Flags().StringVar(&user, "user", "", "whose password it is, for --kind basic")
	c.Flags().StringVar(&header, "header", "", "the `NAME` of the header field, for --kind header")
	form.register(c)
	from.register(c)
	c.Flags().StringSliceVar(&hosts, "host", nil, "a `HOST` that it may be sent to, or *.DOMAIN; repeatable (default: where the crawl begins)")
	c.Flags().BoolVar(&insecure, "insecure", false, "send it by plain http as well, where it can be read on the way")
	c.Flags().BoolVar(&models, "models", false, "let what is fetched with it be shown to a model (stage ask), which is asked of nothing such otherwise")
	return c
}

// isStored reports whether there is a secret of a name.
func isStored(ctx context.Context, store *control.Store, name string) (bool, error) {
	for s, err := range store.Secrets(ctx) {
		if err != nil || s.Name == name {
			return err == nil, err
		}
	}
	return false, nil
}

// promptSecret reads the secret from a terminal without showing it, before the process that owns the data
// directory may be asked to run the command: it gets it as standard input.
func promptSecret(c *cobra.Command, args []string) error {
	if file, ok := c.InOrStdin().(*os.File); ok && cli.IsTerminal(file) {
		fmt.Fprintf(c.ErrOrStderr(), "Secret %s: ", args[0])
		value, err := term.ReadPassword(int(file.Fd()))
		fmt.Fprintln(c.ErrOrStderr())
		if err != nil {
			return fmt.Errorf("read secret: %w", err)
		}
		c.SetIn(bytes.NewReader(value))
	}
	return askElsewhere(c, args)
}

// askElsewhere has the process run the command that owns the data directory, if there is one.
func askElsewhere(c *cobra.Command, args []string) error {
	if ask := c.Root().PersistentPreRunE; ask != nil {
		return ask(c, args)
	}
	return nil
}

// readSecret reads standard input, without the end of its line.
func readSecret(in io.Reader) (string, error) {
	content, err := io.ReadAll(io.LimitReader(in, secretfile.Max+1))
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	if len(content) > secretfile.Max {
		return "", cli.Wrongf("the secret on standard input is larger than %d KB", secretfile.Max>>10)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r"), nil
}

func newSecretRm(globals *cli.Globals) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:     "rm NAME",
		Short:   "remove a secret that no URD refers to",
		Example: "  webrace-store secret rm bank",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return withControl(globals, func(store *control.Store) error {
				err := store.DeleteSecret(c.Context(), args[0], false)
				var used *control.SecretInUseError
				if errors.As(err, &used) && force {
					err = store.DeleteSecret(c.Context(), args[0], true)
				} else if used != nil {
					return fmt.Errorf("%w, or take --force", err)
				}
				switch {
				case err == nil && used != nil:
					note(c, "secret %s is removed; what these URDs start is not asked for any more: %s", args[0], strings.Join(used.URDs, ", "))
				case err == nil:
					note(c, "secret %s is removed", args[0])
				}
				return hinting(err, control.ErrNotFound, listSecrets)
			})
		},
	}
	c.Flags().BoolVar(&force, "force", false, "also while URDs refer to it")
	return c
}

func newSecretRotate(globals *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:     "rotate",
		Short:   "encrypt all secrets under a new key, and forget the old one",
		Example: "  webrace-store secret rotate",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return withControl(globals, func(store *control.Store) error {
				n, err := store.RotateKey(c.Context())
				if err == nil {
					note(c, "%s under a new key", wording.Count(n, "secret"))
				}
				return err
			})
		},
	}
}
