package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
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
	composed := &delivery.Message{ID: m.ID, Owner: c.Owner, Address: c.Address, Entries: len(said.Entries) + said.More, Urgency: urgency}
	if c.Kind == control.ChannelMail {
		composed.Transport = delivery.TransportMail
		composed.Subject, composed.Text, composed.HTML = said.Subject(), said.Text(), said.HTML()
		return composed, nil
	}
	composed.Transport = delivery.TransportWebhook
	to, key := c.Address.Reveal()
	hook := s.settingsOf(&c).Webhook
	request, err := said.Request(hook, to)
	if err != nil { // of its template: its owner gets the plain form, rather than nothing
		s.env.Counter("unwritable").Add(1)
		s.env.Logger.Warn("a message cannot be written as its channel is set to: it is sent as JSON", "channel", c.N, "owner", c.Owner, "error", err)
		if request, err = said.Request(channel.Webhook{}, to); err != nil {
			return nil, fmt.Errorf("%w: %w", errUnwritable, err)
		}
	}
	if hook != (channel.Webhook{}) {
		key = "" // what takes a body of its own knows no signature of ours
	}
	composed.Address, composed.Method, composed.MediaType, composed.Body = channel.NewAddress(request.URL, key), request.Method, request.MediaType, request.Body
	return composed, nil
}

// whatIsSaid returns what a message tells, and the greatest urgency of it.
func (s *stage) whatIsSaid(ctx context.Context, id string) (said channel.Message, urgency int, err error) {
	said.Link = s.options.URL
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
		said.Entries = append(said.Entries, s.entryOf(a))
	}
	said.Entries = append(said.Entries, others...)
	said.More = total - len(said.Entries)
	return said, urgency, nil
}

// entryOf is what an annotation says.
func (s *stage) entryOf(a control.ACI) channel.Entry {
	e := channel.Entry{Title: a.Title, URL: a.URI, Summary: a.Summary, Relevance: a.Relevance, Urgency: a.Urgency, Time: a.UpdateTime, Keywords: keywordsOf(a.ACI)}
	if s.options.URL != "" {
		e.Link = fmt.Sprintf("%s/a/%d", strings.TrimRight(s.options.URL, "/"), a.Seq)
	}
	return e
}

// keywordsOf returns the keywords by which an annotation came about.
func keywordsOf(a *xmlschema.ACI) (keys []string) {
	if a.Explain == nil {
		return nil
	}
	for _, k := range a.Explain.Keywords {
		if k.Title+k.Heading+k.Body+k.Navigation > 0 {
			keys = append(keys, k.Key)
		}
	}
	return keys
}
