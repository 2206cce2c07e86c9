package netguard_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/webrace/webrace/stages/internal/netguard"
)

func guard(t *testing.T, allow ...string) *netguard.Guard {
	t.Helper()
	g, err := netguard.New(allow)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestOnlyThePublicInternetIsAllowedByDefault(t *testing.T) {
	t.Parallel()
	g := guard(t)
	for _, public := range []string{
		"8.8.8.8", "1.1.1.1", "93.184.216.34", "172.15.255.255", "172.32.0.0", "100.63.255.255", "100.128.0.0",
		"169.253.255.255", "192.167.255.255", "223.255.255.255", "2606:4700:4700::1111", "2a00:1450:4001::1",
	} {
		if err := g.Check(netip.MustParseAddr(public)); err != nil {
			t.Errorf("%s: %v", public, err)
		}
	}
	for addr, why := range map[string]string{
		"127.0.0.1":                        "loopback",
		"127.255.255.254":                  "loopback",
		"::1":                              "loopback",
		"::ffff:127.0.0.1":                 "loopback",
		"::ffff:7f00:1":                    "loopback",
		"0.0.0.0":                          "unspecified",
		"0.1.2.3":                          "unspecified",
		"::":                               "unspecified",
		"10.0.0.1":                         "private",
		"172.16.0.1":                       "private",
		"172.31.255.255":                   "private",
		"192.168.1.1":                      "private",
		"::ffff:192.168.1.1":               "private",
		"fd12:3456::1":                     "private",
		"fc00::":                           "private",
		"169.254.1.1":                      "link-local",
		"fe80::1":                          "link-local",
		"fe80::1%eth0":                     "link-local",
		"169.254.169.254":                  "metadata",
		"::ffff:169.254.169.254":           "metadata",
		"fd00:ec2::254":                    "metadata",
		"100.100.100.200":                  "metadata",
		"192.0.0.192":                      "metadata",
		"168.63.129.16":                    "metadata",
		"100.64.0.1":                       "carrier-grade",
		"100.127.255.255":                  "carrier-grade",
		"64:ff9b::7f00:1":                  "NAT64",
		"64:ff9b::808:808":                 "NAT64",
		"64:ff9b:1::a00:1":                 "NAT64",
		"2002:7f00:1::":                    "6to4",
		"2001:0:53aa:64c:0:ffff:f5ff:fffe": "Teredo",
		"224.0.0.1":                        "multicast",
		"ff02::1":                          "multicast",
		"255.255.255.255":                  "not an address of the public Internet",
		"240.0.0.1":                        "not an address of the public Internet",
		"198.18.0.1":                       "not an address of the public Internet",
		"203.0.113.7":                      "not an address of the public Internet",
		"2001:db8::1":                      "not an address of the public Internet",
		"::ffff:8.8.8.8":                   "not an address of the public Internet",
		"::7f00:1":                         "not an address of the public Internet",
		"2606:4700:4700::1111%a":           "not an address of the public Internet",
		"fec0::1":                          "not an address of the public Internet",
		"::ffff:0:7f00:1":                  "not an address of the public Internet",
	} {
		var refused *netguard.RefusedError
		if err := g.Check(netip.MustParseAddr(addr)); !errors.As(err, &refused) {
			t.Errorf("%s: got %v, want a refusal", addr, err)
		} else if !strings.Contains(refused.Why, why) {
			t.Errorf("%s: refused as %q, want %q", addr, refused.Why, why)
		}
		if g.Admitted(netip.MustParseAddr(addr)) {
			t.Errorf("%s: admitted without a list", addr)
		}
	}
	if !netguard.IsRefused(g.Check(netip.Addr{})) {
		t.Error("the zero address was not refused")
	}
}

func TestTheListAdmitsWhatItNamesAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		allow string
		yes   string
		no    string
	}{
		{"loopback", "127.0.0.1 127.9.9.9 ::1 ::ffff:127.0.0.1", "10.0.0.1 0.0.0.0 169.254.169.254 64:ff9b::7f00:1"},
		{"private", "10.1.2.3 172.20.0.1 192.168.0.1 fd00::1", "127.0.0.1 ::1 100.64.0.1 fe80::1 fd00:ec2::254 fd20:ce::254"},
		{"10.1.0.0/16", "10.1.2.3 ::ffff:10.1.2.3", "10.2.0.1 127.0.0.1"},
		{"10.1.2.3", "10.1.2.3", "10.1.2.4 10.1.2.2"},
		{"::ffff:10.1.0.0/112", "10.1.2.3", "10.2.0.1"},
		{"fe80::/10", "fe80::1 fe80::1%eth0", "fec0::1"},
		{"169.254.0.0/16", "169.254.1.1", "169.254.169.254 169.254.170.2"},
		{"169.254.169.254", "169.254.169.254", "169.254.170.2 169.254.1.1"},
		{"0.0.0.0/0", "127.0.0.1 8.8.8.8 10.0.0.1", "169.254.169.254 168.63.129.16 ::1"},
		{"64:ff9b::/96", "64:ff9b::808:808", "64:ff9b:1::1"},
	} {
		g := guard(t, c.allow)
		for _, addr := range strings.Fields(c.yes) {
			a := netip.MustParseAddr(addr)
			if err := g.Check(a); err != nil || !g.Admitted(a) {
				t.Errorf("%s does not admit %s: %v", c.allow, addr, err)
			}
		}
		for _, addr := range strings.Fields(c.no) {
			a := netip.MustParseAddr(addr)
			if err := g.Check(a); err == nil || g.Admitted(a) {
				t.Errorf("%s admits %s", c.allow, addr)
			}
		}
	}
}

