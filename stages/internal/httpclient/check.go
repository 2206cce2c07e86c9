package httpclient

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/webrace/webrace/pipeline"
)

// Check finds out whether what stands between the client and the hosts is there: the proxy, the servers of
// names, and a certificate that holds today. Files and secrets were read when the client was made. No host is
// asked for anything.
func (c *Client) Check(ctx context.Context) error {
	return errors.Join(c.checkProxies(ctx), c.checkDNS(ctx), c.checkCertificate(time.Now()))
}

// checkProxies connects to each proxy. Whether it takes the credentials is not known before it is asked for a
// host.
func (c *Client) checkProxies(ctx context.Context) error {
	var failures []error
	for _, tunnel := range c.transports.proxies.tunnels {
		if err := tunnel.reach(ctx); err != nil {
			failures = append(failures, &pipeline.OptionError{Option: tunnel.proxy.option, Err: err})
		}
	}
	return errors.Join(failures...)
}

// checkDNS asks each server for a name that it knows without asking others (RFC 6761, section 6.3).
func (c *Client) checkDNS(ctx context.Context) error {
	servers, err := parseServers(c.transports.options.DNSServers)
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

// checkCertificate checks that the certificate that is shown to hosts holds at a time.
func (c *Client) checkCertificate(now time.Time) error {
	for _, pair := range c.transports.trust.certificate {
		leaf := pair.Leaf
		switch {
		case leaf == nil:
		case now.After(leaf.NotAfter):
			return &pipeline.OptionError{Option: "client_cert", Err: fmt.Errorf("%s has expired on %s", c.transports.options.ClientCert, leaf.NotAfter.Format(time.DateOnly))}
		case now.Before(leaf.NotBefore):
			return &pipeline.OptionError{Option: "client_cert", Err: fmt.Errorf("%s holds from %s on", c.transports.options.ClientCert, leaf.NotBefore.Format(time.DateOnly))}
		}
	}
	return nil
}
