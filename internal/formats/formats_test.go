package formats

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/pdftext"
	"github.com/webrace/webrace/internal/testutil"
)

// render writes blocks a line each, headings with "# " and navigation with "- " before them, the title with "T ".
func render(t *webrace.Text) string {
	var lines []string
	for _, b := range t.Blocks {
		sign := map[webrace.Field]string{webrace.FieldTitle: "T ", webrace.FieldHeading: "# ", webrace.FieldNavigation: "- "}[b.Field]
		lines = append(lines, sign+string(t.Slice(b)))
	}
	return strings.Join(lines, "\n")
}

// check holds what is true of every document.
func check(t testing.TB, d *Document, l Limits) {
	t.Helper()
	if !utf8.Valid(d.Text.Bytes) || !utf8.ValidString(d.Title) || strings.Contains(d.Title, "\n") || len(d.Text.Bytes) > l.Text || len(d.Links) > l.Links {
		t.Fatalf("title %q, %d bytes, %d links", d.Title, len(d.Text.Bytes), len(d.Links))
	}
	if (d.Unread.Cause == "") != (d.Unread.Reason == "") {
		t.Fatalf("%+v", d.Unread)
	}
	end := int32(0)
	for i, b := range d.Text.Blocks {
		gap := int32(min(i, 1))
		if b.Start != end+gap || b.End <= b.Start || strings.Trim(string(d.Text.Slice(b)), space+"\x00") != string(d.Text.Slice(b)) {
			t.Fatalf("block %d, from %d to %d behind %d: %q", i, b.Start, b.End, end, d.Text.Slice(b))
		}
		end = b.End
	}
	if int(end) != len(d.Text.Bytes) {
		t.Fatalf("%d bytes of text, the last block ends at %d", len(d.Text.Bytes), end)
	}
	for _, l := range d.Links {
		if !hasPrefixFold(l, "http://") && !hasPrefixFold(l, "https://") {
			t.Fatalf("link %q", l)
		}
	}
}

func read(t testing.TB, f Format, body string) *Document {
	t.Helper()
	d := Read(t.Context(), f, []byte(body), nil)
	check(t, d, Default)
	return d
}

