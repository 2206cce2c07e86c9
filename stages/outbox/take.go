package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// Of messages that are out, how many a receiver may have, and how many are made ready at once.
const (
	mostOfReceiver = 2
	mostReady      = 256
)

// message is one that is out.
type message struct {
	control.Message
	receiver string // its host
}

// Take returns the next message that is due.
func (s *stage) Take(ctx context.Context) (pipeline.Lease, error) {
	for {
		changed := s.changed.Next() // before looking, so that nothing slips in between
		lease, err := s.next(ctx)
		if err != nil || lease != nil {
			return lease, err
		}
		if s.isOver() {
			return nil, io.EOF
		}
		wait, err := s.untilNext(ctx)
		if err != nil {
			return nil, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
		timer.Stop()
	}
}

// isOver reports whether nothing more will come, and nothing is out that might come again.
func (s *stage) isOver() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sealed && len(s.out) == 0 && len(s.ready) == 0
}

// longestWait is how long the clock of the machine is trusted.
const longestWait = time.Minute

// untilNext returns how long nothing is due.
func (s *stage) untilNext(ctx context.Context) (time.Duration, error) {
	now := s.now()
	next, err := s.store.NextDue(ctx, now)
	if err != nil || next.IsZero() {
		return longestWait, err
	}
	return min(next.Sub(now), longestWait), nil
}

// next returns a lease of a message that may be handed out; nil if there is none.
func (s *stage) next(ctx context.Context) (pipeline.Lease, error) {
	if err := s.makeReady(ctx); err != nil {
		return nil, err
	}
	for {
		m, is := s.nextReady()
		if !is {
			return nil, nil
		}
		composed, err := s.compose(ctx, m)
		switch {
		case errors.Is(err, control.ErrNotFound): // the channel was removed, and its messages with it
			s.drop(m.ID)
		case err != nil:
			s.drop(m.ID)
			return nil, err
		case !s.admit(m, composed.Address.String()):
			continue
		default:
			return &lease{s, m, (&pipeline.Item{Value: composed}).From("message "+m.ID, 0)}, nil
		}
	}
}

// makeReady finds messages that are due, and has further ones made of entries that are, if none are ready.
func (s *stage) makeReady(ctx context.Context) error {
	s.mu.Lock()
	enough := len(s.ready) > 0 || len(s.out) >= s.options.Leases
	s.mu.Unlock()
	if enough {
		return nil
	}
	now := s.now()
	if _, err := s.store.Compose(ctx, now, mostReady, nameOf); err != nil {
		return err
	}
	var due []control.Message
	for m, err := range s.store.DueMessages(ctx, now) {
		if err != nil {
			return err
		}
		if due = append(due, m); len(due) == mostReady+s.options.Leases { // of which the leases may be out
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range due {
		if s.out[m.ID] == nil {
			s.ready = append(s.ready, m)
		}
	}
	return nil
}

// nameOf makes the id of a message of what it holds.
func nameOf(channel int64, keys []string) string {
	return delivery.Digest(append([]string{fmt.Sprint("channel ", channel)}, keys...)...)
}

// nextReady takes the first message that is ready.
func (s *stage) nextReady() (m control.Message, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ready) == 0 || len(s.out) >= s.options.Leases {
		return m, false
	}
	m, s.ready = s.ready[0], s.ready[1:]
	s.out[m.ID] = &message{Message: m}
	return m, true
}

// admit reports whether a receiver may have one more message; if not, this one is looked for again when another is
// done.
func (s *stage) admit(m control.Message, receiver string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, other := range s.out {
		if other.receiver == receiver {
			n++
		}
	}
	if n >= mostOfReceiver {
		delete(s.out, m.ID)
		return false
	}
	s.out[m.ID].receiver = receiver
	return true
}

// drop forgets that a message is out.
func (s *stage) drop(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.out, id)
}

// compose writes a message as its sender takes it.
func (s *stage) compose(ctx context.Context, m control.Message) (*delivery.Message, error) {
	c, err := s.store.Channel(ctx, m.Channel)
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
			return nil, err
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
