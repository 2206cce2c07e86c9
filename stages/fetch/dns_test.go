package fetch

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/webrace/webrace/pipeline"
)

// nameServer is a server of names over UDP and TCP whose answers a test makes.
type nameServer struct {
	addr  netip.AddrPort
	asked atomic.Int64
	byTCP atomic.Int64
}

// serveNames starts one. What the answer makes of a question is sent, one packet after the other.
func serveNames(t *testing.T, answer func(q dnsmessage.Question, id uint16, tcp bool) [][]byte) *nameServer {
	t.Helper()
	s := &nameServer{}
	tcp := listen(t, func(conn net.Conn) {
		var length [2]byte
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			return
		}
		packet := make([]byte, binary.BigEndian.Uint16(length[:]))
		if _, err := io.ReadFull(conn, packet); err != nil {
			return
		}
		s.byTCP.Add(1)
		for _, a := range answerTo(packet, true, answer) {
			_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(a))), a...))
		}
	})
	s.addr = netip.MustParseAddrPort(strings.Trim(strings.TrimPrefix(tcp, "http:"), "/"))
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(s.addr))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { conn.Close(); <-done })
	go func() {
		defer close(done)
		for {
			packet := make([]byte, 4096)
			n, from, err := conn.ReadFromUDPAddrPort(packet)
			if err != nil {
				return
			}
			s.asked.Add(1)
			for _, a := range answerTo(packet[:n], false, answer) {
				_, _ = conn.WriteToUDPAddrPort(a, from)
			}
		}
	}()
	return s
}

func answerTo(packet []byte, tcp bool, answer func(q dnsmessage.Question, id uint16, tcp bool) [][]byte) [][]byte {
	var p dnsmessage.Parser
	header, err := p.Start(packet)
	if err != nil {
		return nil
	}
	q, err := p.Question()
	if err != nil {
		return nil
	}
	return answer(q, header.ID, tcp)
}

// answers makes an answer of lines such as "a.test 60 A 127.0.0.1" and "b.test 60 CNAME a.test".
func answers(q dnsmessage.Question, id uint16, code dnsmessage.RCode, lines ...string) []byte {
	b := dnsmessage.NewBuilder(nil, dnsmessage.Header{ID: id, Response: true, RCode: code})
	_ = b.StartQuestions()
	_ = b.Question(q)
	_ = b.StartAnswers()
	for _, line := range lines {
		f := strings.Fields(line)
		var ttl uint32
		_, _ = fmt.Sscan(f[1], &ttl)
		h := dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName(f[0] + "."), Class: dnsmessage.ClassINET, TTL: ttl}
		switch f[2] {
		case "A":
			_ = b.AResource(h, dnsmessage.AResource{A: netip.MustParseAddr(f[3]).As4()})
		case "AAAA":
			_ = b.AAAAResource(h, dnsmessage.AAAAResource{AAAA: netip.MustParseAddr(f[3]).As16()})
		case "CNAME":
			_ = b.CNAMEResource(h, dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName(f[3] + ".")})
		case "TXT":
			_ = b.TXTResource(h, dnsmessage.TXTResource{TXT: []string{f[3]}})
		}
	}
	packet, err := b.Finish()
	if err != nil {
		panic(err)
	}
	return packet
}

// ofType keeps the lines that answer a question of its type.
func ofType(q dnsmessage.Question, lines ...string) (kept []string) {
	for _, line := range lines {
		if t := strings.Fields(line)[2]; t == "CNAME" || "Type"+t == q.Type.String() {
			kept = append(kept, line)
		}
	}
	return kept
}

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
			s := serveNames(t, func(q dnsmessage.Question, id uint16, _ bool) [][]byte {
				return [][]byte{answers(q, id, c.code, append(ofType(q, c.lines...), "a.test 1 TXT other")...)}
			})
			client := &dnsClient{servers: []netip.AddrPort{s.addr}}
			for _, host := range []string{"a.test", "a.test."} {
				addrs, holds, err := client.lookup(t.Context(), host)
				if got := strings.Trim(fmt.Sprint(addrs), "[]"); got != c.addrs || holds != c.holds || isNotFound(err) != (c.addrs == "") {
					t.Errorf("%s: %s, %v, %v; want %s, %v", host, got, holds, err, c.addrs, c.holds)
				}
			}
			if s.asked.Load() != 4 {
				t.Errorf("asked %d times", s.asked.Load())
			}
		})
	}
}

