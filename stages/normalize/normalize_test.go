package normalize

import (
	"bytes"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/pdftext"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/pipeline/stagetest"
)

const here = "https://example.org/dir/page"

// page is a fetched document of HTML.
func page(body string, header ...string) *webrace.Document {
	d := &webrace.Document{
		URL: here, Reach: []webrace.Reach{{Crawl: "c1", Distance: 2}}, Outcome: webrace.Fetched, Status: 200,
		Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, At: time.Unix(1e9, 0), Body: []byte(body),
	}
	for i := 0; i < len(header); i += 2 {
		d.Header.Add(header[i], header[i+1])
	}
	return d
}

func with(change func(*Options)) Options {
	o := defaults
	change(&o)
	return o
}

// result is what the stage makes of one document.
type result struct {
	*stagetest.Result
	document *webrace.Document
	links    *webrace.Links
}

func try(t *testing.T, o Options, d *webrace.Document) result {
	t.Helper()
	r := result{Result: stagetest.Try(t, stagetest.Case{Type: "normalize", Options: o, Inputs: []any{d}})}
	if len(r.Failures) > 0 {
		t.Fatal(r.Failures[0])
	}
	for _, v := range r.Out[""] {
		r.document = v.(*webrace.Document)
	}
	for _, v := range r.Out["links"] {
		r.links = v.(*webrace.Links)
	}
	return r
}

func (r result) urls() []string {
	if r.links == nil {
		return nil
	}
	return r.links.URLs
}

func TestConformance(t *testing.T) {
	stagetest.Run(t, stagetest.Case{Type: "normalize", Inputs: []any{
		page(`<title>A</title><a href="/b">b</a> text`), page("", "X-Robots-Tag", "none"),
		&webrace.Document{URL: here, Outcome: webrace.NotModified}, &webrace.Document{URL: here, Outcome: webrace.Fetched, Body: []byte("plain")},
	}})
}

func TestPageBecomesTextAndLinks(t *testing.T) {
	in := page(`<html lang="el"><title> The  title </title><h1>Head</h1><p>Some <b>text</b></p>
		<a href="other#top">o</a><nav><a href="HTTPS://Example.com:443/x/../y">y</a></nav>`)
	in.Visit, in.Version = &webrace.Visit{ETag: "e"}, 3
	got := try(t, defaults, in)
	d := got.document
	if d.Title != "The title" || d.Language != "el" || d.MediaType != "text/html" || d.Charset != "utf-8" {
		t.Errorf("title %q, language %q, type %q, charset %q", d.Title, d.Language, d.MediaType, d.Charset)
	}
	var blocks []string
	for _, b := range d.Text.Blocks {
		blocks = append(blocks, b.Field.String()+": "+string(bytes.TrimSpace(d.Text.Slice(b))))
	}
	if want := []string{"title: The  title", "heading: Head", "body: Some text", "body: o", "navigation: y"}; !slices.Equal(blocks, want) {
		t.Errorf("blocks %q, want %q", blocks, want)
	}
	want := &webrace.Links{
		From: here, Reach: in.Reach, Via: webrace.ViaLink, URLs: []string{"https://example.org/dir/other", "https://example.com/y"},
		Anchors: []string{"o", "y"}, Text: d.Text,
	}
	if !reflect.DeepEqual(got.links, want) || !slices.Equal(d.Links, want.URLs) {
		t.Errorf("links %+v of a document with %q, want %+v", got.links, d.Links, want)
	}
	kept := *d
	kept.MediaType, kept.Charset, kept.Language, kept.Title, kept.Text, kept.Links = "", "", "", "", nil, nil
	if !reflect.DeepEqual(&kept, in) {
		t.Errorf("the rest of the document is %+v, was %+v", kept, *in)
	}
}

func TestWhatWasNotFetchedPassesUnchanged(t *testing.T) {
	for _, outcome := range []webrace.Outcome{webrace.NotModified, webrace.Fresh} {
		in := &webrace.Document{URL: here, Outcome: outcome}
		if got := try(t, defaults, in); got.document != in || got.links != nil {
			t.Errorf("%s: %+v", outcome, got)
		}
	}
}

