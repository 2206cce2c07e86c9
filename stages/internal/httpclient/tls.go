package httpclient

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/webrace/webrace/pipeline"
)

// TLSOptions determine which certificates are believed, and which one is shown.
type TLSOptions struct {
	CAFile          string   `toml:"ca_file" doc:"a file of certificates (PEM) of authorities that are trusted besides those of the system"`
	InsecureHosts   []string `toml:"insecure_hosts" doc:"hosts whose certificates are not checked: www.example.org, *.example.org, 10.0.0.0/8"`
	TLSMinVersion   string   `toml:"tls_min_version" doc:"the oldest version of TLS that is spoken" enum:"1.0,1.1,1.2,1.3"`
	ClientCert      string   `toml:"client_cert" doc:"a file with the certificate (PEM) that is shown to the hosts of client_cert_hosts, with those between it and its authority"`
	ClientKey       string   `toml:"client_key" doc:"a file with the key (PEM) of client_cert"`
	ClientCertHosts []string `toml:"client_cert_hosts" doc:"hosts to which client_cert is shown if they ask for one; no other host sees it"`
}

// tlsSessions is how many sessions of each kind of connection are kept, which spare a handshake its costly
// half when a connection is made again.
const tlsSessions = 1024

var tlsVersions = map[string]uint16{"1.0": tls.VersionTLS10, "1.1": tls.VersionTLS11, "1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}

func (o TLSOptions) validate() error {
	if tlsVersions[o.TLSMinVersion] == 0 {
		return optionIsNone("tls_min_version", o.TLSMinVersion, slices.Sorted(maps.Keys(tlsVersions))...)
	}
	for option, list := range map[string][]string{"insecure_hosts": o.InsecureHosts, "client_cert_hosts": o.ClientCertHosts} {
		if _, err := parseHosts(list); err != nil {
			return &pipeline.OptionError{Option: option, Err: err}
		}
	}
	given := []bool{o.ClientCert != "", o.ClientKey != "", len(o.ClientCertHosts) > 0}
	if slices.Contains(given, true) && slices.Contains(given, false) {
		return &pipeline.OptionError{Option: "client_cert", Err: errors.New("client_cert, client_key and client_cert_hosts need one another")}
	}
	return nil
}

// trust is what TLSOptions set, ready for use.
type trust struct {
	authorities *x509.CertPool // nil for those of the system
	minVersion  uint16
	certificate []tls.Certificate
	insecure    hosts
	presents    hosts
}

// newTrust reads the files that the options name. The options are valid.
func newTrust(o TLSOptions) (*trust, error) {
	t := &trust{minVersion: tlsVersions[o.TLSMinVersion]}
	t.insecure, _ = parseHosts(o.InsecureHosts)
	t.presents, _ = parseHosts(o.ClientCertHosts)
	if o.CAFile != "" {
		certificates, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, &pipeline.OptionError{Option: "ca_file", Err: err}
		}
		if t.authorities, err = x509.SystemCertPool(); err != nil { // a machine may have none
			t.authorities = x509.NewCertPool()
		}
		if !t.authorities.AppendCertsFromPEM(certificates) {
			return nil, &pipeline.OptionError{Option: "ca_file", Err: fmt.Errorf("%s holds no certificate", o.CAFile)}
		}
	}
	if o.ClientCert != "" {
		pair, err := tls.LoadX509KeyPair(o.ClientCert, o.ClientKey)
		if err != nil {
			return nil, &pipeline.OptionError{Option: "client_cert", Err: fmt.Errorf("read it and client_key: %w", err)}
		}
		t.certificate = []tls.Certificate{pair}
	}
	return t, nil
}

// config returns how connections are secured to hosts that are to be checked or not, and shown the
// crawler's certificate or not. The name of the host is added to it by the transport.
func (t *trust) config(insecure, presents bool) *tls.Config {
	c := &tls.Config{
		RootCAs: t.authorities, MinVersion: t.minVersion, InsecureSkipVerify: insecure,
		ClientSessionCache: tls.NewLRUClientSessionCache(tlsSessions),
	}
	if presents {
		c.Certificates = t.certificate
	}
	return c
}

// toProxy returns how connections to a proxy are secured.
func (t *trust) toProxy(p *proxy) *tls.Config {
	if p == nil {
		return nil
	}
	host, port := p.url.Hostname(), p.url.Port()
	c := t.config(t.insecure.match(host, port), t.presents.match(host, port))
	c.ServerName = host
	return c
}