func TestFormatsOfText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		format Format
		in     string
		want   string
		unread pdftext.Cause
	}{
		{"leaves", JSON, `{"items":[{"name":"Bolt","price":12.50},{"name":"Nut","tags":["a","b"]}],"next":null,"ok":true,"none":[],"no":{}}`,
			"items[0].name: Bolt\nitems[0].price: 12.50\nitems[1].name: Nut\nitems[1].tags[0]: a\nitems[1].tags[1]: b\nnext: null\nok: true\nnone: []\nno: {}", ""},
		{"keys that are no identifiers", JSON, `{"content-type":1,"a b":{"":2},"τιμή":3,"2x":4,"<&>":5}`, `["content-type"]: 1` + "\n" + `["a b"][""]: 2` + "\n" + `["τιμή"]: 3` + "\n" + `["2x"]: 4` + "\n" + `["\u003c\u0026\u003e"]: 5`, ""},
		{"a list", JSON, ` [1, [2, []], {"a": 3}] `, "[0]: 1\n[1][0]: 2\n[1][1]: []\n[2].a: 3", ""},
		{"a scalar", JSON, `"Storm\u0000 Iris"`, "Storm Iris", ""},
		{"a byte order mark", JSON, "\ufeff{\"a\":1}", "a: 1", ""},
		{"several values", JSON, `{"a":1} {"a":2}`, "a: 1\n[1].a: 2", ""},
		{"lines", JSONLines, "{\"a\":1}\n{\"a\":[2]}\n", "[0].a: 1\n[1].a[0]: 2", ""},
		{"a sequence", JSONLines, "\x1e{\"a\":1}\n\x1e{\"a\":2}\n", "[0].a: 1\n[1].a: 2", ""},
		{"a page of errors", JSON, `<html>Not found</html>`, "", pdftext.Broken},
		{"nothing", JSON, ``, "", pdftext.Broken},
		{"cut", JSON, `{"a":[1,2`, "a[0]: 1\na[1]: 2", pdftext.Broken},
		{"broken", JSON, `{"a":1,"b":nope}`, "a: 1", pdftext.Broken},
		{"too deep", JSON, `{"a":` + strings.Repeat("[", 300) + "1" + strings.Repeat("]", 300) + `,"b":2}`, "b: 2", pdftext.TooLong},

		{"columns", CSV, "name,price,stock\r\nBolt,12,\"4,5\"\r\n\r\nNut, 3 ,\r\n", "name; price; stock\nname: Bolt; price: 12; stock: 4,5\nname: Nut; price: 3", ""},
		{"semicolons", CSV, "Name;Preis\nSchraube;1,20\n", "Name; Preis\nName: Schraube; Preis: 1,20", ""},
		{"as Excel says", CSV, "sep=|\nName|Price, net\nBolt|3\n", "Name; Price, net\nName: Bolt; Price, net: 3", ""},
		{"tabs", TSV, "a\tb\n1\t2,3\n", "a; b\na: 1; b: 2,3", ""},
		{"without names", CSV, "Bolt,12\nNut,3\n", "A: Bolt; B: 12\nA: Nut; B: 3", ""},
		{"years", CSV, "Country,2019,2020\nGreece,10.7,10.5\n", "Country; 2019; 2020\nCountry: Greece; 2019: 10.7; 2020: 10.5", ""},
		{"a line above", CSV, "Prices of 2024\n\nname,price\nBolt,12\n", "Prices of 2024\nname; price\nname: Bolt; price: 12", ""},
		{"one column", CSV, "one\ntwo\n", "one\ntwo", ""},
		{"one row", CSV, "a,b", "a; b", ""},
		{"more cells than names", CSV, "a,b\n1,2,3\n", "a; b\na: 1; b: 2; C: 3", ""},
		{"an open quote", CSV, "a,b\n1,\"2\n3,4\n", "a; b\na: 1; b: 2 3,4", ""},
		{"nothing", CSV, "", "", ""},
	} {
		if d := read(t, c.format, c.in); render(&d.Text) != c.want || d.Unread.Cause != c.unread {
			t.Errorf("%s: got %q, %+v\nwant %q", c.name, render(&d.Text), d.Unread, c.want)
		}
	}
}