func TestRobotsAreObeyed(t *testing.T) {
	meta := func(content string) string {
		return `<meta name="robots" content="` + content + `"><a href="/a">a</a><a href="/b" rel="nofollow">b</a>`
	}
	all, first := []string{"https://example.org/a", "https://example.org/b"}, []string{"https://example.org/a"}
	for name, c := range map[string]struct {
		page   *webrace.Document
		stored bool
		links  []string
	}{
		"nothing asked":            {page(meta("all")), true, first},
		"meta noindex":             {page(meta("NoIndex")), false, first},
		"meta nofollow":            {page(meta("nofollow")), true, nil},
		"meta none":                {page(meta("none")), false, nil},
		"meta both":                {page(meta("noindex, nofollow")), false, nil},
		"header noindex":           {page(meta(""), "X-Robots-Tag", "noarchive, NOINDEX"), false, first},
		"header nofollow":          {page(meta(""), "X-Robots-Tag", "nofollow"), true, nil},
		"header none":              {page(meta(""), "X-Robots-Tag", "none"), false, nil},
		"two headers":              {page(meta(""), "X-Robots-Tag", "nofollow", "X-Robots-Tag", "noindex"), false, nil},
		"header with values":       {page(meta(""), "X-Robots-Tag", "max-snippet: 20, noindex"), false, first},
		"header for another":       {page(meta(""), "X-Robots-Tag", "otherbot: noindex, nofollow"), true, first},
		"header for us, and other": {page(meta(""), "X-Robots-Tag", "nofollow, otherbot: noindex"), true, nil},
		"header for us":            {page(meta(""), "X-Robots-Tag", "otherbot: nofollow, webrace: noindex"), false, first},
		"meta for us":              {page(strings.Replace(meta("noindex"), "robots", "WebRACE", 1)), false, first},
		"meta for another":         {page(strings.Replace(meta("noindex"), "robots", "googlebot", 1)), true, first},
		"header over":              {page(meta(""), "X-Robots-Tag", "unavailable_after: 1 Jan 1996 00:00:00 GMT"), false, first},
		"meta over":                {page(meta("unavailable_after: 1996-01-01")), false, first},
		"not over":                 {page(meta("unavailable_after: 2999-01-01")), true, first},
		"words like it":            {page(meta(""), "X-Robots-Tag", "noindexing, nofollows"), true, first},
	} {
		got := try(t, defaults, c.page)
		if (got.document != nil) != c.stored || !slices.Equal(got.urls(), c.links) {
			t.Errorf("%s: passed on %t, links %q; want %t, %q", name, got.document != nil, got.urls(), c.stored, c.links)
		}
		if got.document != nil && !slices.Equal(got.document.Links, c.links) {
			t.Errorf("%s: the document has the links %q", name, got.document.Links)
		}
		if gone := got.Out["gone"]; len(gone) > 0 == c.stored || len(gone) > 0 && gone[0].(*webrace.Gone).URL != here {
			t.Errorf("%s: %v is gone", name, gone)
		}
		free := try(t, with(func(o *Options) { o.ObeyRobots = false }), c.page)
		if free.document == nil || !slices.Equal(free.urls(), all) {
			t.Errorf("%s, not obeyed: %+v", name, free)
		}
	}
}

func TestNoindexIsCountedAndNeverConfirmed(t *testing.T) {
	got := try(t, defaults, page(`<a href="/a">a</a>`, "X-Robots-Tag", "noindex"))
	if got.Counters["noindex"] != 1 {
		t.Errorf("counters %v", got.Counters)
	}
	// what is not stored must be fetched again, or the links of a page that answers 304 would be lost
	visit := webrace.Visit{ETag: `"e"`, LastModified: "yesterday", Version: 2}
	for _, what := range got.Outcomes[0].Learned {
		what.(webrace.Learned)(&visit)
	}
	if visit.ETag != "" || visit.LastModified != "" || visit.Version != 2 {
		t.Errorf("the next visit knows %+v", visit)
	}
}

// left returns what a visit keeps of where a document leads; nil if the document is kept itself.
func left(r result) []string {
	visit := webrace.Visit{Version: 2}
	for _, what := range r.Outcomes[0].Learned {
		what.(webrace.Learned)(&visit)
	}
	return visit.Links
}

