package extract

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/formats"
	"github.com/webrace/webrace/internal/pdftext"
	"github.com/webrace/webrace/internal/testutil"
)

// TestAmplification reads each construct of pages, feeds, XML, mail and text.
func TestAmplification(t *testing.T) {
	repeated, times := testutil.Repeated, strings.Repeat
	const (
		html, xml, text, rss, mail = "text/html", "text/xml", "text/plain", "application/rss+xml", "message/rfc822"
		rtf                        = "application/rtf"
		feed                       = `<rss><channel>`
		multipart                  = "Content-Type: multipart/mixed; boundary=b\n\n"
	)
	for _, c := range []struct {
		contentType string
		testutil.Construct
	}{
		{html, repeated("paragraphs", "", "<p>a", "")},
		{html, repeated("cells", "<table>", "<td>a", "")},
		{html, repeated("elements in elements", "", "<div>", "")},
		{html, repeated("words between elements", "", "<b>a</b> ", "")},
		{html, repeated("attributes", "<p", ` a%d="b"`, ">")},
		{html, repeated("attributes without values", "<p", ` a`, ">")},
		{html, repeated("links", "", `<a href="%d">a</a>`, "")},
		{html, repeated("links to one page", "", `<a href="#%d">`, "")},
		{html, repeated("links with anchors that do not end", "", `<a href=x>a`, "")},
		{html, repeated("bases", "", `<base href="/%d/">`, "")},
		{html, repeated("references", "", "&amp;", "")},
		{html, repeated("references that are none", "", "&a", "")},
		{html, repeated("comments", "", "<!--", "")},
		{html, repeated("comments that end oddly", "", "<!--->--!>", "")},
		{html, repeated("angles", "", "<", "")},
		{html, repeated("tags that do not end", "", "<a ", "")},
		{html, repeated("attributes that do not end", "", `<a b="`, "")},
		{html, repeated("scripts", "", "<script>", "")},
		{html, repeated("pictures in text", "", "<svg><title>", "")},
		{html, repeated("titles", "", "<title>a</title>", "")},
		{html, repeated("meta", "", "<meta name=robots content=index>", "")},
		{html, repeated("blanks", "<p>a", " ", "")},
		{html, repeated("readings", "<ruby>", "a<rt>b", "")},
		{html, repeated("raised numbers", "<p>", "ferry<sup>1</sup>", "")},
		{html, repeated("what is not shown", "", "<b hidden>a</b>", "")},
		{html, repeated("elements in what is not shown", "<div hidden><p>", "<b>a", "")},
		{html, repeated("paragraphs in what is not shown", "<div hidden><p>"+times("<b>", 100), "<div>a", "")},
		{html, repeated("styles", "", "<p style='display:none;display:block'>a", "")},
		{html, repeated("declarations", "<p style='", "display:none;", "'>a")},
		{html, repeated("items", "<ul>", "<li><a href=%d>a</a>", "")},
		{html, repeated("boxes of other classes", "", "<div class=c%d><a href=%d>a</a></div>", "")},
		{html, repeated("boxes in boxes", "", "<div class=c><a href=%d>a</a>", "")},
		{html, repeated("lists in items", "", "<ul><li><a href=%d>a</a><li><a href=%d>b</a>", "")},
		{html, repeated("links around blocks", "", "<a href=%d><p>a</p></a>", "")},
		{html, repeated("links within an item", "<ul><li>b<li>", "<a href=%d>a</a> ", "")},
		{html, repeated("rows by their text", "<table>", "<tr><td>a%d<td>b", "")},
		{html, repeated("end tags that end nothing", "<ul><li>"+times("<div>", 60)+"<table>", "</li></div>", "")},
		{html, repeated("fields that touch", "<ul>", "<li><a href=%d>a</a><b>b</b>", "")},
		{html, repeated("lines of pre", "<pre>", "a\n", "")},
		{text, repeated("lines", "", "a\n", "")},
		{text, repeated("dated lines", "", "2026-11-28 a\n", "")},
		{text, repeated("lines that run on", "", times("a ", 30)+"\n", "")},
		{text, repeated("paragraphs of text", "", "a\n\n", "")},
		{rtf, repeated("paragraphs of RTF", `{\rtf1`, `\par a`, "}")},
		{rtf, repeated("groups in groups", `{\rtf1`, "{a", "")},
		{rtf, repeated("characters by number", `{\rtf1`, `\u8364?`, "}")},
		{rtf, repeated("bytes of RTF", `{\rtf1\ansicpg932`, `\'82`, "}")},
		{xml, repeated("elements of XML", "<a>", "<b>a</b>", "</a>")},
		{xml, repeated("elements in elements of XML", "", "<a>", "")},
		{xml, repeated("attributes of XML", "<a", ` a%d="b"`, "/>")},
		{xml, repeated("entities", "<!DOCTYPE a [", `<!ENTITY a%d "b">`, "]><a>")},
		{xml, repeated("CDATA", "<a>", "<![CDATA[a]]>", "</a>")},
		{rss, repeated("items", feed, "<item><title>a</title><link>http://h/%d</link></item>", "")},
		{rss, repeated("pages in items", feed, "<item><description>&lt;p&gt;a</description></item>", "")},
		{rss, repeated("items in items", feed, "<item>", "")},
		{"application/feed+json", repeated("items of JSON", `{"version":"https://jsonfeed.org/version/1.1","items":[`, `{"id":"%d","content_html":"<p>a"},`, `{}]}`)},
		{mail, repeated("fields", "", "A%d: b\n", "\n\na")},
		{mail, repeated("lines of a field", "Subject: a\n", " b\n", "\n\na")},
		{mail, repeated("words in a charset", "Subject: ", "=?utf-8?q?a?= ", "\n\na")},
		{mail, repeated("addresses", "To: ", "a@b.c, ", "\n\na")},
		{mail, repeated("comments in addresses", "To: ", "(", "\n\na")},
		{mail, repeated("parts", multipart, "--b\n\na\n", "--b--\n")},
		{mail, repeated("parts in parts", "", "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", "")},
		{mail, repeated("mail in mail", "", "Content-Type: message/rfc822\n\n", "")},
		{mail, repeated("pages in mail", multipart, "--b\nContent-Type: text/html\n\n<p>a\n", "--b--\n")},
		{mail, repeated("lines of a coding", "Content-Transfer-Encoding: quoted-printable\n\n", "=41=\n", "")},
		{mail, repeated("lines in base 64", "Content-Transfer-Encoding: base64\n\n", "YWFhYWFhYWFh\n", "")},
		{html, repeated("long words", "<p>", times("a", 1000)+" ", "")},
	} {
		testutil.Amplify(t, c.Construct, func(body []byte) bool {
			r, err := Document(body, c.contentType, "http://h/", Options{Anchors: true})
			if err != nil {
				t.Fatal(err)
			}
			return r.Unread.Cause != ""
		})
	}
}

