package outbox

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/webrace/webrace/internal/urgency"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/storage/control"
)

const (
	mostOfReceiver = 2           // messages that are out
	mostComposed   = 256         // messages that are made in one transaction
	lookEvery      = time.Second // while there is something to hand out
)

// lanes are the messages that are to be handed out, by the levels of their urgency, those first that are due longest.
type lanes [urgency.Levels][]control.DueMessage

func (l *lanes) isEmpty() bool {
	return !slices.ContainsFunc(l[:], func(lane []control.DueMessage) bool { return len(lane) > 0 })
}

// mayBeDue has it looked in the store for what is due.
func (s *stage) mayBeDue() {
	s.mu.Lock()
	s.stale = true
	s.mu.Unlock()
	s.changed.Broadcast()
}

// look finds the messages that are due, and has further ones made of entries that are. It reports whether it has
// looked. It need not if nothing may have become due, or no more may be out. While others are ready, if only their
// receivers were, it looks now and then, for the sake of what is more urgent or goes elsewhere; so it does where the
// last look found nothing. That takes a twentieth of the time at most.
func (s *stage) look(ctx context.Context, idle bool) (looked bool, err error) {
	now, begun := s.now(), time.Now()
	s.mu.Lock()
	if !s.stale || s.out >= s.options.Leases || s.untilLook(now, idle) > 0 {
		s.mu.Unlock()
		return false, nil
	}
	s.stale, s.back = false, make(map[string]bool)
	s.mu.Unlock()
	made, err := s.store.Compose(ctx, now, mostComposed, nameOf)
	var found lanes
	if err == nil {
		found, err = s.dueMessages(ctx, now)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	back := s.back
	s.back = nil
	s.stale = s.stale || err != nil || len(made) == mostComposed
	if err != nil {
		return false, err
	}
	for level, lane := range found {
		s.ready[level] = slices.DeleteFunc(lane, func(m control.DueMessage) bool { return s.known[m.ID] || back[m.ID] })
	}
	took := time.Since(begun)
	s.lookAgain, s.lookIdle = now.Add(max(lookEvery, 20*took)), time.Time{}
	if s.more = len(made) == mostComposed; !s.more && s.ready.isEmpty() {
		s.lookIdle = begun.Add(20 * took)
	}
	return true, nil
}

// untilLook returns how long it is not to be looked again. The caller holds s.mu.
func (s *stage) untilLook(now time.Time, idle bool) time.Duration {
	if idle && (s.more || s.ready.isEmpty()) {
		return time.Until(s.lookIdle)
	}
	return s.lookAgain.Sub(now)
}

// dueMessages returns what the store has that is due.
func (s *stage) dueMessages(ctx context.Context, now time.Time) (found lanes, err error) {
	for m, err := range s.store.DueMessages(ctx, now) {
		if err != nil {
			return found, err
		}
		level := urgency.Level(m.Urgency)
		found[level] = append(found[level], m)
	}
	return found, nil
}

// nameOf makes the id of a message of what it holds.
func nameOf(channel int64, keys []string) string {
	return delivery.Digest(append([]string{fmt.Sprint("channel ", channel)}, keys...)...)
}

// takeReady takes the message whose turn it is: the first of a lane whose channel has none under way, and whose
// receiver may have one more, as far as is known of it.
func (s *stage) takeReady() (m control.DueMessage, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out >= s.options.Leases {
		return m, false
	}
	var first [urgency.Levels]int
	level := s.turns.Next(func(level int) bool {
		first[level] = slices.IndexFunc(s.ready[level], func(m control.DueMessage) bool {
			return !s.sending[m.Channel] && s.busy[s.hosts[m.Channel]] < mostOfReceiver
		})
		return first[level] >= 0
	})
	if level < 0 {
		return m, false
	}
	i := first[level]
	m = s.ready[level][i]
	s.ready[level] = slices.Delete(s.ready[level], i, i+1)
	s.known[m.ID], s.sending[m.Channel] = true, true
	return m, true
}

// admit counts a message as out, if its receiver may have one more; otherwise it is ready again.
func (s *stage) admit(m control.DueMessage, receiver string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hosts[m.Channel] = receiver
	if s.busy[receiver] >= mostOfReceiver {
		level := urgency.Level(m.Urgency)
		s.ready[level] = slices.Insert(s.ready[level], 0, m) // whence it came, or before others that wait for their receivers
		delete(s.known, m.ID)
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

// forget has a message looked for again in the store, if it is due there. What is being read just now may be older.
func (s *stage) forget(m control.DueMessage) {
	s.mu.Lock()
	delete(s.known, m.ID)
	delete(s.sending, m.Channel)
	if s.back != nil {
		s.back[m.ID] = true
	}
	s.mu.Unlock()
	s.mayBeDue()
}
