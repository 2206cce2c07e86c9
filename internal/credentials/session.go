package credentials

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Sessions keeps the cookies by which servers know who has logged in by a form, encrypted. A [Source] may be one.
type Sessions interface {
	// Session returns what was kept for a secret; empty for nothing.
	Session(ctx context.Context, secret string) (string, error)
	// SetSession keeps that for a secret, until the secret is set anew or removed.
	SetSession(ctx context.Context, secret, cookies string) error
}

// session is how an account stands that is logged in to by a form.
type session struct {
	turn chan struct{} // held by who logs in, or finds out whether that is to be done

	mu     sync.Mutex
	number int         // grows with each log-in; 0 before the first
	logins []time.Time // within the last pause
	until  time.Time   // when one may be tried again
	why    string      // not before
}

func newSession() *session { return &session{turn: make(chan struct{}, 1)} }

// LogIn fills the form in. A [Refusal] means that it was not taken. It counts as a log-in once it has asked for the
// password, which may have gone to the server from then on.
type LogIn func(ctx context.Context, f Form, password func() string, jar *Jar) error

// Form returns the form by which the account of the grant is logged in to, and whether there is one.
func (g *Grant) Form() (Form, bool) {
	if g == nil {
		return Form{}, false
	}
	return g.entry.secret.Form()
}

// Session makes sure that the account is logged in to, and by a later log-in than the one that has gone, of a number
// that it returned before; 0 for none. Log-ins are made one at a time, and no more of them within the pause of
// [Limits] than they allow refusals; after one that was not taken, none is made until that is over.
func (g *Grant) Session(ctx context.Context, gone int, logIn LogIn) (number int, err error) {
	s := g.entry.session
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if s.number == 0 && g.restore(ctx) {
		s.number = 1
	}
	if s.number > gone {
		return s.number, nil
	}
	if err := s.mayLogIn(g.entry.name, g.broker.limits, g.broker.now()); err != nil {
		return 0, err
	}
	form, _ := g.Form()
	password := func() string {
		s.count(g.broker.now())
		_, value := g.entry.secret.Reveal()
		return value
	}
	g.entry.jar.clear()
	if err = logIn(ctx, form, password, g.entry.jar); err != nil {
		if refusal := (*Refusal)(nil); errors.As(err, &refusal) {
			s.pause(g.broker.now().Add(g.broker.limits.Pause), refusal.Why)
		}
		return 0, err
	}
	s.number = max(s.number, gone) + 1
	return s.number, g.keep(ctx)
}

// mayLogIn returns why no log-in is made, if none is. The turn is held.
func (s *session) mayLogIn(secret string, limits Limits, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Before(s.until) {
		return &Refusal{Paused: true, Why: fmt.Sprintf("no log-in with secret %s before %s: %s", secret, s.until.Format(time.RFC3339), s.why)}
	}
	for len(s.logins) > 0 && !s.logins[0].Add(limits.Pause).After(now) {
		s.logins = s.logins[1:]
	}
	if len(s.logins) >= limits.Refusals {
		return &Refusal{Paused: true, Why: fmt.Sprintf("no log-in with secret %s before %s: there were %d within %v, and the sign of success is gone again",
			secret, s.logins[0].Add(limits.Pause).Format(time.RFC3339), len(s.logins), limits.Pause)}
	}
	return nil
}

func (s *session) count(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logins = append(s.logins, now)
}

func (s *session) pause(until time.Time, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until, s.why = until, why
}

// restore takes the cookies of an earlier run, if there are any.
func (g *Grant) restore(ctx context.Context) bool {
	kept, ok := g.broker.source.(Sessions)
	if !ok {
		return false
	}
	cookies, err := kept.Session(ctx, g.entry.name)
	return err == nil && cookies != "" && g.entry.jar.restore(cookies, g.broker.now()) // else it is logged in anew
}

// keep stores the cookies for the next run, unless the secret was set anew meanwhile: that may be of another account.
func (g *Grant) keep(ctx context.Context) error {
	kept, ok := g.broker.source.(Sessions)
	if !ok || g.broker.source.SecretVersion(g.entry.name) != g.entry.version {
		return nil
	}
	return kept.SetSession(ctx, g.entry.name, g.entry.jar.export())
}

// Admits reports whether the secret may be sent to a host by a scheme.
func (g *Grant) Admits(scheme, host string) bool {
	bounds := g.entry.secret.Bounds()
	return bounds.Admit(host) && (scheme == "https" || bounds.Insecure)
}
