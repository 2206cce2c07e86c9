package fetch

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/webrace/webrace/internal/contentcoding"
	"github.com/webrace/webrace/internal/netguard"
)

// placeholder is in the user agent of whoever has not said who they are.
const placeholder = "example.org/contact"

// drainable is how much of an unwanted body is read to be able to use the connection again.
const drainable = 16 << 10

// client makes requests that follow no redirects, keep no cookies and know no proxies, by HTTP/1.1. Its
// connections are its own: one that is kept alive is not checked again, so those of clients with
// different lists of admitted networks must not mix.
type client struct {
	transport *http.Transport
	dialer    *dialer
	timeout   time.Duration
	fields    http.Header // of every request; the values are shared
	close     func()      // ends dialling, and closes what is idle
}

func newClient(o Options, guard *netguard.Guard, workers int) *client {
	closed, cancel := context.WithCancel(context.Background())
	d := newDialer(o, guard, closed)
	var http1 http.Protocols
	http1.SetHTTP1(true)
	t := &http.Transport{
		DialContext:            d.dial,
		Protocols:              &http1,
		DisableCompression:     true,
		ReadBufferSize:         16 << 10,
		TLSHandshakeTimeout:    time.Duration(o.ConnectTimeout),
		ResponseHeaderTimeout:  time.Duration(o.HeaderTimeout),
		MaxResponseHeaderBytes: int64(o.MaxHeader),
		MaxIdleConns:           o.IdleConnections,
		MaxIdleConnsPerHost:    max(1, min(workers, o.IdleConnections)),
		IdleConnTimeout:        30 * time.Second,
		DisableKeepAlives:      o.IdleConnections == 0, // MaxIdleConns takes 0 for no limit
	}
	fields := http.Header{
		"User-Agent":      {o.UserAgent},
		"Accept":          {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"},
		"Accept-Encoding": {contentcoding.Accepted},
	}
	if o.From != "" {
		fields["From"] = []string{o.From}
	}
	if o.AcceptLanguage != "" {
		fields["Accept-Language"] = []string{o.AcceptLanguage}
	}
	return &client{
		transport: t, dialer: d, timeout: time.Duration(o.Timeout), fields: fields,
		close: func() { cancel(); t.CloseIdleConnections() },
	}
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
	broken    error // the body cannot be decoded
}

// release gives the body back, unless somebody took it.
func (a *answer) release() {
	a.body.free()
	a.body = nil
}

// get makes one request, and reads the body of a success, decompressed, up to a limit. The error is of
// the network, or of the context.
func (c *client) get(ctx context.Context, t target, conditions http.Header, limit int) (*answer, error) {
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	a, err := c.exchange(limited, t, conditions, limit)
	switch {
	case err == nil:
		return a, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, fmt.Errorf("no complete answer within %v (option timeout)", c.timeout)
	}
	return nil, err
}

func (c *client) exchange(ctx context.Context, t target, conditions http.Header, limit int) (*answer, error) {
	a := &answer{}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		a.origin = addressOf(info.Conn.RemoteAddr())
	}})
	request := &http.Request{Method: http.MethodGet, URL: t.requestURL(), Host: t.host, Header: make(http.Header, 8)}
	for name, values := range c.fields {
		request.Header[name] = values
	}
	for name, values := range conditions {
		request.Header[name] = values
	}
	began := time.Now()
	response, err := c.transport.RoundTrip(request.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	a.at, a.status, a.header = time.Now(), response.StatusCode, response.Header
	if contentcoding.HasDocument(a.status) {
		err = a.read(response, limit)
	} else {
		drain(response)
	}
	a.took = time.Since(began)
	return a, err
}

// addressOf returns the address of an end of a connection.
func addressOf(addr net.Addr) netip.Addr {
	if tcp, ok := addr.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

// dialer connects to hosts by name, to none but the addresses that it may.
type dialer struct {
	net     net.Dialer
	names   *names
	timeout time.Duration
	closed  context.Context // ends what is being dialled
}

func newDialer(o Options, guard *netguard.Guard, closed context.Context) *dialer {
	anonymous := strings.Contains(o.UserAgent, placeholder)
	return &dialer{
		names: newNames(net.DefaultResolver), timeout: time.Duration(o.ConnectTimeout), closed: closed,
		net: net.Dialer{Control: func(network, address string, c syscall.RawConn) error {
			if err := guard.Control(network, address, c); err != nil {
				return err
			}
			if target, err := netip.ParseAddrPort(address); err != nil || anonymous && !guard.Admitted(target.Addr()) {
				return &contactError{target.Addr()}
			}
			return nil
		}},
	}
}

// contactError says that a public server is not asked by somebody who does not say who they are.
type contactError struct{ addr netip.Addr }

func (e *contactError) Error() string {
	return fmt.Sprintf("refused to ask the public address %s: the user agent names no contact (to name one: "+
		"WEBRACE_CONTACT=… or --set fetch.user_agent=…)", e.addr)
}

// dial tries the host's addresses one after the other, each for its share of the time.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	stop := context.AfterFunc(d.closed, cancel)
	defer stop()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	addrs, err := d.names.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	var failure error
	deadline, _ := ctx.Deadline()
	for i, addr := range addrs {
		share := time.Until(deadline) / time.Duration(len(addrs)-i)
		conn, err := d.dialOne(ctx, network, net.JoinHostPort(addr.String(), port), share)
		if err == nil {
			return conn, nil
		}
		if failure == nil || isRefusal(failure) { // what is refused matters only if nothing else is there
			failure = err
		}
	}
	return nil, failure
}

func (d *dialer) dialOne(ctx context.Context, network, address string, within time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return d.net.DialContext(ctx, network, address)
}
