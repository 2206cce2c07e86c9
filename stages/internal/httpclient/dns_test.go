package httpclient

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/httpclient/clienttest"
	"github.com/webrace/webrace/stages/internal/loadingcache"
	"github.com/webrace/webrace/stages/internal/netguard"
)

func TestServersOfNamesAreAskedForAddressesAndHowLongTheyHold(t *testing.T) {
	t.Parallel()
	const ok, missing = dnsmessage.RCodeSuccess, dnsmessage.RCodeNameError
	for name, c := range map[string]struct {
		code  dnsmessage.RCode
		lines []string
		addrs string
		holds time.Duration
	}{
		"an address":         {ok, []string{"a.test 60 A 192.0.2.1"}, "192.0.2.1", time.Minute},
		"both families":      {ok, []string{"a.test 60 A 192.0.2.1", "a.test 30 AAAA 2001:db8::1"}, "192.0.2.1 2001:db8::1", 30 * time.Second},
		"in capitals":        {ok, []string{"A.Test 60 A 192.0.2.1"}, "192.0.2.1", time.Minute},
		"aliases":            {ok, []string{"c.test 70 A 192.0.2.1", "b.test 20 CNAME c.test", "a.test 30 CNAME b.test"}, "192.0.2.1", 20 * time.Second},
		"of somebody else":   {ok, []string{"b.test 60 A 192.0.2.1", "a.test 60 A 192.0.2.2"}, "192.0.2.2", time.Minute},
		"an alias of none":   {ok, []string{"a.test 60 CNAME b.test", "a.test 60 A 192.0.2.2"}, "", -1},
		"an alias of itself": {ok, []string{"a.test 60 CNAME b.test", "b.test 60 CNAME a.test"}, "", -1},
		"no address":         {ok, nil, "", -1},
		"no name":            {missing, nil, "", -1},
		"for ever":           {ok, []string{"a.test 4294967295 A 192.0.2.1"}, "192.0.2.1", 0}, // no such time: RFC 2181
		"not at all":         {ok, []string{"a.test 0 A 192.0.2.1"}, "192.0.2.1", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := clienttest.ServeNames(t, func(q dnsmessage.Question, id uint16, _ bool) [][]byte {
				return [][]byte{clienttest.Answers(q, id, c.code, append(clienttest.OfType(q, c.lines...), "a.test 1 TXT other")...)}
			})
			client := &dnsClient{servers: []netip.AddrPort{s.Addr}}
			for _, host := range []string{"a.test", "a.test."} {
				addrs, holds, err := client.Lookup(t.Context(), host)
				if got := strings.Trim(fmt.Sprint(addrs), "[]"); got != c.addrs || holds != c.holds || isNotFound(err) != (c.addrs == "") {
					t.Errorf("%s: %s, %v, %v; want %s, %v", host, got, holds, err, c.addrs, c.holds)
				}
			}
			if s.Asked.Load() != 4 {
				t.Errorf("asked %d times", s.Asked.Load())
			}
		})
	}
}

// TestWhatIsNoAnswerIsPassedOver: any machine can send a packet.
func TestWhatIsNoAnswerIsPassedOver(t *testing.T) {
	t.Parallel()
	s := clienttest.ServeNames(t, func(q dnsmessage.Question, id uint16, _ bool) [][]byte {
		other := q
		other.Name = dnsmessage.MustNewName("b.test.")
		good := clienttest.Answers(q, id, 0, clienttest.OfType(q, "a.test 60 A 192.0.2.1")...)
		question := bytes.Clone(good)
		question[2] &^= 0x80
		return [][]byte{
			{}, {1}, question, clienttest.Answers(q, id+1, 0, clienttest.OfType(q, "a.test 60 A 192.0.2.66")...),
			clienttest.Answers(other, id, 0, clienttest.OfType(q, "a.test 60 A 192.0.2.67")...), good,
		}
	})
	client := &dnsClient{servers: []netip.AddrPort{s.Addr}}
	addrs, _, err := client.Lookup(t.Context(), "a.test")
	if err != nil || fmt.Sprint(addrs) != "[192.0.2.1]" {
		t.Errorf("%v, %v", addrs, err)
	}
}

