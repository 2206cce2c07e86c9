package urlnorm

import "testing"

func TestParts(t *testing.T) {
	for _, c := range []struct{ url, host, name, port, domain string }{
		{"http://www.example.co.uk/a?b", "www.example.co.uk", "www.example.co.uk", "", "example.co.uk"},
		{"https://example.org:8443/", "example.org:8443", "example.org", "8443", "example.org"},
		{"http://a.b.example.org?x", "a.b.example.org", "a.b.example.org", "", "example.org"},
		{"http://co.uk/", "co.uk", "co.uk", "", "co.uk"},
		{"http://localhost:80", "localhost:80", "localhost", "80", "localhost"},
		{"http://127.0.0.1:81/x", "127.0.0.1:81", "127.0.0.1", "81", "127.0.0.1"},
		{"http://[::1]:81/x", "[::1]:81", "[::1]", "81", "[::1]"},
		{"http://[::1]/x", "[::1]", "[::1]", "", "[::1]"},
		{"http://www.example.org./", "www.example.org.", "www.example.org.", "", "example.org"},
		{"http://a.b.github.io/", "a.b.github.io", "a.b.github.io", "", "b.github.io"},
		{"http://x.unheardof/", "x.unheardof", "x.unheardof", "", "x.unheardof"},
		{"nothing", "", "", "", ""},
	} {
		host := Host(c.url)
		name, port := SplitHost(host)
		if host != c.host || name != c.name || port != c.port || Domain(c.url) != c.domain {
			t.Errorf("%s: %q %q %q %q, want %+v", c.url, host, name, port, Domain(c.url), c)
		}
		if n := testing.AllocsPerRun(10, func() { name, port = SplitHost(Host(c.url)) }); n > 0 {
			t.Errorf("%s: %v allocations", c.url, n)
		}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	all := Rules{Strip: TrackingParameters(), Index: IndexPages(), Sort: true}
	for _, c := range []struct {
		rules    Rules
		in, want string
	}{
		{Rules{}, "http://h/index.html?b=1&utm_source=x&a=2&", "http://h/index.html?b=1&utm_source=x&a=2&"},
		{Rules{}, "http://h/?", "http://h/?"},
		{all, "http://h/index.html?b=1&UTM_source=x&a=2&a=1&", "http://h/?a=2&a=1&b=1"},
		{all, "http://h/a/index.htm", "http://h/a/"},
		{all, "http://h/xindex.html", "http://h/xindex.html"},
		{all, "http://index.html/", "http://index.html/"},
		{all, "http://h/?utm_source", "http://h/"},
		{all, "http://h/?gclid=1&x/index.html", "http://h/?x/index.html"},
		{all, "http://h/?", "http://h/"},
		{Rules{Strip: []string{"sid"}}, "http://h/?b&SID=1&a&sidx", "http://h/?b&a&sidx"},
		{Rules{Sort: true}, "http://h/?b&a", "http://h/?a&b"},
	} {
		if got := c.rules.Apply(c.in); got != c.want {
			t.Errorf("%+v: %s became %s, want %s", c.rules, c.in, got, c.want)
		}
		if c.in != c.want && !c.rules.Concern([]byte(c.in)) {
			t.Errorf("%+v are said not to concern %s", c.rules, c.in)
		}
	}
}