func TestFormatsOfArchives(t *testing.T) {
	t.Parallel()
	docx := testutil.DOCX("Minutes", "# Harbour", "The mole, & the storm.", "")
	xlsx := testutil.XLSX("Prices", []string{"name", "price"}, []string{"Bolt", "12"}, []string{"", "3"})
	epub := testutil.EPUB("A book", `<h1>One</h1><p>It begins <a href="http://a.example/x">there</a>.</p>`, `<p>It ends. <a href="c0.xhtml">Back</a></p>`)
	odt := testutil.ODF(ODT.MediaType(), "Letter", `<office:text><text:tracked-changes>gone</text:tracked-changes><text:h text:outline-level="1">Storm</text:h>`+
		`<text:p>Dear<text:s/>Eleni,<text:tab/>see <text:a xlink:href="https://b.example/">this</text:a><text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note</text:p></text:note-body></text:note>.`+
		`<office:annotation><text:p>a comment</text:p></office:annotation> It is called <text:title>Letter</text:title><draw:frame><svg:title>Alt</svg:title><svg:desc>A picture</svg:desc></draw:frame>.</text:p></office:text>`)
	ods := testutil.ODF(ODS.MediaType(), "", `<office:spreadsheet><table:table table:name="Prices"><table:table-row><table:table-cell><text:p>name</text:p></table:table-cell><table:table-cell table:number-columns-repeated="2"><text:p>price</text:p></table:table-cell></table:table-row>`+
		`<table:table-row table:number-rows-repeated="2"><table:table-cell/><table:table-cell><text:p>1</text:p><text:p>2</text:p></table:table-cell><table:table-cell table:number-columns-repeated="16382"/></table:table-row><table:table-row table:number-rows-repeated="1048573"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table></office:spreadsheet>`)
	for _, c := range []struct {
		name   string
		format Format
		body   []byte
		title  string
		want   string
		links  []string
	}{
		{"docx", DOCX, docx, "Minutes", "T Minutes\n# Harbour\nThe mole, & the storm.", nil},
		{"xlsx", XLSX, xlsx, "", "# Prices\nname; price\nname: Bolt; price: 12\nprice: 3", nil},
		{"epub", EPUB, epub, "A book", "T A book\n# One\nIt begins there.\nIt ends. Back", []string{"http://a.example/x"}},
		{"odt", ODT, odt, "Letter", "T Letter\n# Storm\nA note\nDear Eleni, see this. It is called Letter.", []string{"https://b.example/"}},
		{"ods", ODS, ods, "", "# Prices\nname; price; price\nprice: 1 2\nprice: 1 2", nil},
		{"docx of an office on the web", DOCX, testutil.Zip("word/document2.xml", "<w:p><w:r><w:ruby><w:rt><w:r><w:t>x</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>Storm</w:t></w:r></w:rubyBase></w:ruby></w:r></w:p>", "word/_rels/document2.xml.rels",
			`<Relationship Type="r/hyperlink" Target="https://c.example/"/>`), "", "Storm", []string{"https://c.example/"}},
		{"heads and feet of odt", ODT, testutil.Zip("mimetype", ODT.MediaType(), "content.xml", `<office:body><office:text><text:p>Storm</text:p></office:text></office:body>`,
			"styles.xml", `<style:style>no</style:style><style:master-page><style:header><text:p>Minutes</text:p></style:header><style:footer-left><text:h>Page <text:page-number>1</text:page-number></text:h></style:footer-left><text:p>no</text:p></style:master-page>`),
			"", "Storm\n- Minutes\n- Page 1", nil},
		{"a book of several titles, with chapters that are one part", EPUB, testutil.Zip("META-INF/container.xml", `<rootfile full-path="a/b.opf"/>`,
			"a/b.opf", `<metadata><dc:title>Storm</dc:title><dc:title>A novel</dc:title></metadata><item id="1" href="c.xhtml#x"/><item id="2" href="./c.xhtml#y"/><itemref idref="1"/><itemref idref="2"/>`,
			"a/c.xhtml", "<html><body><p>It begins.</p></body></html>"), "Storm", "T Storm\nIt begins.", nil},
		{"a date of xlsx", XLSX, datedXLSX(t), "", "# Sheet1\nA: 2017-02-05; B: 1.5", nil},
	} {
		for _, mediaType := range []string{c.format.MediaType(), "application/zip", "application/octet-stream", "application/vnd.ms-excel"} {
			if got := Of(mediaType, "http://a.example/x", c.body); got != c.format {
				t.Errorf("%s as %s: format %d", c.name, mediaType, got)
			}
		}
		d := Read(t.Context(), c.format, c.body, nil)
		check(t, d, Default)
		if render(&d.Text) != c.want || d.Title != c.title || !slices.Equal(d.Links, c.links) || d.Unread.Cause != "" {
			t.Errorf("%s: %q, links %q, %+v\n%q\nwant\n%q", c.name, d.Title, d.Links, d.Unread, render(&d.Text), c.want)
		}
	}
}

