// Package httpclient makes the requests of a crawler, and is the only place of the system that touches the web for
// documents.
//
// It guarantees: no connection is made to an address that internal/netguard refuses, nor to any public one while the
// user agent names no contact, through a proxy or not; whatever a server does, a request ends within the limits of
// time and size that the options set. It follows no redirects, keeps no cookies, and knows nothing of robots.txt or
// of how often a host may be asked: stage fetch does, and through it, as a [SubresourceFetcher], stage render.
package httpclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/contentcoding"
	"github.com/webrace/webrace/internal/lru"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/httpwire"
	"github.com/webrace/webrace/stages/internal/netguard"
)

// Accept is what is asked for unless the options set it: pages first.
const Accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

// drainable is how much of an unwanted body is read to be able to use the connection again.
const drainable = 16 << 10

// Config is what a client is made of. The options are valid.
type Config struct {
	UserAgent      string
	Anonymous      bool     // the user agent names no contact
	From           string   // sent if it is not empty, like AcceptLanguage
	Accept         string   // the media types wanted; [Accept] if it is empty
	AcceptLanguage string   // the languages wanted
	AllowNetworks  []string // addresses outside the public Internet that may be asked
	Sign           Sign     // nil: requests are not signed

	ConnectTimeout  time.Duration // of looking up and connecting, and then of the TLS handshake
	HeaderTimeout   time.Duration // of the wait for the header of a response
	Timeout         time.Duration // of a whole request
	MaxHeader       int64         // the largest header of a response
	IdleConnections int           // kept open between requests

	Options
}

// Client makes requests that follow no redirects and keep no cookies. Its connections are its own: one
// that is kept alive is not checked again, so those of clients with different lists of admitted networks
// must not mix.
type Client struct {
	transports *transports
	dialer     *dialer
	env        *pipeline.Env
	warned     *WarnOnce
	faults     tlsFaults
	timeout    time.Duration
	paces      paces
	fields     http.Header // of every request; the values are shared
	byHost     []hostFields
	sign       Sign
	end        func() // ends dialling
}

// New returns a client, which has to be closed.
func New(o Config, guard *netguard.Guard, env *pipeline.Env) (*Client, error) {
	trust, err := newTrust(o.TLSOptions)
	proxies, wrong := newProxies(o, env)
	if err = errors.Join(err, wrong); err != nil {
		return nil, err
	}
	closed, cancel := context.WithCancel(context.Background())
	d := newDialer(o, guard, func(counter string) { env.Counter(counter).Add(1) }, closed)
	fields := http.Header{
		"User-Agent":      {o.UserAgent},
		"Accept":          {cmp.Or(o.Accept, Accept)},
		"Accept-Encoding": {contentcoding.Accepted},
	}
	if o.From != "" {
		fields["From"] = []string{o.From}
	}
	if o.AcceptLanguage != "" {
		fields["Accept-Language"] = []string{o.AcceptLanguage}
	}
	return &Client{
		transports: newTransports(o, env, d, trust, proxies), dialer: d, env: env, warned: NewWarnOnce(), faults: tlsFaults{lru.New[rememberedFault](maxHosts, nil)},
		timeout: o.Timeout, paces: paces{options: o.PaceOptions}, fields: fields, byHost: newHostFields(o.HeaderOptions), sign: o.Sign, end: cancel,
	}, nil
}

// Close gives up connections that are being made, and closes those that are idle. It may be called twice.
func (c *Client) Close() {
	c.end()
	c.transports.proxies.trials.Wait()
	c.transports.closeIdle()
}

// SetResolver has names looked up by r alone.
func (c *Client) SetResolver(r Resolver) { c.dialer.names.resolver = r }

// Response is what a server answered.
type Response struct {
	Status    int
	Header    http.Header
	Origin    netip.Addr
	At        time.Time
	Took      time.Duration
	Body      []byte             // decompressed, of a success; nil otherwise. It is the client's again after Release
	Truncated webrace.Truncation // why the body is not whole; "" if it is
	Broken    error              // why the body is not decoded, or not to its end
	Ignored   bool               // the body is of a type that is not taken, and was not read

	buffer *buffer // that holds the body
}

// Release gives the body back, unless it was detached.
func (a *Response) Release() {
	a.buffer.free()
	a.buffer, a.Body = nil, nil
}

// Detach leaves the body to the caller, who calls free instead of Release when it is not used any more.
func (a *Response) Detach() (free func()) {
	free = a.buffer.free
	a.buffer = nil
	return free
}

// Get makes one request, with fields besides those of all, and reads the body of a success, decompressed, up to a
// limit. The error is of the network, or of the context.
func (c *Client) Get(ctx context.Context, t Target, fields http.Header, limit int) (a *Response, err error) {
	defer func() { t.Memory.settle(a) }()
	if t.Scheme == "https" {
		if err := c.faults.of(t.Host); err != nil {
			return nil, err
		}
	}
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	watch := newStopwatch(c.timeout, cancel)
	defer watch.stop()
	a, err = c.exchange(limited, cancel, watch, t, fields, limit)
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
	if fault, ok := errors.AsType[*TLSFault](err); ok {
		c.faults.remember(t.Host, fault)
	}
	return nil, err
}