// TestWhatIsNoAnswerIsPassedOver: anybody can send a packet.
func TestWhatIsNoAnswerIsPassedOver(t *testing.T) {
	t.Parallel()
	s := serveNames(t, func(q dnsmessage.Question, id uint16, _ bool) [][]byte {
		other := q
		other.Name = dnsmessage.MustNewName("b.test.")
		good := answers(q, id, 0, ofType(q, "a.test 60 A 192.0.2.1")...)
		question := bytes.Clone(good)
		question[2] &^= 0x80
		return [][]byte{
			{}, {1}, question, answers(q, id+1, 0, ofType(q, "a.test 60 A 192.0.2.66")...),
			answers(other, id, 0, ofType(q, "a.test 60 A 192.0.2.67")...), good,
		}
	})
	client := &dnsClient{servers: []netip.AddrPort{s.addr}}
	addrs, _, err := client.lookup(t.Context(), "a.test")
	if err != nil || fmt.Sprint(addrs) != "[192.0.2.1]" {
		t.Errorf("%v, %v", addrs, err)
	}
}

func TestALongAnswerIsAskedForOverTCP(t *testing.T) {
	t.Parallel()
	s := serveNames(t, func(q dnsmessage.Question, id uint16, tcp bool) [][]byte {
		a := answers(q, id, 0, ofType(q, "a.test 60 A 192.0.2.1")...)
		if !tcp {
			a = answers(q, id, 0)
			a[2] |= 0x02
		}
		return [][]byte{a}
	})
	client := &dnsClient{servers: []netip.AddrPort{s.addr}, family: families["ipv4"]}
	addrs, _, err := client.lookup(t.Context(), "a.test")
	if err != nil || fmt.Sprint(addrs) != "[192.0.2.1]" || s.byTCP.Load() != 1 {
		t.Errorf("%v, %v, %d over TCP", addrs, err, s.byTCP.Load())
	}
}

