package extract_test

import (
	"slices"
	"testing"

	"github.com/webrace/webrace/internal/extract"
)

// What pages write in base elements and references, to lead astray or by mistake, leads where a browser goes;
// credentials are left out of URLs, and go nowhere.
func TestReferencesLeadWhereABrowserGoes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, page string
		want       []string
		refused    extract.Refused
	}{
		{"base on another host", `<base href="http://other.example/x/"><a href=a>`, []string{"http://other.example/x/a"}, extract.Refused{}},
		{"base without a path", `<base href="//other.example"><a href=a><a href="?q"><a href="#f"><a href="">`,
			[]string{"http://other.example/a", "http://other.example/?q", "http://other.example/"}, extract.Refused{}},
		{"base that is data", `<base href="data:text/html,x"><a href=a>`, []string{"http://site.example/dir/a"}, extract.Refused{}},
		{"base that is a script", `<base href="javascript:void(0)//"><a href=a>`, []string{"http://site.example/dir/a"}, extract.Refused{}},
		{"base that is no URL, before one that is", `<base href="http://["><base href=/no/><a href=a>`, []string{"http://site.example/dir/a"}, extract.Refused{}},
		{"relative base", `<base href="../up/"><a href=a>`, []string{"http://site.example/up/a"}, extract.Refused{}},
		{"relative base with a scheme", `<base href="http:b/"><a href=a>`, []string{"http://site.example/dir/b/a"}, extract.Refused{}},
		{"base with backslashes and spaces", `<base href=" \b\ "><a href=a>`, []string{"http://site.example/b/a"}, extract.Refused{}},
		{"the first of two bases", `<base href="/b/"><base href="/c/"><a href=a>`, []string{"http://site.example/b/a"}, extract.Refused{}},
		{"the first base that has an address", `<base target=_top><base href=/x/><a href=a>`, []string{"http://site.example/x/a"}, extract.Refused{}},
		{"base behind the links", `<a href=a><base href="/b/">`, []string{"http://site.example/b/a"}, extract.Refused{}},
		{"empty base", `<base href=""><base href="/c/"><a href=a>`, []string{"http://site.example/dir/a"}, extract.Refused{}},
		{"base with a password", `<base href="http://u:p@h.example/x/"><a href=a><a href="?q"><a href="//k.example/"><a href="http://h.example/z">`,
			[]string{"http://h.example/x/a", "http://h.example/x/?q", "http://k.example/", "http://h.example/z"}, extract.Refused{}},

		{"bare per cent signs", `<a href="100%"><a href="%zz"><a href="x?%"><a href="%41%7e">`,
			[]string{"http://site.example/dir/100%25", "http://site.example/dir/%25zz", "http://site.example/dir/x?%25", "http://site.example/dir/%41%7e"}, extract.Refused{}},
		{"one host in four spellings", "<a href='http://bücher.example/'><a href='http://xn--bcher-kva.example/'><a href='http://BÜCHER.example/'><a href='http://bu\u0308cher.example'>",
			[]string{"http://xn--bcher-kva.example/"}, extract.Refused{}},
		{"hosts that hide what they are", "<a href='http://a%2eexample/'><a href='http://ex\u00adample.org/'><a href='http://0x7f.1/'><a href='http://site。example/'>",
			[]string{"http://a.example/", "http://example.org/", "http://127.0.0.1/", "http://site.example/"}, extract.Refused{}},
		{"hosts that are none", `<a href="http://[::1/"><a href="http://a b/"><a href="http://h.example:99999/"><a href="http://xn--a/"><a href="http:///">`,
			nil, extract.Refused{Invalid: 5}},
		{"backslashes", `<a href="\\h.example\p"><a href="\p\q"><a href="http:\\h.example\"><a href="p\q?a\b">`,
			[]string{"http://h.example/p", "http://site.example/p/q", "http://h.example/", `http://site.example/dir/p/q?a\b`}, extract.Refused{}},
		{"tabs and line feeds", "<a href='a\tb'><a href='ht\ntp://h.exa\r\nmple/'><a href='\n x '><a href='c&Tab;d&NewLine;e'>",
			[]string{"http://site.example/dir/ab", "http://h.example/", "http://site.example/dir/x", "http://site.example/dir/cde"}, extract.Refused{}},
		{"a script across lines", "<a href='j&#10;ava\tscript:x'>", nil, extract.Refused{Scheme: 1}},
		{"names and passwords", `<a href="http://u:p@h.example/"><a href="http://h.example@evil.example/">`,
			[]string{"http://h.example/", "http://evil.example/"}, extract.Refused{}},
	} {
		r, err := extract.Document([]byte(c.page), "text/html; charset=utf-8", "http://site.example/dir/page", extract.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.Links, c.want) || r.Refused != c.refused {
			t.Errorf("%s:\n got %q, refused %+v\nwant %q, refused %+v", c.name, r.Links, r.Refused, c.want, c.refused)
		}
	}
}