// A crawl that comes to it later is led where it leads, and is not shown an earlier version that was kept.
func TestAPageThatIsNotToBeKeptLeadsOnWithoutBeingAsked(t *testing.T) {
	t.Parallel()
	const link = `<a href="/a">a</a>`
	for name, c := range map[string]struct {
		in   *webrace.Document
		want []string
	}{
		"noindex":          {page(link, "X-Robots-Tag", "noindex"), []string{"https://example.org/a"}},
		"without links":    {page("x", "X-Robots-Tag", "noindex"), []string{}},
		"not to be either": {page(link, "X-Robots-Tag", "none"), []string{}},
		"kept":             {page(link), nil},
	} {
		got := left(try(t, defaults, c.in))
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q is left, want %q", name, got, c.want)
		}
		again := page("")
		again.Outcome, again.Body, again.Visit = webrace.Fresh, nil, &webrace.Visit{Version: 2, Links: got}
		if r := try(t, defaults, again); (r.document == again) != (c.want == nil) || len(r.urls()) != len(c.want) {
			t.Errorf("%s: leads to %q, and passes %+v", name, r.urls(), r.document)
		}
	}
	var many strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&many, "<a href='/%d%s'>x</a>", i, strings.Repeat("x", 500))
	}
	r := try(t, defaults, page(many.String(), "X-Robots-Tag", "noindex"))
	if n := len(left(r)); n < 1000 || n+int(r.Counters["links_forgotten"]) != 3000 {
		t.Errorf("%d of 3000 long links are left, counters %v", n, r.Counters)
	}
}

func TestAPageThatIsNotToBeKeptForLongIsAskedForAnew(t *testing.T) {
	visit := webrace.Visit{ETag: `"e"`, LastModified: "yesterday"}
	got := try(t, defaults, page(`x`, "X-Robots-Tag", "unavailable_after: 2999-01-01"))
	for _, what := range got.Outcomes[0].Learned {
		what.(webrace.Learned)(&visit)
	}
	if got.document == nil || visit.ETag != "" || visit.LastModified != "" {
		t.Errorf("the next visit knows %+v", visit)
	}
}

