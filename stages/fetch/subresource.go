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
	"github.com/webrace/webrace/stages/internal/httpclient"
	"github.com/webrace/webrace/stages/internal/loadingcache"
)

// Subresources that are kept: how much in all, and what one costs besides its body.
const (
	subresourcesMemory = 32 << 20
	subresourceSpace   = 1 << 10
)

var _ httpclient.SubresourceFetcher = (*stage)(nil)

// Subresource implements [httpclient.SubresourceFetcher].
func (s *stage) Subresource(ctx context.Context, r httpclient.SubresourceRequest) (*httpclient.Subresource, error) {
	t, err := httpclient.ParseTarget(r.URL)
	if err != nil {
		return nil, fmt.Errorf("get %q: %w", r.URL, err)
	}
	if r.Keep == 0 || r.Secret != "" {
		return s.getSubresource(ctx, t, r)
	}
	return s.subresources.Get(ctx, r.URL, func(ctx context.Context) (loadingcache.Loaded[*httpclient.Subresource], error) {
		p, err := s.getSubresource(ctx, t, r)
		if err != nil {
			return loadingcache.Loaded[*httpclient.Subresource]{}, err
		}
		return loadingcache.Loaded[*httpclient.Subresource]{Value: p, Keep: r.Keep, Cost: len(p.Body) + subresourceSpace}, nil
	})
}

func (s *stage) getSubresource(ctx context.Context, t httpclient.Target, r httpclient.SubresourceRequest) (*httpclient.Subresource, error) {
	var crawlDelay time.Duration
	if s.options.Robots {
		policy, err := s.robotsPolicy(ctx, t)
		if err != nil {
			return nil, err
		}
		if !policy.allowed {
			return nil, fmt.Errorf("%w: %s", httpclient.ErrRobots, policy.because)
		}
		if err := policy.await(ctx); err != nil {
			return nil, err
		}
		crawlDelay = policy.delay
	}
	x := &exchange{stage: s, req: webrace.Request{URL: t.URL, Secret: r.Secret, Reach: r.Reach}, target: t}
	if err := x.authorize(ctx); err != nil {
		return nil, asSecretError(err)
	}
	defer x.grant.Close()
	s.limiter.shared.Store(true)
	slot, err := s.limiter.take(ctx, t.Host, patience)
	if err != nil {
		return nil, err
	}
	fields := make(http.Header, len(r.Header)+2)
	maps.Copy(fields, r.Header)
	maps.Copy(fields, x.fields())
	began := time.Now()
	a, err := s.client.Get(ctx, t, fields, r.Limit)
	s.endSlot(slot, a, err, began, crawlDelay)
	if err != nil {
		return nil, err
	}
	defer a.Release()
	x.heed(a)
	if a.Broken != nil {
		return nil, a.Broken
	}
	p := &httpclient.Subresource{Status: a.Status, Header: a.Header, Truncated: a.Truncated != ""}
	if a.Body != nil {
		p.Body = bytes.Clone(a.Body)
	}
	return p, nil
}

// asSecretError marks a refusal by the rules of a secret as one.
func asSecretError(err error) error {
	if refusal, ok := errors.AsType[*credentials.Refusal](err); ok {
		return fmt.Errorf("%w: %s", httpclient.ErrSecret, refusal.Why)
	}
	return err
}
