package article

import (
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/testutil"
)

// TestAmplification finds the main part of pages of which everything asks for work.
func TestAmplification(t *testing.T) {
	repeated, times := testutil.Repeated, strings.Repeat
	prose := "<p>" + times("Many words of prose. ", 10) + "</p>"
	for _, c := range []testutil.Construct{
		repeated("paragraphs", "", "<p>Some words that a reader may have come for, or not.", ""),
		repeated("bodies of articles in each other", "", `<div class="article-body">words `, ""),
		repeated("bodies of articles beside each other", "", `<div class="article-body">`+prose+`</div>`, ""),
		repeated("articles", "", `<article><h1>a</h1><a href="/">b</a>`+prose+`</article>`, ""),
		repeated("leads", `<main>`, `<div class="lead">`+prose+`</div>`, `<div class="article-body">`+times(prose, 100)+`</div>`),
		repeated("headings", `<article>`+prose, `<h2>a</h2>`, ""),
		repeated("headings of each level of what is left out", `<article>`+prose, `<h1>a</h1><nav>b</nav><h2>a</h2><nav>b</nav><h3>a</h3><nav>b</nav>`, ""),
		repeated("what is left out below one heading", `<article>`+prose+`<h2>a</h2>`, `<nav>b</nav>`, ""),
		repeated("deep elements", times("<div>", 500), `<p>words<b>`, ""),
		repeated("links", "<article>"+prose, `<a href="/">a</a>`, ""),
		repeated("authors", "", `<b itemprop="author">`, "a"),
		repeated("authors in each other, of a long text", times(`<div itemprop="author" rel="author" class="author">`, 500), "a ", ""),
		repeated("dates", "", `<i class="date">1`, ""),
		repeated("first headings", "", `<h1 itemprop="headline"> `, ""),
		repeated("meta elements", "", `<meta name="author" content="a%d">`, ""),
		repeated("a long author", `<meta name="author" content="`, " ", `a">`),
		repeated("a long date", `<time datetime="`, "2", `">`),
		repeated("a long language", `<html lang="`, "en-", `">`),
		repeated("a long image", `<meta property="og:image" content="`, "/a", `">`),
		repeated("a long class", `<p class="`, "a-", `">`),
		repeated("classes", "", `<p class="article-body share comment nav">`, ""),
		repeated("a long style", `<p style="`, "display:", `">`),
		repeated("things of JSON-LD", `<script type="application/ld+json">[`, `{"@type":"Article","@id":"%d","name":"a"},`, `{}]</script>`),
		repeated("scripts of JSON-LD", "", `<script type="application/ld+json">{"@type":"Article"}</script>`, ""),
		repeated("arrays of JSON-LD", `<script type="application/ld+json">`, `[`, ``),
	} {
		testutil.Amplify(t, c, func(body []byte) bool {
			root, err := htmltree.Parse(body)
			if err != nil {
				return true
			}
			Find(root, "https://a.example/")
			return false
		})
	}
}
