package reading

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/selection"
)

// document extracts a body as the stage normalize does.
func document(t testing.TB, url, contentType, body string) *webrace.Document {
	t.Helper()
	r, err := extract.Document([]byte(body), contentType, url, extract.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &webrace.Document{
		URL: url, Body: []byte(body), Header: http.Header{"Content-Type": {contentType}}, MediaType: r.MediaType, Charset: r.Charset,
		Language: r.Language, Title: r.Title, Text: r.Text,
	}
}

// article is a page with a main part.
const storms = `<html lang="en"><head><title>Storms | The Harbour</title><base href="/weather/"></head><body>
<nav><a href="/">Home</a> <a href="/boats">Boats</a></nav>
<article><h1>Storms are coming</h1>
<p>A storm with winds of more than a hundred kilometres an hour is expected to reach the western islands on Friday evening, the weather service announced.</p>
<p>Ferries will stay in their harbours until Sunday, and people who live near the coast are asked to bring in whatever the wind could carry away, see <a href="advice">the advice</a>.</p>
<p>It would be the third storm of this year, and the first of them that comes from the north, where the sea is deeper and the waves therefore longer and higher.</p></article>
<footer>Imprint and contact</footer></body></html>`

func TestOfAPageTheMainPartIsRead(t *testing.T) {
	t.Parallel()
	d := document(t, "http://a.example/weather/storms", "text/html", storms)
	page, err := Of(context.Background(), d, Options{})
	if err != nil || page.Part != PartMain {
		t.Fatal(err, page)
	}
	text := string(page.Markdown)
	for _, want := range []string{"third storm of this year", "[the advice](http://a.example/weather/advice)"} {
		if !strings.Contains(text, want) {
			t.Errorf("without %q:\n%s", want, text)
		}
	}
	for _, not := range []string{"Boats", "Imprint"} {
		if strings.Contains(text, not) {
			t.Errorf("with %q:\n%s", not, text)
		}
	}
	all, err := Of(context.Background(), d, Options{All: true})
	if err != nil || all.Part != PartAll || !bytes.Contains(all.Markdown, []byte("Imprint")) {
		t.Errorf("all of it: %v\n%s", err, all.Markdown)
	}
}

func TestWhatIsSelectedIsReadOnceInItsOrder(t *testing.T) {
	t.Parallel()
	d := document(t, "http://a.example/", "text/html", `<p id=b>second</p><div class=x><p id=a>first <i>within</i></p></div><p>no`)
	var finders []*selection.Finder
	for _, css := range []string{"i", ".x", "#a", "#b"} {
		f, err := selection.NewFinder(selection.CSS, css)
		if err != nil {
			t.Fatal(err)
		}
		finders = append(finders, f)
	}
	page, err := Of(context.Background(), d, Options{Select: finders})
	if err != nil || page.Part != PartSelected {
		t.Fatal(err)
	}
	if got := strings.Join(strings.Fields(strings.NewReplacer("*", "", "_", "").Replace(string(page.Markdown))), " "); got != "second first within" {
		t.Errorf("%q", got)
	}
	none, _ := selection.NewFinder(selection.CSS, "table")
	if _, err := Of(context.Background(), d, Options{Select: []*selection.Finder{none}}); err == nil {
		t.Error("what selects nothing is no error")
	}
	plain := document(t, "http://a.example/", "text/plain", "text")
	if _, err := Of(context.Background(), plain, Options{Select: finders}); err == nil || !strings.Contains(err.Error(), "text/plain") {
		t.Error("of plain text something is selected:", err)
	}
}

// A title that has nothing to see is none, and what a title has beside that is left out, also of what is no page.
func TestTitlesHaveNothingThatIsNotSeen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ mediaType, title, want string }{
		{"text/html", "\u202e\u200b", ""}, {"text/html", "\ufffd", ""}, {"text/html", "a\u202e\nb", "a b"},
		{"text/plain", "a\u202e\u0085\nb", "a b"}, {"application/pdf", strings.Repeat("é", 400), strings.Repeat("é", 299) + "…"},
	} {
		d := document(t, "http://a.example/", c.mediaType, "text")
		d.Title = c.title
		if c.mediaType == "text/html" {
			d = document(t, "http://a.example/", c.mediaType, "<title>"+c.title+"</title><p>text")
		}
		page, err := Of(context.Background(), d, Options{})
		if err != nil || page.Title != c.want {
			t.Errorf("%s %q: %v, %q", c.mediaType, c.title, err, page.Title)
		}
	}
}

