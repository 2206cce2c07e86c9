package fetch

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/webrace/webrace/stages/internal/httpclient/clienttest"
)

// TestAProxyThatFailsIsToldFromTheHost: its credentials are never repeated, not even if it repeats them.
func TestAProxyThatFailsIsToldFromTheHost(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	wrong := ca.sign(t, soon(), "other.test")
	z := &clienttest.Zone{Hosts: map[string]string{"a.test": "127.0.0.1"}}
	const closed = "://127.0.0.1:1" // nothing listens there
	secret := base64.StdEncoding.EncodeToString([]byte("me:hunter2"))
	for name, c := range map[string]struct {
		start func(p *testProxy) string
		https string // the error of a host asked by https; of one by http, if it differs
		http  string
	}{
		"is not there":       {func(*testProxy) string { return "http" + closed }, "connect to it: ", ""},
		"socks is not there": {func(*testProxy) string { return "socks5" + closed }, "connect to it: ", ""},
		"wants credentials":  {func(p *testProxy) string { p.user = "x:y"; p.startHTTP(t, nil); return "http" + p.url }, "it answers 407", ""},
		"socks wants them":   {func(p *testProxy) string { p.user = "x:y"; p.startSOCKS(t); return "socks5" + p.url }, "username/password", ""},
		"is of another name": {func(p *testProxy) string { p.startHTTP(t, &wrong); return "https" + p.url }, "certificate", ""},
		"speaks no TLS":      {func(p *testProxy) string { p.startHTTP(t, nil); return "https" + p.url }, "secure", "proxyconnect"},
		"may not": {func(p *testProxy) string {
			p.answers = "HTTP/1.1 403 " + secret + "\r\n\r\n"
			p.startHTTP(t, nil)
			return "http" + p.url
		}, "it answers 403 Forbidden", "-"},
		"speaks no HTTP": {func(p *testProxy) string { p.answers = "SSH-2.0\r\n\r\n"; p.startHTTP(t, nil); return "http" + p.url }, "malformed HTTP", "-"},
		"answers without end": {func(p *testProxy) string {
			p.answers = "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20)
			p.startHTTP(t, nil)
			return "http" + p.url
		}, "EOF", "-"},
		"says more than it may": {func(p *testProxy) string {
			p.answers = "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"
			p.startHTTP(t, nil)
			return "http" + p.url
		}, "more than an answer", "-"},
		"cannot connect": {func(p *testProxy) string {
			p.names = map[string]string{"127.0.0.1": "256.0.0.1"}
			p.startHTTP(t, nil)
			return "http" + p.url
		}, "it answers 502", "-"},
		"socks cannot connect": {func(p *testProxy) string {
			p.names = map[string]string{"127.0.0.1": "256.0.0.1"}
			p.startSOCKS(t)
			return "socks5" + p.url
		}, "connection refused", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &testProxy{}
			o := through(strings.Replace(c.start(p), "://", "://me:hunter2@", 1))
			o.CAFile, o.MaxHeader = ca.file, 4<<10
			for _, scheme := range []string{"http", "https"} {
				if scheme == "http" && c.http == "-" {
					continue
				}
				want := c.https
				if scheme == "http" && c.http != "" {
					want = c.http
				}
				all := runWith(t, o, use(z), get(scheme+"://a.test:1/"))
				r := all.byRequest[0]
				if r.outcome.Err == nil || !strings.Contains(r.outcome.Err.Error(), want) || all.counters["proxy_failures"] != 1 || all.counters["network_failures"] != 1 {
					t.Errorf("%s: %v, want %q, counters %v", scheme, r.outcome.Err, want, all.counters)
				}
				if said := fmt.Sprint(r.outcome.Err, r.visit, all.log, all.report); strings.Contains(said, "hunter2") || strings.Contains(said, secret) {
					t.Errorf("the password is told: %s", said)
				}
			}
		})
	}
}
