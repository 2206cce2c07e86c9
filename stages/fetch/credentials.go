package fetch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/httpclient"
)

// CredentialOptions are those of secrets and cookies.
type CredentialOptions struct {
	Cookies           bool              `toml:"cookies" doc:"keep the cookies of hosts that are asked without credentials while the run lasts, each host's apart"`
	MaxUnauthorized   int               `toml:"max_unauthorized" doc:"how often in a row a host may refuse a secret, before it is not sent there for unauthorized_pause"`
	UnauthorizedPause pipeline.Duration `toml:"unauthorized_pause" doc:"for how long a secret is not sent to a host that refused it too often, unless it is set anew"`
}

func (o CredentialOptions) validate() error {
	if o.MaxUnauthorized < 1 {
		return &pipeline.OptionError{Option: "max_unauthorized", Err: fmt.Errorf("must be more than 0")}
	}
	if o.UnauthorizedPause <= 0 {
		return &pipeline.OptionError{Option: "unauthorized_pause", Err: fmt.Errorf("must be more than 0")}
	}
	return nil
}

// openBroker returns what hands out the secrets that the program lends to its stages.
func openBroker(o Options, env *pipeline.Env) (*credentials.Broker, error) {
	open, err := pipeline.Resource[credentials.Open](env)
	if err != nil {
		return nil, err
	}
	source, err := open()
	if err != nil {
		return nil, err
	}
	return credentials.NewBroker(source, credentials.Limits{Refusals: o.MaxUnauthorized, Pause: time.Duration(o.UnauthorizedPause)}), nil
}

// authorize finds out what the request may present. A [credentials.Refusal] means that it is not to be made.
func (x *exchange) authorize(ctx context.Context) (err error) {
	if x.req.Secret == "" {
		return nil
	}
	x.grant, err = x.grantOf(ctx, x.req.Secret)
	switch {
	case errors.Is(err, credentials.ErrNothing):
		return nil
	case err == nil && x.grant == nil:
		x.count("credentials_withheld")
	}
	return err
}

// refuseSecret ends a request that may not be made with its credentials, or that came to nothing.
func (x *exchange) refuseSecret(ctx context.Context, err error) error {
	var refusal *credentials.Refusal
	switch {
	case errors.Is(err, httpclient.ErrResting):
		return x.requeue(err)
	case !errors.As(err, &refusal):
		return x.fail(ctx, err)
	case refusal.Paused:
		return x.refuse("secret_paused", refusal.Why)
	}
	x.noteRefusal("secret "+x.req.Secret, "a page is not asked for, because its credentials cannot be used", err)
	return x.refuse("secret_refused", refusal.Why)
}

// fields are those of the request that are not those of all.
func (x *exchange) fields() http.Header {
	conditions := x.conditions()
	if x.grant == nil && !x.keepsCookies() && x.prepared == nil {
		return conditions
	}
	fields := make(http.Header, 4)
	maps.Copy(fields, conditions)
	if x.prepared != nil {
		maps.Copy(fields, x.prepared.header)
	}
	if x.keepsCookies() && len(fields["Cookie"]) == 0 {
		if cookies := x.jars.Of(place(x.target)).Field(place(x.target)); cookies != "" {
			fields.Set("Cookie", cookies)
		}
	}
	if x.prepared != nil && x.prepared.holdsSecret {
		x.grant.PresentCookies(fields, place(x.target))
	} else {
		x.grant.Present(fields, place(x.target))
	}
	return fields
}

// keepsCookies reports whether the host's cookies are kept, of a request without credentials.
func (x *exchange) keepsCookies() bool { return x.options.Cookies && x.req.Secret == "" }

// heed learns from an answer what it tells of the credentials, and takes out of it what must not be kept.
func (x *exchange) heed(a *httpclient.Response) {
	x.setsCookies = len(a.Header["Set-Cookie"]) > 0
	if x.keepsCookies() {
		x.env.Counter("cookies_refused").Add(int64(x.jars.Of(place(x.target)).Keep(place(x.target), a.Header)))
	}
	for _, g := range x.lent {
		g.Answered(place(x.target), a.Status, a.Header)
		g.Clean(a.Header)
	}
	if x.grant == nil {
		return
	}
	said := x.grant.Answered(place(x.target), a.Status, a.Header)
	x.grant.Clean(a.Header)
	x.env.Counter("cookies_refused").Add(int64(said.Refused))
	if !said.Unauthorized {
		return
	}
	x.count("unauthorized")
	x.unauthorized = said.Why
	if said.Paused {
		x.count("secrets_paused")
		x.env.Logger.Warn("a secret was refused too often, and is not sent there for a while (option unauthorized_pause)",
			"secret", x.req.Secret, "host", x.target.Host, "refused", said.Why)
	}
}

// withSecret lets no more requests come to a host than may be out with a secret there: others would keep
// their workers waiting.
func (x *exchange) withSecret(report webrace.HostReport) webrace.HostReport {
	if x.grant != nil {
		report.Parallel = min(report.Parallel, x.options.MaxUnauthorized)
	}
	return report
}

// statusError returns why an answer is no document.
func (x *exchange) statusError(a *httpclient.Response) string {
	switch {
	case x.unauthorized != "":
		return httpclient.StatusText(a.Status) + ": " + x.unauthorized
	case a.Status == http.StatusUnauthorized && x.req.Secret == "":
		if wanted := credentials.Schemes(a.Header.Values("WWW-Authenticate")); len(wanted) > 0 {
			return httpclient.StatusText(a.Status) + ": the host asks for credentials (" + strings.Join(wanted, ", ") + "), and the URD names none (secret)"
		}
	}
	return httpclient.StatusText(a.Status)
}

// place is what of a target decides about cookies.
func place(t httpclient.Target) *url.URL {
	path, _, _ := strings.Cut(t.Path, "?")
	return &url.URL{Scheme: t.Scheme, Host: t.Host, Path: path}
}