func TestAnotherServerOfNamesIsAskedWhenOneFails(t *testing.T) {
	t.Parallel()
	good := serveNames(t, func(q dnsmessage.Question, id uint16, _ bool) [][]byte {
		return [][]byte{answers(q, id, 0, ofType(q, "a.test 60 A 192.0.2.1")...)}
	})
	closed := netip.MustParseAddrPort("127.0.0.1:1")
	for name, bad := range map[string]func(q dnsmessage.Question, id uint16, _ bool) [][]byte{
		"fails": func(q dnsmessage.Question, id uint16, _ bool) [][]byte {
			return [][]byte{answers(q, id, dnsmessage.RCodeServerFailure)}
		},
		"refuses": func(q dnsmessage.Question, id uint16, _ bool) [][]byte {
			return [][]byte{answers(q, id, dnsmessage.RCodeRefused)}
		},
		"sends half": func(q dnsmessage.Question, id uint16, _ bool) [][]byte {
			a := answers(q, id, 0, "a.test 60 A 192.0.2.9", "a.test 60 AAAA ::9")
			return [][]byte{a[:len(a)-3]}
		},
	} {
		s := serveNames(t, bad)
		client := &dnsClient{servers: []netip.AddrPort{closed, s.addr, good.addr}}
		if addrs, _, err := client.lookup(t.Context(), "a.test"); err != nil || fmt.Sprint(addrs) != "[192.0.2.1]" {
			t.Errorf("%s: %v, %v", name, addrs, err)
		}
		client.servers = client.servers[:2]
		if _, _, err := client.lookup(t.Context(), "a.test"); err == nil || isNotFound(err) || !strings.Contains(err.Error(), s.addr.String()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	client := &dnsClient{servers: []netip.AddrPort{good.addr}}
	for _, host := range []string{strings.Repeat("x", 64) + ".test", strings.Repeat("x.", 130), "a..test"} {
		if _, _, err := client.lookup(t.Context(), host); !isNotFound(err) {
			t.Errorf("%s: %v", host, err)
		}
	}
	ctx, cancel := cancellable(t)
	cancel()
	if _, _, err := client.lookup(ctx, "a.test"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestNamesOfAPageAreAskedOfTheServersOfTheOptions(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "page") })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	s := serveNames(t, func(q dnsmessage.Question, id uint16, _ bool) [][]byte {
		return [][]byte{answers(q, id, 0, ofType(q, strings.TrimSuffix(q.Name.String(), ".")+" 60 A 127.0.0.1")...)}
	})
	o := local()
	o.DNSServers, o.IdleConnections = []string{s.addr.String()}, 0
	page := "http://a.test:" + port + "/"
	all := run(t, o, get(page+"1"), get(page+"2"), get(page+"3"))
	if c := all.counters; c["pages"] != 3 || c["dns_lookups"] != 1 || c["dns_cached"] != 2 || c["dns_failures"] != 0 || s.asked.Load() != 2 {
		t.Errorf("counters %v, asked %d times", c, s.asked.Load())
	}
}

func TestAddressesAreKeptAsLongAsTheyHoldWithinBounds(t *testing.T) {
	t.Parallel()
	o := defaults
	o.DNSMinTTL, o.DNSMaxTTL, o.DNSKeep = pipeline.Duration(time.Minute), pipeline.Duration(time.Hour), pipeline.Duration(7*time.Minute)
	for holds, want := range map[time.Duration]time.Duration{
		-1: 7 * time.Minute, 0: time.Minute, 90 * time.Second: 90 * time.Second, 24 * time.Hour: time.Hour,
	} {
		synctest.Test(t, func(t *testing.T) {
			z := &zone{hosts: map[string]string{"a.test": "192.0.2.1"}, holds: holds}
			n := newNames(o, func(string) {})
			n.resolver = z
			for _, after := range []time.Duration{0, want, 1} {
				time.Sleep(after)
				if _, err := n.resolve(t.Context(), "a.test"); err != nil {
					t.Fatal(err)
				}
				if asked := z.asked.Load(); asked != 1+after.Nanoseconds()%2 {
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
		z := &zone{hosts: map[string]string{"a.test": "192.0.2.1", "gone.test": "192.0.2.2"}, holds: -1}
		counted := make(map[string]int)
		n := newNames(defaults, func(counter string) { counted[counter]++ })
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
		z.hosts["a.test"] = "busy"
		delete(z.hosts, "gone.test")
		time.Sleep(time.Duration(defaults.DNSKeep) + 1)
		expect("a.test", "192.0.2.1")
		expect("gone.test", "")
		expect("a.test", "192.0.2.1")
		if counted["dns_stale"] != 1 || counted["dns_failures"] != 2 || counted["dns_lookups"] != 4 || counted["dns_cached"] != 1 {
			t.Errorf("counted %v", counted)
		}
		time.Sleep(time.Duration(defaults.DNSStale))
		expect("a.test", "")
	})
}

// TestANameThatMovesInsideIsRefusedThere: a connection stays with the address that was checked, and the next
// one is checked anew.
func TestANameThatMovesInsideIsRefusedThere(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.RemoteAddr) })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	z := &zone{hosts: map[string]string{"a.test": "127.0.0.1"}}
	o := local()
	o.AllowNetworks = []string{"127.0.0.1"}
	s := newTestStage(t, o)
	z.use(s)
	ask := func() {
		t.Helper()
		if err := s.Process(t.Context(), item("http://a.test:"+port+"/"), discard{}); err != nil {
			t.Fatal(err)
		}
	}
	ask()
	z.hosts["a.test"] = "127.0.0.2" // the same machine, that nobody admitted
	s.client.dialer.names.memo.kept.Purge()
	ask()
	if c := s.env.Counters(); c["pages"] != 2 || c["dns_lookups"] != 1 {
		t.Errorf("on a connection that was kept: counters %v", c)
	}
	s.client.transports.closeIdle()
	ask()
	if c := s.env.Counters(); c["pages"] != 2 || c["address_refused"] != 1 || c["dns_lookups"] != 2 {
		t.Errorf("on a new connection: counters %v", c)
	}
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
	for family, urls := range map[string]string{"ipv4": "http://[::1]:1/ http://six.test:1/", "ipv6": "http://127.0.0.1:1/ http://four.test:1/"} {
		for url := range strings.FieldsSeq(urls) {
			z := &zone{hosts: map[string]string{"six.test": "::1", "four.test": "127.0.0.1"}}
			o := local()
			o.IPFamily = family
			got := runWith(t, o, z.use, get(url))
			if r := got.byRequest[0]; got.counters["family_refused"] != 1 || r.outcome.Err != nil || !strings.Contains(r.visit.Error, "option ip_family") {
				t.Errorf("%s, %s: %+v, counters %v", family, url, r, got.counters)
			}
		}
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
	z := &zone{hosts: map[string]string{"six.test": "::1", "both.test": "127.93.0.1 ::1"}}
	for _, host := range []string{"[::1]", "six.test", "both.test"} {
		for _, family := range []string{"any", "ipv6"} {
			o := local()
			o.IPFamily = family
			all := runWith(t, o, z.use, get("http://"+host+":"+port+"/"))
			r := all.byRequest[0]
			if len(r.bodies) != 1 || r.bodies[0] != host+":"+port || r.documents[0].Origin != netip.IPv6Loopback() {
				t.Errorf("%s, %s: %+v, counters %v", host, family, r, all.counters)
			}
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
		o := defaults
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
		f.Add(answers(q, 7, 0, "a.test 60 CNAME b.test", "b.test 60 A 192.0.2.1", "b.test 60 AAAA ::1"))
		f.Add(answers(q, 7, 3))
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
