package storecmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/pipeline/recordjson"
	"github.com/webrace/webrace/storage/control"
)

func newDLQ(globals *cli.Globals) *cobra.Command {
	c := &cobra.Command{
		Use:   "dlq",
		Short: "what stages gave up on (dead letters): list, show, replay, purge",
	}
	c.AddCommand(newDLQList(globals), newDLQShow(globals), newDLQReplay(globals), newDLQPurge(globals))
	return c
}

const listLetters = "webrace-store dlq list shows what there is"

// letterJSON is a dead letter as a JSON line.
type letterJSON struct {
	ID       string          `json:"id"`
	Time     string          `json:"time"`
	Pipeline string          `json:"pipeline"`
	Stage    string          `json:"stage"`
	Attempts int             `json:"attempts"`
	Error    string          `json:"error"`
	Replay   bool            `json:"replay"`
	Kind     string          `json:"kind"`
	URL      string          `json:"url,omitempty"`
	Item     json.RawMessage `json:"item"`
}

func jsonOfLetter(l control.DeadLetter) any {
	item := json.RawMessage(l.Item)
	if !json.Valid(item) {
		item = json.RawMessage("null")
	}
	return letterJSON{l.ID, wording.Moment(l.Time), l.Pipeline, l.Stage, l.Attempts, l.Error, l.Replay, l.Kind, itemOf(l).subject(), item}
}

var letterListing = listing[control.DeadLetter]{
	header: []string{"id", "time", "pipeline", "stage", "attempts", "replay", "error", "url"},
	row: func(l control.DeadLetter) []any {
		return []any{l.ID, l.Time, l.Pipeline, l.Stage, l.Attempts, l.Replay, strings.Join(errorsOf(l), "; "), itemOf(l).subject()}
	},
	json: jsonOfLetter,
	screen: &view[control.DeadLetter]{
		header: []string{"id", "age", "stage", "url", "reason"},
		row: func(l control.DeadLetter) []any {
			return []any{l.ID, age(time.Since(l.Time)), l.Stage, itemOf(l).subject(), reasonOf(l)}
		},
	},
}

// errorsOf returns the error that a stage gave up for, and of those that it wraps the ones that say something else.
func errorsOf(l control.DeadLetter) (said []string) {
	for line := range strings.SplitSeq(l.Error, "\n") {
		if !slices.ContainsFunc(said, func(before string) bool { return strings.Contains(before, line) }) {
			said = append(said, line)
		}
	}
	return said
}

// reasonOf returns in a line why a stage gave up: the outermost error, and whether another try has been asked for.
func reasonOf(l control.DeadLetter) string {
	reason, _, _ := strings.Cut(l.Error, "\n")
	if l.Replay {
		reason += " (to be replayed)"
	}
	return reason
}

// age is a time that has passed, in the largest unit that there is one of.
func age(d time.Duration) string {
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if d >= unit.of {
			return fmt.Sprintf("%d%s", d/unit.of, unit.name)
		}
	}
	return fmt.Sprintf("%ds", max(d, 0)/time.Second)
}

// letterItem is the item of a dead letter.
type letterItem struct {
	value any    // nil if it cannot be read
	kind  string // its name, or that of its Go type if it cannot be read
	meta  map[string]string
}

// itemOf reads the item of a dead letter, which is written as the Go value that it was.
func itemOf(l control.DeadLetter) letterItem {
	item := letterItem{kind: l.Kind}
	var written struct {
		Value json.RawMessage   `json:"value"`
		Meta  map[string]string `json:"meta"`
	}
	typ, known := codec.GoType(l.Kind)
	if json.Unmarshal(l.Item, &written) != nil || !known {
		return item
	}
	value := reflect.New(typ)
	if recordjson.Unmarshal(written.Value, value.Interface()) != nil {
		return item
	}
	item.value, item.meta = value.Elem().Interface(), written.Meta
	item.kind = codec.Kind(item.value)
	return item
}

