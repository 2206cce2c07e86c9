// Package credentials presents secrets to the servers they are for, and to nobody else.
//
// It guarantees: a secret goes to the hosts that it was stored for, or else to those at which the crawls
// begin that a request is made for, and by https alone, unless it was stored as one that may be sent
// insecurely. That holds for the cookies too that a server sets in answer to it: they are kept for as long
// as a run lasts, apart for each secret, and go where the secret itself may go. One that a server refuses
// so many times in a row is not sent there again for a while, and until it was accepted for the first time,
// one request at a time goes there with it: no account is locked by guessing with a password that was
// changed. A secret that is set anew counts as another one at once.
//
// No error, and nothing else that is returned, holds a secret: what a server answers is freed of it by
// [Grant.Clean].
package credentials

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/storage/control"
)

// Source is where secrets are stored, which is [control.Store].
type Source interface {
	// Secret returns the secret of a name, or [control.ErrNotFound].
	Secret(ctx context.Context, name string) (control.Secret, error)
	// SecretVersion changes whenever the secret of a name was set or removed.
	SecretVersion(name string) uint64
	// StartOf returns the URL at which a crawl begins, or [control.ErrNotFound].
	StartOf(ctx context.Context, crawl string) (string, error)
}

var _ Source = (*control.Store)(nil)

// Open opens the source when a secret is first wanted. Programs provide it to the stages of a run.
type Open func() (Source, error)

// Limits of what servers may refuse.
type Limits struct {
	Refusals int           // in a row, before a secret is not sent there any more
	Pause    time.Duration // for how long it is not
}

// Refusal says why a request that wants credentials is not made.
type Refusal struct {
	Paused bool   // the server has refused them too often
	Why    string // with what to do about it
}

func (r *Refusal) Error() string { return r.Why }

// Of how many crawls it is remembered where they begin, and at how many hosts how a secret stands.
const (
	maxStarts = 10_000
	maxPlaces = 10_000
)

// Desk hands out what is to be presented. It is safe for concurrent use.
type Desk struct {
	source Source
	limits Limits
	now    func() time.Time

	mu      sync.Mutex
	holders map[string]*holder // by the name of the secret
	starts  map[string]string  // the hosts at which crawls begin
}

// NewDesk returns a desk over what is stored.
func NewDesk(source Source, limits Limits) *Desk {
	return &Desk{source: source, limits: limits, now: time.Now, holders: make(map[string]*holder), starts: make(map[string]string)}
}

// holder is a secret with what became of it in this run.
type holder struct {
	name    string
	version uint64
	secret  control.Secret
	jar     *Jar
	places  map[string]*standing // by host; guarded by the desk's lock
	enough  int                  // places before the next look for those that can be forgotten
}

// Grant returns what to present with a request by this scheme to this host, as in its normalized URL. It
// is nil if the host is none that the secret is for: then the request is made without. The error is a
// [Refusal] if it is not to be made. It may wait for other requests with the secret to end. The grant has to
// be ended by [Grant.Close].
func (d *Desk) Grant(ctx context.Context, name, scheme, host string, reach []webrace.Reach) (*Grant, error) {
	h, err := d.holder(ctx, name)
	if err != nil {
		return nil, err
	}
	bounds := h.secret.Bounds()
	admitted := bounds.Admit(host)
	if len(bounds.Hosts) == 0 {
		if admitted, err = d.startsAt(ctx, host, reach); err != nil {
			return nil, err
		}
	}
	switch {
	case !admitted:
		return nil, nil
	case scheme != "https" && !bounds.Insecure:
		return nil, &Refusal{Why: fmt.Sprintf("secret %s is not sent by plain http: webrace-store secret set %s --insecure … allows it", name, name)}
	}
	at := d.standing(h, host)
	if err := at.enter(ctx, d.now); err != nil {
		return nil, err
	}
	return &Grant{desk: d, holder: h, at: at}, nil
}

// holder returns a secret as it is stored now.
func (d *Desk) holder(ctx context.Context, name string) (*holder, error) {
	version := d.source.SecretVersion(name) // before reading, so that no change slips in between
	d.mu.Lock()
	h := d.holders[name]
	d.mu.Unlock()
	if h != nil && h.version == version {
		return h, nil
	}
	secret, err := d.source.Secret(ctx, name)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, control.ErrNotFound):
		return nil, &Refusal{Why: fmt.Sprintf("no secret is named %s: webrace-store secret set stores it", name)}
	case err != nil:
		return nil, &Refusal{Why: err.Error()}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if h := d.holders[name]; h != nil && h.version >= version { // another request was faster
		return h, nil
	}
	h = &holder{name: name, version: version, secret: secret, jar: NewJar(maxCookies), places: make(map[string]*standing)}
	d.holders[name] = h
	return h, nil
}

// startsAt reports whether any of these crawls begins at a host.
func (d *Desk) startsAt(ctx context.Context, host string, reach []webrace.Reach) (bool, error) {
	for _, r := range reach {
		start, err := d.start(ctx, r.Crawl)
		if err != nil {
			return false, err
		}
		if start == host && host != "" {
			return true, nil
		}
	}
	return false, nil
}

// start returns the host at which a crawl begins; none if nobody wants the crawl any more. A crawl of the
// same id always begins at the same place.
func (d *Desk) start(ctx context.Context, crawl string) (string, error) {
	d.mu.Lock()
	host, known := d.starts[crawl]
	d.mu.Unlock()
	if known {
		return host, nil
	}
	start, err := d.source.StartOf(ctx, crawl)
	if errors.Is(err, control.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	host, _ = scope.Host(start)
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.starts) >= maxStarts {
		clear(d.starts)
	}
	d.starts[crawl] = host
	return host, nil
}

// standing returns how a secret stands at a host.
func (d *Desk) standing(h *holder, host string) *standing {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := h.places[host]
	if s == nil {
		if len(h.places) >= max(maxPlaces, h.enough) { // under a domain of which each name is a host
			maps.DeleteFunc(h.places, func(_ string, s *standing) bool { return s.idle() })
			h.enough = 2 * len(h.places)
		}
		s = &standing{name: h.name, host: host, limits: d.limits}
		h.places[host] = s
	}
	return s
}
