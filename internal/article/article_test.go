package article

import (
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/htmltree"
)

const prose = "The ferry to the island did not sail on Tuesday, for the wind was too strong, and nobody was told before noon. "

func TestFind(t *testing.T) {
	t.Parallel()
	paragraphs := "<p>" + prose + "</p><p>" + prose + "</p><p>" + prose + "</p><p>" + prose + "</p><p>" + prose + "</p>"
	for _, c := range []struct{ name, page, with, without string }{
		{"navigation", `<nav>NAV</nav><div>` + paragraphs + `</div><footer>FOOT</footer>`, "ferry", "NAV FOOT"},
		{"sidebar", `<div class="sidebar"><p>SIDE ` + prose + `</div><div class=x>` + paragraphs + `</div>`, "ferry", "SIDE"},
		{"comments that are longer", `<div class="entry-content">` + paragraphs + `</div><div id="comments"><p>REPLY ` + strings.Repeat(prose, 20) + `</div>`, "ferry", "REPLY"},
		{"cookies", `<div class="cookie-consent"><p>COOKIE ` + strings.Repeat(prose, 20) + `</div><main>` + paragraphs + `</main>`, "ferry", "COOKIE"},
		{"share buttons in it", `<article>` + paragraphs + `<div class="social-share">SHARE</div></article>`, "ferry", "SHARE"},
		{"related links in it", `<article>` + paragraphs + `<h3>MORE</h3><ul><li><a href=/a>RELATED one more long title</a><li><a href=/b>RELATED other</a></ul></article>`, "ferry", "MORE RELATED"},
		{"its lead", `<header><h1>Title</h1><p class="lead">LEAD ` + prose + `</p></header><div class="article-body">` + paragraphs + `</div>`, "LEAD ferry", ""},
		{"hidden text", `<article>` + paragraphs + `<p style="display: none">HIDDEN</p><p hidden>HIDDEN</p><p hidden="until-found">FOUND</p></article>`, "FOUND", "HIDDEN"},
		{"a section of links", `<main><section id=a><h1>T</h1>` + paragraphs + `<section id=b><h2>SEE</h2><ul><li><a href=/>LINK to another page</a></ul></section></section></main>`, "SEE LINK", ""},
		{"code", `<div class="document"><h2>T</h2>` + paragraphs + `<aside><pre>CODE</pre></aside></div>`, "CODE", ""},
		{"a caption", `<article>` + paragraphs + `<figure><img src=a><figcaption>CAPTION</figcaption></figure></article>`, "ferry", "CAPTION"},
		{"all of a list", `<ul><li><a href=/a>ONE</a><li><a href=/b>TWO</a></ul>`, "ONE TWO", ""},
		{"all of a form", `<form>NAME <input></form>`, "NAME", ""},
	} {
		root, err := htmltree.Parse([]byte(c.page))
		if err != nil {
			t.Fatal(err)
		}
		a := Find(root, "https://a.example/")
		checkMain(t, root, a)
		text := mainText(a, root)
		for word := range strings.FieldsSeq(c.with) {
			if !strings.Contains(text, word) {
				t.Errorf("%s: %s is not in the main part: %q", c.name, word, text)
			}
		}
		for word := range strings.FieldsSeq(c.without) {
			if strings.Contains(text, word) {
				t.Errorf("%s: %s is in the main part: %q", c.name, word, text)
			}
		}
		if isAll := strings.HasPrefix(c.name, "all of"); isAll != (a.Main == nil) {
			t.Errorf("%s: main part %v", c.name, a.Main)
		}
	}
}

