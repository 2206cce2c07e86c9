package agent

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// Session is one with a server that has let an account in, and is used by one visit at a time.
type Session interface {
	io.Closer
	Resume(ctx context.Context, v *Visit) // it is another visit's, which ends with ctx
	Rest() bool                           // it is nobody's for a while; false if nothing more can be said to the server
}

// Sessions are those of a stage, kept from one visit to the next, so that a source at which nothing is new costs one
// question. One is kept for each account at a server. It serves who may log in: each visit asks for the credentials,
// as if it were to send them.
type Sessions[S Session] struct {
	agent *Agent
	open  func(context.Context, *Visit) (S, error)

	mu     sync.Mutex
	closed bool
	kept   map[account]*kept[S]
}

// account is whose a session is.
type account struct{ scheme, host, user, password string }

type kept[S Session] struct {
	session S
	opened  time.Time
	end     *time.Timer
}

const (
	mostKept = 256              // sessions
	longest  = 30 * time.Minute // that a session is used
)

// NewSessions returns the sessions of a stage, which open opens.
func NewSessions[S Session](a *Agent, open func(context.Context, *Visit) (S, error)) *Sessions[S] {
	return &Sessions[S]{agent: a, open: open, kept: make(map[account]*kept[S])}
}

// With makes a visit with a session: one that was kept, if there is one and begin goes well with it, or a new one. The
// first thing that is asked, begin, tells whether a server still knows a session that was kept: what it answers badly
// is asked by a new one again. A session is closed after a visit that fails.
func (s *Sessions[S]) With(ctx context.Context, v *Visit, begin, visit func(S) error) error {
	on, opened, err := s.begun(ctx, v, begin)
	if err != nil {
		return err
	}
	if err := visit(on); err != nil {
		return errors.Join(err, on.Close())
	}
	return s.keep(v, on, opened)
}

// begun returns a session with which begin went well, and since when it is open.
func (s *Sessions[S]) begun(ctx context.Context, v *Visit, begin func(S) error) (on S, opened time.Time, err error) {
	if k := s.take(ctx, v); k != nil {
		k.session.Resume(ctx, v)
		if err = begin(k.session); err == nil {
			return k.session, k.opened, nil
		}
		if err = errors.Join(err, k.session.Close()); ctx.Err() != nil {
			return on, opened, err
		}
	} // what one that was kept answers badly may be about itself, such as that it took too long
	opened = time.Now()
	if on, err = s.open(ctx, v); err != nil {
		return on, opened, err
	}
	if err = begin(on); err != nil {
		return on, opened, errors.Join(err, on.Close())
	}
	return on, opened, nil
}

// take takes a session out that was kept for the account of a visit; nil if there is none, or the account may not be
// used.
func (s *Sessions[S]) take(ctx context.Context, v *Visit) *kept[S] {
	of, ok := v.account(ctx)
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kept[of]
	if k == nil || !k.end.Stop() { // it is about to be closed
		return nil
	}
	delete(s.kept, of)
	return k
}

// keep keeps a session for the next visit, or closes it.
func (s *Sessions[S]) keep(v *Visit, on S, opened time.Time) error {
	lasts := min(time.Duration(s.agent.options.Keep), longest-time.Since(opened))
	if lasts <= 0 || !on.Rest() {
		return on.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	of := v.asked
	if of == (account{}) || s.closed || s.kept[of] != nil || len(s.kept) >= mostKept {
		return on.Close()
	}
	k := &kept[S]{session: on, opened: opened}
	k.end = time.AfterFunc(lasts, func() { s.end(of, k) })
	s.kept[of] = k
	return nil
}

// end closes a session that nobody has used for long enough.
func (s *Sessions[S]) end(of account, k *kept[S]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept[of] == k {
		delete(s.kept, of)
		_ = k.session.Close() // nobody waits for it
	}
}

// Close closes what is kept.
func (s *Sessions[S]) Close() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for of, k := range s.kept {
		k.end.Stop()
		delete(s.kept, of)
		err = errors.Join(err, k.session.Close())
	}
	return err
}