// No document has more blocks than the limit, whatever it is of.
func TestHostileBlocksAreBounded(t *testing.T) {
	t.Parallel()
	const most = 1 << 18
	for contentType, document := range map[string]string{
		"text/html": strings.Repeat("<p>a", most+1), "text/plain": strings.Repeat("a\n\n", most+1), "text/xml": "<a>" + strings.Repeat("<p>a</p>", most+1),
		"application/json": "[" + strings.Repeat("1,", most) + "1]", "text/csv": strings.Repeat("1\n", most+1),
	} {
		r, err := Document([]byte(document), contentType, "http://h/", Options{})
		if err != nil || len(r.Text.Blocks) != most || most != formats.Default.Blocks || !r.Text.Cut || r.Unread.Cause != pdftext.TooLong {
			t.Errorf("%s: %d blocks, %v, %+v, %v", contentType, len(r.Text.Blocks), r.Text.Cut, r.Unread, err)
		}
		cut := len(document) - len(document)/most
		if r, err = Document([]byte(document[:cut/2]), contentType, "http://h/", Options{}); err != nil || r.Text.Cut {
			t.Errorf("%s: half of it is cut: %+v, %v", contentType, r.Unread, err)
		}
	}
}

// A document takes its memory from the budget before it is read: as much as its text is while it is collected and
// copied. A page of common size asks for none.
func TestHostileDocumentsReserveWhatTheyTake(t *testing.T) {
	t.Parallel()
	for contentType, document := range map[string]string{
		"text/html": strings.Repeat("<p>a", 1<<18), "text/plain": strings.Repeat("a\n\n", 1<<19), "text/xml": "<a>" + strings.Repeat("<p>a</p>", 1<<17) + "</a>",
		"message/rfc822": "Content-Type: text/html\n\n" + strings.Repeat("<p>a", 1<<18), "application/rss+xml": "<rss><channel>" + strings.Repeat("<item><title>a</title></item>", 1<<16),
		"application/pdf": string(testutil.WritePDF("", testutil.PDFText("a"))),
	} {
		most, held := 0, 0
		reserve := func(bytes int) error {
			held += bytes
			most = max(most, held)
			return nil
		}
		r, err := Document([]byte(document), contentType, "http://h/", Options{Reserve: reserve})
		if err != nil {
			t.Fatal(err)
		}
		least := 2 * (len(r.Text.Bytes) + len(r.Text.Blocks)*int(unsafe.Sizeof(webrace.Block{})))
		if contentType == pdftext.MediaType {
			least = 17 << 20
		}
		if most+len(document) < least {
			t.Errorf("%s: %d bytes are reserved, want %d", contentType, most, least-len(document))
		}
		none := errors.New("there is none")
		if _, err := Document([]byte(document), contentType, "http://h/", Options{Reserve: func(int) error { return none }}); contentType != pdftext.MediaType && !errors.Is(err, none) {
			t.Errorf("%s: without memory: %v", contentType, err)
		}
	}
	page := []byte(strings.Repeat("<p>some words of a page", 4000))
	if _, err := Document(page, "text/html", "http://h/", Options{Reserve: func(int) error { return errors.New("asked for") }}); err != nil {
		t.Error(err)
	}
}
