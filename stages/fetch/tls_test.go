package fetch

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/stages/internal/httpclient/clienttest"
)

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	file        string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{certificate, key, writePEM(t, "ca.pem", "CERTIFICATE", der)}
}

func writePEM(t *testing.T, name, kind string, der []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// sign makes a certificate that is valid, for some hosts, from an hour ago until a time.
func (a *authority) sign(t *testing.T, until time.Time, hosts ...string) tls.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: until,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// secure starts a server over TLS, and returns its URL by address.
func secure(t testing.TB, config *tls.Config, h http.HandlerFunc) (server *httptest.Server, url string) {
	t.Helper()
	server = httptest.NewUnstartedServer(h)
	server.TLS = config
	server.Config.ErrorLog = discardLog
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	return server, server.URL + "/"
}

func soon() time.Time { return time.Now().Add(time.Hour) }

func TestCertificateFaultsAreExplainedAndNotRetried(t *testing.T) {
	t.Parallel()
	known, other := newAuthority(t), newAuthority(t)
	page := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "page") }
	_, good := secure(t, &tls.Config{Certificates: []tls.Certificate{known.sign(t, soon(), "127.0.0.1")}}, page)
	_, expired := secure(t, &tls.Config{Certificates: []tls.Certificate{known.sign(t, time.Now().Add(-time.Hour), "127.0.0.1")}}, page)
	_, otherName := secure(t, &tls.Config{Certificates: []tls.Certificate{known.sign(t, soon(), "a.example", "b\x1b[1m.example", "c.example", "d.example")}}, page)
	_, unnamed := secure(t, &tls.Config{Certificates: []tls.Certificate{known.sign(t, soon())}}, page)
	_, unknown := secure(t, &tls.Config{Certificates: []tls.Certificate{other.sign(t, soon(), "127.0.0.1")}}, page)
	_, old := secure(t, &tls.Config{Certificates: []tls.Certificate{known.sign(t, soon(), "127.0.0.1")}, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}, page)
	_, wantsOurs := secure(t, &tls.Config{Certificates: []tls.Certificate{known.sign(t, soon(), "127.0.0.1")}, ClientAuth: tls.RequireAnyClientCert}, page)
	_, wantsOurs12 := secure(t, &tls.Config{Certificates: []tls.Certificate{known.sign(t, soon(), "127.0.0.1")}, ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12}, page)
	plain := strings.Replace(serve(t, page), "http:", "https:", 1) + "/"
	noise := strings.Replace(listen(t, func(c net.Conn) { forEver(c, "noise") }), "http:", "https:", 1)
	o := local()
	o.CAFile = known.file
	if r, all := one(t, o, get(good)); len(r.bodies) != 1 || all.counters["tls_failures"] != 0 {
		t.Fatalf("%+v, counters %v", r, all.counters)
	}
	for url, want := range map[string]string{
		expired:     "its certificate has expired, or is not valid yet: it is valid from 20",
		otherName:   `its certificate is of another name: "a.example", "b\x1b[1m.example", "c.example", and 1 more`,
		unnamed:     "it names no host",
		unknown:     "signed by an unknown authority (to trust one: option ca_file)",
		old:         "it says: protocol version not supported",
		wantsOurs:   "it says: certificate required",
		wantsOurs12: "it says: ",
		plain:       "it speaks no TLS there",
		noise:       "it speaks no TLS there",
	} {
		all := run(t, o, get(url+"1"), get(url+"2"))
		for _, r := range all.byRequest {
			if r.outcome.Err != nil || len(r.documents) != 0 || !strings.Contains(r.visit.Error, want) || len(r.reports) != 1 {
				t.Errorf("%s: %+v, want %q", url, r, want)
			}
		}
		if all.counters["tls_failures"] != 2 || all.counters["network_failures"] != 0 || strings.Count(all.log, "level=WARN") != 1 {
			t.Errorf("%s: counters %v, log %s", url, all.counters, all.log)
		}
	}
}

// TestPagesOfAHostWithATLSFaultEndByOneHandshake: each is counted as a failure, and none asks the host again.
func TestPagesOfAHostWithATLSFaultEndByOneHandshake(t *testing.T) {
	t.Parallel()
	var handshakes atomic.Int64
	_, url := secure(t, &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		handshakes.Add(1)
		return nil, nil
	}}, http.NotFound)
	s := newTestStage(t, local())
	for i := range 20 {
		if err := s.Process(t.Context(), item(fmt.Sprintf("%s%d", url, i)), discard{}); err != nil {
			t.Fatal(err)
		}
	}
	if handshakes.Load() != 1 || s.env.Counters()["tls_failures"] != 20 {
		t.Errorf("%d handshakes, counters %v", handshakes.Load(), s.env.Counters())
	}
}