// datedXLSX is a spreadsheet of a date, whose form is left to the reader's country, and a number.
func datedXLSX(t *testing.T) []byte {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	style, err := f.NewStyle(&excelize.Style{NumFmt: 14})
	var b *bytes.Buffer
	if err = errors.Join(err, f.SetSheetRow("Sheet1", "A1", &[]any{42771, 1.5}), f.SetCellStyle("Sheet1", "A1", "A1", style)); err == nil {
		b, err = f.WriteToBuffer()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFormatsAreKnownByTypeNameAndContent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mediaType, url, body string
		want                 Format
	}{
		{"application/json", "http://a/x", "{}", JSON}, {"application/ld+json", "http://a/x", "{}", JSON}, {"application/x-ndjson", "http://a/x", "{}", JSONLines},
		{"text/csv", "http://a/x.json", "a", CSV}, {"text/plain", "http://a/x.csv?y=1", "a", CSV}, {"text/plain", "http://a/README.MD", "a", Markdown},
		{"text/plain", "http://a/x.json", " [1]", JSON}, {"text/plain", "http://a/x.json", "No such file", None}, {"text/plain", "http://a/x", "{}", JSON},
		{"text/plain", "http://a/x.txt", "a", None}, {"text/html", "http://a/x.md", "a", None}, {"application/octet-stream", "http://a/x.tsv", "a", TSV},
		{"application/octet-stream", "http://a/x.csv", "a\x00b", None}, {"application/zip", "http://a/x.zip", string(testutil.Zip("a.txt", "a")), None},
		{"application/epub+zip", "http://a/x", "<html>", EPUB}, {"image/png", "http://a/x.json", "{}", None},
		{DOCX.MediaType(), "http://a/x", string(testutil.XLSX("S")), XLSX},
	} {
		if got := Of(c.mediaType, c.url, []byte(c.body)); got != c.want {
			t.Errorf("%s %s: format %d, want %d", c.mediaType, c.url, got, c.want)
		}
	}
}

// What programs answer with is often sent as a page, or as plain text. It is JSON if all of it is an object or a list;
// a log that begins with a bracket is none, nor is a number.
func TestJSONIsKnownByItsContent(t *testing.T) {
	t.Parallel()
	for _, mediaType := range []string{"text/html", "text/plain", "application/octet-stream"} {
		for body, want := range map[string]Format{
			` {"a":1}` + "\n": JSON, "\ufeff[]": JSON, `{"a":1`: None, `{"a":1} <p>`: None, "[08:00] started": None, "12": None, `"a"`: None, "": None,
		} {
			if got := Of(mediaType, "http://a/x", []byte(body)); got != want {
				t.Errorf("%s %q: format %d, want %d", mediaType, body, got, want)
			}
		}
	}
	if got := Of("text/plain", "http://a/x.md", []byte("[1]")); got != Markdown {
		t.Errorf("what is called Markdown is of format %d", got)
	}
}

func TestFormatsMarkdownIsThePageThatItMeans(t *testing.T) {
	t.Parallel()
	page, unread := HTML([]byte("---\ntitle: \"Read <me>\"\nlang: el\n---\n# Storm\n\n* one\n* [two](x.md)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<script>no()</script>\n"), nil)
	for _, want := range []string{`<html lang="el"><title>Read &lt;me&gt;</title>`, "<h1>Storm</h1>", `<a href="x.md">two</a>`, "<td>1</td>", "<script>no()</script>"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	if unread.Cause != "" {
		t.Errorf("%+v", unread)
	}
	if page, _ = HTML([]byte("---\nno end\n"), nil); !strings.Contains(string(page), "no end") {
		t.Errorf("%s", page)
	}
}

func TestFormatsReadingEndsWithTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for f, body := range map[Format][]byte{JSON: []byte(`{"a":1}`), CSV: []byte("a,b\n1,2\n3,4\n"), DOCX: testutil.DOCX("", "a"), XLSX: testutil.XLSX("S", []string{"a"})} {
		if d := Read(ctx, f, body, nil); d.Unread.Cause != pdftext.Time || !strings.Contains(d.Unread.Reason, "cancelled") {
			t.Errorf("format %d: %+v", f, d.Unread)
		}
	}
}

