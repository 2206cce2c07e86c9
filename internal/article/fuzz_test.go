package article

import (
	"net/url"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/visible"
)

func FuzzFind(f *testing.F) {
	for _, page := range []string{
		`<article><h1>a</h1><p>` + prose + `</p><div class="share">x</div></article>`,
		`<div class="lead">` + prose + `</div><div class="article-body"><p>` + prose + prose + prose + prose + prose + `</div>`,
		`<html lang="en_us"><meta property="og:title" content="a&#8238;b"><time datetime="2020-02-30"><img src="//b">`,
		`<script type="application/ld+json">{"@graph":[{"@type":["NewsArticle"],"author":[{"@id":"#1"}],"image":{"url":"/a"}}]}</script>`,
		`<ul><li><a href=/>a</a></ul>`,
		`<main><aside><pre>a</pre></aside><section id=a><h2>b</h2><ul><li><a href="#">c</a></ul></section></main>`,
	} {
		f.Add([]byte(page), "https://a.example/2020/02/03/b")
	}
	f.Fuzz(func(t *testing.T, body []byte, from string) {
		root, err := htmltree.Parse(body)
		if err != nil {
			return
		}
		a := Find(root, from)
		checkMain(t, root, a)
		checkStated(t, a)
	})
}

// checkMain checks that the main part consists of elements of the page, in its order, none within another.
func checkMain(t *testing.T, root *html.Node, a *Article) {
	t.Helper()
	left := a.Main
	var walk func(n *html.Node, within bool)
	walk = func(n *html.Node, within bool) {
		if len(left) > 0 && n == left[0] {
			if within || n.Type != html.ElementNode || a.Without(n) {
				t.Errorf("<%s> is of the main part, and within another of it, or left out", n.Data)
			}
			left, within = left[1:], true
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, within)
		}
	}
	walk(root, false)
	if len(left) > 0 {
		t.Errorf("<%s> is no element of the page, or not in its order", left[0].Data)
	}
	if a.Main == nil && a.without != nil {
		t.Error("something is left out of a page without a main part")
	}
}

// checkStated checks what Article promises of its fields.
func checkStated(t *testing.T, a *Article) {
	t.Helper()
	for _, s := range []string{a.Title, a.Author, a.Site, a.Language, a.Published, a.Image} {
		if !utf8.ValidString(s) || utf8.RuneCountInString(s) > max(mostAuthors*102, longestURL) {
			t.Errorf("not UTF-8, or too long: %q", s)
		}
		if shown := visible.Line(s, longestURL); shown != s {
			t.Errorf("%q is shown as %q", s, shown)
		}
	}
	if a.Published != "" {
		_, err := time.Parse(time.RFC3339, a.Published)
		if _, day := time.Parse(time.DateOnly, a.Published); err != nil && day != nil {
			t.Errorf("published %q: %v", a.Published, err)
		}
	}
	if a.Image != "" {
		if u, err := url.Parse(a.Image); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			t.Errorf("image %q: %v", a.Image, err)
		}
	}
	if a.Language != "" && readLanguage(a.Language) != a.Language {
		t.Errorf("language %q", a.Language)
	}
}
