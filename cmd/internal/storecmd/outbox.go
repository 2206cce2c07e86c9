package storecmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/control/accountfile"
)

func newOutbox(globals *cli.Globals) *cobra.Command {
	c := &cobra.Command{
		Use:   "outbox",
		Short: "what is sent to the owners of accounts, or was: list, again",
	}
	c.AddCommand(newOutboxList(globals), newOutboxAgain(globals))
	return c
}

// sentMessage is a message, and the channel on which it is sent.
type sentMessage struct {
	control.Message
	on control.Channel
}

// when is the moment that matters of a message: when it ended, or its next attempt is due.
func (m sentMessage) when() time.Time {
	if m.Ended.IsZero() {
		return m.Due
	}
	return m.Ended
}

var messageListing = listing[sentMessage]{
	header: []string{"id", "channel", "owner", "state", "attempts", "due or ended", "said"},
	row: func(m sentMessage) []any {
		return []any{m.ID, m.on.Name, m.on.Owner, string(m.State), m.Attempts, m.when(), m.Said}
	},
	json: func(m sentMessage) any { return accountfile.MessageOn(m.on, m.Message) },
}

func newOutboxList(globals *cli.Globals) *cobra.Command {
	var dead, asJSON bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "list messages, latest first: id, channel, owner, state, attempts, when the next is due or it ended, what the receiver said",
		Example: "  webrace-store outbox list --dead",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return lookIntoControl(globals, func(store *control.Store) error {
				channels, err := channelsByNumber(c.Context(), store)
				if err != nil {
					return err
				}
				none := "no messages"
				if dead {
					none = "no message was given up"
				}
				err = messageListing.list(c, asJSON, func(yield func(sentMessage, error) bool) {
					for m, err := range store.Messages(c.Context()) {
						if err == nil && dead && m.State != control.MessageDead {
							continue
						}
						if !yield(sentMessage{m, channels[m.Channel]}, err) {
							return
						}
					}
				}, none)
				if err != nil || dead {
					return err
				}
				return noteWaiting(c, store, channels)
			})
		},
	}
	c.Flags().BoolVar(&dead, "dead", false, "only those that were given up")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON lines")
	return c
}

func channelsByNumber(ctx context.Context, store *control.Store) (map[int64]control.Channel, error) {
	all := make(map[int64]control.Channel)
	for ch, err := range store.AllChannels(ctx) {
		if err != nil {
			return nil, err
		}
		all[ch.N] = ch
	}
	return all, nil
}

// noteWaiting notes how much waits to be sent, and is in no message yet.
func noteWaiting(c *cobra.Command, store *control.Store, channels map[int64]control.Channel) error {
	waiting, err := store.WaitingEntries(c.Context())
	if err != nil || len(waiting) == 0 {
		return err
	}
	all, held := 0, 0
	for n, entries := range waiting {
		all += entries
		if channels[n].State != control.ChannelActive {
			held += entries
		}
	}
	more := ""
	if held > 0 {
		more = fmt.Sprintf("; %d of them until a channel is active that is not", held)
	}
	note(c, "in no message yet: %s on %s%s", entriesOf(all), wording.Count(len(waiting), "channel"), more)
	return nil
}

func entriesOf(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}