func TestTheNameThatPagesCallUsByIsAnOption(t *testing.T) {
	ours := with(func(o *Options) { o.RobotsName = "Our-Bot" })
	for body, kept := range map[string]bool{`<meta name=our-bot content=noindex>`: false, `<meta name=webrace content=noindex>`: true} {
		if got := try(t, ours, page(body)); (got.document != nil) != kept {
			t.Errorf("%s: kept %t", body, !kept)
		}
	}
	if got := try(t, ours, page("x", "X-Robots-Tag", "webrace: none, our-bot: nofollow, noindex")); got.document != nil {
		t.Error("a header for us is not obeyed")
	}
	for _, name := range []string{"", "our bot", "bot/1", "a:b"} {
		if err := with(func(o *Options) { o.RobotsName = name }).Validate(); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
}

func TestLinksRefusedByThePageAreCounted(t *testing.T) {
	got := try(t, defaults, page(`<meta name=robots content=nofollow><a href="/a">1</a><a href="/b" rel=nofollow>2</a>`))
	if got.Counters["nofollow"] != 2 || got.Counters["rel_nofollow"] != 0 || got.Counters["candidates"] != 2 {
		t.Errorf("counters %v", got.Counters)
	}
}

func TestCharsetsThatWereGuessedOrWrongAreCounted(t *testing.T) {
	for body, c := range map[string]struct {
		header, counter string
	}{
		"<p>caf\xe9":                {"text/html", "charset_guessed"},
		"<p>caf\xe9 ":               {"text/html; charset=utf-8", "charset_wrong"},
		"<p>café":                   {"text/html", ""},
		"<meta charset=latin1>\xe9": {"text/html", ""},
	} {
		in := page(body)
		in.Header.Set("Content-Type", c.header)
		got := try(t, defaults, in)
		for _, name := range []string{"charset_guessed", "charset_wrong"} {
			if n := got.Counters[name]; (n == 1) != (name == c.counter) || n > 1 {
				t.Errorf("%q as %s: %s is %d", body, c.header, name, n)
			}
		}
	}
}

func TestEveryReferenceIsCounted(t *testing.T) {
	got := try(t, with(func(o *Options) { o.MaxLinks = 2 }), page(`<a href="/a">1</a><a href="/b">2</a><a href="/a#x">again</a>
		<a href="mailto:x@y">mail</a><a href="http://[">bad</a><a href="/c" rel=nofollow>no</a><a href="/d">more</a>`))
	want := map[string]int64{
		"candidates": 7, "links": 2, "repeated": 1, "ignored_scheme": 1, "invalid": 1, "rel_nofollow": 1, "over_limit": 1,
	}
	if !reflect.DeepEqual(got.Counters, want) {
		t.Errorf("counters %v, want %v", got.Counters, want)
	}
}

func TestLinksRefusedByTheHeaderAreCounted(t *testing.T) {
	got := try(t, defaults, page(`<a href="/a">1</a><a href="/b">2</a>`, "X-Robots-Tag", "nofollow"))
	if got.Counters["nofollow"] != 2 || got.Counters["links"] != 0 {
		t.Errorf("counters %v", got.Counters)
	}
}

func TestEncodingsBecomeUTF8(t *testing.T) {
	utf16 := func(s string) string {
		b := []byte{0xFE, 0xFF}
		for _, r := range s {
			b = append(b, byte(r>>8), byte(r))
		}
		return string(b)
	}
	for name, c := range map[string]struct{ contentType, body, charset, title string }{
		"header":         {"text/html; charset=ISO-8859-7", "<title>\xe3\xe5\xe9\xdc</title>", "iso-8859-7", "γειά"},
		"meta":           {"text/html", "<meta charset=iso-8859-7><title>\xe3\xe5\xe9\xdc</title>", "iso-8859-7", "γειά"},
		"latin 1":        {"text/html; charset=latin1", "<title>caf\xe9 \x80</title>", "windows-1252", "café €"},
		"byte order":     {"text/html; charset=utf-8", utf16("<title>γειά</title>"), "utf-16be", "γειά"},
		"xml":            {"application/xhtml+xml", "<?xml version='1.0' encoding='iso-8859-7'?><html><title>\xe3\xe5\xe9\xdc</title></html>", "iso-8859-7", "γειά"},
		"nothing stated": {"text/html", "<title>γειά</title>", "utf-8", "γειά"},
	} {
		in := page(c.body)
		in.Header.Set("Content-Type", c.contentType)
		got := try(t, defaults, in).document
		if got.Title != c.title || !strings.EqualFold(got.Charset, c.charset) {
			t.Errorf("%s: title %q in %s, want %q in %s", name, got.Title, got.Charset, c.title, c.charset)
		}
		if string(got.Body) != c.body {
			t.Errorf("%s: the body is changed", name)
		}
	}
}

func TestOtherTypes(t *testing.T) {
	for name, c := range map[string]struct {
		header, mediaType, body string
		want, text              string
		links                   int
	}{
		"image":                     {"image/png", "", "\x89PNG <a href=/x>", "image/png", "", 0},
		"plain":                     {"text/plain", "", "see https://example.com/", "text/plain", "see https://example.com/", 0},
		"sitemap":                   {"application/xml", "", `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://example.org/s</loc></url></urlset>`, "application/xml", "", 1},
		"no header":                 {"", "text/plain", "<b>not HTML</b>", "text/plain", "<b>not HTML</b>", 0},
		"neither":                   {"", "", "<html><a href=/x>y</a>", "text/html", "y", 1},
		"empty":                     {"text/html", "", "", "text/html", "", 0},
		"parameters and upper case": {`Text/HTML;charset="utf-8"`, "", "<p>x", "text/html", "x", 0},
	} {
		in := page(c.body)
		in.MediaType = c.mediaType
		in.Header = http.Header{}
		if c.header != "" {
			in.Header.Set("Content-Type", c.header)
		}
		got := try(t, defaults, in)
		d := got.document
		if d.MediaType != c.want || d.Text == nil || strings.TrimSpace(string(d.Text.Bytes)) != c.text || len(got.urls()) != c.links {
			t.Errorf("%s: %s, text %q, links %q", name, d.MediaType, d.Text.Bytes, got.urls())
		}
		if c.links == 0 && len(got.Out["links"]) > 0 {
			t.Errorf("%s: an empty set of links went out", name)
		}
	}
}

func TestOptionsWidenAndNarrow(t *testing.T) {
	body := `<a href="/a/index.html?b=2&a=1&utm_source=x">a</a><img src="/i.png"><form action="/f"></form>`
	for name, c := range map[string]struct {
		options Options
		want    []string
	}{
		"default": {defaults, []string{"/a/index.html?b=2&a=1"}},
		"keep":    {with(func(o *Options) { o.StripParams = false }), []string{"/a/index.html?b=2&a=1&utm_source=x"}},
		"fold":    {with(func(o *Options) { o.FoldIndex = true }), []string{"/a/?b=2&a=1"}},
		"sort":    {with(func(o *Options) { o.SortQuery = true }), []string{"/a/index.html?a=1&b=2"}},
		"images":  {with(func(o *Options) { o.Images = true }), []string{"/a/index.html?b=2&a=1", "/i.png"}},
		"forms":   {with(func(o *Options) { o.Forms = true }), []string{"/a/index.html?b=2&a=1", "/f"}},
	} {
		var want []string
		for _, path := range c.want {
			want = append(want, "https://example.org"+path)
		}
		if got := try(t, c.options, page(body)); !slices.Equal(got.urls(), want) {
			t.Errorf("%s: %q, want %q", name, got.urls(), want)
		}
	}
}

func TestADocumentAtNoURLIsAFailure(t *testing.T) {
	in := page("x")
	in.URL = "not a url"
	got := stagetest.Try(t, stagetest.Case{Type: "normalize", Inputs: []any{in}})
	if len(got.Failures) != 1 || len(got.Out[""]) != 0 {
		t.Error(fmt.Sprint(got.Failures, got.Out))
	}
}

func TestLinksThatWereReadBeforeAreKept(t *testing.T) {
	in := page(`<a href="/other">x</a>`)
	in.Links = []string{"https://example.org/read"}
	got := try(t, defaults, in)
	if got.links != nil || !slices.Equal(got.document.Links, in.Links) || got.Counters["links"] != 1 {
		t.Errorf("sent out %q, kept %q, counters %v", got.urls(), got.document.Links, got.Counters)
	}
	in.Header.Set("X-Robots-Tag", "nofollow")
	if got := try(t, defaults, in); got.links != nil || len(got.document.Links) > 0 {
		t.Errorf("nofollow: sent out %q, kept %q", got.urls(), got.document.Links)
	}
}

func TestTheAddressThatAPageDeclaresForItselfGoesWithIt(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`<link rel=canonical href="/a#b">`:           "http://example.org/a",
		`<link rel=canonical href="http://"><p>text`: "",
		`<p>text`: "",
		`<link rel=canonical href="HTTP://Example.ORG:80/x">`: "http://example.org/x",
	} {
		d := page(body)
		d.URL = "http://example.org/dir/page"
		if got := try(t, defaults, d); got.document.Canonical != want {
			t.Errorf("%s: %q, want %q", body, got.document.Canonical, want)
		}
	}
}

func TestPDFsThatCannotBeReadAreCountedByCause(t *testing.T) {
	if testing.Short() {
		t.Skip("reads PDF files, which takes long where everything is raced: not in short mode")
	}
	pdftext.Read(t.Context(), testutil.WritePDF("", testutil.PDFText("Words")), nil) // compiles PDFium, which may take longer than a stage has in tests
	for body, counter := range map[string]string{
		"<html>Not found</html>":                                  "unread_broken",
		string(testutil.WritePDF("A scan", testutil.PDFPage{})):   "unread_no_text",
		string(testutil.WritePDF("A", testutil.PDFText("Words"))): "",
	} {
		in := page(body)
		in.Header.Set("Content-Type", "application/pdf")
		got := try(t, defaults, in)
		for _, name := range []string{"unread_broken", "unread_no_text"} {
			if n := got.Counters[name]; (n == 1) != (name == counter) || n > 1 {
				t.Errorf("%q: %s is %d", body, name, n)
			}
		}
		if got.document == nil {
			t.Errorf("%q is not passed on", body)
		}
	}
}