func TestALongAnswerIsAskedForOverTCP(t *testing.T) {
	t.Parallel()
	s := clienttest.ServeNames(t, func(q dnsmessage.Question, id uint16, tcp bool) [][]byte {
		a := clienttest.Answers(q, id, 0, clienttest.OfType(q, "a.test 60 A 192.0.2.1")...)
		if !tcp {
			a = clienttest.Answers(q, id, 0)
			a[2] |= 0x02
		}
		return [][]byte{a}
	})
	client := &dnsClient{servers: []netip.AddrPort{s.Addr}, family: families["ipv4"]}
	addrs, _, err := client.Lookup(t.Context(), "a.test")
	if err != nil || fmt.Sprint(addrs) != "[192.0.2.1]" || s.ByTCP.Load() != 1 {
		t.Errorf("%v, %v, %d over TCP", addrs, err, s.ByTCP.Load())
	}
}

func TestAnotherServerOfNamesIsAskedWhenOneFails(t *testing.T) {
	t.Parallel()
	good := clienttest.ServeNames(t, func(q dnsmessage.Question, id uint16, _ bool) [][]byte {
		return [][]byte{clienttest.Answers(q, id, 0, clienttest.OfType(q, "a.test 60 A 192.0.2.1")...)}
	})
	closed := netip.MustParseAddrPort("127.0.0.1:1")
	for name, bad := range map[string]func(q dnsmessage.Question, id uint16, _ bool) [][]byte{
		"fails": func(q dnsmessage.Question, id uint16, _ bool) [][]byte {
			return [][]byte{clienttest.Answers(q, id, dnsmessage.RCodeServerFailure)}
		},
		"refuses": func(q dnsmessage.Question, id uint16, _ bool) [][]byte {
			return [][]byte{clienttest.Answers(q, id, dnsmessage.RCodeRefused)}
		},
		"sends half": func(q dnsmessage.Question, id uint16, _ bool) [][]byte {
			a := clienttest.Answers(q, id, 0, "a.test 60 A 192.0.2.9", "a.test 60 AAAA ::9")
			return [][]byte{a[:len(a)-3]}
		},
	} {
		s := clienttest.ServeNames(t, bad)
		client := &dnsClient{servers: []netip.AddrPort{closed, s.Addr, good.Addr}}
		if addrs, _, err := client.Lookup(t.Context(), "a.test"); err != nil || fmt.Sprint(addrs) != "[192.0.2.1]" {
			t.Errorf("%s: %v, %v", name, addrs, err)
		}
		client.servers = client.servers[:2]
		if _, _, err := client.Lookup(t.Context(), "a.test"); err == nil || isNotFound(err) || !strings.Contains(err.Error(), s.Addr.String()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	client := &dnsClient{servers: []netip.AddrPort{good.Addr}}
	for _, host := range []string{strings.Repeat("x", 64) + ".test", strings.Repeat("x.", 130), "a..test"} {
		if _, _, err := client.Lookup(t.Context(), host); !isNotFound(err) {
			t.Errorf("%s: %v", host, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := client.Lookup(ctx, "a.test"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestAddressesAreKeptAsLongAsTheyHoldWithinBounds(t *testing.T) {
	t.Parallel()
	o := Defaults
	o.DNSMinTTL, o.DNSMaxTTL, o.DNSKeep = pipeline.Duration(time.Minute), pipeline.Duration(time.Hour), pipeline.Duration(7*time.Minute)
	for holds, want := range map[time.Duration]time.Duration{
		-1: 7 * time.Minute, 0: time.Minute, 90 * time.Second: 90 * time.Second, 24 * time.Hour: time.Hour,
	} {
		synctest.Test(t, func(t *testing.T) {
			z := &clienttest.Zone{Hosts: map[string]string{"a.test": "192.0.2.1"}, Holds: holds}
			n := newDNSCache(o, func(string) {})
			n.resolver = z
			for _, after := range []time.Duration{0, want, 1} {
				time.Sleep(after)
				if _, err := n.resolve(t.Context(), "a.test"); err != nil {
					t.Fatal(err)
				}
				if asked := z.Asked.Load(); asked != 1+after.Nanoseconds()%2 {
					t.Errorf("holds %v: asked %d times after %v more", holds, asked, after)
				}
			}
		})
	}
}

// TestAnOldAddressStandsInWhileNobodyAnswers: for a bounded time, and not for a name that is gone.
func TestAnOldAddressStandsInWhileNobodyAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		z := &clienttest.Zone{Hosts: map[string]string{"a.test": "192.0.2.1", "gone.test": "192.0.2.2"}, Holds: -1}
		counted := make(map[string]int)
		n := newDNSCache(Defaults, func(counter string) { counted[counter]++ })
		n.resolver = z
		expect := func(host, want string) {
			t.Helper()
			addrs, err := n.resolve(t.Context(), host)
			if got := strings.Trim(fmt.Sprint(addrs), "[]"); got != want || (err == nil) != (want != "") {
				t.Errorf("%s: %s, %v; want %q", host, got, err, want)
			}
		}
		expect("a.test", "192.0.2.1")
		expect("gone.test", "192.0.2.2")
		z.Hosts["a.test"] = "busy"
		delete(z.Hosts, "gone.test")
		time.Sleep(time.Duration(Defaults.DNSKeep) + 1)
		expect("a.test", "192.0.2.1")
		expect("gone.test", "")
		expect("a.test", "192.0.2.1")
		if counted["dns_stale"] != 1 || counted["dns_failures"] != 2 || counted["dns_lookups"] != 4 || counted["dns_cached"] != 1 {
			t.Errorf("counted %v", counted)
		}
		time.Sleep(time.Duration(Defaults.DNSStale))
		expect("a.test", "")
	})
}

func TestFamiliesOfAddressesAreChosen(t *testing.T) {
	t.Parallel()
	all := []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("192.0.2.2")}
	for name, want := range map[string]string{
		"any": "192.0.2.1 2001:db8::1 192.0.2.2", "prefer-ipv4": "192.0.2.1 2001:db8::1 192.0.2.2",
		"prefer-ipv6": "2001:db8::1 192.0.2.1 192.0.2.2", "ipv4": "192.0.2.1 192.0.2.2", "ipv6": "2001:db8::1",
	} {
		if got := strings.Trim(fmt.Sprint(families[name].order(all)), "[]"); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestOptionsOfNamesThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	for option, breaks := range map[string]func(*Options){
		"dns_servers":       func(o *Options) { o.DNSServers = []string{"dns.example.org"} },
		"dns_keep":          func(o *Options) { o.DNSKeep = -1 },
		"dns_min_ttl":       func(o *Options) { o.DNSMinTTL = o.DNSMaxTTL + 1 },
		"dns_max_ttl":       func(o *Options) { o.DNSMaxTTL = -1; o.DNSMinTTL = 0 },
		"dns_keep_failures": func(o *Options) { o.DNSKeepFailures = -1 },
		"dns_stale":         func(o *Options) { o.DNSStale = -1 },
		"ip_family":         func(o *Options) { o.IPFamily = "ipv5" },
	} {
		o := Defaults
		breaks(&o)
		var wrong *pipeline.OptionError
		if err := o.Validate(); !errors.As(err, &wrong) || wrong.Option != option {
			t.Errorf("%s: %v", option, err)
		}
	}
	servers, err := parseServers([]string{"192.0.2.53", "[2001:db8::53]", "2001:db8::53", "[2001:db8::53]:5353", "127.0.0.1:54"})
	if err != nil || fmt.Sprint(servers) != "[192.0.2.53:53 [2001:db8::53]:53 [2001:db8::53]:53 [2001:db8::53]:5353 127.0.0.1:54]" {
		t.Errorf("%v, %v", servers, err)
	}
}

// FuzzAnswersOfServersOfNames: whatever is sent, an answer is to the question, with addresses of the family
// that was asked for, which hold for a time.
func FuzzAnswersOfServersOfNames(f *testing.F) {
	for _, t := range []dnsmessage.Type{dnsmessage.TypeA, dnsmessage.TypeAAAA} {
		q := dnsmessage.Question{Name: dnsmessage.MustNewName("a.test."), Type: t, Class: dnsmessage.ClassINET}
		f.Add(clienttest.Answers(q, 7, 0, "a.test 60 CNAME b.test", "b.test 60 A 192.0.2.1", "b.test 60 AAAA ::1"))
		f.Add(clienttest.Answers(q, 7, 3))
	}
	f.Fuzz(func(t *testing.T, packet []byte) {
		for _, kind := range []dnsmessage.Type{dnsmessage.TypeA, dnsmessage.TypeAAAA} {
			q := dnsQuery{id: 7, question: dnsmessage.Question{Name: dnsmessage.MustNewName("a.test."), Type: kind, Class: dnsmessage.ClassINET}}
			a, err := q.read(packet)
			if err != nil {
				continue
			}
			if len(packet) < 12 || binary.BigEndian.Uint16(packet) != 7 || packet[2]&0x80 == 0 {
				t.Fatal("it is no answer")
			}
			if a.holds < 0 || a.holds > 1<<31*time.Second {
				t.Fatalf("holds %v", a.holds)
			}
			for _, addr := range a.addrs {
				if addr.Is4() != (kind == dnsmessage.TypeA) {
					t.Fatalf("%v for %v", addr, kind)
				}
			}
		}
	})
}

func TestANameIsLookedUpOnceInAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		z := &clienttest.Zone{Hosts: map[string]string{"a.example": "192.0.2.1", "busy.example": "busy"}, Gate: make(chan struct{})}
		z.Holds = -1
		n := newDNSCache(Defaults, func(string) {})
		n.resolver = z
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if addrs, err := n.resolve(t.Context(), "a.example"); err != nil || len(addrs) != 1 {
					t.Errorf("%v, %v", addrs, err)
				}
			})
		}
		synctest.Wait()
		close(z.Gate)
		all.Wait()
		expect := func(when string, host string, want int64) {
			t.Helper()
			before := z.Asked.Load()
			_, _ = n.resolve(t.Context(), host)
			if got := z.Asked.Load() - before; got != want {
				t.Errorf("%s: %d lookups of %s, want %d", when, got, host, want)
			}
		}
		if z.Asked.Load() != 1 {
			t.Errorf("%d lookups at once", z.Asked.Load())
		}
		expect("an address", "192.0.2.7", 0)
		time.Sleep(time.Duration(Defaults.DNSKeep))
		expect("within its time", "a.example", 0)
		time.Sleep(time.Nanosecond)
		expect("after its time", "a.example", 1)
		expect("unknown", "none.example", 1)
		time.Sleep(time.Duration(Defaults.DNSKeepFailures))
		expect("known not to be", "none.example", 0)
		time.Sleep(time.Nanosecond)
		expect("perhaps it is there now", "none.example", 1)
		expect("no answer", "busy.example", 1)
		expect("no answer is nothing to remember", "busy.example", 1)
	})
}

