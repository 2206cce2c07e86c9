// Package credentials presents secrets to the servers they are for, and to no other.
//
// It guarantees: a secret goes to the hosts that it was stored for, or else to those at which the crawls begin that a
// request is made for, and by https alone, unless it was stored as one that may be sent insecurely. That holds for the
// cookies too that a server sets in answer to it: they are kept for as long as a run lasts, apart for each secret, and
// go where the secret itself may go. One that a server refuses so many times in a row is not sent there again for a
// while, and no more requests are out with it than it may still be refused: no account is locked by guessing with a
// password that was changed. A secret that is set anew counts as another one at once, and so does one that comes from a
// file or a command ([Origin]) and is another there: when it is refused, it is read anew, within the bounds of
// [Readings].
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
	"github.com/webrace/webrace/internal/lru"
	"github.com/webrace/webrace/internal/scope"
)

// ErrNotFound means that nothing is stored under a name or an id.
var ErrNotFound = errors.New("not found")

// Source is where secrets are stored, which is storage/control.
type Source interface {
	// Secret returns the secret of a name, or [ErrNotFound].
	Secret(ctx context.Context, name string) (Secret, error)
	// SecretVersion changes whenever the secret of a name was set or removed.
	SecretVersion(name string) uint64
	// StartOf returns the URL at which a crawl begins, or [ErrNotFound].
	StartOf(ctx context.Context, crawl string) (string, error)
}

// Open opens the source when a secret is first wanted. Programs provide it to the stages of a run.
type Open func() (Source, error)

// Limits of what servers may refuse.
type Limits struct {
	Refusals int           // in a row, before a secret is not sent there any more
	Pause    time.Duration // for how long it is not
}

// ErrNothing means that a secret is of kind none: the request presents nothing, to whatever host it goes.
var ErrNothing = errors.New("the secret is of kind none, and nothing is sent for it")

// KeyIsNotSent tells why a secret of kind ed25519 does not do where one is to be presented.
func KeyIsNotSent(name string) string {
	return fmt.Sprintf("secret %s is of kind ed25519, whose key signs requests (fetch.sign) and is sent to nobody: name another", name)
}

// Refusal tells why a request that wants credentials is not made.
type Refusal struct {
	Paused bool   // the server has refused them too often
	Why    string // with what to do about it
}

func (r *Refusal) Error() string { return r.Why }

// Of how many crawls it is remembered where they begin, and of how many hosts the state of a secret.
const (
	maxStarts = 10_000
	maxHosts  = 10_000
)

// Broker hands out what is to be presented. It is safe for concurrent use.
type Broker struct {
	source Source
	limits Limits
	now    func() time.Time

	mu      sync.Mutex
	entries map[string]*entry // by the name of the secret
	starts  lru.Cache[string] // the hosts at which crawls begin
}

// NewBroker returns a broker of what is stored.
func NewBroker(source Source, limits Limits) *Broker {
	return &Broker{source: source, limits: limits, now: time.Now, entries: make(map[string]*entry), starts: lru.New[string](maxStarts, nil)}
}

// entry is a secret with what became of it in this run.
type entry struct {
	name    string
	version uint64
	secret  Secret
	jar     *Jar
	session *session
	hosts   map[string]*hostState // guarded by the broker's lock
	enough  int                   // hosts before the next look for those that can be forgotten
}

// encryptedPorts are the schemes over which nobody in between reads a secret, and the ports by which bounds may name
// their hosts: a host without one is that of any of them. Those of databases have an s behind the name of their driver.
var encryptedPorts = map[string]string{"https": "", "imaps": "993", "pop3s": "995", "nntps": "563", "postgress": "5432", "mariadbs": "3306"}

