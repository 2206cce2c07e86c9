package feedparse

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/pipeline/stagetest"
)

const here = "https://example.org/feeds/news"

// fetched is a document that came over the network.
func fetched(contentType, body string) *webrace.Document {
	mediaType, _, _ := strings.Cut(contentType, ";")
	return &webrace.Document{
		URL: here, Reach: []webrace.Reach{{Crawl: "c1", Distance: 1}}, Outcome: webrace.Fetched, Status: 200, MediaType: mediaType,
		Header: http.Header{"Content-Type": {contentType}}, At: time.Unix(1e9, 0).UTC(), Body: []byte(body),
	}
}

var with = stagetest.Changed(defaults)

// result is what the stage makes of one document.
type result struct {
	*stagetest.Result
	document *webrace.Document
	found    []string // addresses, with their times
	urls     []string
}

func try(t *testing.T, o Options, d *webrace.Document) result {
	t.Helper()
	r := result{Result: stagetest.Try(t, stagetest.Case{Type: "feed-parse", Options: o, Inputs: []any{d}})}
	if int64(len(r.Failures)) != r.Counters["unreadable"] {
		t.Fatal(r.Failures, r.Counters)
	}
	r.document = r.Out[""][0].(*webrace.Document)
	for _, v := range r.Out["links"] {
		l := v.(*webrace.Links)
		if l.From != d.URL || l.Via != webrace.ViaFeed || !slices.Equal(l.Reach, d.Reach) || len(l.URLs) == 0 {
			t.Errorf("links %+v", l)
		}
		for i, url := range l.URLs {
			r.urls = append(r.urls, url)
			short := strings.TrimPrefix(url, "https://example.org")
			if l.Changed != nil && !l.Changed[i].IsZero() {
				short += " " + l.Changed[i].Format(time.RFC3339)
			}
			r.found = append(r.found, short)
		}
	}
	return r
}

func TestConformance(t *testing.T) {
	stagetest.Run(t, stagetest.Case{Type: "feed-parse", Inputs: []any{
		fetched("application/rss+xml", rssFeed), fetched("application/atom+xml", atomFeed), fetched("application/feed+json", jsonFeed),
		fetched("text/html", "<p>text"), &webrace.Document{URL: here, Outcome: webrace.Fresh},
	}})
}

const (
	rssFeed = `<?xml version="1.0"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>T</title><link>https://example.org/</link>
		<item><title>One</title><link>/one?utm_source=feed&amp;a=1</link><guid>https://example.org/guid</guid><pubDate>Sat, 21 Nov 2026 10:00:00 +0100</pubDate>
		<enclosure url="/one.mp3" type="audio/mpeg" length="1"/></item>
		<item><link>/two</link><guid isPermaLink="false">https://example.org/no</guid><dc:date>2026-11-20</dc:date></item><item><guid>tag:x</guid></item></channel></rss>`
	atomFeed = `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://example.org/base/"><title>T</title><link rel="self" href="self"/><link href="alt"/>
		<link rel="next" href="?p=2"/><entry><title>E</title><link rel="alternate" href="one"/><link rel="enclosure" href="big"/>
		<published>2026-01-01T00:00:00Z</published><updated>2026-02-01T00:00:00Z</updated></entry></feed>`
	jsonFeed = `{"version": "https://jsonfeed.org/version/1.1", "title": "T", "home_page_url": "/", "next_url": "?p=2", "items": [null,
		{"id": 7, "url": "/one", "date_published": "2026-01-01T00:00:00Z", "attachments": [{"url": "/one.mp3"}]}, {"id": "x", "external_url": "https://example.org/two"}]}`
)

func TestFeedsOfAllKindsAreRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		d    *webrace.Document
		want []string
	}{
		"RSS 2.0":  {fetched("application/rss+xml", rssFeed), []string{"/", "/one?a=1 2026-11-21T09:00:00Z", "/guid 2026-11-21T09:00:00Z", "/two 2026-11-20T23:59:59Z"}},
		"RSS 0.91": {fetched("text/xml", `<rss version="0.91"><channel><link>/a</link><item><title>x</title><link>/b</link></item></channel></rss>`), []string{"/a", "/b"}},
		"RDF": {fetched("application/rdf+xml", `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
			<channel rdf:about="x"><link>/a</link></channel><item><link>/b</link><dc:date>2026-01-02T03:04:05Z</dc:date></item></rdf:RDF>`), []string{"/a", "/b 2026-01-02T03:04:05Z"}},
		"Atom":                   {fetched("application/atom+xml", atomFeed), []string{"/base/alt", "/base/?p=2", "/base/one 2026-02-01T00:00:00Z"}},
		"JSON Feed":              {fetched("application/feed+json", jsonFeed), []string{"/", "/feeds/news?p=2", "/one 2026-01-01T00:00:00Z", "/two"}},
		"JSON Feed sent as JSON": {fetched("application/json; charset=utf-8", jsonFeed), []string{"/", "/feeds/news?p=2", "/one 2026-01-01T00:00:00Z", "/two"}},
		"in another charset":     {fetched("text/xml", "<?xml version='1.0' encoding='iso-8859-7'?><rss><channel><title>\xc1</title><item><link>/\xe1</link></item></channel></rss>"), []string{"/%CE%B1"}},
		"a charset of the header": {fetched("text/xml; charset=utf-8", "<?xml version='1.0' encoding='iso-8859-7'?><rss><channel><item><link>/α</link></item></channel></rss>"),
			[]string{"/%CE%B1"}},
		"in UTF-16": {fetched("text/xml", "\xff\xfe"+wide("<rss><channel><item><link>/a</link></item></channel></rss>")), []string{"/a"}},
		"of none":   {fetched("text/xml", "<rss><channel></channel></rss>"), nil},
	} {
		r := try(t, defaults, c.d)
		if !slices.Equal(r.found, c.want) || r.Counters["feeds"] != 1 {
			t.Errorf("%s:\n got %q\nwant %q; %v", name, r.found, c.want, r.Counters)
		}
		if d := r.document; d == c.d || d.Links == nil || !slices.Equal(d.Links, r.urls) || string(d.Body) != string(c.d.Body) || c.d.Links != nil {
			t.Errorf("%s: the feed goes on as %+v", name, d)
		}
	}
}

// TestSpacesAroundAddressesAreNoPartOfThem has those of XML, and those of word processors.
func TestSpacesAroundAddressesAreNoPartOfThem(t *testing.T) {
	t.Parallel()
	for _, blank := range []string{" ", "\n\t", "\u00a0", "&#160;", "&#xA0;", "&#10;", " &#32;\u00a0 "} {
		address := func(s string) string { return blank + s + blank }
		for name, d := range map[string]*webrace.Document{
			"Atom": fetched("application/atom+xml", `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="`+address("https://example.org/base/")+`"><entry><link rel="`+address("alternate")+
				`" href = "`+address("/a")+`"/><link href='`+address("https://example.org/b c")+`'/><link href="d"/></entry></feed>`),
			"RSS": fetched("text/xml", `<rss><channel><item><link>`+address("/a")+`</link></item><item><guid>`+address("https://example.org/b c")+`</guid><link>/base/d</link></item></channel></rss>`),
		} {
			r := try(t, defaults, d)
			slices.Sort(r.found)
			if want := []string{"/a", "/b%20c", "/base/d"}; !slices.Equal(r.found, want) {
				t.Errorf("%s with %q: %q, want %q", name, blank, r.found, want)
			}
			x, err := extract.Document(d.Body, d.MediaType, d.URL, extract.Options{})
			if slices.Sort(x.Links); err != nil || !slices.Equal(x.Links, []string{"https://example.org/a", "https://example.org/b%20c", "https://example.org/base/d"}) {
				t.Errorf("%s with %q, without the stage: %q, %v", name, blank, x.Links, err)
			}
		}
	}
}

func wide(text string) string { return strings.Join(strings.Split(text, ""), "\x00") + "\x00" }

func TestEnclosuresAreFollowedIfWanted(t *testing.T) {
	t.Parallel()
	for address, d := range map[string]*webrace.Document{
		"https://example.org/one.mp3":  fetched("application/rss+xml", rssFeed),
		"https://example.org/base/big": fetched("application/atom+xml", atomFeed),
		"https://example.org/one.mp3#": fetched("application/feed+json", jsonFeed),
	} {
		address = strings.TrimSuffix(address, "#")
		for wanted := range 2 {
			r := try(t, with(func(o *Options) { o.Enclosures = wanted == 1 }), d)
			if slices.Contains(r.urls, address) != (wanted == 1) {
				t.Errorf("wanted %d: %q", wanted, r.urls)
			}
		}
	}
}

func TestWhatIsNoFeedPasses(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]*webrace.Document{
		"a page": fetched("text/html", rssFeed), "XHTML": fetched("application/xhtml+xml", "<html><rss/></html>"), "an image": fetched("image/svg+xml", "<svg/>"),
		"JSON": fetched("application/json", `{"items": []}`), "nothing": fetched("text/xml", ""), "fresh": {URL: here, Outcome: webrace.Fresh, MediaType: "text/xml"},
	} {
		if r := try(t, defaults, d); r.document != d || len(r.urls) > 0 || len(r.Counters) > 0 {
			t.Errorf("%s: URLs %q, counters %v", name, r.urls, r.Counters)
		}
	}
}