func TestTheHostIsNamedInTheHandshake(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	server, _ := secure(t, &tls.Config{GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		if hello.ServerName == "" {
			return nil, fmt.Errorf("no name")
		}
		c := ca.sign(t, soon(), hello.ServerName)
		return &c, nil
	}}, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.TLS.ServerName, " ", r.Host) })
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	z := &clienttest.Zone{Hosts: map[string]string{"a.example": "127.0.0.1", "b.example": "127.0.0.1"}}
	o := local()
	o.CAFile = ca.file
	all := runWith(t, o, use(z), get("https://a.example:"+port+"/"), get("https://b.example:"+port+"/"), get("https://127.0.0.1:"+port+"/"))
	for i, want := range []string{"a.example a.example:" + port, "b.example b.example:" + port} {
		if r := all.byRequest[i]; len(r.bodies) != 1 || r.bodies[0] != want {
			t.Errorf("%q, want %s (%+v)", r.bodies, want, r.outcome)
		}
	}
	if all.counters["tls_failures"] != 1 { // an address is no name
		t.Errorf("counters %v", all.counters)
	}
}

func TestCertificatesAreNotCheckedWhereTheOperatorSaysSo(t *testing.T) {
	t.Parallel()
	server, _ := secure(t, nil, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "page") })
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	z := &clienttest.Zone{Hosts: map[string]string{"a.test": "127.0.0.1", "b.test": "127.0.0.1"}}
	o := local()
	o.InsecureHosts = []string{"a.test"}
	a, b := "https://a.test:"+port+"/", "https://b.test:"+port+"/"
	all := runWith(t, o, use(z), get(a+"1"), get(a+"2"), get(b))
	if all.counters["pages"] != 2 || all.counters["tls_failures"] != 1 || all.byRequest[2].visit.Error == "" {
		t.Errorf("counters %v", all.counters)
	}
	if strings.Count(all.log, "option insecure_hosts") != 1 || !strings.Contains(all.log, "host=a.test:"+port) {
		t.Errorf("log: %s", all.log)
	}
}

func TestOurCertificateIsShownToTheHostsOfTheListAlone(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	ours := ca.sign(t, soon(), "crawler.test")
	key, err := x509.MarshalPKCS8PrivateKey(ours.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(ca.certificate)
	server, _ := secure(t, &tls.Config{
		Certificates: []tls.Certificate{ca.sign(t, soon(), "a.test", "b.test")}, ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: pool,
	}, func(w http.ResponseWriter, r *http.Request) {
		for _, c := range r.TLS.PeerCertificates {
			fmt.Fprint(w, c.DNSNames)
		}
		_, _ = io.WriteString(w, ".")
	})
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	z := &clienttest.Zone{Hosts: map[string]string{"a.test": "127.0.0.1", "b.test": "127.0.0.1"}}
	o := local()
	o.CAFile, o.ClientCertHosts = ca.file, []string{"a.test"}
	o.ClientCert, o.ClientKey = writePEM(t, "cert.pem", "CERTIFICATE", ours.Certificate[0]), writePEM(t, "key.pem", "PRIVATE KEY", key)
	all := runWith(t, o, use(z), get("https://a.test:"+port+"/"), get("https://b.test:"+port+"/"))
	for i, want := range []string{"[crawler.test].", "."} {
		if r := all.byRequest[i]; len(r.bodies) != 1 || r.bodies[0] != want {
			t.Errorf("%d: %q, want %s (%+v)", i, r.bodies, want, r.outcome)
		}
	}
}

func TestWhoeverIsRedirectedToATLSFaultForRobotsIsRefused(t *testing.T) {
	t.Parallel()
	_, wrong := secure(t, nil, nil)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, wrong, http.StatusFound) })
	o := local()
	o.Robots = true
	r, all := one(t, o, webrace.Request{URL: url + "/"})
	if all.counters["robots_refused"] != 1 || !strings.Contains(r.visit.Error, "unknown authority") {
		t.Errorf("%+v, counters %v", r.visit, all.counters)
	}
}
