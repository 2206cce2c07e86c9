package httpclient

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"

	"golang.org/x/net/http2"

	"github.com/webrace/webrace/stages/internal/httpwire"
)

// dialWith makes a transport connect by dial, and read what servers answer by HTTP/1 through [httpwire].
func dialWith(t *http.Transport, dial func(ctx context.Context, network, address string) (net.Conn, error), maxHeader int) {
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return httpwire.New(conn, maxHeader), nil
	}
	t.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		secured, err := handshake(ctx, conn, address, t)
		switch {
		case err != nil:
			conn.Close()
			return nil, err
		case secured.ConnectionState().NegotiatedProtocol == http2.NextProtoTLS: // the transport has to see that
			return secured, nil
		}
		return httpwire.New(secured, maxHeader), nil
	}
}

var errSlowHandshake = errors.New("TLS handshake timeout (option connect_timeout)")

// handshake secures a connection as a transport does by itself, which then lets nothing read before it.
func handshake(ctx context.Context, conn net.Conn, address string, t *http.Transport) (*tls.Conn, error) {
	config := t.TLSClientConfig.Clone()
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(address)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, t.TLSHandshakeTimeout, errSlowHandshake)
	defer cancel()
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	return secured, nil
}
