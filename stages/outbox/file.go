package outbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// filed is an item that is to be filed, with the function that ends its hold.
type filed struct {
	value any // *xmlschema.ACI or *webrace.Notice
	done  func(error)
}

func (f filed) owner() string {
	if n, is := f.value.(*webrace.Notice); is {
		return n.Owner
	}
	return f.value.(*xmlschema.ACI).Owner
}

// Put takes an item, and holds it until it is filed; a mail of an account, until it is known what came of it. It waits
// while many are being filed, and for those who take only while very many mails of accounts wait.
func (s *stage) Put(ctx context.Context, it *pipeline.Item) error {
	switch v := it.Value.(type) {
	case *xmlschema.ACI, *webrace.Notice:
	case *delivery.Message:
		return s.putMail(ctx, it, v)
	default:
		return fmt.Errorf("it takes annotations, notices and mails of accounts, got a %T", it.Value)
	}
	s.cancelled.Do(func() { context.AfterFunc(ctx, s.stop) }) // where the store is away nobody waits for it any more
	select {
	case s.room <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	done := it.Hold()
	if !s.filing.add(filed{it.Value, done}) {
		done(context.Canceled)
		<-s.room
	}
	return nil
}

// file files items, and ends their holds.
func (s *stage) file(ctx context.Context, all []filed) {
	err := s.fileAll(ctx, all)
	for _, f := range all {
		f.done(err)
		<-s.room
	}
	s.mayBeDue()
}

func (s *stage) fileAll(ctx context.Context, all []filed) error {
	receivers, err := s.receivers(ctx, all)
	if err != nil {
		return err
	}
	var filings []control.Filing
	for _, f := range all {
		switch v := f.value.(type) {
		case *xmlschema.ACI:
			filing := control.Filing{ID: v.ID, Relevance: v.Relevance, Urgency: v.Urgency}
			entry := channel.Entry{Relevance: v.Relevance, Urgency: v.Urgency}
			if entry.Labels, err = s.labelsOf(ctx, v, receivers[v.Owner]); err != nil {
				return err
			}
			for _, r := range receivers[v.Owner] {
				if due, is := s.dueOn(r, entry); is {
					filing.Entries = append(filing.Entries, control.Entry{Channel: r.channel, Due: due})
				}
			}
			filings = append(filings, filing)
		case *webrace.Notice:
			err = cmp.Or(err, s.tell(ctx, receivers[v.Owner], "notice "+v.ID, entryOfNotice(v)))
		}
	}
	if err != nil || len(filings) == 0 {
		return err
	}
	n, err := s.store.File(ctx, filings)
	s.env.Counter("filed").Add(int64(n))
	return err
}

// receiver is a channel on which its owner is told of what passes its settings.
type receiver struct {
	channel  int64
	settings channel.Settings
}

// receivers returns the channels of the owners of items, by owner. Of one that is stopped it is kept what it has not
// been sent; one that its owner has paused misses what comes meanwhile.
func (s *stage) receivers(ctx context.Context, all []filed) (map[string][]receiver, error) {
	owners := make([]string, len(all))
	for i, f := range all {
		owners[i] = f.owner()
	}
	slices.Sort(owners)
	found := make(map[string][]receiver)
	for c, err := range s.store.ChannelsOf(ctx, slices.Compact(owners)...) {
		if err != nil {
			return nil, err
		}
		if c.Kind != control.ChannelFeed && (c.State == control.ChannelActive || c.State == control.ChannelStopped) {
			found[c.Owner] = append(found[c.Owner], receiver{c.N, s.settingsOf(&c)})
		}
	}
	return found, nil
}

// settingsOf returns the settings of a channel. What cannot be read loses nothing: all is sent, at once.
func (s *stage) settingsOf(c *control.Channel) channel.Settings {
	if len(c.Settings) == 0 {
		return channel.Settings{}
	}
	settings, err := channel.Parse(c.Settings)
	if err != nil {
		s.env.Counter("unreadable_settings").Add(1)
		s.env.Logger.Warn("the settings of a channel cannot be read: all is sent on it, at once", "channel", c.N, "owner", c.Owner, "error", err)
		return channel.Settings{}
	}
	return settings
}

// dueOn returns when an entry is to be sent on a channel, and whether it is to be at all.
func (s *stage) dueOn(r receiver, e channel.Entry) (time.Time, bool) {
	return r.settings.Due(s.now(), e.Urgency), r.settings.Passes(e)
}

// labelsOf returns the labels of the URD that an annotation is for, if a channel asks for any. One that is gone has
// none.
func (s *stage) labelsOf(ctx context.Context, a *xmlschema.ACI, to []receiver) ([]string, error) {
	if !slices.ContainsFunc(to, func(r receiver) bool { return len(r.settings.Filter.Labels) > 0 }) {
		return nil, nil
	}
	u, err := s.store.Get(ctx, a.URD)
	if errors.Is(err, control.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return u.Labels, nil
}

// tell puts something that is no annotation into the outbox of some channels.
func (s *stage) tell(ctx context.Context, to []receiver, key string, e channel.Entry) error {
	body, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write %s: %w", key, err)
	}
	for _, r := range to {
		due, passes := s.dueOn(r, e)
		if !passes {
			continue
		}
		if err := s.store.PutEntry(ctx, control.Entry{Channel: r.channel, Key: key, Body: body, Urgency: e.Urgency, Due: due}); err != nil {
			return err
		}
	}
	return nil
}

// entryOfNotice is what a notice says.
func entryOfNotice(n *webrace.Notice) channel.Entry {
	title := map[webrace.SourceState]string{
		webrace.SourceRecovered: "answers again", webrace.SourceTooCostly: "cannot be looked at", webrace.SourceEmpty: "has nothing of what is looked for",
	}[n.State]
	return channel.Entry{Title: n.URI + " " + cmp.Or(title, "gives no document any more"), URL: n.URI, Summary: strings.TrimSpace(n.Reason), Urgency: 2, Time: n.At, Notice: true}
}
