package robots_test

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jimsmart/grobotstxt"

	"github.com/webrace/webrace/internal/robots"
)

func TestTheMostSpecificRuleDecides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body, yes, no string
	}{
		{"nothing said", "", "/ /x", ""},
		{"all", "User-agent: *\nDisallow: /", "/robots.txt", "/ /x /robots.txt?x /robots.txt/"},
		{"empty disallow", "User-agent: *\nDisallow:", "/ /x", ""},
		{"longest wins in any order", "User-agent: *\nAllow: /a/b\nDisallow: /a\nAllow: /a/b/c/d\nDisallow: /a/b/c", "/a/b /a/b/x /a/b/c/d /", "/a /a/x /a/b/c"},
		{"allow wins a tie", "User-agent: *\nDisallow: /a\nAllow: /a", "/a", ""},
		{"prefix", "User-agent: *\nDisallow: /fish", "/Fish /catfish", "/fish /fish.html /fish/salmon /fish?id=1"},
		{"wildcard", "User-agent: *\nDisallow: /*.gif", "/a.gi", "/a.gif /b/c.gif?x /a.gifx"},
		{"end", "User-agent: *\nDisallow: /*.gif$", "/a.gif?x /a.gifx", "/a.gif /.gif"},
		{"end takes the last chance", "User-agent: *\nDisallow: /a*b*b$", "/ab /abx", "/abb /abab /abxb"},
		{"wildcards overlap no text", "User-agent: *\nDisallow: /*aa*aa$", "/aaa", "/aaaa /aaxaa"},
		{"dollar inside is a character", "User-agent: *\nDisallow: /a$b", "/a /ab", "/a$b /a$bc /a%24b"},
		{"only the end", "User-agent: *\nDisallow: /$", "/a", "/"},
		{"many stars", "User-agent: *\nDisallow: /**a***b", "/a/ /b", "/xaxbx /ab /ab/"},
		{"escapes", "User-agent: *\nDisallow: /%7ejoe/%c3%a9\nDisallow: /a%2fb\nDisallow: /caf\u00e9", "/a/b", "/~joe/%C3%A9 /%7Ejoe/\u00e9 /a%2Fb /a%2fb /caf%c3%a9 /caf\u00e9s"},
		{"an escaped star is a star", "User-agent: *\nDisallow: /file-with-a-%2A.html", "/file-with-a-x.html", "/file-with-a-*.html /file-with-a-%2a.html"},
		{"escaped unreserved octets", "User-agent: *\nDisallow: /foo/bar/%62%61%7A", "", "/foo/bar/baz /foo/bar/%62az"},
		{"index pages", "User-agent: *\nDisallow: /\nAllow: /x/index.html", "/x/ /x/index.html", "/x/y /x"},
		{"specific replaces general", "User-agent: *\nDisallow: /\n\nUser-agent: WebRace/2.0 x\nDisallow: /w", "/ /x", "/w"},
		{"groups merge", "User-agent: webrace\nDisallow: /a\nUser-agent: other\nDisallow: /o\nUser-agent: webrace\nDisallow: /b", "/o", "/a /b"},
		{"agents share a group", "User-agent: other\nUser-agent: webrace\nDisallow: /a", "/b", "/a"},
		{"a token is matched whole", "User-agent: web\nDisallow: /\nUser-agent: webrace-news\nDisallow: /", "/", ""},
		{"rules without agent", "Disallow: /", "/", ""},
		{"typos, comments, BOM, CRLF", "\xef\xbb\xbfuseragent : * # all\r\n# x\r\nDISALOW /a # b\r\n", "/b", "/a"},
		{"unknown lines do not end the agents", "User-agent: other\nNoindex: /\nUser-agent: webrace\nDisallow: /a", "/b", "/a"},
	} {
		rules := robots.Parse([]byte(c.body)).Agent("webrace/1 (+https://example.org/contact)")
		for _, path := range strings.Fields(c.yes) {
			if ok, why := rules.Allowed(path); !ok {
				t.Errorf("%s: %s is refused by %q", c.name, path, why)
			}
		}
		for _, path := range strings.Fields(c.no) {
			if ok, why := rules.Allowed(path); ok {
				t.Errorf("%s: %s is allowed by %q", c.name, path, why)
			}
		}
	}
}

func TestTheDecidingRuleIsNamed(t *testing.T) {
	t.Parallel()
	rules := robots.Parse([]byte("User-agent: *\nAllow: /a/b\nDisallow: /a*.gif$\n")).Agent("webrace")
	for path, want := range map[string]string{"/x": "", "/a/b": "Allow: /a/b (line 2)", "/a.gif": "Disallow: /a*.gif$ (line 3)"} {
		if _, got := rules.Allowed(path); got != want {
			t.Errorf("%s: decided by %q, want %q", path, got, want)
		}
	}
}