func TestBothFamiliesAreTried(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"192.0.2.1":                         "192.0.2.1",
		"2001:db8::1 2001:db8::2 192.0.2.1": "2001:db8::1 192.0.2.1 2001:db8::2",
		"192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4 192.0.2.5 2001:db8::1": "192.0.2.1 2001:db8::1 192.0.2.2 192.0.2.3",
		"::ffff:192.0.2.1": "192.0.2.1",
	} {
		var addrs []netip.Addr
		for addr := range strings.FieldsSeq(in) {
			addrs = append(addrs, netip.MustParseAddr(addr))
		}
		if got := strings.Trim(fmt.Sprint(families["any"].order(addrs)), "[]"); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// TestANameThatMovesInsideIsRefusedThere: a connection stays with the address that was checked, and the next
// one is checked anew.
func TestANameThatMovesInsideIsRefusedThere(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.RemoteAddr) }))
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(server.URL, "http://"))
	z := &clienttest.Zone{Hosts: map[string]string{"a.test": "127.0.0.1"}}
	c, env := newTestClient(t, "127.0.0.1")
	c.SetResolver(z)
	ask := func() error { return ask(t, c, "http://a.test:"+port+"/") }
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	z.Hosts["a.test"] = "127.0.0.2" // the same machine, that no option admits
	c.dialer.names.cache = loadingcache.New[resolved](maxNames)
	if err := ask(); err != nil || env.Counters()["dns_lookups"] != 1 {
		t.Errorf("on a connection that was kept: %v, counters %v", err, env.Counters())
	}
	c.transports.closeIdle()
	if err := ask(); !netguard.IsRefused(err) || env.Counters()["dns_lookups"] != 2 {
		t.Errorf("on a new connection: %v, counters %v", err, env.Counters())
	}
}