// Grant returns what to present with a request by this scheme to this host, as in its normalized URL. It
// is nil if the host is none that the secret is for: then the request is made without. The error is a
// [Refusal] if it is not to be made, and [ErrNothing] if it is made without, whatever the host. It may wait for other
// requests with the secret to end. The grant has to be ended by [Grant.Close].
func (b *Broker) Grant(ctx context.Context, name, scheme, host string, reach []webrace.Reach) (*Grant, error) {
	e, err := b.entry(ctx, name)
	if err != nil {
		return nil, err
	}
	switch e.secret.Kind() {
	case KindNone:
		return nil, ErrNothing
	case KindEd25519:
		return nil, &Refusal{Why: KeyIsNotSent(name)}
	}
	bounds := e.secret.Bounds()
	port, encrypted := encryptedPorts[scheme]
	admitted := bounds.Admit(host) || port != "" && bounds.Admit(host+":"+port)
	if len(bounds.Hosts) == 0 {
		if admitted, err = b.startsAt(ctx, host, reach); err != nil {
			return nil, err
		}
	}
	switch {
	case !admitted:
		return nil, nil
	case !encrypted && !bounds.Insecure:
		return nil, &Refusal{Why: fmt.Sprintf("secret %s is not sent by plain %s: webrace-store secret set %s --insecure … allows it", name, scheme, name)}
	}
	state := b.hostState(e, host)
	if err := state.enter(ctx, b.now); err != nil {
		return nil, err
	}
	return &Grant{broker: b, entry: e, state: state}, nil
}

// entry returns a secret as it is stored now.
func (b *Broker) entry(ctx context.Context, name string) (*entry, error) {
	version := b.source.SecretVersion(name) // before reading, so that no change slips in between
	b.mu.Lock()
	e := b.entries[name]
	b.mu.Unlock()
	if e != nil && e.version == version {
		return e, nil
	}
	secret, err := b.source.Secret(ctx, name)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, ErrNotFound):
		return nil, &Refusal{Why: fmt.Sprintf("no secret is named %s: webrace-store secret set stores it", name)}
	case err != nil:
		return nil, &Refusal{Why: err.Error()}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.entries[name]; e != nil && e.version >= version { // another request was faster
		return e, nil
	}
	e = &entry{name: name, version: version, secret: secret, jar: NewJar(maxCookies), session: newSession(), hosts: make(map[string]*hostState)}
	b.entries[name] = e
	return e, nil
}

// Renew has a secret read anew that is refused, if it comes from a file or a command, and reports whether there is
// another one than the broker has handed out.
func (b *Broker) Renew(ctx context.Context, name string) (renewed bool, err error) {
	b.mu.Lock()
	e := b.entries[name]
	b.mu.Unlock()
	if e == nil {
		return false, nil // it could not be read, which is tried again by itself
	}
	return b.renew(ctx, e)
}

func (b *Broker) renew(ctx context.Context, e *entry) (renewed bool, err error) {
	source, ok := b.source.(Renewer)
	if !ok || e.secret.Origin().IsZero() {
		return false, nil
	}
	return source.RenewSecret(ctx, e.name, e.version)
}

// startsAt reports whether any of these crawls begins at a host.
func (b *Broker) startsAt(ctx context.Context, host string, reach []webrace.Reach) (bool, error) {
	for _, r := range reach {
		start, err := b.start(ctx, r.Crawl)
		if err != nil {
			return false, err
		}
		if start == host && host != "" {
			return true, nil
		}
	}
	return false, nil
}

// start returns the host at which a crawl begins; none if no URD wants the crawl any more. A crawl of the
// same id always begins at the same place.
func (b *Broker) start(ctx context.Context, crawl string) (string, error) {
	b.mu.Lock()
	host, known := b.starts.Get(crawl)
	b.mu.Unlock()
	if known {
		return host, nil
	}
	start, err := b.source.StartOf(ctx, crawl)
	if errors.Is(err, ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	host, _ = scope.Host(start)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.starts.Add(crawl, host)
	return host, nil
}

// hostState returns the state of a secret at a host.
func (b *Broker) hostState(e *entry, host string) *hostState {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := e.hosts[host]
	if s == nil {
		if len(e.hosts) >= max(maxHosts, e.enough) { // under a domain of which each name is a host
			maps.DeleteFunc(e.hosts, func(_ string, s *hostState) bool { return s.idle() })
			e.enough = 2 * len(e.hosts)
		}
		s = &hostState{name: e.name, host: host, limits: b.limits}
		e.hosts[host] = s
	}
	return s
}
