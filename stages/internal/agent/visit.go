package agent

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/netguard"
)

// Run makes the visit that an item asks for, if it asks for one, and ends it: by what visit returns as known of the
// source now, or by its error. A [Failure], and credentials that cannot be used, are outcomes; what the network does
// is a reason to ask again later. While the item's lease lasts, nothing of it is known to the next visit.
func (a *Agent) Run(ctx context.Context, it *pipeline.Item, schemes []string, visit func(*Visit) (known []byte, err error)) error {
	req, err := pipeline.ValueOf[webrace.Request](it)
	if err != nil {
		return err
	}
	v := &Visit{Request: req, agent: a, item: it, began: time.Now()}
	if v.Source, err = parse(req.URL, schemes); err != nil {
		return err
	}
	if req.Stored || req.Left { // somebody else's visit of this round answers, or nobody wants it any more
		v.release()
		a.env.Counter("fresh").Add(1)
		return nil
	}
	if req.Visit != nil {
		v.Known = req.Visit.State
	}
	known, err := visit(v)
	v.grant.Close()
	if err == nil && len(known) > webrace.MostState {
		err = Failf("what is to be known of the source has %d bytes, and at most %d can be", len(known), webrace.MostState)
	}
	if err != nil {
		return v.failed(ctx, err)
	}
	a.env.Counter("visits").Add(1)
	if v.answered {
		return nil
	}
	v.release()
	learned := v.learned()
	it.Learn(webrace.Learned(func(v *webrace.Visit) {
		learned(v)
		v.State, v.Digest = known, sha256.Sum256(known)
	}))
	return nil
}

// learned is what every visit teaches that came to something.
func (v *Visit) learned() webrace.Learned {
	began := v.began
	return func(v *webrace.Visit) {
		v.At, v.Status, v.Error, v.Expires, v.Links = began, 0, "", time.Time{}, nil
	}
}

// parse takes the address of a source apart.
func parse(address string, schemes []string) (Source, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || !slices.Contains(schemes, u.Scheme) || strings.ContainsFunc(u.Path, unicode.IsControl) {
		return Source{}, errIsNone(address, schemes)
	}
	return Source{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimPrefix(u.Path, "/")}, nil
}

// failed ends a visit by an error.
func (v *Visit) failed(ctx context.Context, err error) error {
	var failure *Failure
	var refusal *credentials.Refusal
	var guarded *netguard.RefusedError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &refusal):
		return v.refuse("secret_refused", refusal.Why)
	case errors.As(err, &guarded):
		return v.refuse("address_refused", strings.Replace(err.Error(), "fetch.allow_networks", v.agent.env.Stage+".allow_networks", 1))
	case errors.As(err, &failure):
		return v.refuse("failures", v.plain(err.Error()))
	case isOfThePipeline(err):
		return err
	}
	v.agent.env.Counter("network_failures").Add(1)
	v.release()
	attempts := 0
	if v.Request.Visit != nil {
		attempts = v.Request.Visit.Attempts
	}
	if text := err.Error(); v.plain(text) != text {
		err = errors.New(v.plain(text))
	}
	return pipeline.Retry(fmt.Errorf("visit %s: %w", v.Request.URL, err), time.Now().Add(v.agent.options.backoff(attempts)))
}

// errOfThePipeline marks an error of who takes the documents.
type errOfThePipeline struct{ error }

func (e errOfThePipeline) Unwrap() error { return e.error }

func isOfThePipeline(err error) bool {
	_, is := errors.AsType[errOfThePipeline](err)
	return is
}

// refuse ends a visit that the next round makes anew.
func (v *Visit) refuse(counter, because string) error {
	v.agent.env.Counter(counter).Add(1)
	v.release()
	v.item.Learn(webrace.Learned(func(v *webrace.Visit) { v.Error, v.Refused = because, true }))
	return nil
}

// release tells the queue that the host is free.
func (v *Visit) release() {
	v.item.Release(webrace.HostReport{URL: v.Request.URL, Secret: v.Request.Secret, Documents: min(v.passed, 1), Bytes: v.bytes})
}

// backoff is how long to wait after so many failures before this one.
func (o Options) backoff(attempts int) time.Duration {
	wait, most := time.Duration(o.Backoff), time.Duration(o.MaxBackoff)
	for ; attempts > 0 && wait < most; attempts-- {
		wait *= 4
	}
	return min(wait, most)
}
