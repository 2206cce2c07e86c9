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

// watched is what of the source of a URD is watched, by what it is called if it fails: that it gives a document, or
// that there is something in that to find.
type watched struct {
	control.URD
	fault webrace.SourceState
	part  *part // that is to be found; nil for the document
}

// key names the state of what is watched, within a crawl. There is something else to find once the URD has other rules.
func (w watched) key() string {
	if w.part == nil {
		return w.ID
	}
	return fmt.Sprintf("%s %x", w.ID, w.part.id)
}

// state is what is known of what is watched, if it failed in the last round that was seen. The zero state is that
// of what does not, and is not kept.
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

// prefix is that of the names under which the states are kept; the crawl and what is watched follow.
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
		crawl, key, _ := strings.Cut(name, "/")
		*s.stateOf(crawl, key) = stateAt(position)
	}
	return nil
}

// stateOf wants the lock.
func (s *stage) stateOf(crawl, key string) *state {
	of := s.states[crawl]
	if of == nil {
		of = make(map[string]*state)
		s.states[crawl] = of
	}
	if of[key] == nil {
		of[key] = new(state)
	}
	return of[key]
}

// save makes a state durable, and then that of what is watched.
func (s *stage) save(ctx context.Context, crawl, key string, next state) error {
	name := s.prefix() + crawl + "/" + key
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
		*s.stateOf(crawl, key) = next
		return nil
	}
	delete(s.states[crawl], key)
	if len(s.states[crawl]) == 0 {
		delete(s.states, crawl)
	}
	return nil
}

// forgetOthers forgets what is known of URDs that are no longer among those of a crawl, or look for something else.
func (s *stage) forgetOthers(ctx context.Context, crawl string, urds []control.URD) error {
	s.mu.Lock()
	gone := make(map[string]bool, len(s.states[crawl]))
	for key, st := range s.states[crawl] {
		gone[key] = !st.pending
	}
	s.mu.Unlock()
	for _, urd := range urds {
		delete(gone, watched{urd, webrace.SourceFailing, nil}.key())
		for _, part := range sought(urd) {
			delete(gone, watched{urd, webrace.SourceEmpty, part}.key())
		}
	}
	for key, is := range gone {
		if !is {
			continue
		}
		if err := s.save(ctx, crawl, key, state{}); err != nil {
			return err
		}
	}
	return nil
}
