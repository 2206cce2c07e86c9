package storecmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage/control"
)

func newDLQ(place *cli.Place) *cobra.Command {
	c := &cobra.Command{
		Use:   "dlq",
		Short: "what stages gave up on (dead letters): list, show, replay, purge",
	}
	c.AddCommand(newDLQList(place), newDLQShow(place), newDLQReplay(place), newDLQPurge(place))
	return c
}

const listLetters = "webrace-store dlq list shows what there is"

// letterView is a dead letter as a JSON line.
type letterView struct {
	ID       string          `json:"id"`
	Time     string          `json:"time"`
	Pipeline string          `json:"pipeline"`
	Stage    string          `json:"stage"`
	Attempts int             `json:"attempts"`
	Error    string          `json:"error"`
	Replay   bool            `json:"replay"`
	Kind     string          `json:"kind"`
	Item     json.RawMessage `json:"item"`
}

func viewLetter(l control.DeadLetter) any {
	item := json.RawMessage(l.Item)
	if !json.Valid(item) {
		item = json.RawMessage("null")
	}
	return letterView{l.ID, moment(l.Time), l.Pipeline, l.Stage, l.Attempts, l.Error, l.Replay, l.Kind, item}
}

var letterListing = listing[control.DeadLetter]{
	header: []string{"id", "time", "pipeline", "stage", "attempts", "replay", "error"},
	row: func(l control.DeadLetter) []any {
		return []any{l.ID, l.Time, l.Pipeline, l.Stage, l.Attempts, l.Replay, l.Error}
	},
	view: viewLetter,
}

func newDLQList(place *cli.Place) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "list dead letters, oldest first: id, time, pipeline, stage, attempts, whether to be replayed, error",
		Example: "  webrace-store dlq list --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return lookIntoControl(place, func(store *control.Store) error {
				n, err := letterListing.print(c, asJSON, store.DeadLetters(c.Context()))
				if n == 0 && err == nil {
					note(c, "no dead letters")
				}
				return err
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON lines, with the items")
	return c
}

func newDLQShow(place *cli.Place) *cobra.Command {
	return &cobra.Command{
		Use:     "show ID",
		Short:   "show all there is to know of a dead letter, its item included",
		Example: "  webrace-store dlq show 3",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return lookIntoControl(place, func(store *control.Store) error {
				letter, err := store.DeadLetter(c.Context(), args[0])
				if err != nil {
					return hinting(err, control.ErrNotFound, listLetters)
				}
				return showLetter(c.OutOrStdout(), letter)
			})
		},
	}
}

func showLetter(w io.Writer, l control.DeadLetter) error {
	fmt.Fprintf(w, "%s: stage %s of pipeline %s gave up at %s after %s\n", l.ID, l.Stage, l.Pipeline, moment(l.Time), plural(l.Attempts, "attempt"))
	if l.Replay {
		fmt.Fprintf(w, "  to be processed again when webrace-run %s runs next\n", l.Pipeline)
	}
	for cause := range strings.Lines(l.Error) {
		fmt.Fprintf(w, "  %s\n", strings.TrimSuffix(cause, "\n"))
	}
	fmt.Fprintf(w, "%s:\n", l.Kind)
	var item bytes.Buffer
	if err := json.Indent(&item, l.Item, "", "  "); err != nil {
		item.Write(l.Item) // shown as it is
	}
	_, err := fmt.Fprintln(w, item.String())
	return err
}

func newDLQReplay(place *cli.Place) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:     "replay ID… | --all",
		Short:   "have dead letters processed again, at their stages, when their pipelines run next",
		Example: "  webrace-store dlq replay --all",
		RunE: func(c *cobra.Command, ids []string) error {
			return withLetters(c, place, ids, all, func(store *control.Store, letters []control.DeadLetter) error {
				return replay(c, store, letters)
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "all there are")
	return c
}

func replay(c *cobra.Command, store *control.Store, letters []control.DeadLetter) error {
	var ids, pipelines []string
	for _, l := range letters {
		ids = append(ids, l.ID)
		if !slices.Contains(pipelines, l.Pipeline) {
			pipelines = append(pipelines, l.Pipeline)
		}
	}
	if err := store.MarkReplay(c.Context(), ids...); err != nil {
		return err
	}
	note(c, "%s to be processed again by the next webrace-run %s", plural(len(ids), "item"), strings.Join(pipelines, " "))
	return nil
}

func newDLQPurge(place *cli.Place) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:     "purge ID… | --all",
		Short:   "forget dead letters for good",
		Example: "  webrace-store dlq purge 3 4",
		RunE: func(c *cobra.Command, ids []string) error {
			return withLetters(c, place, ids, all, func(store *control.Store, letters []control.DeadLetter) error {
				for _, l := range letters {
					if err := store.DeleteDeadLetter(c.Context(), l.ID); err != nil {
						return err
					}
				}
				note(c, "%s purged", plural(len(letters), "dead letter"))
				return nil
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "all there are")
	return c
}

// withLetters runs f on the letters that are named, or on all. One that is not there stops it before
// anything is done.
func withLetters(c *cobra.Command, place *cli.Place, ids []string, all bool, f func(*control.Store, []control.DeadLetter) error) error {
	if all == (len(ids) > 0) {
		return cli.Wrongf("name dead letters by their ids, or take --all; %s", listLetters)
	}
	return withControl(place, func(store *control.Store) error {
		letters, err := chooseLetters(c, store, ids)
		if err != nil {
			return err
		}
		if len(letters) == 0 {
			note(c, "no dead letters")
			return nil
		}
		return f(store, letters)
	})
}

func chooseLetters(c *cobra.Command, store *control.Store, ids []string) (letters []control.DeadLetter, err error) {
	for _, id := range ids {
		letter, err := store.DeadLetter(c.Context(), id)
		if err != nil {
			return nil, hinting(err, control.ErrNotFound, listLetters)
		}
		letters = append(letters, letter)
	}
	if len(ids) > 0 {
		return letters, nil
	}
	for letter, err := range store.DeadLetters(c.Context()) {
		if err != nil {
			return nil, err
		}
		letters = append(letters, letter)
	}
	return letters, nil
}
