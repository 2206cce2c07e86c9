package storecmd

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage/control"
)

func newAccountExport(globals *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:   "export NAME FILE.zip",
		Short: "write all that is stored of the owner of an account",
		Long: `export writes a zip file for the owner of an account: account.json, urds.xml (which
urd import reads), annotations.xml and annotations.jsonl, marks.jsonl (what was read,
and found useful or not), channels.json (with the addresses that messages go to) and
sent.jsonl. Neither the password nor secrets are in it, nor what stands for them. Its
user alone may read the file, which is there when it is complete; one that is there
before is not replaced.`,
		Example: "  webrace-store account export eleni eleni.zip",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return lookIntoControl(globals, func(store *control.Store) error {
				a, err := accountNamed(c, store, args[0])
				if err != nil {
					return err
				}
				ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
				defer stop()
				x := &accountExport{ctx: ctx, store: store, account: a, owned: store.Of(a.Owner)}
				err = cli.WriteNew(globals.Path(args[1]), 0o600, x.write)
				if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
					return &cli.Error{Status: cli.Interrupted, Err: errors.New("interrupted: nothing was exported")}
				}
				if err == nil {
					note(c, "account %s is exported to %s, with %s and %s", a.Owner, args[1], wording.Count(x.urds, "URD"), wording.Count(x.acis, "annotation"))
				}
				return err
			})
		},
	}
}

// accountExport writes what is of one owner.
type accountExport struct {
	ctx     context.Context
	store   *control.Store
	owned   control.Owned
	account control.Account

	urds, acis int // that were written
}

func (x *accountExport) write(w io.Writer) error {
	archive := zip.NewWriter(w)
	now := time.Now()
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"account.json", x.writeAccount}, {"urds.xml", x.writeURDs}, {"annotations.xml", x.writeACIs}, {"annotations.jsonl", x.writeLines},
		{"marks.jsonl", x.writeMarks}, {"channels.json", x.writeChannels}, {"sent.jsonl", x.writeSent},
	} {
		out, err := archive.CreateHeader(&zip.FileHeader{Name: file.name, Method: zip.Deflate, Modified: now})
		if err == nil {
			err = file.write(out)
		}
		if err != nil {
			return fmt.Errorf("export %s: %w", file.name, err)
		}
	}
	return archive.Close()
}

func (x *accountExport) writeAccount(w io.Writer) error {
	a := x.account
	return writeIndented(w, struct {
		Owner   string `json:"owner"`
		State   string `json:"state"`
		Admin   bool   `json:"admin"`
		Mail    string `json:"mail,omitempty"`
		Created string `json:"created"`
		Seen    string `json:"last_seen,omitempty"`
		Profile any    `json:"profile,omitempty"`
	}{a.Owner, string(a.State), a.Admin, a.Mail, wording.Moment(a.Created), wording.Moment(a.Seen), keptJSON(a.Profile)})
}

func writeIndented(w io.Writer, value any) error {
	encoder := cli.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// keptJSON is what is kept for a program that writes JSON; of one that does not, a text.
func keptJSON(kept []byte) any {
	switch {
	case len(kept) == 0:
		return nil
	case json.Valid(kept):
		return json.RawMessage(kept)
	}
	return string(kept)
}

func (x *accountExport) writeURDs(w io.Writer) (err error) {
	x.urds, err = writeDocument(w, x.owned.URDs(x.ctx))
	return err
}

func (x *accountExport) writeACIs(w io.Writer) error {
	if err := cli.WriteACIs(w, counted(&x.acis, x.store.ACIs(x.ctx, control.Filter{Owner: x.account.Owner}))); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

func (x *accountExport) writeLines(w io.Writer) error {
	return writeACILines(w, x.store.ACIs(x.ctx, control.Filter{Owner: x.account.Owner}))
}

func (x *accountExport) writeMarks(w io.Writer) error {
	encoder := cli.NewEncoder(w)
	for i, err := range x.owned.Inbox(x.ctx, control.InboxFilter{}) {
		if err == nil {
			err = encoder.Encode(struct {
				Seq   int64  `json:"seq"`
				ID    string `json:"id"`
				State string `json:"state"`
			}{i.Seq, i.ID, string(i.State)})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// channelJSON is a channel, with its address.
type channelJSON struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Address  string `json:"address"`
	State    string `json:"state"`
	Created  string `json:"created"`
	Failures int    `json:"failures,omitempty"`
	Said     string `json:"said,omitempty"`
	Settings any    `json:"settings,omitempty"`
}

func (x *accountExport) writeChannels(w io.Writer) error {
	all := []channelJSON{}
	for ch, err := range x.owned.Channels(x.ctx) {
		if err != nil {
			return err
		}
		all = append(all, channelJSON{ch.Name, string(ch.Kind), addressOf(ch), string(ch.State), wording.Moment(ch.Created), ch.Failures, ch.Said, keptJSON(ch.Settings)})
	}
	return writeIndented(w, all)
}

// entryJSON is something that a message holds: an annotation, or what the body says.
type entryJSON struct {
	Key  string `json:"key"`
	Seq  int64  `json:"seq,omitempty"`
	Body any    `json:"body,omitempty"`
}

func (x *accountExport) writeSent(w io.Writer) error {
	channels, err := channelsByNumber(x.ctx, x.store)
	if err != nil {
		return err
	}
	encoder := cli.NewEncoder(w)
	for m, err := range x.owned.Messages(x.ctx) {
		if err != nil {
			return err
		}
		entries := []entryJSON{}
		for e, err := range x.store.EntriesOf(x.ctx, m.ID) {
			if err != nil {
				return err
			}
			entries = append(entries, entryJSON{e.Key, e.Seq, keptJSON(e.Body)})
		}
		err = encoder.Encode(struct {
			messageJSON
			Entries []entryJSON `json:"entries"`
		}{jsonOfMessage(sentMessage{m, channels[m.Channel]}), entries})
		if err != nil {
			return err
		}
	}
	return nil
}

// addressOf is where messages of a channel go, without the key that they are signed with.
func addressOf(c control.Channel) string {
	to, _ := c.Address.Reveal()
	return to
}
