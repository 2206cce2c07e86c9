package httpclient

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/lru"
)

// keepTLSFault is how long a host is not connected to again with which no secure connection could be
// made: a certificate stays what it is for longer than a request could wait.
const keepTLSFault = 10 * time.Minute

// TLSFault tells why a host cannot be talked to in secret: its certificate is not believed, or the two sides
// do not agree on how to begin. Asking again in a few seconds would change nothing.
type TLSFault struct {
	why   string
	Asked bool // the host was connected to; false if it is only remembered
}

func (e *TLSFault) Error() string { return e.why }

// asTLSFault turns an error of a handshake with a host into a TLSFault, and leaves others as they are.
func asTLSFault(host string, err error) error {
	if _, ofProxy := errors.AsType[*ProxyError](err); ofProxy {
		return err
	}
	if why := explainTLS(err); why != "" {
		return &TLSFault{why: fmt.Sprintf("no secure connection to %s: %s", host, why), Asked: true}
	}
	return err
}

// passing are what a server may answer that is of the moment: it may answer otherwise when it is asked again.
var passing = []string{"internal error", "user canceled", "bad record MAC"}

// explainTLS returns what was wrong in a handshake; nothing if the error is not of one. Names in a certificate
// are the server's word, and so are quoted and cut.
func explainTLS(err error) string {
	var untrusted *tls.CertificateVerificationError
	var plain tls.RecordHeaderError
	var said *net.OpError
	switch {
	case errors.As(err, &untrusted):
		return explainCertificate(untrusted)
	case errors.As(err, &plain):
		return "it speaks no TLS there"
	case errors.As(err, &said):
		text := strings.TrimPrefix(said.Err.Error(), "tls: ")
		if said.Op != "remote error" || slices.Contains(passing, text) {
			return ""
		}
		return "it says: " + text
	}
	for ; err != nil; err = errors.Unwrap(err) {
		if text, ok := strings.CutPrefix(err.Error(), "tls: "); ok {
			return fmt.Sprintf("%.300s", text)
		}
	}
	return ""
}

func explainCertificate(err *tls.CertificateVerificationError) string {
	var invalid x509.CertificateInvalidError
	var otherName x509.HostnameError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		return fmt.Sprintf("its certificate has expired, or is not valid yet: it is valid from %s to %s",
			invalid.Cert.NotBefore.UTC().Format(time.RFC3339), invalid.Cert.NotAfter.UTC().Format(time.RFC3339))
	case errors.As(err, &otherName):
		return "its certificate is of another name: " + namesOf(otherName.Certificate)
	case errors.As(err, &unknown):
		return "its certificate is signed by an unknown authority (to trust one: option ca_file)"
	}
	return fmt.Sprintf("its certificate is not valid: %.300q", err.Err)
}

// namesOf lists a few of the names that a certificate is of.
func namesOf(c *x509.Certificate) string {
	const enough = 3
	var names []string
	for _, name := range c.DNSNames[:min(enough, len(c.DNSNames))] {
		names = append(names, fmt.Sprintf("%.100q", name))
	}
	for _, ip := range c.IPAddresses[:min(enough, len(c.IPAddresses))] {
		names = append(names, ip.String())
	}
	switch more := len(c.DNSNames) + len(c.IPAddresses) - len(names); {
	case len(names) == 0:
		return "it names no host"
	case more > 0:
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// tlsFaults remembers faults by host and port, for some time.
type tlsFaults struct {
	byHost lru.Cache[rememberedFault]
}

type rememberedFault struct {
	why   string
	until time.Time
}

// of returns the fault that is remembered of a host, if there is one.
func (f tlsFaults) of(host string) error {
	if known, ok := f.byHost.Get(host); ok && !time.Now().After(known.until) {
		return &TLSFault{why: known.why}
	}
	return nil
}

func (f tlsFaults) remember(host string, fault *TLSFault) {
	f.byHost.Add(host, rememberedFault{why: fault.why, until: time.Now().Add(keepTLSFault)})
}
