package scope

import (
	neturl "net/url"
	"strings"
	"testing"

	"github.com/webrace/webrace"
)

func TestMatchFollowsTheScope(t *testing.T) {
	t.Parallel()
	tests := []struct {
		start string
		scope webrace.Scope
		url   string
		want  bool
	}{
		{"http://a.org/x", "", "http://a.org/y", true},
		{"http://a.org/x", "host", "https://a.org/", true},
		{"http://a.org/x", "host", "http://a.org:8080/", false},
		{"http://a.org:8080/", "host", "http://a.org:8080/y", true},
		{"http://a.org/x", "host", "http://www.a.org/", false},
		{"http://a.org/x", "host", "http://a.org.evil.net/", false},
		{"http://a.org/x", "host", "http://evil.net/http://a.org/", false},
		{"http://a.org/x", "host", "http://a.org@evil.net/", false},
		{"http://a.org/x", "host", "http://me:pass@a.org/", true},
		{"http://a.org/x", "host", "http://a.org", true},
		{"http://a.org/x", "host", "http://a.org?q", true},
		{"http://a.org/x", "host", "mailto:me@a.org", false},
		{"http://a.org/x", "host", "/y", false},
		{"http://www.a.co.uk/", "domain", "http://b.c.a.co.uk/", true},
		{"http://www.a.co.uk/", "domain", "http://a.co.uk:8080/", true},
		{"http://www.a.co.uk/", "domain", "http://ba.co.uk/", false},
		{"http://www.a.co.uk/", "domain", "http://b.co.uk/", false},
		{"http://127.0.0.1:80/", "domain", "http://127.0.0.1:81/", true},
		{"http://10.0.0.1/", "domain", "http://20.0.0.1/", false},
		{"http://[::1]:80/", "domain", "http://[::1]/", true},
		{"http://localhost/", "domain", "http://localhost/x", true},
		{"http://me.github.io/", "domain", "http://you.github.io/", false},
		{"http://a.org/d/x?q=/e/", "prefix", "http://a.org/d/y", true},
		{"http://a.org/d/x", "prefix", "https://a.org/d/", true},
		{"http://a.org/d/x", "prefix", "http://a.org/d", false},
		{"http://a.org/d/x", "prefix", "http://a.org/dd/", false},
		{"http://a.org/d/x", "prefix", "http://a.org:81/d/", false},
		{"http://a.org", "prefix", "http://a.org/y", true},
		{"http://a.org/", "prefix", "http://a.org", true},
		{"http://a.org/", "prefix", "http://a.or/g/", false},
		{"http://a.org/", "prefix", "http://a.orgy/", false},
		{"http://a.org/", "any", "ftp://b.net/", true},
		{"http://a.org/", "any", "mailto:me@a.org", false},
	}
	for _, tt := range tests {
		m, err := New(tt.start, tt.scope)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Match(tt.url); got != tt.want {
			t.Errorf("%s scope of %s: %s in it is %v, want %v", tt.scope, tt.start, tt.url, got, tt.want)
		}
	}
}

func TestNewRefusesWhatIsNoStart(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{{"a.org", ""}, {"mailto:x", "host"}, {"http://", "any"}, {"http:///x", "host"}, {"http://a.org/", "planet"}, {"", ""}} {
		if _, err := New(c[0], webrace.Scope(c[1])); err == nil {
			t.Errorf("New(%q, %q) is no error", c[0], c[1])
		}
	}
}

func TestTheFirstRuleThatMatchesDecides(t *testing.T) {
	t.Parallel()
	rs, err := ParseRules([]string{
		"allow path /docs/keep/",
		"deny path /docs/",
		"deny extension pdf",
		"deny  host  ADS.a.org:81",
		"allow domain b.org",
		`deny regexp [?&]session=\d+`,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{
		"http://a.org/":                 true,
		"http://a.org/docs/":            false,
		"http://a.org/docs/keep/x.pdf":  true,
		"http://a.org/x.PDF?y":          false,
		"http://a.org/x.pdf/":           true,
		"http://a.org/.pdf":             true,
		"http://a.org/xpdf":             true,
		"http://ads.a.org:81/":          false,
		"http://ads.a.org/":             true,
		"http://x.b.org/?session=1":     true,
		"http://x.ab.org/?session=1":    false,
		"http://x.ab.org/?session=none": true,
		"http://a.org?x=/docs/":         true,
	}
	for u, ok := range want {
		if got := rs.Allow(u); got != ok {
			rule, _ := rs.Explain(u)
			t.Errorf("%s is allowed: %v, want %v (%s)", u, got, ok, rule)
		}
	}
	var total int64
	for _, h := range rs.Hits() {
		total += h.Count
	}
	if hits := rs.Hits(); hits[1].Count != 1 || hits[1].Rule != "deny path /docs/" || total != 6 {
		t.Errorf("hits are %v, want 6 in all and 1 for the second rule", hits)
	}
	if rule, ok := rs.Explain("http://a.org/docs/"); rule != "deny path /docs/" || ok || rs.Hits()[1].Count != 1 {
		t.Errorf("Explain says %q, %v, or counted a hit", rule, ok)
	}
}

func TestNoRulesAllowEverything(t *testing.T) {
	t.Parallel()
	var none *Rules
	if !none.Allow("http://a.org/") || none.Hits() != nil {
		t.Error("a nil list of rules refuses or counts")
	}
}

func TestBadRulesAreRefusedByNumber(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "deny", "deny host", "refuse host a", "deny planet x", "deny path x", "deny regexp ("} {
		_, err := ParseRules([]string{"allow host a", bad})
		if err == nil || !strings.Contains(err.Error(), "rule 2") {
			t.Errorf("rule %q: error is %v, want one that names rule 2", bad, err)
		}
	}
}

// Whatever net/url calls the host of a plain URL, Host must call it the same.
func FuzzHost(f *testing.F) {
	for _, s := range []string{"http://a.org/x", "http://u:p@a.org:81?q#f", "http://[::1]:8/x", "x://", "http://a@b@c/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		host, ok := Host(s)
		u, err := neturl.Parse(s)
		if err != nil || u.Opaque != "" || strings.Contains(s, "%") {
			return // not a URL that normalization lets through
		}
		if !strings.Contains(s, "://") {
			if ok {
				t.Errorf("%q has host %q, but no scheme", s, host)
			}
			return
		}
		if ok && u.Scheme != "" && u.Host != host {
			t.Errorf("host of %q is %q, net/url says %q", s, host, u.Host)
		}
	})
}

func FuzzParseRules(f *testing.F) {
	for _, s := range []string{"allow host a.org", "deny regexp a|b", "deny extension .pdf", "deny path /x y"} {
		f.Add(s, "http://a.org/x.pdf")
	}
	f.Fuzz(func(t *testing.T, line, u string) {
		rs, err := ParseRules([]string{line})
		if err != nil {
			return
		}
		again, err := ParseRules([]string{rs.Hits()[0].Rule})
		if err != nil {
			t.Fatalf("rule %q is written as %q, which is none: %v", line, rs.Hits()[0].Rule, err)
		}
		if rs.Allow(u) != again.Allow(u) {
			t.Errorf("rule %q and %q disagree on %q", line, rs.Hits()[0].Rule, u)
		}
	})
}
