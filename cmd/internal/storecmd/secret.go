package storecmd

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage/control"
	"golang.org/x/term"
)

func newSecret(place *cli.Place) *cobra.Command {
	c := &cobra.Command{
		Use:   "secret",
		Short: "what sources want to see before they show documents: set, list, remove, rotate",
		Long: `Secrets are kept encrypted, under a key in the file secrets.key of the data directory.
A URD names one with secret="NAME", and its crawl presents it: to the hosts that --host names, or else to
the host at which the crawl begins, and by https alone unless --insecure. No command ever shows one.`,
	}
	c.AddCommand(newSecretSet(place), newSecretList(place), newSecretRm(place), newSecretRotate(place))
	return c
}

// maxSecret is the most bytes of a secret that are read.
const maxSecret = 64 << 10

func newSecretSet(place *cli.Place) *cobra.Command {
	var kind, user, header string
	var hosts []string
	var insecure bool
	secretOf := func(value string) (control.Secret, error) {
		if user != "" && header != "" {
			return control.Secret{}, cli.Wrongf("--user is for --kind basic, --header for --kind header: a secret is one of them")
		}
		bounds, err := control.NewBounds(hosts, insecure)
		if err != nil {
			return control.Secret{}, cli.Wrong(err)
		}
		if value, err = cookiesOf(control.Kind(kind), value, bounds); err != nil {
			return control.Secret{}, cli.Wrong(err)
		}
		secret, err := control.NewSecret(control.Kind(kind), user+header, value)
		if err != nil {
			return control.Secret{}, cli.Wrong(err)
		}
		return secret.Within(bounds), nil
	}
	c := &cobra.Command{
		Use:   "set NAME --kind basic --user USER",
		Short: "store a secret, read from a terminal without showing it, or from standard input",
		Example: `  webrace-store secret set bank --kind basic --user eleni
  pass show api/token | webrace-store secret set api --kind bearer
  webrace-store secret set feed --kind header --header X-Api-Key --host api.example.org < key.txt
  webrace-store secret set forum --kind cookie --host forum.example.org < cookies.txt`,
		Args: cobra.ExactArgs(1),
		PersistentPreRunE: func(c *cobra.Command, args []string) error {
			if _, err := secretOf("any"); err != nil { // before one is typed in vain
				return err
			}
			return promptSecret(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			value, err := readSecret(c.InOrStdin())
			if err != nil {
				return err
			}
			secret, err := secretOf(value)
			if err != nil {
				return err
			}
			return fillControl(place, func(store *control.Store) error {
				if err := store.SetSecret(c.Context(), args[0], secret); err != nil {
					return err
				}
				note(c, "secret %s is stored", args[0])
				return nil
			})
		},
	}
	c.Flags().StringVar(&kind, "kind", string(control.KindBasic), "basic (user and password), bearer (token), header, or cookie (a Cookie field, or a cookies.txt of a browser)")
	c.Flags().StringVar(&user, "user", "", "whose password it is, for --kind basic")
	c.Flags().StringVar(&header, "header", "", "the `NAME` of the header field, for --kind header")
	c.Flags().StringSliceVar(&hosts, "host", nil, "a `HOST` that it may be sent to, or *.DOMAIN; repeatable (default: where the crawl begins)")
	c.Flags().BoolVar(&insecure, "insecure", false, "send it by plain http as well, where anybody on the way can read it")
	return c
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
	if ask := c.Root().PersistentPreRunE; ask != nil {
		return ask(c, args)
	}
	return nil
}

// readSecret reads standard input, without the end of its line.
func readSecret(in io.Reader) (string, error) {
	content, err := io.ReadAll(io.LimitReader(in, maxSecret+1))
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	if len(content) > maxSecret {
		return "", cli.Wrongf("the secret on standard input is larger than %d KB", maxSecret>>10)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r"), nil
}

var secretListing = listing[control.SecretInfo]{
	header: []string{"name", "kind", "created", "changed", "hosts"},
	row: func(s control.SecretInfo) []any {
		return []any{s.Name, string(s.Kind), s.Created, s.Changed, placesOf(s.Bounds)}
	},
}

// placesOf says where a secret may be sent.
func placesOf(b control.Bounds) string {
	places := cmp.Or(strings.Join(b.Hosts, ","), "where the crawl begins")
	if b.Insecure {
		places += ", also by http"
	}
	return places
}

func newSecretList(place *cli.Place) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "list the names of secrets: name, kind, created, changed, where they may be sent",
		Example: "  webrace-store secret list",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return lookIntoControl(place, func(store *control.Store) error {
				n, err := secretListing.print(c, false, store.Secrets(c.Context()))
				if n == 0 && err == nil {
					note(c, "no secrets")
				}
				return err
			})
		},
	}
}

func newSecretRm(place *cli.Place) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:     "rm NAME",
		Short:   "remove a secret that no URD refers to",
		Example: "  webrace-store secret rm bank",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return withControl(place, func(store *control.Store) error {
				err := store.DeleteSecret(c.Context(), args[0], force)
				var used *control.SecretInUseError
				if errors.As(err, &used) {
					return fmt.Errorf("%w, or take --force", err)
				}
				return hinting(err, control.ErrNotFound, "webrace-store secret list shows what there is")
			})
		},
	}
	c.Flags().BoolVar(&force, "force", false, "also while URDs refer to it")
	return c
}

func newSecretRotate(place *cli.Place) *cobra.Command {
	return &cobra.Command{
		Use:     "rotate",
		Short:   "encrypt all secrets under a new key, and forget the old one",
		Example: "  webrace-store secret rotate",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return withControl(place, func(store *control.Store) error {
				n, err := store.RotateKey(c.Context())
				if err == nil {
					note(c, "%s under a new key", plural(n, "secret"))
				}
				return err
			})
		},
	}
}
