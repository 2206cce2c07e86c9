package storecmd

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/storage/control"
)

// secretUsed is a secret, and who may use it beside its owner.
type secretUsed struct {
	control.SecretInfo
	grants []string
}

var secretListing = listing[secretUsed]{
	header: []string{"name", "kind", "created", "changed", "hosts", "origin"},
	row: func(s secretUsed) []any {
		return []any{s.Name, string(s.Kind), s.Created, s.Changed, placesOf(s.Kind, s.Bounds), originOf(s.Origin, s.Unreadable)}
	},
}

// ownedListing has two columns more, where people have secrets.
var ownedListing = listing[secretUsed]{
	header: append(slices.Clip(secretListing.header), "owner", "granted to"),
	row: func(s secretUsed) []any {
		return append(secretListing.row(s), s.Owner, strings.Join(s.grants, ", "))
	},
}

// placesOf describes where a secret may be sent.
func placesOf(kind credentials.Kind, b credentials.Bounds) string {
	places := cmp.Or(strings.Join(b.Hosts, ","), "where the crawl begins")
	if b.Insecure {
		places += ", also by http"
	}
	if kind == credentials.KindNone || kind == credentials.KindEd25519 {
		places = "nowhere"
	}
	if b.Models {
		places += "; models are shown what it gives"
	}
	return places
}

func newSecretList(globals *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "list the names of secrets: name, kind, created, changed, where they may be sent, where they come from",
		Long: `list writes a line for each secret. Where any of them is a person's, or granted to
one, two more fields stand at the end of all lines: whose it is, and who else may use
it. Those of the operator have no owner.`,
		Example: "  webrace-store secret list",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return lookIntoControl(globals, func(store *control.Store) error {
				secrets, owned, err := secretsUsed(c.Context(), store)
				if err != nil {
					return err
				}
				l := secretListing
				if owned {
					l = ownedListing
				}
				return l.list(c, false, cli.Each(secrets), "no secrets")
			})
		},
	}
}

// secretsUsed returns all secrets, and whether people own or use any.
func secretsUsed(ctx context.Context, store *control.Store) (all []secretUsed, owned bool, err error) {
	grants := make(map[string][]string)
	for g, err := range store.Grants(ctx) {
		if err != nil {
			return nil, false, err
		}
		grants[g.Secret] = append(grants[g.Secret], g.Owner)
	}
	for s, err := range store.Secrets(ctx) {
		if err != nil {
			return nil, false, err
		}
		all = append(all, secretUsed{s, grants[s.Name]})
		owned = owned || s.Owner != "" || grants[s.Name] != nil
	}
	return all, owned, nil
}
