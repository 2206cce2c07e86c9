package sitemap

import (
	"bytes"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// TestAmplification reads each construct of sitemaps, of which nothing is kept but the entry that is read.
func TestAmplification(t *testing.T) {
	repeated := testutil.Repeated
	const begin, end = "<urlset>", "</urlset>"
	for _, c := range []testutil.Construct{
		repeated("entries", begin, "<url><loc>http://h/%d</loc></url>", end),
		repeated("entries that do not end", begin, "<loc>a</loc>", end),
		repeated("elements in elements", begin, "<url>", end),
		repeated("times", begin, "<lastmod>2026-01-01</lastmod>", end),
		repeated("languages of an entry", begin+"<url><loc>a</loc>", `<link rel="alternate" href="b"/>`, "</url>"+end),
		repeated("attributes", begin+"<link", ` href="b"`, "/>"+end),
		repeated("text between elements", begin+"<loc>", "a<!-- -->", "</loc>"+end),
		repeated("references", begin+"<loc>", "&amp;", "</loc>"+end),
		repeated("references that do not end", begin+"<loc>", "&#0", "</loc>"+end),
		repeated("sections", begin+"<loc>", "<![CDATA[a", "</loc>"+end),
		repeated("comments that do not end", begin, "<!-- - ", end),
		repeated("instructions that do not end", begin, "<?a ", end),
		repeated("declarations that do not end", "", "<!DOCTYPE [<!", begin+end),
		repeated("tags that do not end", begin, `<a b="`, end),
		repeated("names of many colons", begin, "<a::::", end),
		repeated("lines", "", "http://h/%d\n", ""),
		repeated("lines without anything", "", "\n", ""),
	} {
		testutil.Amplify(t, c, func(body []byte) bool {
			none := func(Entry) bool { return true }
			IsXML(body)
			IsList(body)
			if bytes.HasPrefix(body, []byte("<")) {
				XML(body, none)
			} else {
				List(body, none)
			}
			return false
		})
	}
}
