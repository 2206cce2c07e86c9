package urlnorm

import "testing"

func TestHostIsTheAuthorityAndAllocatesNothing(t *testing.T) {
	for url, want := range map[string]string{
		"http://www.example.co.uk/a?b": "www.example.co.uk",
		"https://example.org:8443/":    "example.org:8443",
		"http://a.b.example.org?x":     "a.b.example.org",
		"http://localhost:80":          "localhost:80",
		"http://[::1]:81/x":            "[::1]:81",
		"http://[::1]/x":               "[::1]",
		"http://www.example.org./":     "www.example.org.",
		"nothing":                      "",
	} {
		var got string
		if n := testing.AllocsPerRun(10, func() { got = Host(url) }); got != want || n > 0 {
			t.Errorf("%s: %q with %v allocations, want %q", url, got, n, want)
		}
	}
}

func TestOriginIsWhatAllURLsUnderAPrefixBeginWith(t *testing.T) {
	for url, want := range map[string]string{
		"http://example.org:8080/a/b?c": "http://example.org:8080",
		"https://example.org/":          "https://example.org",
		"https://example.org":           "", // goes on with .evil.example, too
		"https://example.org?a/b":       "",
		"https://":                      "",
		"/a":                            "",
		"/redirect?to=http://a.b":       "",
		"mailto:a@b.org":                "",
		"":                              "",
	} {
		if got := Origin(url); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
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
		{Rules{Strip: []string{"sid"}}, "http://h/?", "http://h/?"},
		{Rules{Strip: []string{"sid"}}, "http://h/?&&a=&", "http://h/?&&a=&"},
		{Rules{Strip: []string{"sid"}}, "http://h/?a&&sid=1&b", "http://h/?a&&b"},
		{Rules{Strip: []string{"sid"}}, "http://h/?sid=1&&", "http://h/"},
	} {
		if got := c.rules.Apply(c.in); got != c.want {
			t.Errorf("%+v: %s became %s, want %s", c.rules, c.in, got, c.want)
		}
		if c.in != c.want && !c.rules.Concern([]byte(c.in)) {
			t.Errorf("%+v are said not to concern %s", c.rules, c.in)
		}
	}
}