// A page that is too large for a tree is read as the text that it has.
func TestWhatCannotBeTakenApartIsReadAsText(t *testing.T) {
	t.Parallel()
	page, err := Of(context.Background(), document(t, "http://a.example/", "text/html", "the beginning"+strings.Repeat("<p>a", htmltree.MaxNodes)), Options{})
	if err != nil || page.Broken == nil || !bytes.Contains(page.Markdown, []byte("the beginning")) {
		t.Errorf("%v, %v", err, page)
	}
}

// Whatever a page declares of itself, its front matter is lines of a name and one value, which can be read again.
func FuzzFrontMatter(f *testing.F) {
	f.Add("Storms", "http://a.example/")
	f.Add("a\n---\n# b", "http://a.example/\"\n---")
	f.Add("\u0085\u2028\x00\x9f\ufeff", "\xff")
	f.Fuzz(func(t *testing.T, title, url string) {
		p := &Page{URL: url, Title: title, Part: PartAll}
		matter := p.AppendFrontMatter(nil, Stored{Version: 3, Fetched: time.Unix(0, 0)})
		if !utf8.Valid(matter) {
			t.Fatalf("not UTF-8: %q", matter)
		}
		lines := strings.Split(string(matter), "\n")
		for _, line := range lines[1 : len(lines)-3] {
			name, value, _ := strings.Cut(line, ": ")
			if json.Unmarshal([]byte(value), new(any)) != nil || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") != "" {
				t.Errorf("a line %q", line)
			}
		}
		listed, ok := ReadFrontMatter(bytes.NewReader(append(matter, "url: \"http://other.example/\"\n"...)))
		if url != "" && (!ok || utf8.ValidString(url) && !strings.ContainsFunc(url, func(r rune) bool { return r < ' ' || r > '~' }) && listed.URL != url) {
			t.Errorf("read again: %+v", listed)
		}
	})
}

// What Cut returns is the beginning of what it was given, apart from the end of a block of code, has no more words, and
// is all of it exactly if nothing is reported to be left out.
func FuzzCut(f *testing.F) {
	f.Add("# A title\n\nfour words are here\n\n```go\na b\n\nc d\n```\n\nmore\n", 5)
	f.Add("~~~~\na b c\n~~~\n", 2)
	f.Add("> - ```\n>   a\n>\n>   b\n>   ```\n\nc\n", 1)
	f.Add("", 0)
	f.Fuzz(func(t *testing.T, text string, words int) {
		words = min(max(words, 0), 1000)
		got, cut := Cut([]byte(text), words)
		n, all := Words(got), Words([]byte(text))
		switch {
		case cut && (n > words || n == all) || !cut && string(got) != text:
			t.Errorf("of %q %d words: %q, %t", text, words, got, cut)
		case cut != (all > words):
			t.Errorf("of %q, which has %d words, %d: %t", text, all, words, cut)
		}
		if body := strings.TrimRight(string(got), "`~> \n"); !strings.HasPrefix(text, body) {
			t.Errorf("%q does not begin %q", body, text)
		}
		if words == 1 && all > 0 && n == 0 {
			t.Errorf("of %q no word", text)
		}
	})
}