func TestFeedsThatCannotBeParsedPassAsTheyCame(t *testing.T) {
	t.Parallel()
	var laughs strings.Builder
	laughs.WriteString(`<!DOCTYPE lolz [<!ENTITY lol "lol">`)
	for i := range 10 {
		fmt.Fprintf(&laughs, `<!ENTITY lol%d "%s">`, i, strings.Repeat(fmt.Sprintf("&lol%d;", i-1), 10))
	}
	for name, c := range map[string]struct{ body, says string }{
		"cut off":              {rssFeed[:300], "line 3, column 3: unexpected EOF"},
		"nested deeply":        {"<rss><channel>" + strings.Repeat("<x:a xmlns:x='y'>", 200_000), "more than 100 deep"},
		"many attributes":      {"<rss " + strings.Repeat("xmlns:a='b' ", 100) + "><channel></channel></rss>", "100 attributes"},
		"many elements":        {"<rss><channel>" + strings.Repeat("<a>content of it</a>", 200_000) + "</channel></rss>", "more than 200000 elements"},
		"nothing but elements": {"<rss><channel>" + strings.Repeat("<a/>", 80_000) + "</channel></rss>", "more than 40001 elements"},
		"large":                {"<rss><channel><!--" + strings.Repeat("x", 50<<20) + "--></channel></rss>", "more than 10MiB"},
		"cut-off JSON":         {jsonFeed[:200], "line 2, column 80: unexpected end"},
		"many values of JSON":  {jsonFeed[:len(jsonFeed)-2] + `,"_a":[` + strings.Repeat("{},", 80_000) + "0]}", "more than 200000 values"},
	} {
		body, contentType := c.body, "text/xml"
		if body[0] == '{' {
			contentType = "application/feed+json"
		}
		d := fetched(contentType, body)
		if r := try(t, defaults, d); r.document != d || r.Counters["unreadable"] != 1 || len(r.urls) != 0 {
			t.Errorf("%s: counters %v, URLs %q", name, r.Counters, r.urls)
		} else if f := r.Failures[0]; f.Value != any(d) || !strings.HasPrefix(f.Err.Error(), here+": the feed cannot be parsed: ") || !strings.Contains(f.Err.Error(), c.says) {
			t.Errorf("%s: the failure says %v", name, f.Err)
		}
	}
	bomb := laughs.String() + `]><rss><channel><title>&lol9;</title><item><link>/a&lol9;</link></item></channel></rss>`
	if r := try(t, defaults, fetched("text/xml", bomb)); len(r.urls) != 1 || len(r.urls[0]) > 100 {
		t.Errorf("a bomb of entities: %q, %v", r.urls, r.Counters)
	}
}

func TestLimitsAreKept(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("<rss><channel>")
	for i := range 2500 {
		fmt.Fprintf(&b, "<item><link>/%d</link></item>", i)
	}
	b.WriteString("</channel></rss>")
	d := fetched("text/xml", b.String())
	if r := try(t, defaults, d); len(r.urls) != 2500 || len(r.Out["links"]) != 3 || r.Counters["entries"] != 2500 {
		t.Errorf("%d URLs in %d sets; %v", len(r.urls), len(r.Out["links"]), r.Counters)
	}
	r := try(t, with(func(o *Options) { o.MaxLinks = 1200 }), d)
	if len(r.urls) != 1200 || r.Counters["over_limit"] != 1300 {
		t.Errorf("%d URLs; %v", len(r.urls), r.Counters)
	}
	if r := try(t, with(func(o *Options) { o.MaxSize = 1000 }), d); r.Counters["unreadable"] != 1 {
		t.Errorf("counters %v", r.Counters)
	}
	if r := try(t, with(func(o *Options) { o.MaxDepth = 3 }), d); r.Counters["unreadable"] != 1 {
		t.Errorf("counters %v", r.Counters)
	}
}

func TestNofollowIsLeftToNormalize(t *testing.T) {
	t.Parallel()
	d := fetched("application/rss+xml", rssFeed)
	d.Header.Set("X-Robots-Tag", "nofollow")
	if r := try(t, defaults, d); r.document != d || len(r.urls) != 0 {
		t.Errorf("URLs %q", r.urls)
	}
	if r := try(t, with(func(o *Options) { o.ObeyRobots = false }), d); len(r.urls) != 4 {
		t.Errorf("not obeyed: URLs %q", r.urls)
	}
}