// subject names what the item is about; empty if it does not tell.
func (i letterItem) subject() string {
	if i.value == nil {
		return ""
	}
	return codec.Subject(i.value)
}

func newDLQList(globals *cli.Globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "list dead letters, oldest first: id, time, pipeline, stage, attempts, whether to be replayed, error, URL",
		Example: "  webrace-store dlq list --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return lookIntoControl(globals, func(store *control.Store) error {
				return letterListing.list(c, asJSON, store.DeadLetters(c.Context()), "no dead letters")
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON lines, with the items")
	return c
}

func newDLQShow(globals *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:     "show ID",
		Short:   "show all there is to know of a dead letter, its item included",
		Example: "  webrace-store dlq show 3",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return lookIntoControl(globals, func(store *control.Store) error {
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
	out := w
	w = cli.Prose(w)
	fmt.Fprintf(w, "%s: stage %s of pipeline %s gave up at %s after %s\n", l.ID, l.Stage, l.Pipeline, wording.Moment(l.Time), wording.Count(l.Attempts, "attempt"))
	if l.Replay {
		fmt.Fprintf(w, "  to be processed again when webrace-run %s runs next\n", l.Pipeline)
	}
	for _, cause := range errorsOf(l) {
		fmt.Fprintf(w, "  %s\n", cause)
	}
	return itemOf(l).show(out, l.Item)
}

// show writes the item by the names of its kind; as it is stored if it is of no kind that is known here.
func (i letterItem) show(w io.Writer, stored []byte) error {
	header, body := json.RawMessage(stored), []byte(nil)
	if i.value != nil {
		var err error
		if _, header, body, err = codec.Encode(i.value); err != nil {
			header = stored
		}
	}
	for _, name := range slices.Sorted(maps.Keys(i.meta)) {
		fmt.Fprintf(w, "  %s: %s\n", name, i.meta[name])
	}
	var shown bytes.Buffer
	if err := json.Indent(&shown, header, "", "  "); err != nil {
		shown.Write(header)
	}
	fmt.Fprintf(w, "%s:\n%s\n", i.kind, &shown)
	if len(body) == 0 {
		return nil
	}
	if utf8.Valid(body) {
		_, err := fmt.Fprintf(w, "body:\n%s\n", bytes.TrimSuffix(body, []byte("\n")))
		return err
	}
	_, err := fmt.Fprintf(w, "body: %s\n", wording.Count(len(body), "byte"))
	return err
}

func newDLQReplay(globals *cli.Globals) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:     "replay ID… | --all",
		Short:   "have dead letters processed again, at their stages, when their pipelines run next",
		Example: "  webrace-store dlq replay --all",
		RunE: func(c *cobra.Command, ids []string) error {
			return withLetters(c, globals, ids, all, func(store *control.Store, letters []control.DeadLetter) error {
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
	note(c, "%s to be processed again by the next webrace-run %s", wording.Count(len(ids), "item"), strings.Join(pipelines, " "))
	return nil
}

func newDLQPurge(globals *cli.Globals) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:     "purge ID… | --all",
		Short:   "forget dead letters for good",
		Example: "  webrace-store dlq purge 3 4",
		RunE: func(c *cobra.Command, ids []string) error {
			return withLetters(c, globals, ids, all, func(store *control.Store, letters []control.DeadLetter) error {
				for _, l := range letters {
					if err := store.DeleteDeadLetter(c.Context(), l.ID); err != nil {
						return err
					}
				}
				note(c, "%s purged", wording.Count(len(letters), "dead letter"))
				return nil
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "all there are")
	return c
}

// withLetters runs f on the letters that are named, or on all. One that is not there stops it before
// anything is done.
func withLetters(c *cobra.Command, globals *cli.Globals, ids []string, all bool, f func(*control.Store, []control.DeadLetter) error) error {
	if all == (len(ids) > 0) {
		return cli.Wrongf("name dead letters by their ids, or take --all; %s", listLetters)
	}
	return withControl(globals, func(store *control.Store) error {
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
