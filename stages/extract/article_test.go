package extract

import (
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
)

const storms = `<html lang="en"><head><title>Storms</title><meta name="author" content="Ann Quinn"></head><body>
<nav><a href="/">Home</a> <a href="/boats">Boats for hire</a></nav>
<article><h1>Storms are coming</h1>
<p>A storm with winds of more than a hundred kilometres an hour is expected to reach the western islands on Friday evening, the weather service announced.</p>
<p>Ferries will stay in their harbours until Sunday, and people who live near the coast are asked to bring in whatever the wind could carry away, see <a href="advice">the advice</a>.</p>
<p>It would be the third storm of this year, and the first of them that comes from the north, where the sea is deeper and the waves therefore longer and higher.</p>
</article><footer>Imprint</footer></body></html>`

func TestFieldsOfAnArticle(t *testing.T) {
	o := Options{Fields: map[string]string{
		"by": "article:author", "of": "article:published", "lang": " article:language", "text": "article:markdown", "part": "article:part", "title": "css:h1",
	}}
	text := &webrace.Text{Bytes: []byte("a <b>"), Blocks: []webrace.Block{{End: 5}}}
	plain := &webrace.Document{URL: "https://shop.org/a.txt", MediaType: "text/plain", Body: []byte("a <b>"), Text: text}
	got := try(t, o, page(storms), plain).Out[""]
	if len(got) != 2 {
		t.Fatalf("%d records", len(got))
	}
	of := func(i int) pipeline.Record { return got[i].(pipeline.Record) }
	first := of(0)
	markdown, _ := first["text"].(string)
	if first["by"] != "Ann Quinn" || first["of"] != nil || first["lang"] != "en" || first["part"] != "main" || first["title"] != "Storms are coming" ||
		!strings.Contains(markdown, "[the advice](https://shop.org/dir/advice)") || strings.Contains(markdown, "Boats") {
		t.Errorf("of a page: %v", first)
	}
	if second := of(1); second["text"] != "a &lt;b>\n" || second["by"] != nil || second["part"] != "all" {
		t.Errorf("of plain text: %v", second)
	}
	for field, want := range map[string]string{
		"article:autor": "did you mean author?", "article:": "there are author, image", "article:title | number": "nothing of an article",
	} {
		err := Options{Fields: map[string]string{"x": field}}.Validate()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", field, err, want)
		}
	}
}
