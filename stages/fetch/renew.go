package fetch

import (
	"context"
	"errors"
	"net/http"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/stages/internal/httpclient"
)

// identify finds out what the request presents, logs in where that is done by a form, and makes the request ready. The
// secret of a log-in that is refused is read anew, once.
func (x *exchange) identify(ctx context.Context) error {
	if err := x.authorize(ctx); err != nil {
		return err
	}
	err := x.enter(ctx)
	if refusal := (*credentials.Refusal)(nil); errors.As(err, &refusal) && x.renewed(ctx) {
		if x.forgetGrants(); x.authorize(ctx) == nil {
			err = x.enter(ctx)
		}
	}
	if err != nil {
		return err
	}
	return x.prepare(ctx)
}

// again asks once more, with secrets as they are now.
func (x *exchange) again(ctx context.Context) (*httpclient.Response, error) {
	x.forgetGrants()
	if err := x.identify(ctx); err != nil {
		return nil, err
	}
	return x.once(ctx)
}

// forgetGrants gives back what was granted.
func (x *exchange) forgetGrants() {
	x.closeGrants()
	x.grant, x.lent, x.prepared = nil, nil, nil
}

// isRefusal reports whether an answer may mean that secrets are not those of today.
func isRefusal(a *httpclient.Response) bool {
	return a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden
}

// renewed has the secrets that the request was granted read anew, of those that come from a file or a command, and
// reports whether there is another one among them now.
func (x *exchange) renewed(ctx context.Context) bool {
	renewed := x.note(x.grant.Renew(ctx))
	for _, g := range x.lent {
		renewed = x.note(g.Renew(ctx)) || renewed
	}
	return renewed
}

// note counts that a secret was read anew, or reports why none could be.
func (x *exchange) note(renewed bool, err error) bool {
	if err != nil {
		x.warn("read anew "+x.req.Secret, "a secret was refused, and no other can be read", err)
	}
	if renewed {
		x.count("secrets_renewed")
	}
	return renewed
}

// grantOf returns what the request may present of a secret. One that was refused too often is read anew before that is
// the last word.
func (x *exchange) grantOf(ctx context.Context, name string) (*credentials.Grant, error) {
	broker, err := x.broker()
	if err != nil {
		return nil, err
	}
	grant := func() (*credentials.Grant, error) {
		return broker.Grant(ctx, name, x.target.Scheme, x.target.Host, x.req.Reach)
	}
	g, err := grant()
	if refusal := (*credentials.Refusal)(nil); errors.As(err, &refusal) && refusal.Paused && x.note(broker.Renew(ctx, name)) {
		g, err = grant()
	}
	return g, err
}
