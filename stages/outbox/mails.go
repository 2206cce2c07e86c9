package outbox

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/delivery"
)

const (
	mostMails = 1000      // of accounts, that wait or are out
	mailLasts = time.Hour // which is how long its link works: nothing is sent later
)

// mail is a message of an account, which comes composed. It is kept in memory, for as long as its item is held.
type mail struct {
	message  *delivery.Message
	item     *pipeline.Item
	done     func(error)
	put      time.Time
	due      time.Time // of the next attempt
	attempts int
	out      bool
	leaves   error         // why it is not to wait any more; nil as long as it may
	over     chan struct{} // closed when its item has ended
}

// Why a mail that waits is not sent, besides the end of a run that is told to.
var (
	errReloaded = errors.New("the pipeline was reloaded while it waited") // which it does once no item is held
	errOver     = errors.New("the run was over while it waited")
	errLate     = errors.New("an hour has gone by before it could be sent")
)

// putMail takes a mail, and holds its item until it is known what came of it. It waits while there are many.
func (s *stage) putMail(ctx context.Context, it *pipeline.Item, message *delivery.Message) error {
	select {
	case s.mailRoom <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	now := s.now()
	m := &mail{message: message, item: it, done: it.Hold(), put: now, due: now, over: make(chan struct{})}
	s.mu.Lock()
	s.mails = append(s.mails, m)
	s.mu.Unlock()
	s.watching.Go(s.env.Guard(func() { s.watch(m) }))
	s.changed.Broadcast()
	return nil
}

// watch sees to it that a mail does not wait when the run drains, nor while a reload waits for it.
func (s *stage) watch(m *mail) {
	select {
	case <-m.over:
	case <-s.env.Draining():
		s.leave(m, context.Canceled)
	case <-s.closing.Done():
		s.leave(m, context.Canceled)
	case <-s.env.Reloading():
		s.leave(m, errReloaded)
	}
}

// leave ends a mail for a reason; if it is out, once it is back.
func (s *stage) leave(m *mail, why error) {
	s.mu.Lock()
	m.leaves = why
	waits := !m.out && s.removeMail(m)
	s.mu.Unlock()
	if waits {
		s.endMail(m, delivery.Result{}, why)
	}
}

// leaveAll ends all mails that wait for a reason.
func (s *stage) leaveAll(why error) {
	s.mu.Lock()
	all := slices.Clone(s.mails)
	s.mu.Unlock()
	for _, m := range all {
		s.leave(m, why)
	}
}

// removeMail reports whether a mail was there. The caller holds s.mu.
func (s *stage) removeMail(m *mail) bool {
	i := slices.Index(s.mails, m)
	if i >= 0 {
		s.mails = slices.Delete(s.mails, i, i+1)
	}
	return i >= 0
}

// endMail ends the item that brought a mail, which learns what came of it: whoever emitted it can tell from that
// whether the receiver has it. What the end of a run has cut short has no result, and counts as not done.
func (s *stage) endMail(m *mail, r delivery.Result, why error) {
	switch {
	case errors.Is(why, context.Canceled):
		m.done(context.Canceled)
	case why != nil:
		s.count(false, true)
		m.item.Learn(delivery.Result{Passing: true, Said: why.Error()})
		m.done(nil)
	default:
		m.item.Learn(r)
		m.done(nil)
	}
	close(m.over)
	<-s.mailRoom
}

// takeMail returns a lease of the mail that has waited longest of those that are due and whose receiver may have one
// more; nil if there is none. It ends those whose time is over.
func (s *stage) takeMail() *mailLease {
	now := s.now()
	s.mu.Lock()
	late := s.lateMails(now)
	i := -1
	if s.out < s.options.Leases {
		i = slices.IndexFunc(s.mails, func(m *mail) bool {
			return !m.out && !m.due.After(now) && s.busy[m.message.Address.String()] < mostOfReceiver
		})
	}
	var lease *mailLease
	if i >= 0 {
		m := s.mails[i]
		m.out = true
		s.out++
		s.busy[m.message.Address.String()]++
		lease = &mailLease{s, m, (&pipeline.Item{Value: m.message, Meta: m.item.Meta}).From("message "+m.message.ID, 0)}
	}
	s.mu.Unlock()
	for _, m := range late {
		s.endMail(m, delivery.Result{}, errLate)
	}
	return lease
}

// lateMails takes out those that have waited for too long. The caller holds s.mu.
func (s *stage) lateMails(now time.Time) (late []*mail) {
	s.mails = slices.DeleteFunc(s.mails, func(m *mail) bool {
		is := !m.out && now.Sub(m.put) >= mailLasts
		if is {
			late = append(late, m)
		}
		return is
	})
	return late
}

// nextMail returns when a mail that waits is due, if one will be after a moment; else it is zero.
func (s *stage) nextMail(after time.Time) (next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.mails {
		if !m.out && m.due.After(after) && (next.IsZero() || m.due.Before(next)) {
			next = m.due
		}
	}
	return next
}

// mailLease is a mail on loan.
type mailLease struct {
	stage *stage
	mail  *mail
	item  *pipeline.Item
}

func (l *mailLease) Item() *pipeline.Item { return l.item }

// Done ends the item that brought the mail, or has it sent again.
func (l *mailLease) Done(o pipeline.Outcome) {
	s, m := l.stage, l.mail
	r, again, known := resultOf(o)
	s.mu.Lock()
	m.out = false
	s.left(m.message.Address.String())
	switch {
	case known && r.Passing && again.IsZero():
		m.due = s.now().Add(pause(m.attempts, r.After))
		m.attempts++
	case !again.IsZero():
		m.due = again
	}
	over, why := known && (!r.Passing || m.message.Once || m.due.Sub(m.put) >= mailLasts), m.leaves
	if over {
		why = nil
	}
	if over || why != nil {
		s.removeMail(m)
	}
	s.mu.Unlock()
	switch {
	case over:
		s.count(r.Taken, true)
		s.endMail(m, r, nil)
	case why != nil:
		s.endMail(m, r, why)
	case known:
		s.count(false, false)
	}
	s.changed.Broadcast()
}
