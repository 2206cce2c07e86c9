package sourcewatch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/control"
)

// state is what is known of a URD whose start failed in the last round that was seen. The zero state is that
// of a start that answers, and is not kept.
type state struct {
	since    int  // the round that was the first to fail
	round    int  // the last one that was counted
	failures int  // how many were
	told     bool // its owner was

	pending bool // a notice is out: until it was dealt with nothing is counted
}

// What a position has room for: 24 bits of a round, 20 of how many rounds ago the first one failed, and 18 of
// how many did. Beyond that, counting stops.
const (
	maxRound = 1<<24 - 1
	maxSpan  = 1<<20 - 1
	maxCount = 1<<18 - 1
)

// count counts a round that has failed, and reports whether it was counted: none is twice.
func (s *state) count(round int) bool {
	if round <= s.round || round > maxRound {
		return false
	}
	if s.failures == 0 {
		s.since = round
	}
	s.round = round
	s.failures = min(s.failures+1, maxCount)
	return true
}

// position is the state as the control store keeps it.
func (s state) position() int64 {
	p := int64(s.round)<<39 | int64(min(s.round-s.since, maxSpan))<<19 | int64(s.failures)<<1
	if s.told {
		p |= 1
	}
	return p
}

func stateAt(position int64) state {
	s := state{round: int(position >> 39), failures: int(position >> 1 & maxCount), told: position&1 == 1}
	s.since = s.round - int(position>>19&maxSpan)
	return s
}

// noticeID is the same for all notices of the same thing.
func noticeID(urd string, what webrace.SourceState, since int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %d", urd, what, since))
	return "n" + hex.EncodeToString(sum[:10])
}

// prefix is that of the names under which the states are kept; the crawl and the URD follow.
func (s *stage) prefix() string { return s.env.Pipeline + "/" + s.env.Stage + "/" }

// load reads all states.
func (s *stage) load(ctx context.Context) error {
	kept, err := s.control.Cursors(ctx, s.prefix())
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.states)
	for name, position := range kept {
		crawl, urd, _ := strings.Cut(name, "/")
		*s.stateOf(crawl, urd) = stateAt(position)
	}
	return nil
}

// stateOf wants the lock.
func (s *stage) stateOf(crawl, urd string) *state {
	of := s.states[crawl]
	if of == nil {
		of = make(map[string]*state)
		s.states[crawl] = of
	}
	if of[urd] == nil {
		of[urd] = new(state)
	}
	return of[urd]
}

// save makes a state durable, and then that of a URD.
func (s *stage) save(ctx context.Context, crawl, urd string, next state) error {
	name := s.prefix() + crawl + "/" + urd
	var err error
	if next.failures == 0 {
		err = s.control.DropCursor(ctx, name)
	} else {
		err = s.control.SetCursor(ctx, name, next.position())
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if next.failures > 0 {
		*s.stateOf(crawl, urd) = next
		return nil
	}
	delete(s.states[crawl], urd)
	if len(s.states[crawl]) == 0 {
		delete(s.states, crawl)
	}
	return nil
}

// forgetOthers forgets what is known of URDs that are no longer among those of a crawl.
func (s *stage) forgetOthers(ctx context.Context, crawl string, urds []control.URD) error {
	s.mu.Lock()
	gone := make(map[string]bool, len(s.states[crawl]))
	for id, st := range s.states[crawl] {
		gone[id] = !st.pending
	}
	s.mu.Unlock()
	for _, urd := range urds {
		delete(gone, urd.ID)
	}
	for id, is := range gone {
		if !is {
			continue
		}
		if err := s.save(ctx, crawl, id, state{}); err != nil {
			return err
		}
	}
	return nil
}
