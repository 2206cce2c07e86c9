package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/storage/control"
)

// mostOfReceiver is how many messages that are out a receiver may have.
const mostOfReceiver = 2

// mostComposed is how many messages are made in one transaction.
const mostComposed = 256

// Take returns the next message that is due.
func (s *stage) Take(ctx context.Context) (pipeline.Lease, error) {
	for {
		changed := s.changed.Next() // before looking, so that nothing slips in between
		lease, err := s.next(ctx)
		if err != nil || lease != nil {
			return lease, err
		}
		if s.isOver() {
			s.leaveAll(errOver)
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
			s.mayBeDue()
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
		timer.Stop()
	}
}

// mayBeDue has it looked in the store for what is due.
func (s *stage) mayBeDue() {
	s.mu.Lock()
	s.stale = true
	s.mu.Unlock()
	s.changed.Broadcast()
}

// isOver reports whether nothing more will come, and nothing is out that might come again.
func (s *stage) isOver() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sealed && !s.stale && len(s.known) == 0 && s.out == 0
}

// longestWait is how long the clock of the machine is trusted.
const longestWait = time.Minute

// untilNext returns how long nothing is due.
func (s *stage) untilNext(ctx context.Context) (time.Duration, error) {
	now := s.now()
	wait := longestWait
	if next := s.nextMail(now); !next.IsZero() {
		wait = min(next.Sub(now), wait)
	}
	next, err := s.store.NextDue(ctx, now)
	if err != nil || next.IsZero() {
		return wait, err
	}
	return min(next.Sub(now), wait), nil
}

// next returns a lease of a message that may be handed out, of mails of accounts first; nil if there is none.
func (s *stage) next(ctx context.Context) (pipeline.Lease, error) {
	if l := s.takeMail(); l != nil {
		return l, nil
	}
	for {
		m, is := s.takeReady()
		if !is {
			more, err := s.makeReady(ctx)
			if err != nil || !more {
				return nil, err
			}
			continue
		}
		composed, err := s.compose(ctx, m)
		switch {
		case errors.Is(err, control.ErrNotFound): // the channel was removed, and its messages with it, or is not active any more
			s.forget(m)
		case errors.Is(err, errUnwritable):
			if _, err := s.store.Attempted(ctx, control.Attempt{Message: m.ID, Said: err.Error()}); err != nil {
				return nil, err
			}
			s.env.Counter("given_up").Add(1)
			s.forget(m)
		case err != nil:
			s.forget(m)
			return nil, err
		case s.admit(m, composed.Address.String()):
			return &lease{s, m, (&pipeline.Item{Value: composed}).From("message "+m.ID, 0)}, nil
		}
	}
}

// takeReady takes the first ready message whose channel has none under way, and whose receiver may have one more, as
// far as is known of it.
func (s *stage) takeReady() (m control.Message, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out >= s.options.Leases {
		return m, false
	}
	i := slices.IndexFunc(s.ready, func(m control.Message) bool {
		return !s.sending[m.Channel] && s.busy[s.hosts[m.Channel]] < mostOfReceiver
	})
	if i < 0 {
		return m, false
	}
	m = s.ready[i]
	s.ready = slices.Delete(s.ready, i, i+1)
	s.sending[m.Channel] = true
	return m, true
}

// makeReady finds the messages that are due, and has further ones made of entries that are. It reports whether there
// may be any that were not ready before.
func (s *stage) makeReady(ctx context.Context) (more bool, err error) {
	s.mu.Lock()
	look := s.stale && s.out < s.options.Leases
	s.stale = s.stale && !look
	s.mu.Unlock()
	if !look {
		return false, nil
	}
	now := s.now()
	made, err := s.store.Compose(ctx, now, mostComposed, nameOf)
	if err != nil {
		s.mayBeDue()
		return false, err
	}
	for m, err := range s.store.DueMessages(ctx, now) {
		if err != nil {
			s.mayBeDue()
			return false, err
		}
		more = s.add(m) || more
	}
	if len(made) == mostComposed {
		s.mayBeDue()
	}
	return more, nil
}

// add makes a message ready, unless it is known, and reports whether it was not.
func (s *stage) add(m control.Message) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[m.ID] {
		return false
	}
	s.known[m.ID] = true
	s.ready = append(s.ready, m)
	return true
}

// nameOf makes the id of a message of what it holds.
func nameOf(channel int64, keys []string) string {
	return delivery.Digest(append([]string{fmt.Sprint("channel ", channel)}, keys...)...)
}

// admit counts a message as out, if its receiver may have one more; otherwise it is ready again.
func (s *stage) admit(m control.Message, receiver string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hosts[m.Channel] = receiver
	if s.busy[receiver] >= mostOfReceiver {
		s.ready = append(s.ready, m)
		delete(s.sending, m.Channel)
		return false
	}
	s.busy[receiver]++
	s.out++
	return true
}

// comeBack counts a message that was out as out no more. What is to become of it is stored, or it is as it was.
func (s *stage) comeBack(l *lease) {
	s.mu.Lock()
	s.left(messageIn(l).Address.String())
	s.mu.Unlock()
	s.forget(l.message)
}

// left counts a message to a receiver as out no more. The caller holds s.mu.
func (s *stage) left(receiver string) {
	if s.busy[receiver]--; s.busy[receiver] == 0 {
		delete(s.busy, receiver)
	}
	s.out--
}

// forget has a message looked for again in the store, if it is due there.
func (s *stage) forget(m control.Message) {
	s.mu.Lock()
	delete(s.known, m.ID)
	delete(s.sending, m.Channel)
	s.mu.Unlock()
	s.mayBeDue()
}

// errUnwritable is the error of a message that there is no form for.
var errUnwritable = errors.New("it cannot be written")

// compose writes a message as its sender takes it.
func (s *stage) compose(ctx context.Context, m control.Message) (*delivery.Message, error) {
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
