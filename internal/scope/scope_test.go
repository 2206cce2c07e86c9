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
		"# what follows was asked for by their webmaster",
		"",
		"deny url http://C.org:80/one?x=1 # the large one",
		"trust prefix http://c.org/two/three",
		"deny\tprefix http://c.org/two",
		"deny query sort=asc",
		"deny query print",
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
		"https://c.org/one?x=1":         false,
		"http://c.org/one?x=12":         true,
		"http://c.org/one":              true,
		"http://c.org/two-three":        false,
		"http://c.org/two/three":        true,
		"http://a.org/?a&sort=asc":      false,
		"http://a.org/?sort=ascending":  true,
		"http://a.org/?xsort=asc":       true,
		"http://a.org/?print":           false,
		"http://a.org/?x=1&print=2":     false,
		"http://a.org/print":            true,
	}
	for u, ok := range want {
		if got := rs.Decide(u) != Denied; got != ok {
			_, number := rs.Find(u)
			t.Errorf("%s is allowed: %v, want %v (rule %d)", u, got, ok, number)
		}
	}
	var total int64
	for _, r := range rs.List() {
		total += r.Hits()
	}
	second := rs.List()[1]
	if second.Hits() != 1 || second.Text() != "deny path /docs/" || total != 12 {
		t.Errorf("%d hits of %q, %d in all; want 1 for the second rule and 12", second.Hits(), second.Text(), total)
	}
	if rule, number := rs.Find("http://a.org/docs/"); rule != second || number != 2 || second.Hits() != 1 {
		t.Errorf("rule %d is found, or a hit was counted", number)
	}
}

func TestARuleIsWrittenAsItIsRead(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"deny all":                        "deny all",
		"  trust   path\t/a#b":            "trust path /a#b",
		"deny url http://a.org/ #  a, b ": "deny url http://a.org/ # a, b",
	} {
		r, err := ParseRule(line)
		if err != nil || r.Line() != want {
			t.Errorf("%q is written as %v, %v; want %q", line, r, err, want)
		}
	}
	for _, line := range []string{"", "  ", "# deny all", " # x"} {
		if r, err := ParseRule(line); r != nil || err != nil {
			t.Errorf("%q is rule %v, %v; want none", line, r, err)
		}
	}
}

func TestJoinedRulesCountTogether(t *testing.T) {
	t.Parallel()
	one, _ := ParseRules([]string{"deny path /x"})
	two, _ := ParseRules([]string{"trust all"})
	joined := Join(one, nil, two)
	if joined.Decide("http://a.org/x") != Denied || joined.Decide("http://a.org/y") != Trusted {
		t.Error("the rules of both lists do not hold in their order")
	}
	if one.List()[0].Hits() != 1 || two.List()[0].Hits() != 1 {
		t.Error("a rule does not count what it decides in another list")
	}
}

func TestNoRulesAllowEverything(t *testing.T) {
	t.Parallel()
	var none *Rules
	if none.Decide("http://a.org/") != Allowed || none.List() != nil {
		t.Error("a nil list of rules refuses or counts")
	}
}

func TestBadRulesAreRefusedByNumber(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"deny", "deny host", "deny host # a", "refuse host a", "deny planet x", "deny path x", "deny regexp (", "deny url /x", "deny all x"} {
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
	for _, s := range []string{"allow host a.org", "deny regexp a|b", "deny extension .pdf", "deny path /x y", "trust url http://a.org/?x # why", "deny query a=b"} {
		f.Add(s, "http://a.org/x.pdf")
	}
	f.Fuzz(func(t *testing.T, line, u string) {
		r, err := ParseRule(line)
		if err != nil || r == nil {
			return
		}
		again, err := ParseRule(r.Line())
		if err != nil || again == nil || again.Line() != r.Line() {
			t.Fatalf("rule %q is written as %q, which is %v, %v", line, r.Line(), again, err)
		}
		if NewRules(r).Decide(u) != NewRules(again).Decide(u) {
			t.Errorf("rule %q and %q disagree on %q", line, r.Line(), u)
		}
	})
}
