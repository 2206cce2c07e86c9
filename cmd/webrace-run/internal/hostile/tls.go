package hostile

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"strings"
	"sync"
	"time"
)

// authority signs the certificates of the sites.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

var ca = sync.OnceValue(func() authority {
	template := &x509.Certificate{Subject: pkix.Name{CommonName: "hostile"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	certificate, key := sign(template, nil)
	return authority{certificate, key}
})

// CertificatePEM is the certificate of the authority that signs those of the sites: who trusts it can
// tell the good ones from the bad.
func CertificatePEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca().certificate.Raw})
}

// sign makes a certificate, signed by the authority, or without one by itself.
func sign(template *x509.Certificate, by *authority) (*x509.Certificate, *ecdsa.PrivateKey) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // no randomness: nothing works
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	if template.NotBefore.IsZero() {
		template.NotBefore = time.Now().Add(-time.Hour)
		template.NotAfter = time.Now().Add(24 * time.Hour)
	}
	parent, signer := template, key
	if by != nil {
		parent, signer = by.certificate, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		panic(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return certificate, key
}

// leaf is a certificate of a server.
func leaf(change func(*x509.Certificate), by *authority) tls.Certificate {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "127.0.0.1"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	change(template)
	certificate, key := sign(template, by)
	return tls.Certificate{Certificate: [][]byte{certificate.Raw}, PrivateKey: key}
}

func valid() *tls.Config { return certified(func(*x509.Certificate) {}) }

func certified(change func(*x509.Certificate)) *tls.Config {
	by := ca()
	return &tls.Config{Certificates: []tls.Certificate{leaf(change, &by)}}
}

// withTLS lets a host speak TLS.
func withTLS(config func() *tls.Config) func(*Site) { return func(s *Site) { s.TLS = config() } }

// onTLS puts the page on another host, which speaks TLS.
func onTLS(config func() *tls.Config) func(*Site) {
	return func(s *Site) {
		o := s.another(withTLS(config))
		o.hide(bad, page("<p>not to be trusted"))
		s.link(o.URL + bad)
	}
}

// onPort puts the page on another host, which does this with connections, and is asked by https.
func onPort(serve func(net.Conn)) func(*Site) {
	return func(s *Site) {
		host := s.listen(serve)
		s.elsewhere = "https://" + host
		s.link("https://" + host + bad)
	}
}

// mistrusted is what comes of a host whose TLS is wrong; it is never sent a request.
func mistrusted(because string) Expect {
	return Expect{Counters: some{"errors": 1, "fetch.tls_failures": 1}, Why: says{"other:" + bad: because}}
}

func tlsServers() []Case {
	return []Case{
		{Name: "tls-good", Does: "has a certificate that is fine, for once", Scope: "any",
			Lay: onTLS(valid), Expect: Expect{Counters: some{"pages": 1}, Why: says{"other:" + bad: "crawl: fetched"}, Asked: 1}},
		{Name: "tls-expired", Does: "has a certificate that expired yesterday", Scope: "any", Options: once,
			Lay: onTLS(func() *tls.Config {
				return certified(func(c *x509.Certificate) {
					c.NotBefore, c.NotAfter = time.Now().AddDate(0, 0, -9), time.Now().AddDate(0, 0, -1)
				})
			}), Expect: mistrusted("expired")},
		{Name: "tls-of-another", Does: "has the certificate of another host", Scope: "any", Options: once,
			Lay: onTLS(func() *tls.Config {
				return certified(func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"bank.test"} })
			}), Expect: mistrusted("certificate")},
		{Name: "tls-self-signed", Does: "has a certificate that it signed itself", Scope: "any", Options: once,
			Lay: onTLS(func() *tls.Config {
				return &tls.Config{Certificates: []tls.Certificate{leaf(func(*x509.Certificate) {}, nil)}}
			}), Expect: mistrusted("unknown authority")},
		{Name: "tls-too-old", Does: "speaks TLS 1.0 alone", Scope: "any", Options: once,
			Lay: onTLS(func() *tls.Config {
				c := valid()
				c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS10
				return c
			}), Expect: mistrusted("protocol version")},
		{Name: "tls-silent", Does: "never ends the TLS handshake", Scope: "any", Slow: true, Options: impatient,
			Lay: onPort(hold("")), Expect: without("get robots.txt: ").asking(1)},
		{Name: "tls-noise", Does: "answers the TLS handshake with noise", Scope: "any", Options: once,
			Lay: onPort(forEver("", long("\xff\x00noise", 8192))), Expect: mistrusted("it speaks no TLS there").asking(1)},
		{Name: "plain-on-tls", Does: "speaks plain HTTP where TLS is spoken", Scope: "any", Options: once,
			Lay: onPort(func(c net.Conn) {
				_, _ = c.Read(make([]byte, 4096))
				_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
			}), Expect: mistrusted("it speaks no TLS there").asking(1)},
		{Name: "tls-on-plain", Does: "speaks TLS where plain HTTP is spoken", Scope: "any", Options: once,
			Lay: func(s *Site) {
				o := s.another(withTLS(valid))
				s.elsewhere = strings.Replace(o.URL, "https:", "http:", 1)
				s.link(s.elsewhere + bad)
			}, Expect: Expect{Counters: some{"errors": 1, "fetch.status_400": 1}, Why: says{"other:" + bad: "400 Bad Request"}}},
	}
}

// asking returns the expectation with a number of requests.
func (e Expect) asking(n int) Expect {
	e.Asked = n
	return e
}
