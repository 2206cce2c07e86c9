package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/netguard"
	"github.com/webrace/webrace/pipeline"
)

// exchange is the work on one request.
type exchange struct {
	*stage
	it         *pipeline.Item
	req        webrace.Request
	target     target
	began      time.Time
	crawlDelay time.Duration // that the host's robots.txt asks for

	grant        *credentials.Grant // nil without credentials
	unauthorized string             // why the answer says that they do not do
}

// conditions returns the fields that let the server confirm what is stored instead of sending it.
func (x *exchange) conditions() http.Header {
	v := x.req.Visit
	if v == nil || v.Version == 0 || v.ETag == "" && v.LastModified == "" {
		return nil
	}
	fields := make(http.Header, 2)
	if v.ETag != "" {
		fields["If-None-Match"] = []string{v.ETag}
	}
	if v.LastModified != "" {
		fields["If-Modified-Since"] = []string{v.LastModified}
	}
	return fields
}

// settle turns an answer into what is emitted, counted and learned. The host is free before anything is
// emitted.
func (x *exchange) settle(ctx context.Context, a *answer, out pipeline.Emitter) error {
	switch {
	case a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable:
		return x.postpone(a)
	case a.ignored:
		x.ignored(a)
	case a.body != nil:
		return x.fetched(ctx, a, out)
	case a.status == http.StatusNotModified && x.conditions() != nil:
		return x.notModified(ctx, a, out)
	case isRedirect(a):
		return x.redirected(ctx, a, out)
	default:
		x.count("status_" + strconv.Itoa(a.status))
		x.end(a, x.statusError(a), func(v *webrace.Visit) {
			if a.status == http.StatusNotFound || a.status == http.StatusGone {
				forgetValidators(v)
			}
		})
	}
	return nil
}

func (x *exchange) fetched(ctx context.Context, a *answer, out pipeline.Emitter) error {
	x.count("pages")
	x.env.Counter("bytes").Add(int64(len(a.body.bytes)))
	if a.truncated {
		x.count("truncated")
	}
	if a.broken != nil {
		x.count("undecodable")
		a.header.Set(webrace.UndecodedField, a.broken.Error())
	}
	expires := expiry(a.header, a.at)
	x.end(a, "", func(v *webrace.Visit) {
		receive(v, a.header, a.at)
		v.Expires, v.Likeness, v.Titled = expires, 0, 0
		if a.truncated { // a server must not confirm what is not all of it
			forgetValidators(v)
			v.Expires = time.Time{}
		}
	})
	d := x.document(a)
	d.Outcome, d.Body, d.Truncated = webrace.Fetched, a.body.bytes, a.truncated
	x.it.OnEnd(a.body.free)
	a.body = nil
	return out.Emit(ctx, x.it.With(d))
}

func (x *exchange) notModified(ctx context.Context, a *answer, out pipeline.Emitter) error {
	x.count("not_modified")
	x.end(a, "", func(v *webrace.Visit) {
		confirm(v, a.header)
		v.Expires = expiry(a.header, v.At)
	})
	d := x.document(a)
	d.Outcome, d.Digest, d.Version = webrace.NotModified, x.req.Visit.Digest, x.req.Visit.Version
	return out.Emit(ctx, x.it.With(d))
}

func (x *exchange) document(a *answer) *webrace.Document {
	return &webrace.Document{
		URL: x.req.URL, Reach: x.req.Reach, Visit: x.req.Visit, Status: a.status, Header: a.header, Origin: a.origin,
		At: a.at, Took: a.took, MediaType: mediaType(a.header.Get("Content-Type")), Redirects: x.req.Redirects,
		Secret: x.req.Secret,
	}
}

func (x *exchange) redirected(ctx context.Context, a *answer, out pipeline.Emitter) error {
	to, err := location(x.req.URL, a.header)
	if err != nil {
		x.count("bad_redirects")
		x.end(a, statusText(a.status)+": "+err.Error(), nil)
		return nil
	}
	x.count("redirects")
	x.end(a, "", nil)
	return out.EmitTo(ctx, portRedirects, x.it.With(&webrace.Links{
		From: x.req.URL, Reach: x.req.Reach, Via: webrace.ViaRedirect, Redirects: x.req.Redirects + 1,
		Permanent: a.status == http.StatusMovedPermanently || a.status == http.StatusPermanentRedirect, URLs: []string{to},
	}))
}

// end frees the host and records a completed request. What else it teaches is learned last.
func (x *exchange) end(a *answer, failure string, more func(*webrace.Visit)) {
	x.lives()
	x.release(x.withSecret(x.treatment(a.origin, a.took, x.crawlDelay, time.Now())))
	at, status := a.at, a.status // nothing here may keep the body
	x.it.Learn(webrace.Learned(func(v *webrace.Visit) {
		v.At, v.Status, v.Error, v.Expires, v.Links = at, status, failure, time.Time{}, nil
		if more != nil {
			more(v)
		}
	}))
}

