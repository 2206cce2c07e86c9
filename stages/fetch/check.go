package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/webrace/webrace/pipeline"
)

var _ pipeline.Checker = (*stage)(nil)

// Check finds out whether what stands between the stage and the hosts is there: the proxy, the servers of
// names, and a certificate that holds today. Files and secrets were read when the stage was made. No host is
// asked for anything.
func (s *stage) Check(ctx context.Context) error {
	return errors.Join(s.checkProxy(ctx), s.checkDNS(ctx), s.checkCertificate(time.Now()))
}

// checkProxy connects to the proxy. Whether it takes the credentials is not known before it is asked for a
// host.
func (s *stage) checkProxy(ctx context.Context) error {
	tunnel := s.client.transports.tunnel
	if tunnel.proxy == nil {
		return nil
	}
	conn, err := tunnel.dialProxy(ctx, "tcp", tunnel.proxy.url.Host)
	if err == nil {
		defer conn.Close()
		if tunnel.proxy.url.Scheme == "https" {
			ctx, end := tunnel.within(ctx)
			defer end()
			err = tls.Client(conn, tunnel.secure).HandshakeContext(ctx)
		}
	}
	if err != nil {
		return &pipeline.OptionError{Option: "proxy", Err: err}
	}
	return nil
}

// checkDNS asks each server for a name that it knows without asking others (RFC 6761, section 6.3).
func (s *stage) checkDNS(ctx context.Context) error {
	servers, err := parseServers(s.options.DNSServers)
	if err != nil {
		return err
	}
	var failures []error
	for _, server := range servers {
		if _, err := askServer(ctx, server, dnsmessage.MustNewName("localhost."), dnsmessage.TypeA); err != nil {
			failures = append(failures, &pipeline.OptionError{Option: "dns_servers", Err: fmt.Errorf("ask %s: %w", server, err)})
		}
	}
	return errors.Join(failures...)
}

// checkCertificate says whether the certificate that is shown to hosts holds at a time.
func (s *stage) checkCertificate(now time.Time) error {
	for _, pair := range s.client.transports.trust.certificate {
		leaf := pair.Leaf
		switch {
		case leaf == nil:
		case now.After(leaf.NotAfter):
			return &pipeline.OptionError{Option: "client_cert", Err: fmt.Errorf("%s has expired on %s", s.options.ClientCert, leaf.NotAfter.Format(time.DateOnly))}
		case now.Before(leaf.NotBefore):
			return &pipeline.OptionError{Option: "client_cert", Err: fmt.Errorf("%s holds from %s on", s.options.ClientCert, leaf.NotBefore.Format(time.DateOnly))}
		}
	}
	return nil
}
