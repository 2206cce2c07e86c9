package agent

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/stages/internal/agent/agenttest"
	"github.com/webrace/webrace/xmlschema"
)

// private are hosts that are not of the public Internet, in the forms in which a URD may have them.
var private = map[string]string{
	"dotted": "127.0.0.1", "of another number": "127.8.9.10", "short": "127.1", "decimal": "2130706433", "octal": "0177.0.0.01", "hexadecimal": "0x7f.0x0.0x0.0x1",
	"hexadecimal, in one": "0x7F000001", "mixed": "0x7f.1", "with a dot behind it": "127.0.0.1.", "of full-width digits": "１２７.０.０.１", "with ideographic full stops": "127。0。0。1",
	"percent-encoded": "%31%32%37.0.0.1",
	"IPv6":            "[::1]", "IPv6 in full": "[0:0:0:0:0:0:0:1]", "IPv4 in IPv6": "[::ffff:127.0.0.1]", "IPv4 in IPv6, hexadecimal": "[::ffff:7f00:1]", "IPv4-compatible": "[::127.0.0.1]",
	"NAT64": "[64:ff9b::127.0.0.1]", "6to4": "[2002:7f00:1::1]", "Teredo": "[2001:0:53aa:64c:0:ffff:80ff:fffe]",
	"unspecified": "0.0.0.0", "zero": "0", "unspecified IPv6": "[::]", "link-local": "169.254.1.1", "link-local IPv6": "[fe80::1]", "metadata of clouds": "169.254.169.254",
	"private 10": "10.0.0.1", "private 172.16": "172.16.0.1", "private 192.168": "192.168.1.1", "unique local": "[fd00::1]", "carrier's": "100.64.0.1", "multicast": "224.0.0.1",
	"a name of this machine": "localhost", "with a dot": "localhost.", "in capitals": "LOCALHOST", "a name of the net that is here": "here.test", "and by IPv6": "here6.test",
	"a name that is private": "inside.test", "a name of many addresses, all private": "both.test", "an alias of one": "alias.test", "a name in another script": "хост.test",
}

// names are those that the tests' name server knows.
var names = map[string][]string{
	"here.test.": {"127.0.0.1"}, "here6.test.": {"::1"}, "inside.test.": {"10.0.0.1"}, "both.test.": {"127.0.0.1", "192.168.1.1", "::1", "fd00::1"},
	"alias.test.": {"127.0.0.1"}, "xn--n1agdj.test.": {"127.0.0.1"}, "localhost.": {"127.0.0.1"},
}

// TestPrivateAddressesAreNotAsked, in whatever form a URD has them: it is refused where it is read, or the visit is.
// There is a server at each port that would be asked.
func TestPrivateAddressesAreNotAsked(t *testing.T) { // alone: it sets how names are looked up
	resolver := net.DefaultResolver
	net.DefaultResolver = resolve(t)
	defer func() { net.DefaultResolver = resolver }()
	var reached atomic.Int64
	port := listen(t, &reached)
	refused := 0
	for form, host := range private {
		u := xmlschema.NewURD("eleni", "imaps://"+host+":"+port+"/INBOX")
		u.Protocol, u.Secret = xmlschema.ProtocolIMAP, "mail"
		start, err := u.Start()
		if err != nil {
			t.Logf("%s: %v", form, err)
			refused++
			continue
		}
		o := quick()
		o.AllowNetworks = nil
		got := read(t, o, anywhere(t), start, "old", 1)
		if got.Err != nil || got.Counters["address_refused"] != 1 || !strings.Contains(got.Visit.Error, "--set toy.allow_networks=") || string(got.Visit.State) != "old" {
			t.Errorf("%s: %s is %s, and ends by %q, %v", form, host, start, got.Why(), got.Counters)
			continue
		}
		t.Logf("%s: %s: %s", form, start, got.Why())
		refused++
	}
	if n := reached.Load(); n > 0 || refused < 14 {
		t.Errorf("%d connections; refused in %d forms", n, refused)
	}
	got := read(t, quick(), anywhere(t), "imaps://here.test:"+port+"/INBOX", "", 1) // is admitted
	if reached.Load() != 1 {
		t.Errorf("%d connections where one is admitted: %q", reached.Load(), got.Why())
	}
}

// anywhere is a secret for every host.
func anywhere(t *testing.T) secrets {
	t.Helper()
	secret, err := credentials.NewSecret(credentials.KindBasic, user, password)
	if err != nil {
		t.Fatal(err)
	}
	return secrets{"mail": secret}
}

// listen counts the connections at a port of this machine, by IPv4 and, where there is one, IPv6.
func listen(t *testing.T, reached *atomic.Int64) (port string) {
	t.Helper()
	_, port, err := net.SplitHostPort(agenttest.Listen(t, ":0", func(net.Conn) { reached.Add(1) }))
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// resolve returns a resolver that asks a name server of the test, which knows names.
func resolve(t *testing.T) *net.Resolver {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		packet := make([]byte, 1500)
		for {
			n, from, err := server.ReadFrom(packet)
			if err != nil {
				return
			}
			if answer, err := answer(packet[:n]); err == nil {
				server.WriteTo(answer, from)
			}
		}
	}()
	t.Cleanup(func() { server.Close(); <-ended })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

// answer is what the name server answers to a question.
func answer(question []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil {
		return nil, err
	}
	m.Header.Response, m.Additionals = true, nil
	for _, q := range m.Questions {
		addresses, known := names[strings.ToLower(q.Name.String())]
		if !known {
			m.Header.RCode = dnsmessage.RCodeNameError
		}
		for _, a := range addresses {
			addr := netip.MustParseAddr(a)
			h := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 60}
			switch {
			case addr.Is4() && q.Type == dnsmessage.TypeA:
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: addr.As4()}})
			case addr.Is6() && q.Type == dnsmessage.TypeAAAA:
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
			}
		}
	}
	return m.Pack()
}