func forgetValidators(v *webrace.Visit) { v.ETag, v.LastModified = "", "" }

// postpone leaves a host alone that asks for it, and comes back to the URL later.
func (x *exchange) postpone(a *answer) error {
	x.count("status_" + strconv.Itoa(a.status))
	now := time.Now()
	asked := x.comeBackAfter(a, now)
	wait := asked.wait
	if wait == 0 {
		wait = x.options.backoff(x.attempts())
	}
	report := x.treatment(a.origin, a.took, x.crawlDelay, now)
	if asked.wait > 0 || a.status == http.StatusTooManyRequests {
		report.NotBefore = later(report.NotBefore, now.Add(wait))
		report.Why = "it asked to be left alone: " + statusText(a.status)
	} else { // it may be this one page that is unavailable
		x.failed(&report, now)
	}
	x.release(report)
	return pipeline.Retry(fmt.Errorf("fetch %s: %s", x.req.URL, statusText(a.status)), now.Add(wait))
}

// failed notes that the host failed, and what follows from that.
func (x *exchange) failed(report *webrace.HostReport, now time.Time) {
	f := x.circuits.failed(x.target.host, x.began, now)
	if resume := now.Add(f.pause); resume.After(report.NotBefore) {
		report.NotBefore, report.Why = resume, "it failed to answer"
	}
	if f.open {
		report.Parallel = 1
		report.Why = takenForDead
	}
	if f.opened {
		x.count("circuits_opened")
		x.env.Logger.Info("the host is taken for dead", "host", x.target.host, "asked again in", f.pause)
	}
}

// takenForDead is why a host is left alone whose circuit is open.
const takenForDead = "it is taken for dead, having failed to answer time and again (fetch.circuit_failures)"

// release tells the queue that the host is free, and how it wants to be treated.
func (x *exchange) release(report webrace.HostReport) {
	report.URL, report.Secret = x.req.URL, x.req.Secret
	x.it.Release(report)
}

// lives notes that the host answered.
func (x *exchange) lives() {
	if x.circuits.answered(x.target.host) {
		x.count("circuits_closed")
	}
}

// fail deals with a request that got no answer.
func (x *exchange) fail(ctx context.Context, err error) error {
	var refused *netguard.RefusedError
	var anonymous *contactError
	var fault *tlsFault
	var family *familyError
	var busy *busyError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &busy):
		return x.postpone(busy.answer)
	case errors.As(err, &refused):
		x.warn("address", "the address is outside the public Internet", err)
		return x.refuse("address_refused", err.Error())
	case errors.As(err, &anonymous):
		x.warn("contact", "a public server is not asked without a contact", err)
		return x.refuse("contact_refused", err.Error())
	case errors.As(err, &family):
		return x.refuse("family_refused", err.Error())
	case errors.As(err, &fault):
		return x.distrust(fault, err)
	}
	x.count("network_failures")
	if _, ofProxy := errors.AsType[*proxyError](err); ofProxy {
		x.count("proxy_failures")
	}
	now := time.Now()
	var failure *net.OpError
	errors.As(err, &failure)
	report := x.treatment(failedAddress(failure), now.Sub(x.began), x.crawlDelay, now)
	report.Parallel = 0 // nothing was learned about that
	x.failed(&report, now)
	x.release(report)
	return pipeline.Retry(fmt.Errorf("fetch %s: %w", x.req.URL, err), now.Add(x.options.backoff(x.attempts())))
}

// refuse ends a request that was not made, for good: asking again would change nothing.
func (x *exchange) refuse(counter, because string) error {
	x.count(counter)
	x.release(webrace.HostReport{})
	x.it.Learn(webrace.Learned(func(v *webrace.Visit) { v.Error = because }))
	return nil
}

// warn says once for each host what is refused there, and with it what would allow it.
func (x *exchange) warn(kind, what string, err error) {
	if x.warned.first(kind + " " + x.target.host) {
		x.env.Logger.Warn(what, "host", x.target.host, "error", err)
	}
}

// isRefusal says whether a connection was not made because it may not be.
func isRefusal(err error) bool {
	var anonymous *contactError
	var fault *tlsFault
	var family *familyError
	return netguard.IsRefused(err) || errors.As(err, &anonymous) || errors.As(err, &fault) || errors.As(err, &family)
}

func (x *exchange) count(counter string) { x.env.Counter(counter).Add(1) }

// attempts is how often the request has failed before.
func (x *exchange) attempts() int {
	if x.req.Visit == nil {
		return 0
	}
	return x.req.Visit.Attempts
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
