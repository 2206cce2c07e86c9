package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/mediatype"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/httpclient"
	"github.com/webrace/webrace/stages/internal/netguard"
)

// handleResponse turns a response into what is emitted, counted and learned. The host is free before anything is
// emitted.
func (x *exchange) handleResponse(ctx context.Context, a *httpclient.Response, out pipeline.Emitter) error {
	switch {
	case a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable:
		return x.postpone(a)
	case x.req.Left && !isPermanent(a.Status):
		x.end(a, "", nil) // it has not moved
		if isGone(a.Status) {
			return x.emitGone(ctx, httpclient.StatusText(a.Status), a.At, out)
		}
	case a.Ignored:
		x.ignored(a)
	case a.Body != nil:
		return x.fetched(ctx, a, out)
	case a.Status == http.StatusNotModified && x.conditions() != nil:
		return x.notModified(ctx, a, out)
	case isRedirect(a):
		return x.redirected(ctx, a, out)
	default:
		return x.noDocument(ctx, a, out)
	}
	return nil
}

// noDocument records a status that is what came of the request, unless it is one of the moment and is asked for again.
func (x *exchange) noDocument(ctx context.Context, a *httpclient.Response, out pipeline.Emitter) error {
	x.count("status_" + strconv.Itoa(a.Status))
	now := time.Now()
	again := x.isGet() && slices.Contains(x.options.Retry, a.Status)
	var asked askedBack
	if again {
		if asked = x.retryAfter(a, now); asked.wait > 0 {
			x.crawlDelay = max(x.crawlDelay, asked.wait) // the whole host is left alone
		}
	}
	x.end(a, x.statusError(a), func(v *webrace.Visit) {
		if isGone(a.Status) {
			v.ForgetValidators()
		}
	})
	switch {
	case !again && isGone(a.Status):
		return x.emitGone(ctx, httpclient.StatusText(a.Status), a.At, out)
	case !again:
		return nil
	}
	wait := cmp.Or(asked.wait, x.options.backoff(x.attempts()))
	return pipeline.Retry(fmt.Errorf("fetch %s: %s: %w", x.req.URL, httpclient.StatusText(a.Status), webrace.ErrAnswered), now.Add(wait))
}

// isGone reports whether a status declares that there is no document.
func isGone(status int) bool { return status == http.StatusNotFound || status == http.StatusGone }

// emitGone tells whom it concerns that the URL has no document, whether it ever had one or not: of a request that was
// cut short by a crash, the visit does not know what it brought.
func (x *exchange) emitGone(ctx context.Context, because string, at time.Time, out pipeline.Emitter) error {
	if !x.env.Leads(portGone) {
		return nil
	}
	return out.EmitTo(ctx, portGone, x.it.With(&webrace.Gone{URL: x.req.URL, Secret: x.req.Secret, Reason: because, At: at}))
}

// postpone leaves a host alone that asks for it, and comes back to the URL later.
func (x *exchange) postpone(a *httpclient.Response) error {
	x.count("status_" + strconv.Itoa(a.Status))
	now := time.Now()
	asked := x.retryAfter(a, now)
	wait := cmp.Or(asked.wait, x.options.backoff(x.attempts()))
	report := x.hostPolicy(a.Origin, a.Took, x.crawlDelay, now)
	if asked.wait > 0 || a.Status == http.StatusTooManyRequests {
		report.NotBefore = later(report.NotBefore, now.Add(wait))
		report.Why = "it asked to be left alone: " + httpclient.StatusText(a.Status)
	} else { // it may be this one page that is unavailable
		x.failed(&report, now)
	}
	x.release(report)
	return pipeline.Retry(fmt.Errorf("fetch %s: %w", x.req.URL, busyStatus(a.Status)), now.Add(wait))
}

// busyStatus is the status of a server that asks to be left alone.
type busyStatus int

func (e busyStatus) Error() string { return httpclient.StatusText(int(e)) }

