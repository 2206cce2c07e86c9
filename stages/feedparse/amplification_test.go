package feedparse

import (
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/pipeline"
)

// TestAmplification reads each construct of feeds, which libraries make more of than is written.
func TestAmplification(t *testing.T) {
	repeated, times := testutil.Repeated, strings.Repeat
	const (
		rss, atom, json = "application/rss+xml", "application/atom+xml", "application/feed+json"
		channel         = "<rss version='2.0' xmlns:a='b' xmlns:dc='http://purl.org/dc/elements/1.1/'><channel>"
		feed            = "<feed xmlns='http://www.w3.org/2005/Atom'>"
		items           = `{"version":"https://jsonfeed.org/version/1.1","items":[`
	)
	for _, c := range []struct {
		contentType string
		testutil.Construct
	}{
		{rss, repeated("items", channel, "<item><link>http://h/%d</link></item>", "</channel></rss>")},
		{rss, repeated("items without anything", channel, "<item/>", "</channel></rss>")},
		{rss, repeated("items in items", channel, "<item>", "")},
		{rss, repeated("items in items, closed", channel+times("<item>", 90), "<item/>", times("</item>", 90)+"</channel></rss>")},
		{rss, repeated("links of an item", channel+"<item>", "<link>http://h/%d</link>", "</item></channel></rss>")},
		{rss, repeated("categories", channel+"<item>", "<category>a</category>", "</item></channel></rss>")},
		{rss, repeated("extensions", channel, "<a:b/>", "</channel></rss>")},
		{rss, repeated("extensions of a name each", channel, "<a:b%d/>", "</channel></rss>")},
		{rss, repeated("extensions with attributes", channel, "<a:b a='' b='' c=''/>", "</channel></rss>")},
		{rss, repeated("extensions of items", channel, "<item><a:b/></item>", "</channel></rss>")},
		{rss, repeated("extensions in extensions", channel, times("<a:b>", 90)+times("</a:b>", 90), "</channel></rss>")},
		{rss, repeated("times", channel, "<item><dc:date>2026-01-01</dc:date></item>", "</channel></rss>")},
		{rss, repeated("times that are none", channel, "<item><pubDate>a</pubDate></item>", "</channel></rss>")},
		{rss, repeated("namespaces", channel, "<a xmlns:c%d='d'/>", "</channel></rss>")},
		{rss, repeated("references", channel+"<title>", "&amp;", "</title></channel></rss>")},
		{rss, repeated("ampersands", channel+"<title>", "&a", "</title></channel></rss>")},
		{rss, repeated("sections", channel+"<title>", "<![CDATA[a]]>", "</title></channel></rss>")},
		{rss, repeated("comments", channel, "<!---->", "</channel></rss>")},
		{rss, repeated("declarations", "", "<!DOCTYPE rss>", channel+"</channel></rss>")},
		{atom, repeated("entries", feed, "<entry><link href='http://h/%d'/></entry>", "</feed>")},
		{atom, repeated("links", feed, "<link href='%d'/>", "</feed>")},
		{atom, repeated("links with blanks", feed, "<link href=' %d '/>", "</feed>")},
		{atom, repeated("links that do not end", feed, `<link href="a`, "</feed>")},
		{atom, repeated("bases", feed, "<entry xml:base='%d/'><link href='a'/></entry>", "</feed>")},
		{atom, repeated("bases in bases", "", "<feed xml:base='a/'>", "")},
		{atom, repeated("persons", feed, "<author><name>a</name></author>", "</feed>")},
		{atom, repeated("content of markup", feed+"<entry><content type='xhtml'>", "<b>a</b>", "</content></entry></feed>")},
		{json, repeated("items of JSON", items, `{"url":"http://h/%d"},`, "{}]}")},
		{json, repeated("empty items", items, "{},", "{}]}")},
		{json, repeated("attachments", items+`{"attachments":[`, "{},", "{}]}]}")},
		{json, repeated("members that are not known", "{", `"a%d":1,`, `"version":"https://jsonfeed.org/version/1.1"}`)},
		{json, repeated("objects in objects", `{"_a":`, `{"a":`, "")},
		{json, repeated("tags", items+`{"tags":[`, `"",`, `""]}]}`)},
	} {
		testutil.Amplify(t, c.Construct, func(body []byte) bool {
			o := defaults
			o.Enclosures = true
			d := fetched(c.contentType, string(body))
			_, err := (&stage{o, pipeline.NewEnv("p", "s", nil)}).read(d, kindOf(d.MediaType, d.Body))
			return err != nil
		})
	}
}
