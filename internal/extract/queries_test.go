package extract_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/webrace/webrace/internal/extract"
)

// TestQueriesAreWrittenInTheEncodingOfThePage holds links against what the URL standard has of documents. The queries
// that are wanted were written with Python's codecs.
func TestQueriesAreWrittenInTheEncodingOfThePage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ encoding, text, query string }{
		{"utf-8", "café", "caf%C3%A9"},
		{"utf-16le", "café", "caf%C3%A9"},
		{"windows-1250", "žluťoučký", "%9Elu%9Dou%E8k%FD"},
		{"windows-1251", "привет", "%EF%F0%E8%E2%E5%F2"},
		{"windows-1252", "café €", "caf%E9%20%80"},
		{"windows-1253", "αθήνα", "%E1%E8%DE%ED%E1"},
		{"windows-1255", "שלום", "%F9%EC%E5%ED"},
		{"windows-1256", "سلام", "%D3%E1%C7%E3"},
		{"windows-874", "ภาษา", "%C0%D2%C9%D2"},
		{"iso-8859-2", "žluť", "%BElu%BB"},
		{"koi8-r", "привет", "%D0%D2%C9%D7%C5%D4"},
		{"ibm866", "привет", "%AF%E0%A8%A2%A5%E2"},
		{"macintosh", "café", "caf%8E"},
		{"shift_jis", "日本語表", `%93%FA%96{%8C%EA%95\`},
		{"euc-jp", "日本語", "%C6%FC%CB%DC%B8%EC"},
		{"iso-2022-jp", "日本 a", `%1B$BF|K\%1B(B%20a`},
		{"gbk", "中文€", "%D6%D0%CE%C4%80"},
		{"gb18030", "中文€", "%D6%D0%CE%C4%A2%E3"},
		{"big5", "中文", "%A4%A4%A4%E5"},
		{"euc-kr", "한국어", "%C7%D1%B1%B9%BE%EE"},
	} {
		t.Run(c.encoding, func(t *testing.T) {
			e, err := htmlindex.Get(c.encoding)
			if err != nil {
				t.Fatal(err)
			}
			page, err := e.NewEncoder().String(`<link rel=canonical href="?TEXT"><a href="/TEXT?a=TEXT&amp;b#TEXT"><a href="HTTP://site.example?TEXT">`)
			if err != nil {
				t.Fatal(err)
			}
			text, err := e.NewEncoder().String(c.text)
			if err != nil {
				t.Fatal(err)
			}
			word, err := e.NewEncoder().String("TEXT")
			if err != nil {
				t.Fatal(err)
			}
			r, err := extract.Document([]byte(strings.ReplaceAll(page, word, text)), "text/html; charset="+c.encoding, at, extract.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := []string{"http://example.org/" + url.PathEscape(c.text) + "?a=" + c.query + "&b", "http://site.example/?" + c.query}
			if !slices.Equal(r.Links, want) || r.Canonical != at+"?"+c.query {
				t.Errorf("got %q, canonical %s\nwant %q", r.Links, r.Canonical, want)
			}
		})
	}
}

func TestQueriesOfWhatAnEncodingDoesNotHave(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, contentType, page, want string }{
		{"a character", "text/html; charset=windows-1252", `<a href="?a&#9731;b">`, at + "?a%26%239731%3Bb"},
		{"beyond the first plane", "text/html; charset=koi8-r", `<a href="?&#x1f600;">`, at + "?%26%23128512%3B"},
		{"in seven bits", "text/html; charset=iso-2022-jp", `<a href="?&#26085;&#9731;&#26412;">`, at + `?%1B$BF|%1B(B%26%239731%3B%1B$BK\%1B(B`},
		{"characters that are no part of a URL", "text/html; charset=iso-2022-jp", `<a href="?&#26085;&#9;&#10;&#26412;">`, at + `?%1B$BF|K\%1B(B`},
		{"half width in seven bits", "text/html; charset=iso-2022-jp", `<a href="?&#xff71;">`, at + `?%1B$B%25%22%1B(B`},
		{"yen in seven bits", "text/html; charset=iso-2022-jp", `<a href="?&yen;a&yen;">`, at + `?%1B(J\a\%1B(B`},
		{"yen, overline and minus", "text/html; charset=shift_jis", `<a href="?&yen;&#x203e;&#x2212;">`, at + `?\~%81|`},
		{"JIS X 0212", "text/html; charset=euc-jp", `<a href="?&#19970;">`, at + "?%26%2319970%3B"},
		{"Hong Kong's", "text/html; charset=big5", `<a href="?&#x43f0;">`, at + "?%26%2317392%3B"},
		{"a page in ASCII that declares another", "text/html", `<meta charset=shift_jis><a href="?&#26085;">`, at + "?%93%FA"},
		{"a path and a fragment that have a question mark", "text/html; charset=koi8-r", `<a href="/&#1087;#?&#1087;">`, "http://example.org/%D0%BF"},
		{"nothing declared", "text/html", `<a href="?&eacute;">`, at + "?%C3%A9"},
		{"base", "text/html; charset=koi8-r", `<base href="/b?&#1087;"><a href="">`, "http://example.org/b?%D0"},
		{"relative to a base", "text/html; charset=koi8-r", `<base href="/b/"><a href="?&#1087;">`, "http://example.org/b/?%D0"},
		{"XHTML", "application/xhtml+xml; charset=koi8-r", `<a href="?&#1087;">`, at + "?%D0"},
		{"XHTML in XML", "text/xml; charset=koi8-r", `<html><a href="?&#1087;"/></html>`, at + "?%D0"},
		{"a feed", "application/rss+xml; charset=koi8-r", "<rss><link>?\xd0</link></rss>", at + "?%D0%BF"},
		{"mail", "message/rfc822", "Content-Type: text/html; charset=koi8-r\n\n<a href='http://a.example/?\xd0'>", "http://a.example/?%D0"},
	} {
		r := document(t, c.page, c.contentType, extract.Options{})
		if !slices.Equal(r.Links, []string{c.want}) {
			t.Errorf("%s: %q, want %q", c.name, r.Links, c.want)
		}
	}
	r := document(t, `<meta http-equiv=refresh content="0; url=?&#1087;">`, "text/html; charset=koi8-r", extract.Options{})
	if r.Refresh != at+"?%D0" {
		t.Errorf("refresh to %s", r.Refresh)
	}
}
