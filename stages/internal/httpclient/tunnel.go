package httpclient

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	socks "golang.org/x/net/proxy"
)

// tunneller connects to hosts through a proxy. It looks their names up itself and tells the proxy an address
// that was checked, unless names are left to the proxy.
type tunneller struct {
	*dialer
	proxy     *proxy
	secure    *tls.Config // to the proxy, if it is an https one
	userAgent string
	maxHeader int64
}

// tunnel is a connection through a proxy. What is at its far end is the host.
type tunnel struct {
	net.Conn
	host netip.Addr // zero if only the proxy knows it
}

// RemoteAddr returns the host's address, without a port; an empty one if it is not known.
func (t *tunnel) RemoteAddr() net.Addr { return &net.TCPAddr{IP: t.host.AsSlice()} }

// dialProxy connects to the proxy itself.
func (d *tunneller) dialProxy(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, end := d.within(ctx)
	defer end()
	conn, err := d.connect(ctx, network, address, d.proxy.guard.Control)
	if err != nil {
		return nil, &ProxyError{fmt.Errorf("connect to it: %w", err), !errors.Is(err, context.Canceled)}
	}
	return conn, nil
}

// dial connects to a host through the proxy.
func (d *tunneller) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, end := d.within(ctx)
	defer end()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if d.leaves(host) {
		if err := d.mayLeave(); err != nil {
			return nil, err
		}
		conn, err := d.open(ctx, network, address)
		return d.tunnelTo(conn, netip.Addr{}), err
	}
	good, refused, err := d.addresses(ctx, host)
	switch {
	case err != nil:
		return nil, err
	case len(good) == 0:
		return nil, refused
	}
	return d.tryEach(ctx, good, func(ctx context.Context, addr netip.Addr) (net.Conn, error) {
		conn, err := d.open(ctx, network, net.JoinHostPort(addr.String(), port))
		return d.tunnelTo(conn, addr), err
	})
}

func (d *tunneller) tunnelTo(conn net.Conn, host netip.Addr) net.Conn {
	if conn == nil {
		return nil
	}
	return &tunnel{conn, host}
}

// leaves reports whether a host is a name that is left to the proxy, so that its address will not be known.
func (d *tunneller) leaves(host string) bool {
	_, err := netip.ParseAddr(host)
	return err != nil && d.proxy.resolves
}

// mayLeave refuses what may be a public server to an operator who does not tell who they are.
func (d *tunneller) mayLeave() error {
	if d.anonymous {
		return &ContactError{}
	}
	return nil
}

// addresses returns those of a host's addresses that may be asked, and why one may not that is among them.
func (d *tunneller) addresses(ctx context.Context, host string) (good []netip.Addr, refused, err error) {
	addrs, err := d.names.resolve(ctx, host)
	for _, addr := range addrs {
		if no := d.admit(addr); no == nil {
			good = append(good, addr)
		} else if refused == nil {
			refused = no
		}
	}
	return good, refused, err
}

// check returns the address of a host that the proxy will look up once more, because a request that is
// forwarded holds the name. So none of its addresses may be one that is refused. Zero is not known.
func (d *tunneller) check(ctx context.Context, t Target) (netip.Addr, error) {
	ctx, end := d.within(ctx)
	defer end()
	host, _ := t.hostPort()
	if d.leaves(host) {
		return netip.Addr{}, d.mayLeave()
	}
	good, refused, err := d.addresses(ctx, host)
	if err = cmp.Or(err, refused); err != nil {
		return netip.Addr{}, err
	}
	return good[0], nil
}

// open asks the proxy for a connection to an address.
func (d *tunneller) open(ctx context.Context, network, address string) (net.Conn, error) {
	if d.proxy.socks() {
		return d.openSOCKS(ctx, network, address)
	}
	conn, err := d.dialProxy(ctx, network, d.proxy.url.Host)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	through := conn
	if d.proxy.url.Scheme == "https" {
		secured := tls.Client(conn, d.secure)
		if err = secured.HandshakeContext(ctx); err != nil {
			err = &ProxyError{fmt.Errorf("secure the connection to it: %w", err), ctx.Err() == nil}
		}
		through = secured
	}
	if err == nil {
		err = d.ask(through, address)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return through, nil
}

// ask makes a CONNECT request (RFC 9110, section 9.3.6).
func (d *tunneller) ask(conn net.Conn, address string) error {
	request := &http.Request{
		Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address,
		Header: http.Header{"User-Agent": {d.userAgent}},
	}
	if auth := d.proxy.authorization(); auth != "" {
		request.Header["Proxy-Authorization"] = []string{auth}
	}
	if err := request.Write(conn); err != nil {
		return &ProxyError{fmt.Errorf("ask it: %w", err), true}
	}
	in := bufio.NewReader(io.LimitReader(conn, d.maxHeader))
	response, err := http.ReadResponse(in, request)
	if err != nil {
		return &ProxyError{fmt.Errorf("read its answer: %w", err), !errors.Is(err, os.ErrDeadlineExceeded)}
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return refusedBy(response.StatusCode)
	}
	if in.Buffered() > 0 { // the host has been told nothing yet that it could answer
		return &ProxyError{errors.New("it sends more than an answer"), true}
	}
	return nil
}

// openSOCKS asks a SOCKS5 proxy (RFC 1928).
func (d *tunneller) openSOCKS(ctx context.Context, network, address string) (net.Conn, error) {
	var auth *socks.Auth
	if user := d.proxy.url.User; user != nil {
		password, _ := user.Password()
		auth = &socks.Auth{User: user.Username(), Password: password}
	}
	dialer, err := socks.SOCKS5(network, d.proxy.url.Host, auth, toProxy{d})
	if err != nil {
		return nil, &ProxyError{err, true}
	}
	conn, err := dialer.(socks.ContextDialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, &ProxyError{err, isDeadSOCKS(err)}
	}
	return conn, nil
}

// isDeadSOCKS reports whether an error is of the proxy, and not one that it reports of the host that it was to connect
// to. The library tells the two by words alone.
func isDeadSOCKS(err error) bool {
	if inner, ok := errors.AsType[*ProxyError](err); ok {
		return inner.dead
	}
	text := err.Error()
	return strings.Contains(text, "authentication") || strings.Contains(text, "unexpected protocol version") || errors.Is(err, io.EOF)
}

// reach connects to the proxy, and reports why it cannot.
func (d *tunneller) reach(ctx context.Context) error {
	conn, err := d.dialProxy(ctx, "tcp", d.proxy.url.Host)
	if err != nil {
		return err
	}
	defer conn.Close()
	if d.proxy.url.Scheme != "https" {
		return nil
	}
	ctx, end := d.within(ctx)
	defer end()
	return tls.Client(conn, d.secure).HandshakeContext(ctx)
}

// toProxy connects a SOCKS client to its proxy.
type toProxy struct{ *tunneller }

func (d toProxy) Dial(network, address string) (net.Conn, error) {
	return d.dialProxy(context.Background(), network, address)
}

func (d toProxy) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return d.dialProxy(ctx, network, address)
}