// TestTheReaderOfPlainLinksFindsTheSame generates feeds, and compares what is found with what normalize finds
// without this stage.
func TestTheReaderOfPlainLinksFindsTheSame(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		contentType, body := generated(random)
		d := fetched(contentType, body)
		r := try(t, defaults, d)
		x, err := extract.Document(d.Body, contentType, here, extract.Options{Rules: defaults.Rules()})
		if err != nil {
			t.Fatal(err)
		}
		got, want := slices.Sorted(slices.Values(r.urls)), slices.Sorted(slices.Values(x.Links))
		if !slices.Equal(got, want) {
			t.Fatalf("of %s\n got %q\nwant %q", body, got, want)
		}
	}
}

// generated returns a feed of random entries.
func generated(r *rand.Rand) (contentType, body string) {
	addresses := []string{"/a", "b?x=1&amp;y=2", "https://example.com/", "//example.net/c", "mailto:x@example.org", " /space ", "<![CDATA[/cdata?a&b]]>", "", "?utm_source=x", "#f"}
	address := func() string { return addresses[r.IntN(len(addresses))] }
	attribute := func() string {
		return strings.NewReplacer("<![CDATA[", "", "]]>", "", "a&b", "a&amp;b").Replace(strings.TrimSpace(address()))
	}
	var b strings.Builder
	switch r.IntN(3) {
	case 0:
		fmt.Fprintf(&b, "<rss version='2.0'><channel><title>t</title><link>%s</link>", address())
		for range r.IntN(5) {
			fmt.Fprintf(&b, "<item><title>&lt;b&gt;x&lt;/b&gt;</title><link>%s</link><guid isPermaLink='%t'>%s</guid><description>%s</description></item>", address(), r.IntN(2) == 0, address(), address())
		}
		b.WriteString("</channel></rss>")
		return "application/rss+xml", b.String()
	case 1:
		fmt.Fprintf(&b, "<feed xmlns='http://www.w3.org/2005/Atom'><link href='%s'/><link rel='self' href='%s'/>", attribute(), attribute())
		for range r.IntN(5) {
			rel := []string{"alternate", "enclosure", "related", "next"}[r.IntN(4)]
			fmt.Fprintf(&b, "<entry><id>%s</id><link rel='%s' href='%s'/><summary>%s</summary></entry>", address(), rel, attribute(), address())
		}
		b.WriteString("</feed>")
		return "application/atom+xml", b.String()
	}
	fmt.Fprintf(&b, `{"version": "https://jsonfeed.org/version/1", "home_page_url": %q, "items": [`, address())
	for i := range r.IntN(5) {
		fmt.Fprintf(&b, `%s{"url": %q, "external_url": %q, "content_html": "<a href='/no'>x</a>"}`, strings.Repeat(",", min(i, 1)), address(), address())
	}
	b.WriteString("]}")
	return "application/feed+json", b.String()
}

// FuzzFeeds parses whatever comes: what is found is normalized, once each, and within the limits.
func FuzzFeeds(f *testing.F) {
	for _, s := range []string{rssFeed, atomFeed, jsonFeed, "<rdf:RDF><channel/><item><link>a</link></item></rdf:RDF>", "<rss><channel><x:y xmlns:x='z'><x:z/></x:y></channel></rss>"} {
		f.Add([]byte(s))
	}
	s := &stage{options: with(func(o *Options) { o.MaxLinks, o.MaxDepth = 5, 20 }), env: nil}
	f.Fuzz(func(t *testing.T, body []byte) {
		d := fetched("text/xml", string(body))
		if d.MediaType = "text/xml"; len(body) > 0 && body[0] == '{' {
			d = fetched("application/feed+json", string(body))
		}
		k := kindOf(d.MediaType, d.Body)
		if k == none {
			return
		}
		entries, err := s.parse(d, k)
		if err != nil {
			return
		}
		set, err := s.links(d, entries)
		if err != nil {
			t.Fatal(err)
		}
		if len(set.URLs) > 5 || len(set.Changed) != len(set.URLs) {
			t.Errorf("%d URLs, %d times", len(set.URLs), len(set.Changed))
		}
		for i, url := range set.URLs {
			if again, err := urlnorm.Parse(url); err != nil || again != url || slices.Contains(set.URLs[:i], url) {
				t.Errorf("URL %q: %q, %v", url, again, err)
			}
		}
	})
}

func TestOptionsAreValidated(t *testing.T) {
	t.Parallel()
	if err := defaults.Validate(); err != nil {
		t.Error(err)
	}
	for _, o := range []Options{with(func(o *Options) { o.MaxSize = 0 }), with(func(o *Options) { o.MaxDepth = 0 }), with(func(o *Options) { o.MaxLinks = 0 })} {
		if o.Validate() == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
