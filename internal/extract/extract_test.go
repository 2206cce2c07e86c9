package extract_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/urlnorm"
)

const at = "http://example.org/a/b"

func document(t testing.TB, body, contentType string, opts extract.Options) *extract.Result {
	t.Helper()
	r, err := extract.Document([]byte(body), contentType, at, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func render(t *webrace.Text) string {
	var parts []string
	for _, b := range t.Blocks {
		text := string(t.Slice(b))
		if b.Field != webrace.FieldBody {
			text = b.Field.String() + ":" + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "|")
}

func TestPage(t *testing.T) {
	t.Parallel()
	r := document(t, `<!DOCTYPE html><html lang="de_AT"><meta charset=iso-8859-1><title> Ein
		Titel </title><base href="/base/x"><link rel=canonical href="canon#f"><link rel=alternate hreflang=en href=/en>
		<h1>K`+"\xe4"+`se</h1><p>Text <a href="y?q=1&amp;r=2#f">y</a> <a href=y?q=1&r=2>again</a><a href=mailto:x@y>mail</a>
		<a href=javascript:void(0)>js</a><a href="http://[bad">bad</a><a rel=nofollow href=ad>ad</a><img src=i.png>
		<form action=f></form><iframe src=//other.example/frame></iframe><meta http-equiv=refresh content="9;url=next">`,
		"text/html", extract.Options{})
	want := &extract.Result{
		MediaType: "text/html", Charset: "windows-1252", Language: "de-AT", Title: "Ein Titel", Canonical: "http://example.org/base/canon",
		Links:   []string{"http://example.org/en", "http://example.org/base/y?q=1&r=2", "http://other.example/frame"},
		Refresh: "http://example.org/base/next", Candidates: 8, Repeated: 1, Refused: extract.Refused{Scheme: 2, Invalid: 1, NoFollow: 1},
	}
	if got := render(r.Text); got != "title:Ein \t\tTitel|heading:Käse|Text y again mail \t\tjs bad ad" {
		t.Errorf("text %q", got)
	}
	if len(r.Failed) != 1 || r.Failed[0].Reference != "http://[bad" || !errors.Is(r.Failed[0].Err, urlnorm.ErrInvalid) {
		t.Errorf("failed: %v", r.Failed)
	}
	want.Text, r.Failed = r.Text, nil
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
	if r.Candidates != len(r.Links)+r.Repeated+r.Refused.Total() {
		t.Errorf("%d candidates are %d links, %d repeated, %d refused", r.Candidates, len(r.Links), r.Repeated, r.Refused.Total())
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	const page = `<link rel=canonical href="?utm_source=x"><meta name=robots content=none><a href="x?utm_source=y&b&a">1</a>
		<a href="x?a&b" rel=nofollow>2</a><img src=i><form action=f></form>`
	r := document(t, page, "text/html", extract.Options{})
	if !r.NoIndex || !r.NoFollow || r.Links != nil || r.Refused.Page != 2 {
		t.Errorf("directives are not obeyed: %+v", r)
	}
	r = document(t, page, "text/html", extract.Options{IgnoreNoFollow: true, Images: true, Forms: true,
		Rules: urlnorm.Rules{Strip: urlnorm.TrackingParameters(), Sort: true}})
	if !slices.Equal(r.Links, []string{"http://example.org/a/x?a&b", "http://example.org/a/i", "http://example.org/a/f"}) ||
		r.Repeated != 1 || !r.NoFollow || r.Canonical != at {
		t.Errorf("%+v", r)
	}
}

func TestLinksBeyondTheLimitAreCounted(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	for i := range 50 {
		fmt.Fprintf(&page, "<a href=%d><a href=0>", i)
	}
	r := document(t, page.String(), "text/html", extract.Options{MaxLinks: 3})
	if len(r.Links) != 3 || r.Candidates != 100 || r.Candidates != len(r.Links)+r.Repeated+r.Refused.Total() || r.Refused.Limit == 0 {
		t.Errorf("%+v", r)
	}
	page.Reset()
	for i := range extract.DefaultMaxLinks + 7 {
		fmt.Fprintf(&page, "<a href=%d>", i)
	}
	r = document(t, page.String(), "text/html", extract.Options{})
	if len(r.Links) != extract.DefaultMaxLinks || r.Refused.Limit != 7 {
		t.Errorf("%d links, %+v", len(r.Links), r.Refused)
	}
}

func TestPlainTextIsCutIntoParagraphsAndRecords(t *testing.T) {
	t.Parallel()
	r := document(t, " \n\none\ntwo \r\n\t\r\n  three\r\rfour\x00 <a href=x>\n\nprose whose lines were broken by its author\nat a margin goes on", "text/plain; charset=utf-8", extract.Options{})
	if got := render(r.Text); got != "one|two|three|four <a href=x>|prose whose lines were broken by its author\nat a margin goes on" || r.Links != nil || r.Charset != "utf-8" {
		t.Errorf("%q %+v", got, r)
	}
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	const page = "<html><script/><p>x<a href=y>z</a></html>"
	for _, c := range []struct{ contentType, media, text string }{
		{"text/html", "text/html", ""},
		{"TEXT/HTML; charset=utf-8; broken", "text/html", ""},
		{"application/xhtml+xml", "application/xhtml+xml", "xz"},
		{"application/xml", "application/xml", "xz"},
		{"text/plain", "text/plain", page},
		{"text/x-unknown", "text/x-unknown", page},
		{"text/javascript", "text/javascript", page},
		{"application/yaml", "application/yaml", page},
		{"application/vnd.oai.openapi+yaml", "application/vnd.oai.openapi+yaml", page},
		{"text/x-turtle", "text/x-turtle", ""},
		{"", "text/html", ""},
		{"image/png", "image/png", ""},
		{"image/svg+xml", "image/svg+xml", ""},
		{"application/pdf", "application/pdf", ""},
		{"nonsense", "text/html", ""},
	} {
		r := document(t, page, c.contentType, extract.Options{})
		if r.MediaType != c.media || render(r.Text) != c.text || (len(r.Links) > 0) != (c.text == "xz") {
			t.Errorf("%s: %+v, text %q", c.contentType, r, render(r.Text))
		}
	}
	if r := document(t, "%PDF-1.4 x", "", extract.Options{}); r.MediaType != "application/pdf" || r.Charset != "" || len(r.Text.Bytes) != 0 {
		t.Errorf("%+v", r)
	}
}

func TestFeedsAndSitemaps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body, title, language, text string
		links                             []string
	}{
		{"RSS", `<?xml version="1.0" encoding="iso-8859-1"?><!DOCTYPE rss [<!ENTITY x "y">]><rss><channel><title>Caf` + "\xe9" + ` &amp;amp; more</title>
			<link>http://example.org/</link><language>fr-FR</language><atom:link rel="self" href="/feed"/>
			<item><title><![CDATA[One <b>&</b> only]]></title><link><![CDATA[ /one?a&b ]]></link><description>&lt;p&gt;Some &lt;i&gt;text&lt;/i&gt; &lt;a href="z"&gt;z&lt;/a&gt;&lt;p&gt;more</description>
			<guid>http://example.org/guid</guid></item><item><guid isPermaLink="false">http://example.org/no</guid><guid>tag:x</guid></item></channel></rss>`,
			"Café & more", "fr-FR", "title:Café & more|heading:One & only|Some text z|more",
			[]string{"http://example.org/", "http://example.org/one?a&b", "http://example.org/guid"}},
		{"Atom", `<feed xml:lang="en" xml:base="/feeds/"><title type="html">T &amp;lt; U</title><link rel="self" href="x"/><link href="alt"/><link rel="next" href="?p=2"/>
			<entry><title>E</title><link rel="alternate" href="one"/><link rel="enclosure" href="big"/><content type="xhtml"><div>in <b>bold</b></div></content></entry></feed>`,
			"T < U", "en", "title:T < U|heading:E|in|bold", []string{"http://example.org/feeds/alt", "http://example.org/feeds/?p=2", "http://example.org/feeds/one"}},
		{"RSS 1.0", `<rdf:RDF><channel><title>R</title></channel><item><link>/r</link></item></rdf:RDF>`, "R", "", "title:R", []string{"http://example.org/r"}},
		{"sitemap", `<urlset><url><loc> http://example.org/x?a=1&amp;b=2 </loc><lastmod>2020-01-02</lastmod></url><url><loc>/y</loc></url></urlset>`,
			"", "", "", []string{"http://example.org/x?a=1&b=2", "http://example.org/y"}}, // no text for readers
		{"sitemap index", `<sitemapindex><sitemap><loc>/s.xml</loc></sitemap></sitemapindex>`, "", "", "", []string{"http://example.org/s.xml"}},
		{"other XML", `<r xml:lang="it"><title>a &lt;b&gt; c</title><link>http://x/</link>mixed<loc/>text<!-- no --><![CDATA[ &amp; ]]></r>`,
			"", "it", "a <b> c|http://x/|mixed|text &amp;", nil},
		{"broken", `<rss><item><link>/one</link><item><title>a & b <link>/two`, "a & b", "", "title:a & b", []string{"http://example.org/one", "http://example.org/two"}},
		{"elements that are special in HTML", `<rss><script>a</script><textarea><title>t</title></textarea><plaintext>b</plaintext></rss>`, "t", "", "a|title:t|b", nil},
		{"entities that would explode", `<!DOCTYPE r [<!ENTITY a "&b;&b;"><!ENTITY b "&c;&c;">]><r>&a;</r>`, "", "", "&a;", nil},
	} {
		for _, media := range []string{"application/rss+xml", "text/xml"} {
			r := document(t, c.body, media, extract.Options{})
			if got := render(r.Text); r.Title != c.title || r.Language != c.language || got != c.text || !slices.Equal(r.Links, c.links) {
				t.Errorf("%s: title %q, language %q\n got %q %q\nwant %q %q", c.name, r.Title, r.Language, got, r.Links, c.text, c.links)
			}
		}
	}
}

func TestOnlyAWrongURLIsAnError(t *testing.T) {
	t.Parallel()
	for _, u := range []string{"", "/relative", "mailto:x"} {
		if r, err := extract.Document(nil, "text/html", u, extract.Options{}); err == nil || r != nil {
			t.Errorf("%q: %+v", u, r)
		}
	}
	if _, err := extract.Document(nil, "", "ftp://x/", extract.Options{}); !errors.Is(err, urlnorm.ErrScheme) {
		t.Error(err)
	}
}

func TestResultSharesNothingWithTheBodyOrOtherResults(t *testing.T) {
	t.Parallel()
	body := []byte(`<html lang=en><title>title</title><link rel=canonical href=/canon><p>text <a href=link>x</a>`)
	first, err := extract.Document(body, "text/html", at, extract.Options{})
	if err != nil {
		t.Fatal(err)
	}
	other := document(t, `<html lang=fr><title>other</title><p>words <a href=elsewhere>x</a>`, "text/html", extract.Options{})
	clear(body)
	if got := render(first.Text); got != "title:title|text x" || first.Title != "title" || first.Language != "en" ||
		first.Canonical != "http://example.org/canon" || !slices.Equal(first.Links, []string{"http://example.org/a/link"}) {
		t.Errorf("%q %+v", got, first)
	}
	if other.Canonical != "" || !slices.Equal(other.Links, []string{"http://example.org/a/elsewhere"}) {
		t.Errorf("%+v", other)
	}
}

func TestManyAtOnceGiveWhatEachAloneGives(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 50 {
				want := fmt.Sprintf("http://example.org/a/%d-%d", i, j)
				r, err := extract.Document(fmt.Appendf(nil, "<title>%d</title><a href='%d-%d'>", j, i, j), "text/html", at, extract.Options{})
				if err != nil || r.Title != fmt.Sprint(j) || !slices.Equal(r.Links, []string{want}) {
					t.Errorf("%+v, %v", r, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestHostileDocumentsAreReadToTheEnd(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"<div>", "<a href=x>", "<a href='//[", "<svg>", "<![CDATA[", "&#1", "<rss><link>", "<a a=1 ", "\x00", "\r\n\r\n"} {
		body := bytes.Repeat([]byte(unit), 256<<10/len(unit))
		for _, media := range []string{"text/html", "text/xml", "text/plain", ""} {
			if r, err := extract.Document(body, media, at, extract.Options{}); err != nil || len(r.Links) > extract.DefaultMaxLinks {
				t.Errorf("%q as %s: %v", unit, media, err)
			}
		}
	}
}

func TestRealPages(t *testing.T) {
	const dir = "/usr/share/doc/python3.11/html"
	links, refused, pages := 0, 0, 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".html" {
			return err
		}
		if pages++; pages%5 != 0 {
			return nil
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		r, err := extract.Document(body, "text/html", "http://127.0.0.1:8080"+strings.TrimPrefix(path, dir), extract.Options{})
		if err != nil {
			return err
		}
		if r.Title == "" || len(r.Text.Blocks) < 3 || len(r.Links) < 3 || r.Charset != "utf-8" {
			t.Errorf("%s: title %q, %d blocks, %d links, %s", path, r.Title, len(r.Text.Blocks), len(r.Links), r.Charset)
		}
		links, refused = links+len(r.Links), refused+r.Refused.Invalid
		return nil
	})
	if os.IsNotExist(err) {
		t.Skip("real pages are missing: install the Debian package python3.11-doc")
	}
	if err != nil {
		t.Fatal(err)
	}
	if links < 2_000 || refused > 0 {
		t.Errorf("%d links, %d invalid", links, refused)
	}
}

// check verifies what is promised of any result.
func check(t *testing.T, r *extract.Result, maxLinks int) {
	t.Helper()
	if !utf8.Valid(r.Text.Bytes) || !utf8.ValidString(r.Title) || len(r.Links) > maxLinks {
		t.Fatalf("%+v", r)
	}
	if r.Title != strings.Join(strings.FieldsFunc(r.Title, isSpace), " ") {
		t.Fatalf("white space in the title %q", r.Title)
	}
	if r.Candidates != len(r.Links)+r.Repeated+r.Refused.Total() {
		t.Fatalf("%d candidates are %d links, %d repeated, %d refused", r.Candidates, len(r.Links), r.Repeated, r.Refused.Total())
	}
	end := int32(0)
	for _, b := range r.Text.Blocks {
		if b.Start < end || b.End <= b.Start || len(bytes.TrimFunc(r.Text.Slice(b), isSpace)) != int(b.End-b.Start) {
			t.Fatalf("block %v of %q", b, r.Text.Bytes)
		}
		if b.Start > end && !isSpace(rune(r.Text.Bytes[b.Start-1])) || b.Start == end && end > 0 {
			t.Fatalf("nothing separates block %v from the one before in %q", b, r.Text.Bytes)
		}
		end = b.End
	}
	if int(end) != len(r.Text.Bytes) {
		t.Fatalf("text goes on after its last block: %q", r.Text.Bytes[end:])
	}
	for i, l := range r.Links {
		if u, err := urlnorm.Parse(l); err != nil || u != l || slices.Contains(r.Links[:i], l) {
			t.Fatalf("link %q of %q, %v", l, r.Links, err)
		}
	}
}

// isSpace reports whether a rune is white space in HTML.
func isSpace(r rune) bool { return strings.ContainsRune(" \t\r\n\f", r) }

// sameError compares errors by their texts: their types belong to others.
var sameError = cmp.Comparer(func(a, b error) bool { return a.Error() == b.Error() })

func FuzzDocument(f *testing.F) {
	for _, s := range []string{"<a href=x>", "<rss><link>x</link><title>&lt;p&gt;</title>", "<urlset><loc>x", "a\r\n\r\nb", "<html xml:lang=x><base href='//'>", "<feed xml:base=x><link href=y/>", "<a href='//['>"} {
		for _, m := range []string{"text/html", "text/xml", "text/plain", "application/xhtml+xml", "", "text/html; charset=shift_jis"} {
			f.Add([]byte(s), m)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		kept := bytes.Clone(body)
		r, err := extract.Document(body, contentType, at, extract.Options{MaxLinks: 5})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(body, kept) {
			t.Fatal("the body was changed")
		}
		check(t, r, 5)
		again, err := extract.Document(body, contentType, at, extract.Options{MaxLinks: 5})
		if diff := cmp.Diff(r, again, sameError); diff != "" || err != nil {
			t.Fatalf("not the same the second time: %s, %v", diff, err)
		}
	})
}

func BenchmarkDocument(b *testing.B) {
	body, err := os.ReadFile("/usr/share/doc/python3.11/html/library/functions.html")
	if err != nil {
		b.Skip("real pages are missing: install the Debian package python3.11-doc")
	}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := extract.Document(body, "text/html", at, extract.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestContentTypeIsWhatWasSentOrWhatIsKnown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		header http.Header
		want   string
	}{
		{http.Header{"Content-Type": {"text/html; charset=iso-8859-7"}}, "text/html; charset=iso-8859-7"},
		{http.Header{"Content-Type": {""}}, "text/plain"},
		{http.Header{}, "text/plain"},
		{nil, "text/plain"},
	} {
		if got := extract.ContentType(c.header, "text/plain"); got != c.want {
			t.Errorf("%v: %q, want %q", c.header, got, c.want)
		}
	}
}

func TestTextIsThatOfTheDocument(t *testing.T) {
	t.Parallel()
	body, sent := []byte("<title>T\xe1</title><p>one <a href=a>two</a> <a href=b>three</a>"), "text/html; charset=iso-8859-7"
	got, err := extract.Text(body, http.Header{"Content-Type": {sent}}, "text/plain", "http://a.org/")
	if err != nil {
		t.Fatal(err)
	}
	want, err := extract.Document(body, sent, "http://a.org/", extract.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(want.Links) != 2 || len(got.Links) != 1 {
		t.Errorf("links %q, of %q", got.Links, want.Links)
	}
	want.Links, want.Refused.Limit, got.Links, got.Refused.Limit = nil, 0, nil, 0
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