func TestAPublicAddressIsAllowedButNotTrusted(t *testing.T) {
	t.Parallel()
	g := guard(t, "loopback")
	a := netip.MustParseAddr("8.8.8.8")
	if g.Check(a) != nil || g.Admitted(a) {
		t.Error("a public address has to be allowed without being admitted by the list")
	}
}

func TestABadEntryIsNamed(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "localhost", "10.0.0.0/33", "10.0.0", "Private", "10.0.0.1/8", "fe80::%eth0/10", "10.0.0.1-10.0.0.9"} {
		_, err := netguard.New([]string{"loopback", bad})
		if err == nil {
			t.Errorf("%q was accepted", bad)
		} else if !strings.Contains(err.Error(), `"`+bad+`"`) {
			t.Errorf("%q: the message does not name it: %v", bad, err)
		}
	}
	_, err := netguard.New([]string{"10.0.0.1/8"})
	if err == nil || !strings.Contains(err.Error(), "10.0.0.0/8 or 10.0.0.1") {
		t.Errorf("no advice for an address with a prefix length: %v", err)
	}
}

// The hint, put to use, has to admit the address, and what was admitted before.
func TestTheHintAdmitsWhatWasRefused(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"127.0.0.1", "::1", "10.1.2.3", "169.254.169.254", "fe80::1%eth0", "::ffff:192.168.0.1", "64:ff9b::1", "::ffff:8.8.8.8"} {
		var refused *netguard.RefusedError
		if err := guard(t, "203.0.113.0/24").Check(netip.MustParseAddr(addr)); !errors.As(err, &refused) {
			t.Fatalf("%s was not refused", addr)
		}
		list, ok := strings.CutPrefix(refused.Hint, "--set fetch.allow_networks=")
		if !ok || !strings.Contains(refused.Error(), refused.Hint) {
			t.Fatalf("%s: hint %q, message %q", addr, refused.Hint, refused)
		}
		g := guard(t, strings.Split(list, ",")...)
		for _, a := range []string{addr, "203.0.113.9"} {
			if err := g.Check(netip.MustParseAddr(a)); err != nil {
				t.Errorf("after the hint: %v", err)
			}
		}
	}
}

func TestTheDialerIsStoppedBeforeItConnects(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked <- struct{}{} }))
	defer server.Close()
	get := func(g *netguard.Guard) error {
		transport := &http.Transport{DialContext: (&net.Dialer{Control: g.Control}).DialContext, DisableKeepAlives: true}
		req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, strings.Replace(server.URL, "127.0.0.1", "localhost", 1), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := transport.RoundTrip(req)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	if err := get(guard(t)); !netguard.IsRefused(err) {
		t.Errorf("got %v, want a refusal", err)
	}
	if len(asked) != 0 {
		t.Error("the server was asked in spite of the refusal")
	}
	if err := get(guard(t, "loopback")); err != nil {
		t.Errorf("admitted, yet: %v", err)
	}
}

func TestWhatIsNoAddressIsRefused(t *testing.T) {
	t.Parallel()
	g := guard(t, "loopback")
	for _, c := range [][2]string{{"unix", "/run/docker.sock"}, {"udp4", "8.8.8.8:53"}, {"tcp4", "localhost:80"}, {"tcp4", ""}, {"tcp", "8.8.8.8:80"}} {
		if g.Control(c[0], c[1], nil) == nil {
			t.Errorf("%s %q was allowed", c[0], c[1])
		}
	}
	if err := g.Control("tcp6", "[2606:4700:4700::1111]:8443", nil); err != nil {
		t.Errorf("any port of a public address: %v", err)
	}
}
