package accountfile

import (
	"encoding/json"
	"io"

	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

func (f *file) writeAccount(w io.Writer) error {
	a := f.account
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

// writeProfile writes what of the account is about the person.
func (f *file) writeProfile(w io.Writer) error {
	a := f.account
	p := xmlschema.Profile{Owner: a.Owner, State: string(a.State), Created: a.Created, Mail: a.Mail}
	var kept struct{ Name, Language, Zone any }
	if json.Unmarshal(a.Profile, &kept) == nil { // what else is kept is in account.json
		p.Name, _ = kept.Name.(string)
		p.Language, _ = kept.Language.(string)
		p.Zone, _ = kept.Zone.(string)
	}
	_, err := p.WriteTo(w)
	if err == nil {
		_, err = io.WriteString(w, "\n")
	}
	return err
}

func writeIndented(w io.Writer, value any) error {
	encoder := newEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// newEncoder writes JSON for programs, with < and & as they are.
func newEncoder(w io.Writer) *json.Encoder {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder
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

func (f *file) writeMarks(w io.Writer) error {
	encoder := newEncoder(w)
	for i, err := range f.owned.Inbox(f.ctx, control.InboxFilter{}) {
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

func (f *file) writeChannels(w io.Writer) error {
	all := []channelJSON{}
	for ch, err := range f.owned.Channels(f.ctx) {
		if err != nil {
			return err
		}
		to, _ := ch.Address.Reveal() // without the key that messages are signed with
		all = append(all, channelJSON{ch.Name, string(ch.Kind), to, string(ch.State), wording.Moment(ch.Created), ch.Failures, ch.Said, keptJSON(ch.Settings)})
	}
	return writeIndented(w, all)
}

// Message is what was sent to the owner of an account, or waits to be, as JSON.
type Message struct {
	ID       string `json:"id"`
	Channel  string `json:"channel"` // its name
	Owner    string `json:"owner"`
	State    string `json:"state"`
	Attempts int    `json:"attempts"`
	Created  string `json:"created"`
	Due      string `json:"due,omitempty"`
	Ended    string `json:"ended,omitempty"`
	Said     string `json:"said,omitempty"`
}

// MessageOn returns a message on a channel as JSON.
func MessageOn(on control.Channel, m control.Message) Message {
	due := ""
	if m.Ended.IsZero() {
		due = wording.Moment(m.Due)
	}
	return Message{m.ID, on.Name, on.Owner, string(m.State), m.Attempts, wording.Moment(m.Created), due, wording.Moment(m.Ended), m.Said}
}

// entryJSON is something that a message holds: an annotation, or what the body says.
type entryJSON struct {
	Key  string `json:"key"`
	Seq  int64  `json:"seq,omitempty"`
	Body any    `json:"body,omitempty"`
}

func (f *file) writeSent(w io.Writer) error {
	channels := make(map[int64]control.Channel)
	for ch, err := range f.owned.Channels(f.ctx) {
		if err != nil {
			return err
		}
		channels[ch.N] = ch
	}
	encoder := newEncoder(w)
	for m, err := range f.owned.Messages(f.ctx) {
		if err != nil {
			return err
		}
		entries := []entryJSON{}
		for e, err := range f.owned.EntriesOf(f.ctx, m.ID) {
			if err != nil {
				return err
			}
			entries = append(entries, entryJSON{e.Key, e.Seq, keptJSON(e.Body)})
		}
		err = encoder.Encode(struct {
			Message
			Entries []entryJSON `json:"entries"`
		}{MessageOn(channels[m.Channel], m), entries})
		if err != nil {
			return err
		}
	}
	return nil
}