func TestFormatsAPartOfJSONIsItsLeavesAtTheirPaths(t *testing.T) {
	t.Parallel()
	const body = `{"a":[{"x":1,"y":2},{"x":3}],"b":{"x":4}}`
	for _, c := range []struct {
		chosen, ignored []string
		want            string
	}{
		{nil, []string{"a[0]"}, "a[1].x: 3\nb.x: 4"},
		{[]string{"a[0].y", "b"}, nil, "a[0].y: 2\nb.x: 4"},
		{[]string{"a"}, []string{"a[0].x"}, "a[0].y: 2\na[1].x: 3"},
		{[]string{""}, nil, "a[0].x: 1\na[0].y: 2\na[1].x: 3\nb.x: 4"},
		{[]string{"c"}, nil, ""},
	} {
		set := func(paths []string) map[string]bool {
			if paths == nil {
				return nil
			}
			m := map[string]bool{}
			for _, p := range paths {
				m[p] = true
			}
			return m
		}
		if got := render(Part(JSON, []byte(body), set(c.chosen), set(c.ignored))); got != c.want {
			t.Errorf("%q without %q: %q, want %q", c.chosen, c.ignored, got, c.want)
		}
	}
}

// Value takes off what Leaf put on.
func TestFormatsTheValueOfALeaf(t *testing.T) {
	t.Parallel()
	for _, steps := range [][]any{{}, {"price"}, {"items", 0, "price"}, {"a: 7", 3}, {0}, {"a b", "c]", "d"}, {strings.Repeat("x.", 500), 1}} {
		for _, value := range []string{"12", "a: b", "", "a.b: 7", "[1]: 2"} {
			path := Path(steps)
			if path == "" {
				continue // then nothing tells a value from a path
			}
			if got := Value(Leaf(path, value)); got != value {
				t.Errorf("%v: %q became %q", steps, Leaf(path, value), got)
			}
		}
	}
	for _, text := range []string{"", "12", "12 € of 3", "a sentence: 7"} {
		if got := Value(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestCalendarsAndCards(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, title, want string }{
		"an event": {"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nX-WR-CALNAME:Harbour\r\nBEGIN:VTIMEZONE\r\nTZID:Europe/Athens\r\nEND:VTIMEZONE\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20261101T080000Z\r\n" +
			"DTSTART;TZID=Europe/Athens:20261205T190000\r\nDTEND;VALUE=DATE:20261206\r\nSUMMARY:Concert\\, at the\r\n  harbour\r\nRRULE:FREQ=WEEKLY\r\nBEGIN:VALARM\r\nACTION:DISPLAY\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
			"Harbour", "Harbour|dtstamp: 2026-11-01 08:00 UTC|dtstart: 2026-12-05 19:00|dtend: 2026-12-06|summary: Concert, at the harbour|rrule: FREQ=WEEKLY"},
		"a card":  {"BEGIN:VCARD\nVERSION:4.0\nFN:Eleni Costa\nN:Costa;Eleni;;;\nitem1.TEL;TYPE=work:+30 1\nPHOTO:data:image/png;base64,AAAA\nREV:20261101T000000Z\nEND:VCARD\n", "", "fn: Eleni Costa|n: Costa Eleni|tel: +30 1|rev: 2026-11-01 00:00 UTC"},
		"cut off": {"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:a", "", "summary: a"},
	} {
		d := Read(t.Context(), Calendar, []byte(c.body), nil)
		var got []string
		for _, b := range d.Text.Blocks {
			got = append(got, string(d.Text.Slice(b)))
		}
		if strings.Join(got, "|") != c.want || d.Title != c.title || (d.Unread.Cause == pdftext.Broken) != (name == "cut off") {
			t.Errorf("%s: %q, title %q, %+v, want %q", name, got, d.Title, d.Unread, c.want)
		}
	}
}