func TestStated(t *testing.T) {
	t.Parallel()
	ld := func(json string) string { return `<script type="application/ld+json">` + json + `</script>` }
	for _, c := range []struct {
		name, page string
		want       Article
	}{
		{"nothing", `<p>x`, Article{}},
		{
			"an article in JSON-LD before OpenGraph",
			ld(`{"@context":"https://schema.org","@type":"NewsArticle","headline":"A &amp; B","author":[{"name":"Ann"},{"name":"Bob"}],"datePublished":"2020-01-02T03:04:05+02:00","publisher":{"name":"P"},"image":["/i.png"],"inLanguage":"el"}`) +
				`<meta property="og:title" content="No"><meta property="og:site_name" content="No">`,
			Article{Title: "A & B", Author: "Ann, Bob", Published: "2020-01-02T03:04:05+02:00", Site: "P", Image: "https://a.example/i.png", Language: "el"},
		},
		{
			"an author by reference", ld(`{"@graph":[{"@type":"Article","author":{"@id":"#p"}},{"@type":"Person","@id":"#p","name":"Ann"}]}`), Article{Author: "Ann"},
		},
		{"JSON-LD in a comment, with a line feed", ld("<!--\n{\"@type\":\"BlogPosting\",\"headline\":\"a\nb\"};-->"), Article{Title: "a b"}},
		{"JSON-LD that is none", ld(`{"@type":`), Article{}},
		{"JSON-LD of a product", ld(`{"@type":"Product","name":"a"}`), Article{}},
		{
			"OpenGraph before meta elements and elements",
			`<html lang="en-us"><title>T - S</title><meta name="author" content="No"><meta property="article:author" content="By Ann"><meta property="og:title" content="T"><meta property="og:site_name" content="S"><meta property="og:image" content="b.png"><meta property="article:published_time" content="2020-01-02"><h1>No</h1>`,
			Article{Title: "T", Author: "Ann", Published: "2020-01-02", Site: "S", Image: "https://a.example/x/b.png", Language: "en-US"},
		},
		{"an author that is an address", `<meta property="article:author" content="https://b.example/ann"><a rel="author" href="/">Ann</a>`, Article{Author: "Ann"}},
		{"the heading in the title", `<title>T — S</title><h1>T<a class="headerlink" href="#t">¶</a></h1>`, Article{Title: "T"}},
		{"a title with the site behind the heading", `<meta property="og:title" content="T | S"><h1>T</h1>`, Article{Title: "T"}},
		{"microdata", `<b itemprop="author"><i itemprop="name">Ann</i></b><time itemprop="datePublished" datetime="2020-01-02T03:04:05Z">x</time>`, Article{Author: "Ann", Published: "2020-01-02T03:04:05Z"}},
		{"a moment without a zone is a day", `<time datetime="2020-01-02T03:04:05">x</time>`, Article{Published: "2020-01-02"}},
		{"a date in words", `<p class="date">Am 3. März 2021 um 7`, Article{Published: "2021-03-03", Language: "de"}},
		{"no date", `<time datetime="0001-01-01T00:00:00Z">x</time>`, Article{}},
		{"an image of the main part", `<article><p>` + prose + prose + `</p><img src="/i.png"></article>`, Article{Image: "https://a.example/i.png", Language: "en"}},
		{"an image that is none", `<meta property="og:image" content="javascript:alert(1)">`, Article{}},
		{"a base", `<base href="https://b.example/"><meta property="og:image" content="i.png">`, Article{Image: "https://b.example/i.png"}},
		{"control characters", "<meta property=\"og:title\" content=\"a\u202e\x07\u0085 \n b\">", Article{Title: "a b"}},
	} {
		root, err := htmltree.Parse([]byte(c.page))
		if err != nil {
			t.Fatal(err)
		}
		a := Find(root, "https://a.example/x/y")
		checkStated(t, a)
		got := Article{Title: a.Title, Author: a.Author, Site: a.Site, Language: a.Language, Published: a.Published, Image: a.Image}
		if got.Title != c.want.Title || got.Author != c.want.Author || got.Site != c.want.Site || got.Language != c.want.Language ||
			got.Published != c.want.Published || got.Image != c.want.Image {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
	}
	root, _ := htmltree.Parse([]byte(`x`))
	if day := Find(root, "https://a.example/2020/01/02/y").Published; day != "2020-01-02" {
		t.Errorf("published %q by the address, want 2020-01-02", day)
	}
}
