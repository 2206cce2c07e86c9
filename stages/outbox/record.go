package outbox

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/storage/control"
)

// A message that its receiver does not take is sent again after a while that doubles, and given up in the end.
const (
	firstPause   = time.Minute
	longestPause = 6 * time.Hour
	givenUp      = 3 * 24 * time.Hour // after it was made
)

// lease is a message on loan.
type lease struct {
	stage   *stage
	message control.Message
	item    *pipeline.Item
}

func (l *lease) Item() *pipeline.Item { return l.item }

// Done has it recorded what came of the message.
func (l *lease) Done(o pipeline.Outcome) {
	attempt, is := l.stage.attemptOf(l.message, o)
	if !is || !l.stage.recording.add(ended{l, attempt}) {
		l.stage.comeBack(l) // as it was, and due
	}
}

// ended is what came of a message.
type ended struct {
	lease   *lease
	attempt control.Attempt
}

func messageIn(l *lease) *delivery.Message { return l.item.Value.(*delivery.Message) }

// attemptOf returns what an outcome says of an attempt, and whether it says anything.
func (s *stage) attemptOf(m control.Message, o pipeline.Outcome) (control.Attempt, bool) {
	r, again, is := resultOf(o)
	a := control.Attempt{Message: m.ID, Taken: r.Taken, Said: r.Said, Again: again, Untried: !again.IsZero()}
	if !is || a.Untried {
		return a, is
	}
	now := s.now()
	if r.Passing && now.Sub(m.Created) < givenUp {
		a.Again = now.Add(pause(m.Attempts, r.After))
	}
	s.count(r.Taken, a.Again.IsZero())
	return a, true
}

// resultOf returns what an outcome says of a message, and whether it says anything. What was not tried, and does not
// count as an attempt, has a time when it is to be sent again.
func resultOf(o pipeline.Outcome) (r delivery.Result, again time.Time, is bool) {
	for _, learned := range o.Learned {
		if r, is := learned.(delivery.Result); is {
			return r, again, true
		}
	}
	failed := o.Err
	if failed == nil {
		failed = o.Failed
	}
	switch {
	case errors.Is(failed, context.Canceled):
		return r, again, false
	case failed != nil:
		return delivery.Result{Passing: true, Said: failed.Error()}, o.RetryAt, true
	}
	return delivery.Result{Said: "no stage behind the outbox sends it"}, again, true
}

// count counts what came of an attempt.
func (s *stage) count(taken, over bool) {
	counter := "put_off"
	switch {
	case taken:
		counter = "taken"
	case over:
		counter = "given_up"
	}
	s.env.Counter(counter).Add(1)
}

// pause is how long to wait after another attempt than so many: at least as long as the receiver asks for, within
// limits, and never the same for all.
func pause(attempts int, asked time.Duration) time.Duration {
	wait := firstPause << min(attempts, 10)
	wait = min(wait, longestPause)
	wait += rand.N(wait / 4)
	return max(wait, min(asked, longestPause))
}

// record stores what came of messages.
func (s *stage) record(ctx context.Context, all []ended) {
	attempts := make([]control.Attempt, len(all))
	for i, e := range all {
		attempts[i] = e.attempt
	}
	stopped, err := s.store.Attempted(ctx, attempts...)
	if err != nil && ctx.Err() == nil {
		s.env.Logger.Error("it is not stored what came of messages, which are sent again", "messages", len(all), "error", err)
	}
	for _, n := range stopped {
		if err := s.tellOfStopped(ctx, n); err != nil && ctx.Err() == nil {
			s.env.Logger.Error("an owner is not told that a channel was stopped", "channel", n, "error", err)
		}
	}
	for _, e := range all {
		s.comeBack(e.lease)
	}
}

// tellOfStopped tells the owner of a channel that was stopped on their other channels.
func (s *stage) tellOfStopped(ctx context.Context, n int64) error {
	s.env.Counter("stopped").Add(1)
	c, err := s.store.Channel(ctx, n)
	if err != nil {
		return err
	}
	s.env.Logger.Warn("a channel was stopped, because it has refused five messages in a row", "channel", n, "owner", c.Owner, "said", c.Said)
	var others []receiver
	for other, err := range s.store.ChannelsOf(ctx, c.Owner) {
		if err != nil {
			return err
		}
		if other.N != n && other.Kind != control.ChannelFeed && other.State == control.ChannelActive {
			others = append(others, receiver{other.N, s.settingsOf(&other)})
		}
	}
	return s.tell(ctx, others, fmt.Sprintf("stopped %d %d", n, s.now().UnixNano()), channel.Entry{
		Title: fmt.Sprintf("Nothing is sent to %q any more", c.Name), Urgency: 2, Time: s.now(), Notice: true,
		Summary: fmt.Sprintf("It has refused five messages in a row; the last time it said: %s. What comes meanwhile is kept, until you have it sent again.", c.Said),
	})
}
