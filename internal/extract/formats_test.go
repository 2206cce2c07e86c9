package extract_test

import (
	"slices"
	"testing"

	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/pdftext"
	"github.com/webrace/webrace/internal/testutil"
)

func TestFormatsAreExtracted(t *testing.T) {
	t.Parallel()
	const docxType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	for _, c := range []struct {
		body, contentType, file string
		mediaType, title, text  string
		links                   []string
	}{
		{`{"items":[{"price":12}]}`, "application/json; charset=utf-8", "x", "application/json", "", "items[0].price: 12", nil},
		{`{"a":"b"}`, "application/vnd.api+json", "x", "application/vnd.api+json", "", "a: b", nil},
		{`{"a":"b"}`, "text/plain", "x.json", "application/json", "", "a: b", nil},
		{`{"a":"b"}`, "", "x", "application/json", "", "a: b", nil},
		{`{"a":"b"}`, "text/plain", "x", "application/json", "", "a: b", nil},
		{`{"a":"b"}`, "text/html; charset=utf-8", "x.php", "application/json", "", "a: b", nil},
		{"name;price\nStra\xdfe;1\n", "text/csv; charset=iso-8859-1", "x", "text/csv", "", "name; price|name: Straße; price: 1", nil},
		{"# Storm *Iris*\n\nSee [more](more.md), `code`.\n\n## Why\n", "text/plain; charset=utf-8", "README.md", "text/markdown", "Storm Iris",
			"heading:Storm Iris|See more, code.|heading:Why", []string{"http://example.org/a/more.md"}},
		{"---\ntitle: About\n---\nText\n", "text/markdown", "x", "text/markdown", "About", "title:About|Text", nil},
		{string(testutil.DOCX("Minutes", "# Storm", "Text")), docxType, "x", docxType, "Minutes", "title:Minutes|heading:Storm|Text", nil},
		{string(testutil.EPUB("Book", `<p>See <a href="http://b.example/x">it</a></p>`)), "application/octet-stream", "x", "application/epub+zip", "Book", "title:Book|See it", []string{"http://b.example/x"}},
		{string(testutil.Zip("a.txt", "a")), "application/zip", "x.zip", "application/zip", "", "", nil},
	} {
		r, err := extract.Document([]byte(c.body), c.contentType, "http://example.org/a/"+c.file, extract.Options{})
		if err != nil {
			t.Fatal(err)
		}
		check(t, r, extract.DefaultMaxLinks)
		if r.MediaType != c.mediaType || r.Title != c.title || render(r.Text) != c.text || !slices.Equal(r.Links, c.links) || r.Unread != (pdftext.Unread{}) {
			t.Errorf("%s %s: %s, title %q, %q, links %q, %+v", c.contentType, c.file, r.MediaType, r.Title, render(r.Text), r.Links, r.Unread)
		}
		// It is the same when it comes out of the store, with its media type alone.
		if again, err := extract.Document([]byte(c.body), c.mediaType, "http://example.org/a/"+c.file, extract.Options{}); err != nil || r.Charset == "utf-8" && render(again.Text) != c.text {
			t.Errorf("%s %s, stored: %q, %v", c.contentType, c.file, render(again.Text), err)
		}
	}
}

func TestFormatsThatLieAboutTheirTypeSaySo(t *testing.T) {
	t.Parallel()
	for contentType, body := range map[string]string{
		"application/json":         "<html>Not found</html>",
		"application/epub+zip":     "<html>Not found</html>",
		"application/vnd.ms-excel": "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
		"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
	} {
		r := document(t, body, contentType, extract.Options{})
		if check(t, r, extract.DefaultMaxLinks); len(r.Text.Blocks) > 0 || (r.Unread.Cause == pdftext.Broken) != (contentType != "application/vnd.ms-excel") {
			t.Errorf("%s: %q, %+v", contentType, render(r.Text), r.Unread)
		}
	}
}
