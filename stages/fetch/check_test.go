package fetch

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/webrace/webrace/pipeline"
)

// checked returns what a stage with these options finds, as lines.
func checked(t *testing.T, change func(*Options)) []string {
	t.Helper()
	o := defaults
	change(&o)
	s, err := newStage(o, pipeline.NewEnv("p", "fetch", new(pipeline.Resources)))
	if err != nil {
		t.Fatal(err)
	}
	defer s.(pipeline.Closer).Close()
	err = s.(pipeline.Checker).Check(t.Context())
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

func TestCheckTriesProxyAndServersOfNames(t *testing.T) {
	t.Parallel()
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	names := serveNames(t, func(q dnsmessage.Question, id uint16, _ bool) [][]byte {
		return [][]byte{answers(q, id, dnsmessage.RCodeNameError)} // that it knows no such name is an answer
	})
	if wrong := checked(t, func(o *Options) {
		o.Proxy = "http://" + proxy.Addr().String()
		o.DNSServers = []string{names.addr.String()}
	}); wrong != nil {
		t.Errorf("all is there, and it finds %q", wrong)
	}
	wrong := checked(t, func(o *Options) {
		o.Proxy, o.DNSServers = "socks5://user:sesame@"+closed.Addr().String(), []string{closed.Addr().String(), names.addr.String()}
	})
	if len(wrong) != 2 || !strings.HasPrefix(wrong[0], "proxy: by the proxy: connect to it: ") || !strings.HasPrefix(wrong[1], "dns_servers: ask "+closed.Addr().String()) {
		t.Errorf("nothing is there, and it finds %q", wrong)
	}
	if strings.Contains(strings.Join(wrong, ""), "sesame") {
		t.Errorf("it tells the password: %q", wrong)
	}
}

func TestCheckFindsACertificateThatDoesNotHold(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	s := &stage{client: &client{transports: &transports{trust: &trust{}}}, options: Options{TLSOptions: TLSOptions{ClientCert: "me.pem"}}}
	s.client.transports.trust.certificate = append(s.client.transports.trust.certificate, tls.Certificate{
		Leaf: &x509.Certificate{NotBefore: day, NotAfter: day.AddDate(1, 0, 0)},
	})
	for at, want := range map[time.Time]string{
		day.AddDate(0, 6, 0):  "",
		day.AddDate(2, 0, 0):  "client_cert: me.pem has expired on 2027-03-01",
		day.AddDate(-1, 0, 0): "client_cert: me.pem holds from 2026-03-01 on",
	} {
		err := s.checkCertificate(at)
		var option *pipeline.OptionError
		if got := ""; err != nil {
			got = err.Error()
			if got != want || !errors.As(err, &option) {
				t.Errorf("at %v: %q, want %q", at, got, want)
			}
		} else if want != "" {
			t.Errorf("at %v nothing is found, want %q", at, want)
		}
	}
}
