package fetch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/contentcoding"
	"github.com/webrace/webrace/internal/netguard"
	"github.com/webrace/webrace/pipeline"
)

// drainable is how much of an unwanted body is read to be able to use the connection again.
const drainable = 16 << 10

// client makes requests that follow no redirects and keep no cookies. Its connections are its own: one
// that is kept alive is not checked again, so those of clients with different lists of admitted networks
// must not mix.
type client struct {
	transports *transports
	dialer     *dialer
	env        *pipeline.Env
	warned     *onceEach
	faults     tlsFaults
	timeout    time.Duration
	paces      paces
	fields     http.Header // of every request; the values are shared
	close      func()      // ends dialling, and closes what is idle
}

func newClient(o Options, guard *netguard.Guard, env *pipeline.Env) (*client, error) {
	trust, err := newTrust(o.TLSOptions)
	proxy, wrong := newProxy(o, env)
	if err = errors.Join(err, wrong); err != nil {
		return nil, err
	}
	closed, cancel := context.WithCancel(context.Background())
	d := newDialer(o, guard, func(counter string) { env.Counter(counter).Add(1) }, closed)
	fields := http.Header{
		"User-Agent":      {o.UserAgent},
		"Accept":          {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"},
		"Accept-Encoding": {contentcoding.Accepted},
	}
	if from := o.sender(); from != "" {
		fields["From"] = []string{from}
	}
	if o.AcceptLanguage != "" {
		fields["Accept-Language"] = []string{o.AcceptLanguage}
	}
	c := &client{
		transports: newTransports(o, env.Workers, d, trust, proxy), dialer: d, env: env, warned: newOnceEach(),
		timeout: time.Duration(o.Timeout), paces: paces{options: o.PaceOptions}, fields: fields,
	}
	c.close = func() { cancel(); c.transports.closeIdle() }
	return c, nil
}

// answer is what a server said.
type answer struct {
	status    int
	header    http.Header
	origin    netip.Addr
	at        time.Time
	took      time.Duration
	body      *buffer // of a success; nil otherwise
	truncated bool
	broken    error // why the body is not decoded, or not to its end
	ignored   bool  // the body is of a type that is not taken, and was not read
}

// release gives the body back, unless somebody took it.
func (a *answer) release() {
	a.body.free()
	a.body = nil
}

// get makes one request, and reads the body of a success, decompressed, up to a limit. The error is of
// the network, or of the context.
func (c *client) get(ctx context.Context, t target, conditions http.Header, limit int) (*answer, error) {
	if t.scheme == "https" {
		if err := c.faults.of(t.host); err != nil {
			return nil, err
		}
	}
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	watch := newStopwatch(c.timeout, cancel)
	defer watch.stop()
	a, err := c.exchange(limited, cancel, watch, t, conditions, limit)
	slow, _ := errors.AsType[*slowError](err)
	switch {
	case err == nil:
		return a, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case slow != nil:
		c.env.Counter("too_slow").Add(1)
		return nil, slow
	case limited.Err() != nil:
		return nil, fmt.Errorf("no complete answer within %v (option timeout)", c.timeout)
	}
	if fault, ok := errors.AsType[*tlsFault](err); ok {
		c.faults.remember(t.host, fault)
	}
	return nil, err
}

// transport returns what makes requests to a target's host, and by which way. That a host's certificate is
// not checked is said once.
func (c *client) transport(t target) (*http.Transport, via, error) {
	k := c.transports.kindOf(t)
	if k.insecure && c.warned.first("insecure "+t.host) {
		c.env.Logger.Warn("the certificate of the host is not checked (option insecure_hosts)", "host", t.host)
	}
	made, err := c.transports.of(k)
	return made, k.via, err
}

// exchange makes the request and takes the answer. What ends its context is giveUp.
func (c *client) exchange(ctx context.Context, giveUp func(), watch *stopwatch, t target, conditions http.Header, limit int) (*answer, error) {
	a := &answer{}
	began := time.Now()
	response, err := c.ask(ctx, t, conditions, a)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.ProtoMajor == 2 {
		c.env.Counter("http2").Add(1)
	}
	a.at, a.status, a.header = time.Now(), response.StatusCode, response.Header
	delete(a.header, webrace.UndecodedField) // which says what happened here
	switch a.ignored = t.ignores(a); {
	case contentcoding.HasDocument(a.status) && !a.ignored:
		pace := c.paces.watch(response.Body, giveUp)
		response.Body, watch.pace = pace, pace
		err = a.read(response, limit, func(bytes int) error {
			if t.room.has(bytes) {
				return nil
			}
			return watch.during(func() error { return t.room.extend(bytes) })
		})
		watch.pace = nil
		if slow := pace.stop(); slow && err != nil {
			err = &slowError{c.paces.options.MinRate}
		}
	case a.ignored && response.ContentLength < 0: // who knows how much there is
	default:
		patience := time.AfterFunc(drainPatience, giveUp)
		drain(response)
		patience.Stop()
	}
	a.took = time.Since(began)
	return a, err
}

// ask makes the request, and notes who answers.
func (c *client) ask(ctx context.Context, t target, conditions http.Header, a *answer) (*http.Response, error) {
	transport, way, err := c.transport(t)
	if err != nil {
		return nil, err
	}
	url := t.requestURL()
	if way == forwarded {
		url.Opaque = "//" + t.host + t.path
		a.origin, err = c.transports.tunnel.check(ctx, t)
	}
	reused := false
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		reused = info.Reused
		if way != forwarded {
			a.origin = addressOf(info.Conn.RemoteAddr())
		}
	}})
	if err != nil {
		return nil, err
	}
	request := emptyRequest.WithContext(ctx)
	request.Method, request.URL, request.Host, request.Header = http.MethodGet, url, t.host, c.header(conditions)
	response, err := transport.RoundTrip(request)
	if err != nil {
		if reused { // the server may have forgotten it, and others: whoever asks again gets a new one
			transport.CloseIdleConnections()
		}
		return nil, explain(t, way, err)
	}
	if way == forwarded && response.StatusCode == http.StatusProxyAuthRequired {
		response.Body.Close()
		return nil, refusedBy(response.StatusCode)
	}
	return response, nil
}

// emptyRequest is there to be copied: a request is given its context by copying it.
var emptyRequest = new(http.Request)

// header returns the fields of a request with these conditions. A transport does not change them.
func (c *client) header(conditions http.Header) http.Header {
	if len(conditions) == 0 {
		return c.fields
	}
	all := make(http.Header, len(c.fields)+len(conditions))
	maps.Copy(all, c.fields)
	maps.Copy(all, conditions)
	return all
}

// explain says whose fault an error is that came instead of an answer.
func explain(t target, way via, err error) error {
	if t.scheme == "https" {
		return asTLSFault(t.host, err)
	}
	var dialling *net.OpError
	if way == forwarded && errors.As(err, &dialling) && dialling.Op == "proxyconnect" {
		return &proxyError{err}
	}
	return err
}