// failed notes that the host failed, and what follows from that.
func (x *exchange) failed(report *webrace.HostReport, now time.Time) {
	f := x.circuits.failed(x.target.Host, x.began, now)
	if resume := now.Add(f.pause); resume.After(report.NotBefore) {
		report.NotBefore, report.Why = resume, "it failed to answer"
	}
	if f.open {
		report.Parallel = 1
		report.Why = circuitOpen
	}
	if f.opened {
		x.count("circuits_opened")
		x.env.Logger.Info("the host is taken for dead", "host", x.target.Host, "asked again in", f.pause)
	}
}

// circuitOpen is why a host is left alone whose circuit is open.
const circuitOpen = "it is taken for dead, having failed to answer time and again (fetch.circuit_failures)"

func (x *exchange) fetched(ctx context.Context, a *httpclient.Response, out pipeline.Emitter) error {
	x.count("pages")
	x.env.Counter("bytes").Add(int64(len(a.Body)))
	truncated := a.Truncated != ""
	if truncated {
		x.count("truncated")
		webrace.SetTruncation(a.Header, a.Truncated)
	}
	switch {
	case errors.Is(a.Broken, httpclient.ErrIncomplete):
		x.count("incomplete")
	case a.Broken != nil:
		x.count("undecodable")
	}
	if a.Broken != nil {
		a.Header.Set(webrace.UndecodedField, a.Broken.Error())
	}
	expires := expiry(a.Header, a.At)
	x.end(a, "", func(v *webrace.Visit) {
		receive(v, a.Header, a.At)
		v.Expires, v.Likeness, v.Titled = expires, 0, 0
		if truncated { // a server must not confirm what is not all of it
			v.ForgetValidators()
			v.Expires = time.Time{}
		}
	})
	d := x.document(a)
	d.Outcome, d.Body, d.Truncated = webrace.Fetched, a.Body, truncated
	x.it.OnEnd(a.Detach())
	return out.Emit(ctx, x.it.With(d))
}

func (x *exchange) notModified(ctx context.Context, a *httpclient.Response, out pipeline.Emitter) error {
	x.count("not_modified")
	x.end(a, "", func(v *webrace.Visit) {
		confirm(v, a.Header)
		v.Expires = expiry(a.Header, v.At)
	})
	d := x.document(a)
	d.Outcome, d.Digest, d.Version = webrace.NotModified, x.req.Visit.Digest, x.req.Visit.Version
	return out.Emit(ctx, x.it.With(d))
}

func (x *exchange) document(a *httpclient.Response) *webrace.Document {
	if len(x.usage) > 0 {
		a.Header[webrace.UsageField] = x.usage
	}
	return &webrace.Document{
		URL: x.req.URL, Reach: x.req.Reach, From: x.req.From, Instead: x.req.Instead, Visit: x.req.Visit, Status: a.Status, Header: a.Header, Origin: a.Origin,
		At: a.At, Took: a.Took, MediaType: mediatype.Of(a.Header.Get("Content-Type")), Redirects: x.req.Redirects,
		Secret: x.req.Secret,
	}
}

func (x *exchange) redirected(ctx context.Context, a *httpclient.Response, out pipeline.Emitter) error {
	to, err := location(x.req.URL, a.Header)
	if err == nil {
		to, err = x.onward(to, a.Status)
	}
	if err != nil {
		x.count("bad_redirects")
		x.end(a, httpclient.StatusText(a.Status)+": "+err.Error(), nil)
		return nil
	}
	x.count("redirects")
	x.end(a, "", nil)
	again := x.sendsOthers(ctx, to)
	if isPermanent(a.Status) && !again {
		if err := x.emitGone(ctx, httpclient.StatusText(a.Status)+" to "+to, a.At, out); err != nil {
			return err
		}
	}
	return out.EmitTo(ctx, portRedirects, x.it.With(&webrace.Links{
		From: x.req.URL, Reach: x.req.Reach, Via: webrace.ViaRedirect, Redirects: x.req.Redirects + 1,
		Permanent: isPermanent(a.Status), Again: again, URLs: []string{to},
	}))
}

// isPermanent reports whether a redirect declares that it is for good.
func isPermanent(status int) bool {
	return status == http.StatusMovedPermanently || status == http.StatusPermanentRedirect
}

