package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/credentials"
)

// PartRequest asks for something that a page is made of: a script, or the data that a script asks for.
type PartRequest struct {
	URL    string // normalized
	Header http.Header
	Limit  int           // of the body; what is longer is cut
	Keep   time.Duration // how long an answer may serve others that ask for the same; 0: not at all

	// The credentials of the page, and the crawls that came to it: what they may be presented to is bounded as for
	// pages. An answer to a request for such a page serves nobody else.
	Secret string
	Reach  []webrace.Reach
}

// Part is what a server answered. It may be shared, and is not to be changed.
type Part struct {
	Status    int
	Header    http.Header
	Body      []byte // decompressed; nil unless it is a success
	Truncated bool
}

// Parter gets the parts of pages under the same rules as the pages themselves: robots.txt, the address
// guard, the limits, and the host's turns, so that a page and its parts together come no faster to a
// public host than pages alone. Redirects are not followed. The errors are [ErrRobots], [ErrResting],
// [ErrSecret], one that [IsRefusal] knows, or of the network.
type Parter interface {
	Part(ctx context.Context, r PartRequest) (*Part, error)
}

// ErrRobots is the error for what robots.txt forbids.
var ErrRobots = errors.New("refused by robots.txt")

// ErrResting is the error for a host that has to be left alone for longer than anybody waits.
var ErrResting = errors.New("the host asks to be left alone")

// ErrSecret is the error for what is not asked for because its credentials cannot be used.
var ErrSecret = errors.New("its credentials cannot be used")

// IsRefusal says whether a connection was not made because it may not be: the address is outside the public
// Internet, or the user agent names no contact.
func IsRefusal(err error) bool { return isRefusal(err) }

// Parts that are kept: how much in all, and what one costs besides its body.
const (
	partsMemory    = 32 << 20
	partEntrySpace = 1 << 10
)

var _ Parter = (*stage)(nil)

// Part implements [Parter].
func (s *stage) Part(ctx context.Context, r PartRequest) (*Part, error) {
	t, err := parseTarget(r.URL)
	if err != nil {
		return nil, fmt.Errorf("get %q: %w", r.URL, err)
	}
	if r.Keep == 0 || r.Secret != "" {
		return s.part(ctx, t, r)
	}
	return s.parts.get(ctx, r.URL, func(ctx context.Context) (loaded[*Part], error) {
		p, err := s.part(ctx, t, r)
		if err != nil {
			return loaded[*Part]{}, err
		}
		return loaded[*Part]{value: p, keep: r.Keep, cost: len(p.Body) + partEntrySpace}, nil
	})
}

func (s *stage) part(ctx context.Context, t target, r PartRequest) (*Part, error) {
	var crawlDelay time.Duration
	if s.options.Robots {
		m, err := s.manners(ctx, t)
		if err != nil {
			return nil, err
		}
		if !m.allowed {
			return nil, fmt.Errorf("%w: %s", ErrRobots, m.because)
		}
		if err := m.await(ctx); err != nil {
			return nil, err
		}
		crawlDelay = m.delay
	}
	x := &exchange{stage: s, req: webrace.Request{URL: t.url, Secret: r.Secret, Reach: r.Reach}, target: t}
	if err := x.authorize(ctx); err != nil {
		return nil, asSecretError(err)
	}
	defer x.grant.Close()
	s.turns.shared.Store(true)
	turn, err := s.turns.take(ctx, t.host)
	if err != nil {
		return nil, err
	}
	fields := make(http.Header, len(r.Header)+2)
	maps.Copy(fields, r.Header)
	maps.Copy(fields, x.fields())
	began := time.Now()
	a, err := s.client.get(ctx, t, fields, r.Limit)
	s.endTurn(turn, a, err, began, crawlDelay)
	if err != nil {
		return nil, err
	}
	defer a.release()
	x.heed(a)
	if a.broken != nil {
		return nil, a.broken
	}
	p := &Part{Status: a.status, Header: a.header, Truncated: a.truncated}
	if a.body != nil {
		p.Body = bytes.Clone(a.body.bytes)
	}
	return p, nil
}

// asSecretError says of a refusal by the rules of a secret that it is one.
func asSecretError(err error) error {
	if refusal, ok := errors.AsType[*credentials.Refusal](err); ok {
		return fmt.Errorf("%w: %s", ErrSecret, refusal.Why)
	}
	return err
}
