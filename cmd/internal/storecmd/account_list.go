package storecmd

import (
	"iter"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage/control"
)

// accountHad is an account, and how much its owner has.
type accountHad struct {
	control.Account
	urds, channels, stopped int // stopped are some of the channels
}

// accountJSON is an account as a JSON line.
type accountJSON struct {
	Owner    string `json:"owner"`
	State    string `json:"state"`
	Admin    bool   `json:"admin"`
	Mail     string `json:"mail,omitempty"`
	Created  string `json:"created"`
	Seen     string `json:"last_seen,omitempty"`
	URDs     int    `json:"urds"`
	Channels int    `json:"channels"`
	Stopped  int    `json:"stopped_channels"`
}

var accountListing = listing[accountHad]{
	header: []string{"owner", "state", "admin", "mail", "created", "last seen", "urds", "channels", "stopped"},
	row: func(a accountHad) []any {
		return []any{a.Owner, a.State, a.Admin, a.Mail, a.Created, a.Seen, a.urds, a.channels, a.stopped}
	},
	json: func(a accountHad) any {
		return accountJSON{a.Owner, string(a.State), a.Admin, a.Mail, wording.Moment(a.Created), wording.Moment(a.Seen), a.urds, a.channels, a.stopped}
	},
}

func newAccountList(globals *cli.Globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "list accounts: owner, state, whether they manage others, mail, created, last seen, number of URDs, of channels, of those that are stopped",
		Example: "  webrace-store account list --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return lookIntoControl(globals, func(store *control.Store) error {
				urds := make(map[string]int)
				for o, err := range store.Owners(c.Context()) {
					if err != nil {
						return err
					}
					urds[o.Name] = o.URDs
				}
				channels := make(map[string][]control.Channel)
				for ch, err := range store.AllChannels(c.Context()) {
					if err != nil {
						return err
					}
					channels[ch.Owner] = append(channels[ch.Owner], ch)
				}
				return accountListing.list(c, asJSON, withWhatTheyHave(store.Accounts(c.Context()), urds, channels), "no accounts: webrace-store account add makes one")
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON lines")
	return c
}

func withWhatTheyHave(accounts iter.Seq2[control.Account, error], urds map[string]int, channels map[string][]control.Channel) iter.Seq2[accountHad, error] {
	return func(yield func(accountHad, error) bool) {
		for a, err := range accounts {
			had := accountHad{Account: a, urds: urds[a.Owner], channels: len(channels[a.Owner])}
			for _, ch := range channels[a.Owner] {
				if ch.State == control.ChannelStopped {
					had.stopped++
				}
			}
			if !yield(had, err) {
				return
			}
		}
	}
}
