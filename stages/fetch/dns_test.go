package fetch

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/webrace/webrace/stages/internal/httpclient/clienttest"
)

func TestNamesOfAPageAreAskedOfTheServersOfTheOptions(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "page") })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	s := clienttest.ServeNames(t, func(q dnsmessage.Question, id uint16, _ bool) [][]byte {
		return [][]byte{clienttest.Answers(q, id, 0, clienttest.OfType(q, strings.TrimSuffix(q.Name.String(), ".")+" 60 A 127.0.0.1")...)}
	})
	o := local()
	o.DNSServers, o.IdleConnections = []string{s.Addr.String()}, 0
	page := "http://a.test:" + port + "/"
	all := run(t, o, get(page+"1"), get(page+"2"), get(page+"3"))
	if c := all.counters; c["pages"] != 3 || c["dns_lookups"] != 1 || c["dns_cached"] != 2 || c["dns_failures"] != 0 || s.Asked.Load() != 2 {
		t.Errorf("counters %v, asked %d times", c, s.Asked.Load())
	}
}

// TestIPv6IsSpoken: by a literal address, by a name, and to a host that only answers there.
func TestIPv6IsSpoken(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skipf("this machine has no IPv6: %v", err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Host) })}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() { server.Close(); <-done })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	// Another test may listen on the same port of 127.0.0.1, but none does on this address.
	z := &clienttest.Zone{Hosts: map[string]string{"six.test": "::1", "both.test": "127.93.0.1 ::1"}}
	for _, host := range []string{"[::1]", "six.test", "both.test"} {
		for _, family := range []string{"any", "ipv6"} {
			o := local()
			o.IPFamily = family
			all := runWith(t, o, use(z), get("http://"+host+":"+port+"/"))
			r := all.byRequest[0]
			if len(r.bodies) != 1 || r.bodies[0] != host+":"+port || r.documents[0].Origin != netip.IPv6Loopback() {
				t.Errorf("%s, %s: %+v, counters %v", host, family, r, all.counters)
			}
		}
	}
}

// TestHostsWithoutAnAddressOfTheFamilyAreRefused: they are not connected to, and asking again would change nothing.
func TestHostsWithoutAnAddressOfTheFamilyAreRefused(t *testing.T) {
	t.Parallel()
	for family, urls := range map[string]string{"ipv4": "http://[::1]:1/ http://six.test:1/", "ipv6": "http://127.0.0.1:1/ http://four.test:1/"} {
		for url := range strings.FieldsSeq(urls) {
			z := &clienttest.Zone{Hosts: map[string]string{"six.test": "::1", "four.test": "127.0.0.1"}}
			o := local()
			o.IPFamily = family
			got := runWith(t, o, use(z), get(url))
			if r := got.byRequest[0]; got.counters["family_refused"] != 1 || r.outcome.Err != nil || !strings.Contains(r.visit.Error, "option ip_family") {
				t.Errorf("%s, %s: %+v, counters %v", family, url, r, got.counters)
			}
		}
	}
}

// TestAPageOfANameThatMovesInsideIsRefused: it is fetched over a connection that was checked, and over a new one not.
func TestAPageOfANameThatMovesInsideIsRefused(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 2 {
			w.Header().Set("Connection", "close")
		}
		fmt.Fprint(w, r.RemoteAddr)
	})
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	z := &clienttest.Zone{Hosts: map[string]string{"a.test": "127.0.0.1"}}
	o := local()
	o.AllowNetworks, o.DNSMinTTL = []string{"127.0.0.1"}, 0 // with a zone whose names hold for no time
	s := newTestStage(t, o)
	use(z)(s)
	ask := func() map[string]int64 {
		t.Helper()
		if err := s.Process(t.Context(), item("http://a.test:"+port+"/"), discard{}); err != nil {
			t.Fatal(err)
		}
		return s.env.Counters()
	}
	ask()
	z.Hosts["a.test"] = "127.0.0.2" // the same machine, that no option admits
	if c := ask(); c["pages"] != 2 || c["dns_lookups"] != 1 {
		t.Errorf("on a connection that was kept: counters %v", c)
	}
	if c := ask(); c["pages"] != 2 || c["address_refused"] != 1 || c["dns_lookups"] != 2 {
		t.Errorf("on a new connection: counters %v", c)
	}
}
