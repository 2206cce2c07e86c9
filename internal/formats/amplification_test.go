package formats

import (
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// TestAmplificationMarkdown reads each construct of Markdown that a reader looks for the end of, nests, or makes more
// of than is written.
func TestAmplificationMarkdown(t *testing.T) {
	repeated := testutil.Repeated
	grown := func(name string, grow func(size int) string) testutil.Construct {
		return testutil.Construct{Name: name, Grow: func(size int) []byte { return []byte(grow(size)) }}
	}
	times := strings.Repeat
	for _, c := range []testutil.Construct{
		grown("a table whose rows are short", func(n int) string {
			return times("|a", n/7) + "\n" + times("|-", n/7) + "\n" + times("|a\n", n/7)
		}),
		grown("a table of rows", func(n int) string { return "|a|b|c|\n|-|-|-|\n" + times("|a|b|c\n", n/7) }),
		grown("a head without rows", func(n int) string { return times("|a", n/4) + "\n" + times("|-", n/4) }),
		grown("tables after tables", func(n int) string { return times("|a|\n|-|\n|b|\n\n", n/14) }),
		repeated("bars that are no ends of cells", "|a|\n|-|\n", "`\\|", ""),
		grown("links that do not end in a cell", func(n int) string { return "|a|\n|-|\n|" + times("[a](", n/4) }),
		repeated("definitions", "", "[r%d]: x\n", ""),
		repeated("definitions one by one", "", "[r%d]: x\n\n", ""),
		repeated("definitions over two lines", "", "[r%d]:\n", ""),
		repeated("definitions with titles that do not end", "", "[r%d]: x \"\n", ""),
		grown("definitions and their uses", func(n int) string {
			return string(repeated("", "", "[r%d]: x\n\n", "").Grow(n/2)) + string(repeated("", "", "[r%d] ", "").Grow(n/2))
		}),
		grown("a long definition, used often", func(n int) string {
			return "[a]: http://x/" + times("y", n/2) + "\n\n" + times("[a] ", n/8)
		}),
		repeated("a name of many lines", "[", "a\n", "]: x\n"),
		repeated("names in lines", "", "[a]\n", ""),
		repeated("brackets", "", "[", ""),
		repeated("brackets that close", "", "]", ""),
		repeated("pairs of brackets", "", "[]", ""),
		repeated("images that do not end", "", "![", ""),
		repeated("links", "", "[a](b) ", ""),
		repeated("links without white space", "", "[a](b)", ""),
		repeated("links that do not end", "", "[a](", ""),
		repeated("links between angles that do not end", "", "[a](<b ", ""),
		repeated("titles that do not end", "", `[a](b "`, ""),
		repeated("links that do not end, in a heading", "# ", "[a](", ""),
		repeated("links with emphasis", "", "[*a*](b) ", ""),
		grown("images in images", func(n int) string { return times("![", n/6) + "a" + times("](b)", n/6) }),
		grown("brackets around much", func(n int) string { return times("[", 900) + times("![a](b) ", n/8) + times("]", 900) }),
		repeated("emphasis", "", "*a **b ", ""),
		repeated("marks", "", "*", ""),
		repeated("marks within a word", "", "a_", ""),
		repeated("marks of three kinds", "", "*a_b~c ", ""),
		grown("emphasis in emphasis", func(n int) string { return times("*a ", n/6) + times("b* ", n/6) }),
		grown("marks that find none of theirs", func(n int) string { return times("*a ", n/6) + times("b_ ", n/6) }),
		grown("ticks of each length", func(n int) string {
			var b strings.Builder
			for i := 1; b.Len() < n; i++ {
				b.WriteString("a" + times("`", i))
			}
			return b.String()
		}),
		repeated("ticks", "", "`a``", ""),
		repeated("angles", "", "<", ""),
		repeated("tags", "", "<a>", ""),
		repeated("comments that do not end", "a ", "<!--", ""),
		repeated("attributes that do not end", "a ", "<a b='", ""),
		repeated("addresses", "", "http://a.b/c ", ""),
		repeated("dots of an address", "", "www.a_", ""),
		repeated("an address in brackets", "www.a.b/", "(", ""),
		repeated("addresses of mail", "", "a@", ""),
		repeated("names of characters in an address", "www.a.b/", "&a;", ""),
		repeated("ampersands", "", "&", ""),
		repeated("paragraphs", "", "a\n\n", ""),
		repeated("lines", "", "a\n", ""),
		repeated("breaks", "", "a\\\n", ""),
		repeated("words", "", "word ", ""),
		repeated("empty lines", "", "\n", ""),
		repeated("headings", "", "# a\n", ""),
		repeated("headings below lines", "", "a\n=\n", ""),
		repeated("rules", "", "---\n", ""),
		repeated("code", "```\n", "a\n", ""),
		repeated("elements", "", "<div>\n\n", ""),
		repeated("entries", "", "- a\n", ""),
		repeated("entries apart", "", "- a\n\n", ""),
		repeated("empty entries", "", "-\n", ""),
		repeated("numbers", "", "%d. a\n", ""),
		repeated("tasks", "", "- [ ] a\n", ""),
		repeated("lists in lists", "", times("- ", 90)+"a\n", ""),
		grown("lists that step in", func(n int) string {
			var b strings.Builder
			for i := 0; b.Len() < n; i++ {
				b.WriteString(times(" ", 2*i) + "- a\n")
			}
			return b.String()
		}),
		repeated("empty lines in deep lists", times("- ", 90)+"a\n", "\n", "- b"),
		repeated("code in deep lists", times("- ", 90)+"a\n", times("\t", 45)+"b\n", ""),
		repeated("lines in deep quotations", times("> ", 90)+"a\n", "b\n", ""),
		repeated("quotations in quotations", "", times(">", 90)+"a\n", ""),
		repeated("quotations", "", "> a\n\n", ""),
	} {
		testutil.Amplify(t, c, func(body []byte) bool {
			_, unread := HTML(body, nil)
			return unread.Cause != ""
		})
	}
}

// TestAmplification reads each construct of the other formats. Of an archive it is the parts that are so large.
func TestAmplification(t *testing.T) {
	repeated, times := testutil.Repeated, strings.Repeat
	deflated := func(name string, pack func(xml string) []byte, begin, unit, end string) testutil.Construct {
		return testutil.Construct{Name: name, Grow: func(size int) []byte { return pack(string(repeated("", begin, unit, end).Grow(size))) }}
	}
	docx := func(xml string) []byte { return testutil.Zip(docxMain, "<w:document><w:body>"+xml) }
	ods := func(xml string) []byte {
		return testutil.ODF(ODS.MediaType(), "", `<office:spreadsheet><table:table table:name="S">`+xml)
	}
	odt := func(xml string) []byte { return testutil.ODF(ODT.MediaType(), "", `<office:text>`+xml) }
	xlsx := func(xml string) []byte { return testutil.XLSXRows(xml) }
	epub := func(xml string) []byte { return testutil.EPUB("T", xml) }
	cell := `<table:table-cell table:number-columns-repeated="16384"><text:p>a</text:p></table:table-cell>`
	for _, c := range []struct {
		format Format
		testutil.Construct
	}{
		{JSON, repeated("leaves", "[", "1,", "1]")},
		{JSON, repeated("empty lists", "[", "[],", "1]")},
		{JSON, repeated("members", "{", `"k%d":1,`, `"k":1}`)},
		{JSON, repeated("members whose names are escaped", "{", `"\u0000%d":1,`, `"k":1}`)},
		{JSON, repeated("leaves below long names", `{"`+times("k", 300)+`":[`, "1,", "1]}")},
		{JSON, repeated("lists in lists", "", "[", "")},
		{JSON, repeated("lists in lists, side by side", "[", times("[", 200)+times("]", 200)+",", "1]")},
		{JSON, repeated("escapes", `"`, `\u0061`, `"`)},
		{JSONLines, repeated("values", "", "1\n", "")},
		{CSV, repeated("columns", "", "a,", "")},
		{CSV, repeated("empty columns", "", ",", "")},
		{CSV, repeated("rows", "a,b\n", "1,2\n", "")},
		{CSV, repeated("rows of one", "", "1\n", "")},
		{CSV, repeated("rows below long names", times(times("n", 90)+",", 100)+"\n", times("1,", 100)+"\n", "")},
		{CSV, repeated("wide rows without names", times("1,", 16_000)+"\n", times("1,", 16_000)+"\n", "")},
		{CSV, repeated("quotes", "", `"`, "")},
		{CSV, repeated("lines in quotes", `"`, "a\n", "")},
		{Calendar, repeated("events", "BEGIN:VCALENDAR\n", "BEGIN:VEVENT\nUID:%d\nSUMMARY:a\nEND:VEVENT\n", "END:VCALENDAR\n")},
		{Calendar, repeated("events that do not end", "BEGIN:VEVENT\n", "BEGIN:VEVENT\n", "")},
		{Calendar, repeated("properties", "BEGIN:VEVENT\n", "X%d:a\n", "END:VEVENT\n")},
		{Calendar, repeated("folded lines", "BEGIN:VEVENT\nSUMMARY:a\n", " b\n", "END:VEVENT\n")},
		{Calendar, repeated("parameters", "BEGIN:VEVENT\nSUMMARY", ";A=\"b\"", ":a\nEND:VEVENT\n")},
		{Card, repeated("escapes", "BEGIN:VCARD\nFN:", `\n`, "\nEND:VCARD\n")},
		{DOCX, deflated("paragraphs", docx, "", "<w:p><w:t>a</w:t></w:p>", "")},
		{DOCX, deflated("paragraphs in paragraphs", docx, "", "<w:p><w:t>a</w:t>", "")},
		{DOCX, deflated("attributes", docx, "<w:p", ` a%d="b"`, ">")},
		{ODT, deflated("paragraphs", odt, "", "<text:p>a</text:p>", "")},
		{ODT, deflated("blanks", odt, "<text:p>", "<text:s/>", "")},
		{ODS, deflated("cells that repeat", ods, "<table:table-row>", cell, "")},
		{ODS, deflated("rows that repeat", ods, "", `<table:table-row table:number-rows-repeated="1000000">`+cell+"</table:table-row>", "")},
		{ODS, deflated("empty cells before one", ods, "", `<table:table-row><table:table-cell table:number-columns-repeated="16383"/><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row>`, "")},
		{ODS, deflated("paragraphs of a cell", ods, "<table:table-row><table:table-cell>", "<text:p>a</text:p>", "")},
		{XLSX, deflated("cells", xlsx, "", "<row>"+times("<c><v>1</v></c>", 100)+"</row>", "")},
		{XLSX, deflated("rows", xlsx, "", "<row><c><v>1</v></c></row>", "")},
		{XLSX, deflated("empty rows", xlsx, "", "<row/>", "")},
		{XLSX, deflated("cells at the right", xlsx, "", `<row><c r="XFD1"><v>1</v></c></row>`, "")},
		{XLSX, deflated("cells that merge", xlsx, "</sheetData><mergeCells>", `<mergeCell ref="A1:XFD1048576"/>`, "</mergeCells><sheetData>")},
		{XLSX, deflated("attributes", xlsx, "<row", ` a%d="b"`, "/>")},
		{XLSX, deflated("rows far apart", xlsx, "", `<row r="%d00"><c><v>1</v></c></row>`, "")},
		{EPUB, deflated("paragraphs of a book", epub, "", "<p>a", "")},
		{EPUB, deflated("elements in elements", epub, "", "<b>", "")},
		{EPUB, deflated("attributes of an element", epub, "<p", ` a%d="b"`, ">")},
	} {
		c.Name = strings.TrimPrefix(c.format.MediaType(), "application/vnd.o")[:8] + " " + c.Name
		testutil.Amplify(t, c.Construct, func(body []byte) bool { return Read(t.Context(), c.format, body, nil).Unread.Cause != "" })
	}
}
