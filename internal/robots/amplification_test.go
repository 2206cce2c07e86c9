package robots

import (
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// TestAmplification reads rules of each kind, and asks them for a path that none ends early for.
func TestAmplification(t *testing.T) {
	repeated := testutil.Repeated
	const begin = "User-agent: *\n"
	for _, c := range []testutil.Construct{
		repeated("rules", begin, "Disallow: /a%d\n", ""),
		repeated("rules of nothing", begin, "Allow:\n", ""),
		repeated("stars", begin+"Disallow: /", "*a", "$"),
		repeated("rules of stars", begin, "Disallow: *a*a*a*b$\n", ""),
		repeated("crawlers", "", "User-agent: a%d\n", "Disallow: /"),
		repeated("groups", "", "User-agent: *\nDisallow: /%d\n", ""),
		repeated("groups of others", "", "User-agent: a%d\nDisallow:\n", ""),
		repeated("delays", begin, "Crawl-delay: %d\n", ""),
		{Name: "delays of crawlers", Grow: func(size int) []byte {
			return repeated("", string(repeated("", "", "User-agent: a%d\n", "").Grow(size/4)), "Crawl-delay: 1\n", "").Grow(size)
		}},
		repeated("sitemaps", "", "Sitemap: http://h/%d\n", ""),
		repeated("usages", begin, "Content-Usage: /a%d train-ai=n\n", ""),
		repeated("usages of everything", begin, "Content-Usage: a\n", ""),
		repeated("usages of stars", begin, "Content-Signal: /*a*a*a*b$ a\n", ""),
		repeated("usages of crawlers", "", "User-agent: a\nContent-Usage: a\n", ""),
		repeated("licenses", "", "License: http://h/%d\n", ""),
		repeated("lines", "", "\n", ""),
		repeated("lines without a colon", "", "a\n", ""),
		repeated("escapes", begin+"Disallow: /", "%C3", ""),
	} {
		testutil.Amplify(t, c, func(body []byte) bool {
			rules, path := Parse(body).Agent("webrace/1.0"), "/"+string(testutil.Repeated("", "", "a", "").Grow(2000))
			rules.Allowed(path)
			rules.Usage(path)
			return len(body) > MaxBytes
		})
	}
}
