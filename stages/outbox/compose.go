package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/storage/control"
)

// errUnwritable is the error of a message that there is no form for.
var errUnwritable = errors.New("it cannot be written")

// compose writes a message as its sender takes it.
func (s *stage) compose(ctx context.Context, m control.DueMessage) (*delivery.Message, error) {
	c, err := s.store.Channel(ctx, m.Channel)
	if err == nil && c.State != control.ChannelActive {
		err = fmt.Errorf("active channel %d: %w", m.Channel, control.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	said, urgency, err := s.whatIsSaid(ctx, m.ID)
	if err != nil {
		return nil, err
	}
	to := delivery.Receiver{Channel: c.N, Owner: c.Owner, Address: c.Address, Mail: c.Kind == control.ChannelMail, Site: s.options.URL}
	if !to.Mail {
		to.Webhook = s.settingsOf(&c).Webhook
	}
	composed, err := delivery.Compose(m.ID, to, said)
	if err != nil { // of its template: its owner gets the plain form, rather than nothing
		s.env.Counter("unwritable").Add(1)
		s.env.Logger.Warn("a message cannot be written as its channel is set to: it is sent as JSON", "channel", c.N, "owner", c.Owner, "error", err)
		to.Webhook = channel.Webhook{}
		if composed, err = delivery.Compose(m.ID, to, said); err != nil {
			return nil, fmt.Errorf("%w: %w", errUnwritable, err)
		}
	}
	composed.Urgency = urgency
	return composed, nil
}

// whatIsSaid returns what a message tells, and the greatest urgency of it.
func (s *stage) whatIsSaid(ctx context.Context, id string) (said channel.Message, urgency int, err error) {
	total := 0
	var others []channel.Entry
	for e, err := range s.store.EntriesOf(ctx, id) {
		if err != nil {
			return said, 0, err
		}
		total++
		urgency = max(urgency, e.Urgency)
		var other channel.Entry
		if e.Seq == 0 && len(others) < channel.MaxShown && json.Unmarshal(e.Body, &other) == nil {
			others = append(others, other)
		}
	}
	for a, err := range s.store.ToldBy(ctx, id, channel.MaxShown-len(others)) {
		if err != nil {
			return said, 0, err
		}
		said.Entries = append(said.Entries, delivery.EntryOf(a.ACI, a.Seq, s.options.URL))
	}
	said.Entries = append(said.Entries, others...)
	said.More = total - len(said.Entries)
	return said, urgency, nil
}