func TestWholeParagraphsAreTaken(t *testing.T) {
	t.Parallel()
	text := "# A title\n\nfour words are here\n\n```go\na b\n\nc d\n```\n\nmore\n"
	for words, want := range map[int]string{
		2: "# A title\n", 5: "# A title\n", 6: "# A title\n\nfour words are here\n", 9: "# A title\n\nfour words are here\n", 11: strings.TrimSuffix(text, "\nmore\n"), 12: text, 100: text,
		1: "# A\n",
	} {
		if got, _ := Cut([]byte(text), words); string(got) != want {
			t.Errorf("%d words: %q, want %q", words, got, want)
		}
	}
	for text, want := range map[string]string{
		"```go\na b c\n```\n\nd":                  "```go\na b\n```\n",
		"- ```\n  a\n\n  b c d\n  ```\n":          "- ```\n  a\n\n  b c\n  ```\n",
		"> - a\n>\n>   ```\n>   b c d\n>   ```\n": "> - a\n>\n>   ```\n>   b c\n>   ```\n",
		"- ```\n  a\n\n  b\n  ```\n\nc\n\nd e\n":  "- ```\n  a\n\n  b\n  ```\n\nc\n",
		"> ```\n> a\n>\n> b\n> ```\n\nc\n\nd\n":   "> ```\n> a\n>\n> b\n> ```\n\nc\n",
		"- ```\n  a\n  ```\n\n- b c\n\nd\n":       "- ```\n  a\n  ```\n\n- b c\n",
		"***\n\na b c d\n":                        "***\n\na b c\n",
	} {
		if got, _ := Cut([]byte(text), 3); string(got) != want {
			t.Errorf("three words of %q: %q, want %q", text, got, want)
		}
	}
}

func TestAListLinksToItsFiles(t *testing.T) {
	t.Parallel()
	list := string(AppendList(nil, []Listed{
		{"b.example/a%20b.md", "https://b.example/", "Second [one] <b>"},
		{"a.example/index.md", "https://a.example/", ""},
	}))
	for _, want := range []string{"## a.example\n", "(a.example/index.md)\n", "(b.example/a%2520b.md)\n"} {
		if !strings.Contains(list, want) {
			t.Errorf("no %q in\n%s", want, list)
		}
	}
	if strings.Index(list, "a.example") > strings.Index(list, "b.example") {
		t.Error("not in the order of URLs")
	}
}

func TestDocumentsOfAllKinds(t *testing.T) {
	t.Parallel()
	text := &webrace.Text{Bytes: []byte("A *title*\n<b>"), Blocks: []webrace.Block{{Start: 0, End: 9, Field: webrace.FieldTitle}, {Start: 10, End: 13}}}
	for _, c := range []struct{ mediaType, charset, body, want string }{
		{"text/html", "", "<h1>a</h1><p>b", "# a\n\nb\n"},
		{"text/html", "iso-8859-7", "<p>\xe1", "α\n"},
		{"application/xhtml+xml", "", `<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>a</h1><script/><p>b</p></body></html>`, "# a\n\nb\n"},
		{"text/markdown", "", "# a\n\nb <script>c</script> [d](javascript:e) [f](/g)\n", "# a\n\nb d [f](https://a.example/g)\n"},
		{"application/pdf", "", "%PDF", "# A \\*title\\*\n\n&lt;b>\n"},
		{"text/plain", "", "x", "# A \\*title\\*\n\n&lt;b>\n"},
	} {
		d := &webrace.Document{URL: "https://a.example/b", MediaType: c.mediaType, Charset: c.charset, Body: []byte(c.body), Text: text}
		got, err := Of(t.Context(), d, Options{All: true})
		if err != nil || string(got.Markdown) != c.want {
			t.Errorf("%s: %+v, %v, want %q", c.mediaType, got, err, c.want)
		}
	}
	for rendered, want := range map[bool]string{false: "a b\n", true: "a\n"} {
		d := &webrace.Document{MediaType: "text/html", Body: []byte("a <noscript>b</noscript>"), Rendered: rendered}
		if got, err := Of(t.Context(), d, Options{All: true}); err != nil || string(got.Markdown) != want {
			t.Errorf("rendered %t: %+v, %v, want %q", rendered, got, err, want)
		}
	}
	if got, err := Of(t.Context(), &webrace.Document{MediaType: "image/png"}, Options{}); err != nil || len(got.Markdown) > 0 {
		t.Errorf("of a document without text: %q, %v", got.Markdown, err)
	}
}