// exchange makes the request and takes the answer. What ends its context is giveUp.
func (c *Client) exchange(ctx context.Context, giveUp func(), watch *stopwatch, t Target, fields http.Header, limit int) (*Response, error) {
	a := &Response{}
	began := time.Now()
	response, err := c.ask(ctx, t, fields, a)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.ProtoMajor == 2 {
		c.env.Counter("http2").Add(1)
	}
	a.At, a.Status, a.Header = time.Now(), response.StatusCode, response.Header
	delete(a.Header, webrace.UndecodedField) // which tells what happened here, as the others do
	delete(a.Header, webrace.UsageField)
	delete(a.Header, webrace.MainField)
	webrace.SetTruncation(a.Header, "")
	switch a.Ignored = t.ignores(a); {
	case contentcoding.HasDocument(a.Status) && !a.Ignored:
		pace := c.paces.watch(response.Body, giveUp)
		response.Body, watch.pace = pace, pace
		keep := func() bool { return t.KeepIncomplete && ctx.Err() == nil }
		err = a.read(response, limit, keep, func(bytes int) error {
			if t.Memory.has(bytes) {
				return nil
			}
			return watch.during(func() error { return t.Memory.extend(bytes) })
		})
		watch.pace = nil
		if slow := pace.stop(); slow && err != nil {
			err = &slowError{c.paces.options.MinRate}
		}
	case a.Ignored && response.ContentLength < 0: // how much there is, is not known
	default:
		patience := time.AfterFunc(drainPatience, giveUp)
		drain(response)
		patience.Stop()
	}
	a.Took = time.Since(began)
	return a, err
}

// ask makes the request, and notes who answers. A proxy that is no use leaves it to another, if there are several.
func (c *Client) ask(ctx context.Context, t Target, fields http.Header, a *Response) (*http.Response, error) {
	proxies := c.transports.proxies
	for tried := uint64(0); ; {
		by, err := proxies.of(t, tried)
		if err != nil {
			return nil, err
		}
		response, err := c.askBy(ctx, by, t, fields, a)
		if again := proxies.ended(by, err); !again || ctx.Err() != nil {
			return response, err
		}
		tried |= 1 << by.number
		if bits.OnesCount64(tried) == len(proxies.all) {
			return nil, err
		}
	}
}

// askBy makes the request through a proxy, or none.
func (c *Client) askBy(ctx context.Context, by *choice, t Target, fields http.Header, a *Response) (*http.Response, error) {
	transport, way, err := c.transport(t, by)
	if err != nil {
		return nil, err
	}
	url := t.requestURL()
	if way == forwarded {
		url.Opaque = "//" + t.Host + t.Path
		if a.Origin, err = c.transports.proxies.tunnels[by.number].check(ctx, t); err != nil {
			return nil, err
		}
	}
	header, err := c.signed(ctx, t, fields)
	if err != nil {
		return nil, err
	}
	reused, connections := false, 0
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		reused = info.Reused
		if connections++; connections > 1 {
			c.repeat(ctx, info, t, header)
		}
		if way != forwarded {
			a.Origin = addressOf(info.Conn.RemoteAddr())
		}
	}})
	request := emptyRequest.WithContext(ctx)
	request.Method, request.URL, request.Host, request.Header = cmp.Or(t.Method, http.MethodGet), url, t.Host, header
	t.carry(request)
	response, err := transport.RoundTrip(request)
	if err != nil {
		if reused { // the server may have forgotten it, and others: the next request gets a new one
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

// repeat prepares for another connection what a transport is about to send again: HTTP/1 that has ended without an
// answer, which the server may have read. What has failed is written no more, so that the fields may change.
func (c *Client) repeat(ctx context.Context, info httptrace.GotConnInfo, t Target, header http.Header) {
	if _, isHTTP1 := info.Conn.(*httpwire.Conn); !isHTTP1 {
		return // by HTTP/2, what is sent again was not processed
	}
	refuseReused(info)
	if c.sign != nil {
		_ = c.sign(ctx, header, t.Scheme, t.Host) // without a key the request goes as it was
	}
}

// refuseReused closes a connection that was used before, so that the request goes on to a new one. A transport makes a
// request again whose connection ended without an answer, on each connection to the host that nothing uses: a server
// that hangs up would be asked as often.
func refuseReused(info httptrace.GotConnInfo) {
	if info.Reused {
		info.Conn.Close()
	}
}

// emptyRequest is there to be copied: a request is given its context by copying it.
var emptyRequest = new(http.Request)

// transport returns what makes requests to a target's host, and by which way. That a host's certificate is
// not checked is said once.
func (c *Client) transport(t Target, by *choice) (*http.Transport, via, error) {
	k := c.transports.kindOf(t, by)
	if k.insecure && c.warned.First("insecure "+t.Host) {
		c.env.Logger.Warn("the certificate of the host is not checked (option insecure_hosts)", "host", t.Host)
	}
	made, err := c.transports.of(k)
	return made, k.via, err
}

// header returns the fields of a request to a target with further ones. A transport does not change them.
func (c *Client) header(t Target, further http.Header) http.Header {
	forHost := c.forHost(t)
	if len(further) == 0 && len(forHost) == 0 {
		return c.fields
	}
	all := make(http.Header, len(c.fields)+len(forHost)+len(further))
	maps.Copy(all, c.fields)
	maps.Copy(all, forHost)
	maps.Copy(all, further)
	return all
}

// explain adds whose fault an error is that came instead of an answer.
func explain(t Target, way via, err error) error {
	if t.Scheme == "https" {
		return asTLSFault(t.Host, err)
	}
	var dialling *net.OpError
	if way == forwarded && errors.As(err, &dialling) && dialling.Op == "proxyconnect" {
		return &ProxyError{err, !errors.Is(err, context.Canceled)}
	}
	return err
}
