package sitemap

import (
	"bytes"
	"encoding/xml"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// read returns what a sitemap lists: address, time, and alternates.
func read(text string) (list []string) {
	XML([]byte(text), func(e Entry) bool {
		line := string(e.URL)
		if !e.Changed.IsZero() {
			line += " " + e.Changed.Format(time.RFC3339)
		}
		list = append(list, strings.Join(append([]string{line}, e.Alternates...), " "))
		return true
	})
	return list
}

func TestSitemapsAreRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"sitemap", `<?xml version="1.0"?><urlset xmlns="x"><url><loc> http://a/?x=1&amp;y </loc><lastmod>2026-01-02T03:04:05Z</lastmod></url>
			<url><lastmod>2026-01-02</lastmod><loc>http://b/</loc></url></urlset>`, []string{"http://a/?x=1&y 2026-01-02T03:04:05Z", "http://b/ 2026-01-02T23:59:59Z"}},
		{"index", `<sitemapindex><sitemap><loc>http://a/1.xml</loc><lastmod>2026</lastmod></sitemap><sitemap><loc>http://a/2.xml</loc></sitemap></sitemapindex>`,
			[]string{"http://a/1.xml 2026-12-31T23:59:59Z", "http://a/2.xml"}},
		{"images and videos", `<urlset xmlns:image="i" xmlns:video="v"><url><loc>http://a/</loc><image:image><image:loc>http://a/i.png</image:loc></image:image>
			<video:video><video:player_loc>http://a/p</video:player_loc><video:publication_date>2020-01-01T00:00:00Z</video:publication_date></video:video></url></urlset>`,
			[]string{"http://a/ 2020-01-01T00:00:00Z"}},
		{"news", `<urlset xmlns:news="n"><url><loc>http://a/</loc><news:news><news:publication_date>2026-01-02T03:04:05+01:00</news:publication_date>
			<news:title>loc</news:title></news:news></url></urlset>`, []string{"http://a/ 2026-01-02T02:04:05Z"}},
		{"a change counts before a publication", `<urlset xmlns:news="n"><url><loc>http://a/</loc><lastmod>2026-02-02T00:00:00Z</lastmod>
			<news:publication_date>2026-01-02T03:04:05Z</news:publication_date></url></urlset>`, []string{"http://a/ 2026-02-02T00:00:00Z"}},
		{"languages", `<urlset xmlns:xhtml="x"><url><loc>http://a/</loc><xhtml:link rel="alternate" hreflang="el" href="http://a/el?x&amp;y"/><xhtml:link rel="icon" href="no"/></url></urlset>`,
			[]string{"http://a/ http://a/el?x&y"}},
		{"with a prefix", `<s:urlset xmlns:s="x"><s:url><s:loc>http://a/</s:loc><loc>http://no/</loc></s:url></s:urlset>`, []string{"http://a/"}},
		{"CDATA and comments", `<urlset><url><loc><![CDATA[http://a/?x&y]]><!-- z --></loc></url></urlset>`, []string{"http://a/?x&y"}},
		{"white space of word processors", "<urlset><url><loc>\u00a0http://a/&#160;\u2003</loc><lastmod>\u00a02026-01-02T03:04:05Z</lastmod></url><url><loc>&nbsp;</loc></url></urlset>",
			[]string{"http://a/ 2026-01-02T03:04:05Z"}},
		{"nothing in it", `<urlset><url><loc/></url><url/><url><loc> </loc></url></urlset>`, nil},

		{"cut off", `<urlset><url><loc>http://a/</loc></url><url><loc>http://b/</loc><lastm`, []string{"http://a/", "http://b/"}},
		{"cut off in an address", `<urlset><url><loc>http://a/</loc></url><url><loc>http://b`, []string{"http://a/"}},
		{"cut off in a tag after an address", `<urlset><url><loc>http://a/</l`, []string{"http://a/"}},
		{"cut off before a tag", `<urlset><url><loc>http://a/</loc></url><url><loc>http://b<`, []string{"http://a/"}},
		{"cut off in CDATA", `<urlset><url><loc>http://a/</loc></url><url><loc><![CDATA[http://b`, []string{"http://a/"}},
		{"cut off in a time", `<urlset><url><loc>http://a/</loc><lastmod>2026`, []string{"http://a/"}},
		{"cut off in a language", `<urlset><url><loc>http://a/</loc><xhtml:link rel="alternate" href="http://a/e`, []string{"http://a/"}},
		{"entries that do not end", `<urlset><url><loc>http://a/</loc><lastmod>2026-01-01T00:00:00Z</lastmod><url><loc>http://b/</loc></urlset>`, []string{"http://a/ 2026-01-01T00:00:00Z", "http://b/"}},
		{"no entries around", `<urlset><loc>http://a/</loc><loc>http://b/</loc></urlset>`, []string{"http://a/", "http://b/"}},
		{"an ampersand that is none", `<urlset><url><loc>http://a/?b=1&c=2</loc></url></urlset>`, []string{"http://a/?b=1&c=2"}},
	} {
		if got := read(c.in); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

func TestReadingEndsWhenNoMoreIsWanted(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"<urlset><url><loc>a</loc></url><url><loc>b</loc></url></urlset>", "<urlset><loc>a</loc><loc>b</loc>", "<urlset><url><loc>a</loc><url><loc>b</loc>"} {
		n := 0
		XML([]byte(text), func(Entry) bool { n++; return false })
		if n != 1 {
			t.Errorf("%s: called %d times", text, n)
		}
	}
	n := 0
	List([]byte("http://a/\nhttp://b/\n"), func(Entry) bool { n++; return false })
	if n != 1 {
		t.Errorf("a list: called %d times", n)
	}
}

