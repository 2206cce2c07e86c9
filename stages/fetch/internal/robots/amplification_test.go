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
		repeated("lines", "", "\n", ""),
		repeated("lines without a colon", "", "a\n", ""),
		repeated("escapes", begin+"Disallow: /", "%C3", ""),
	} {
		testutil.Amplify(t, c, func(body []byte) bool {
			Parse(body).Agent("webrace/1.0").Allowed("/" + string(testutil.Repeated("", "", "a", "").Grow(2000)))
			return len(body) > MaxBytes
		})
	}
}
