package storecmd

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage/control"
)

const listMessages = "webrace-store outbox list --dead shows those that were given up"

func newOutboxAgain(globals *cli.Globals) *cobra.Command {
	var dead bool
	c := &cobra.Command{
		Use:   "again ID… | --dead",
		Short: "have messages sent again that were given up, or none if one was not",
		Example: `  webrace-store outbox again m1a2b3c4
  webrace-store outbox again --dead`,
		RunE: func(c *cobra.Command, ids []string) error {
			if dead == (len(ids) > 0) {
				return cli.Wrongf("name messages by their ids, or take --dead for all that were given up; %s", listMessages)
			}
			return withControl(globals, func(store *control.Store) error {
				chosen, err := deadMessages(c, store, ids)
				if err != nil {
					return err
				}
				if len(chosen) == 0 {
					note(c, "no message was given up")
					return nil
				}
				for _, id := range chosen {
					if err := store.SendAgain(c.Context(), id); err != nil {
						return err
					}
				}
				note(c, "%s to be sent again", wording.Count(len(chosen), "message"))
				return nil
			})
		},
	}
	c.Flags().BoolVar(&dead, "dead", false, "all that were given up")
	return c
}

// deadMessages returns the ids of the messages that are named, all of which must have been given up, or of all that
// were.
func deadMessages(c *cobra.Command, store *control.Store, ids []string) (chosen []string, err error) {
	states := make(map[string]control.MessageState)
	var names []string
	for m, err := range store.Messages(c.Context()) {
		if err != nil {
			return nil, err
		}
		names, states[m.ID] = append(names, m.ID), m.State
		if len(ids) == 0 && m.State == control.MessageDead {
			chosen = append(chosen, m.ID)
		}
	}
	for _, id := range ids {
		switch state, known := states[id]; {
		case !known:
			return nil, fmt.Errorf("there is no message %q%s: %s", id, suggest.DidYouMean(suggest.Nearest(id, names)), listMessages)
		case state != control.MessageDead:
			return nil, fmt.Errorf("message %s is %s, and was not given up: %s", id, state, listMessages)
		}
		if !slices.Contains(chosen, id) {
			chosen = append(chosen, id)
		}
	}
	return chosen, nil
}