func TestSitemapsAreTold(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	for text, want := range map[string]bool{
		"<urlset>": true, "\ufeff \n<?xml version='1.0'?><!-- c --><sitemapindex xmlns='x'>": true, "<s:urlset xmlns:s='x'>": true, "<urlset><url>" + long: true,
		"": false, "urlset": false, "<html><urlset>": false, "<rss><item>urlset</item></rss>": false, "<!-- <urlset> -->": false, "<!--" + long + "--><urlset>": false, "<urlsets>": false,
	} {
		if IsXML([]byte(text)) != want {
			t.Errorf("%.40q: %v", text, !want)
		}
	}
	for text, want := range map[string]bool{
		"http://a/\r\n\n https://b/ \n": true, "HTTP://a/": true, "\ufeffhttp://a/": true, "\u00a0http://a/\u00a0\n": true,
		"": false, "\n": false, "http://a/\nsee there": false, "http://": false, "ftp://a/": false, "http://a/ is a page": false, "see http://a/": false,
	} {
		if IsList([]byte(text)) != want {
			t.Errorf("list %q: %v", text, !want)
		}
	}
}

func TestTimesOfEveryPrecision(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026": "2026-12-31T23:59:59Z", "2026-02": "2026-02-28T23:59:59Z", "2026-02-03": "2026-02-03T23:59:59Z", "2026-02-03T04:05Z": "2026-02-03T04:05:59Z",
		"2026-02-03T04:05+02:00": "2026-02-03T02:05:59Z", "2026-02-03T04:05:06Z": "2026-02-03T04:05:06Z", "2026-02-03T04:05:06.789-01:00": "2026-02-03T05:05:06Z",
		"2026-02-03T04:05:06+0200": "2026-02-03T02:05:06Z", " 2026-02-03 04:05:06 ": "2026-02-03T04:05:06Z", "2026-02-03 04:05": "2026-02-03T04:05:59Z",
		"": "", "today": "", "2026-13-01": "", "03/02/2026": "", "2026-02-30": "", strings.Repeat("2", 100): "",
	} {
		got := ""
		if at := ParseTime(text); !at.IsZero() {
			got = at.Truncate(time.Second).Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"2026", "2026-02-03", "2026-02-03T04:05:06.7Z", "2026-02-03 04:05"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if at := ParseTime(s); !at.IsZero() && !ParseTime(at.Format(time.RFC3339Nano)).Equal(at) {
			t.Errorf("%q is %v, which reads as another", s, at)
		}
	})
}

// FuzzSitemapsThatAreWellFormedGiveWhatEncodingXMLFinds also reads what is not well-formed, where what is
// found must stand in the document.
func FuzzSitemapsThatAreWellFormedGiveWhatEncodingXMLFinds(f *testing.F) {
	for _, s := range []string{
		"<urlset><url><loc>a</loc><lastmod>2026</lastmod></url><url><loc>b<!-- c --></loc><x/></url></urlset>", "<s:urlset xmlns:s='x'><s:url><s:loc>a</s:loc></s:url></s:urlset>",
		"<sitemapindex><sitemap><loc><![CDATA[a&b]]></loc></sitemap></sitemapindex>", "<urlset><url><loc>a", "<urlset><url><loc>a<b/>c</loc><image:loc xmlns:image='i'>d</image:loc></url></urlset>",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		var got []string
		XML(src, func(e Entry) bool {
			if len(e.URL) == 0 || len(trim(e.URL)) != len(e.URL) {
				t.Errorf("address %q", e.URL)
			}
			got = append(got, string(e.URL))
			return true
		})
		if len(got) > bytes.Count(bytes.ToLower(src), []byte("loc")) {
			t.Errorf("%d addresses in %q", len(got), src)
		}
		if want, ok := byStandard(src); ok && !slices.Equal(got, want) {
			t.Errorf("of %q\n got %q\nwant %q", src, got, want)
		}
	})
}

// byStandard returns the texts of all loc elements by encoding/xml; not ok if the document is not well-formed, or
// holds what the two see otherwise for good reasons: characters by their numbers in windows-1252.
func byStandard(src []byte) (locs []string, ok bool) {
	if !bytes.HasPrefix(src, []byte("<")) || bytes.Contains(src, []byte("&#")) {
		return nil, false
	}
	d := xml.NewDecoder(bytes.NewReader(src))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	var prefix, text string
	depth, roots, inLoc := 0, 0, false
	take := func() {
		if text = string(trim([]byte(text))); inLoc && text != "" {
			locs = append(locs, text)
		}
		inLoc, text = false, ""
	}
	for {
		token, err := d.RawToken()
		switch token := token.(type) {
		case nil:
			return locs, err == io.EOF && depth == 0 && roots == 1
		case xml.StartElement:
			if depth++; depth == 1 {
				prefix, roots = token.Name.Space, roots+1
			}
			take()
			inLoc = token.Name.Space == prefix && strings.EqualFold(token.Name.Local, "loc")
			if strings.Contains(token.Name.Local, ":") {
				return nil, false
			}
		case xml.EndElement:
			depth--
			take()
		case xml.CharData:
			text += string(token)
		case xml.Directive:
			return nil, false
		}
	}
}