func TestDelaysAndSitemaps(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]time.Duration{
		"User-agent: *\nCrawl-delay: 2.5":                                    2500 * time.Millisecond,
		"User-agent: *\nCRAWL-DELAY: 1\nCrawl-delay: 3\nDisallow: /a":        3 * time.Second,
		"User-agent: *\nCrawl-delay: 1\nUser-agent: webrace\nCrawl-delay: 7": 7 * time.Second,
		"User-agent: *\nCrawl-delay: 9\n\nUser-agent: webrace\nDisallow: /":  0,
		"Crawl-delay: 5":                            0,
		"User-agent: *\nCrawl-delay: -1":            0,
		"User-agent: *\nCrawl-delay: NaN":           0,
		"User-agent: *\nCrawl-delay: soon":          0,
		"User-agent: *\nCrawl-delay: 1e300":         365 * 24 * time.Hour,
		"User-agent: *\nCrawl-delay: 86400":         24 * time.Hour,
		"User-agent: other\nCrawl-delay: 8\nAllow:": 0,
	} {
		if got := robots.Parse([]byte(body)).Agent("webrace").Delay(); got != want {
			t.Errorf("%q: delay %v, want %v", body, got, want)
		}
	}
	body := "Sitemap: https://a.example/s.xml\nUser-agent: x\nDisallow: /\nsitemap: https://a.example/\u00e9?%2f\nSitemap: https://a.example/s.xml\nSitemap:"
	want := []string{"https://a.example/s.xml", "https://a.example/\u00e9?%2f"}
	if got := robots.Parse([]byte(body)).Agent("webrace").Sitemaps(); !slices.Equal(got, want) {
		t.Errorf("sitemaps %q, want %q", got, want)
	}
}

func TestAllowAllAndDisallowAll(t *testing.T) {
	t.Parallel()
	if ok, _ := robots.AllowAll.Allowed("/x"); !ok {
		t.Error("AllowAll refuses")
	}
	if ok, _ := robots.DisallowAll.Allowed("/x"); ok {
		t.Error("DisallowAll allows")
	}
}

// A rule cut by the limit would forbid more than the host wanted, so it does not count.
func TestOnlyWholeLinesWithinTheLimitCount(t *testing.T) {
	t.Parallel()
	head := "User-agent: *\nDisallow: /a\n"
	filler := strings.Repeat("#", robots.MaxBytes-len(head)-len("\nDisallow: /"))
	rules := robots.Parse([]byte(head + filler + "\nDisallow: /beyond\n")).Agent("webrace")
	for path, want := range map[string]bool{"/a": false, "/b": true, "/beyond": true} {
		if ok, why := rules.Allowed(path); ok != want {
			t.Errorf("%s: allowed %v by %q", path, ok, why)
		}
	}
}

// FuzzAgainstGrobotstxt holds the matcher equal to the answer of the library, which re-reads the file for
// every question, wherever the library follows the standard.
func FuzzAgainstGrobotstxt(f *testing.F) {
	for _, body := range []string{
		"User-agent: *\nDisallow: /a*b$\nAllow: /ab/index.html\n",
		"user-agent: fuzz/1\ndisallow: /x\nuser-agent: *\nuser-agent: y\nallow: /\n",
		"User-agent: * all\nDisallow /a\nDisallow: /*?\nSitemap: x\nCrawl-delay: 3\nUser-agent: FUZZ\nallow: $",
		"\xef\xbb\xbfUser-agent: *\r\rDisallow: /%C3%A9\x00\n",
	} {
		f.Add([]byte(body), "/a/xb?c=d")
	}
	f.Fuzz(func(t *testing.T, body []byte, path string) {
		got, because := robots.Parse(body).Agent("fuzz").Allowed(path)
		if !got && because == "" {
			t.Fatal("refused for no rule")
		}
		if !comparable(body, path) {
			return
		}
		if want := grobotstxt.AgentAllowed(string(body), "fuzz", "http://example.org"+path); got != want {
			t.Fatalf("%q for %q: allowed %v by %q, want %v", path, body, got, because, want)
		}
	})
}

// comparable leaves out what the library gets wrong or the standard asks for beyond it: escapes that are
// not compared octet by octet, or are garbled; and paths it normalizes before it looks at them.
func comparable(body []byte, path string) bool {
	if !strings.HasPrefix(path, "/") || path == "/robots.txt" || strings.ContainsAny(path, "#%$*") || len(body) > robots.MaxBytes {
		return false
	}
	if strings.ContainsRune(string(body), '%') || longerName.Match(body) {
		return false
	}
	u, err := url.Parse("http://example.org" + path)
	return err == nil && u.String() == "http://example.org"+path
}

// longerName is a robot that the library does not take for fuzz, because it goes on in octets of RFC 9110's tokens.
var longerName = regexp.MustCompile("(?i)fuzz[!#$%&'*+^`|~]")

// FuzzEscaping: however often either side escapes what it writes, the answer stays the same.
func FuzzEscaping(f *testing.F) {
	f.Add("/a~b", uint64(0b101))
	f.Add("/caf\u00e9/%41%2f", uint64(0xffff))
	f.Fuzz(func(t *testing.T, path string, which uint64) {
		if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "*$#%\n\r") || strings.TrimSpace(path) != path || path == "/robots.txt" || len(path) > 500 {
			return
		}
		escaped := escapeSome(path, which)
		for _, pair := range [][2]string{{path, escaped}, {escaped, path}, {escaped, escaped}} {
			rules := robots.Parse([]byte("User-agent: *\nDisallow: " + pair[0] + "$")).Agent("x")
			if ok, _ := rules.Allowed(pair[1]); ok {
				t.Fatalf("%q does not match %q", pair[0], pair[1])
			}
		}
	})
}

// escapeSome escapes those of the unreserved or non-ASCII octets of a path that a bit stands for.
func escapeSome(path string, which uint64) string {
	var b strings.Builder
	for i := range len(path) {
		c := path[i]
		unreserved := strings.IndexByte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~", c) >= 0
		if which>>(i%64)&1 == 0 || !unreserved && c < 0x80 {
			b.WriteByte(c)
			continue
		}
		digits := "0123456789abcdef"
		if i%2 == 0 {
			digits = strings.ToUpper(digits)
		}
		b.WriteString("%" + string(digits[c>>4]) + string(digits[c&15]))
	}
	return b.String()
}