// end frees the host and records a completed request. What else it teaches is learned last.
func (x *exchange) end(a *httpclient.Response, failure string, more func(*webrace.Visit)) {
	if x.circuits.answered(x.target.Host) {
		x.count("circuits_closed")
	}
	report := x.withSecret(x.hostPolicy(a.Origin, a.Took, x.crawlDelay, time.Now()))
	if failure == "" && (a.Body != nil || a.Status == http.StatusNotModified) {
		report.Documents, report.Bytes = 1, int64(len(a.Body))
	}
	report.Redirect = failure == "" && isRedirect(a)
	x.release(report)
	at, status := a.At, a.Status // nothing here may keep the body
	x.it.Learn(webrace.Learned(func(v *webrace.Visit) {
		v.At, v.Status, v.Error, v.Expires, v.Links = at, status, failure, time.Time{}, nil
		if more != nil {
			more(v)
		}
	}))
}

// release tells the queue that the host is free, and how it wants to be treated.
func (x *exchange) release(report webrace.HostReport) {
	x.endTurn(report)
	report.URL, report.Secret = x.req.URL, x.req.Secret
	x.it.Release(report)
}

// fail deals with a request that got no answer.
func (x *exchange) fail(ctx context.Context, err error) error {
	var refused *netguard.RefusedError
	var anonymous *httpclient.ContactError
	var fault *httpclient.TLSFault
	var family *httpclient.FamilyError
	var busy *busyError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &busy):
		return x.postpone(busy.answer)
	case errors.As(err, &refused):
		x.noteRefusal("address", "the address is outside the public Internet", err)
		return x.refuse("address_refused", err.Error())
	case errors.As(err, &anonymous):
		x.noteRefusal("contact", "a public server is not asked without a contact", err)
		return x.refuse("contact_refused", err.Error())
	case errors.As(err, &family):
		return x.refuse("family_refused", err.Error())
	case errors.As(err, &fault):
		return x.distrust(fault, err)
	}
	x.count("network_failures")
	if _, ofProxy := errors.AsType[*httpclient.ProxyError](err); ofProxy {
		x.count("proxy_failures")
	}
	now := time.Now()
	report := x.hostPolicy(httpclient.FailedAddress(err), now.Sub(x.began), x.crawlDelay, now)
	report.Parallel = 0 // nothing was learned about that
	x.failed(&report, now)
	x.release(report)
	return pipeline.Retry(fmt.Errorf("fetch %s: %w", x.req.URL, err), now.Add(x.options.backoff(x.attempts())))
}

// distrust ends a request to a host with which no secure connection can be made. The next round asks anew.
func (x *exchange) distrust(fault *httpclient.TLSFault, err error) error {
	x.count("tls_failures")
	x.noteRefusal("tls", "no secure connection can be made", err)
	report := webrace.HostReport{}
	if now := time.Now(); fault.Asked {
		report.NotBefore = now.Add(time.Duration(x.options.Delay))
	}
	x.release(report)
	x.learnRefusal(err.Error())
	return nil
}

// refuse ends a request that was not made, for good: asking again would change nothing.
func (x *exchange) refuse(counter, because string) error {
	x.count(counter)
	x.release(webrace.HostReport{})
	x.learnRefusal(because)
	return nil
}

func (x *exchange) learnRefusal(because string) {
	x.it.Learn(webrace.Learned(func(v *webrace.Visit) { v.Error, v.Refused = because, true }))
}

// noteRefusal is warn for why a URL gives no document. A run with an end tells of those when it has ended, so that its
// log does so only where more is wanted.
func (x *exchange) noteRefusal(kind, what string, err error) {
	level := slog.LevelDebug
	if x.env.Continuous {
		level = slog.LevelWarn
	}
	x.logOnce(level, kind, what, err)
}

// warn logs once for each host what is wrong there, and with it what would help.
func (x *exchange) warn(kind, what string, err error) { x.logOnce(slog.LevelWarn, kind, what, err) }

func (x *exchange) logOnce(level slog.Level, kind, what string, err error) {
	if x.warned.First(kind + " " + x.target.Host) {
		x.env.Logger.Log(context.Background(), level, what, "host", x.target.Host, "error", err)
	}
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
