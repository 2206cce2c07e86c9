package formats

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	goldmarkhtml "github.com/yuin/goldmark/renderer/html"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/pdftext"
	"github.com/webrace/webrace/internal/testutil"
)

func TestHostileFormatsEndWithinTheLimits(t *testing.T) {
	t.Parallel()
	limits := Limits{Text: 1 << 20, Blocks: 1 << 16, Cells: 1 << 22, Depth: 64, Columns: 100, Links: 10, Markdown: 64 << 10, Work: Default.Work, Inflated: 4 << 20}
	deep := strings.Repeat("[", 1_000_000)
	rows := strings.Repeat("1,2,3\n", 1_000_000)
	sheet := `<office:spreadsheet><table:table table:name="S">`
	bomb := strings.Repeat("<w:p><w:r><w:t>boom</w:t></w:r></w:p>", 1_000_000)
	docx := func(document string) string {
		return string(testutil.Zip("word/document.xml", "<w:document><w:body>"+document+"</w:body></w:document>"))
	}
	for _, c := range []struct {
		name   string
		format Format
		body   string
		causes string
	}{
		{"JSON of a million levels", JSON, deep, "broken over_limit"},
		{"JSON of a million levels, closed", JSON, deep + strings.Repeat("]", 1_000_000), "over_limit"},
		{"objects of 100,000 levels", JSON, strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000), "over_limit"},
		{"a long key above many leaves", JSON, `{"` + strings.Repeat("k", 100_000) + `":[` + strings.Repeat("1,", 100_000) + "1]}", "over_limit"},
		{"a table of many rows", CSV, rows + rows, "over_limit"},
		{"a row of many columns", CSV, strings.Repeat("a,", 100_000) + "\n" + strings.Repeat("1,", 100_000), "over_limit"},
		{"an open quote before much", CSV, "a,b\n\"" + rows, "over_limit"},
		{"a part that inflates", DOCX, docx(bomb), "over_limit"},
		{"boxes within boxes", DOCX, docx(strings.Repeat("<w:p>a", 50_000)), "over_limit"},
		{"a row that repeats", ODS, string(testutil.ODF(ODS.MediaType(), "", sheet+`<table:table-row table:number-rows-repeated="10000000"><table:table-cell table:number-columns-repeated="10000000"><text:p>`+strings.Repeat("x", 200)+`</text:p></table:table-cell></table:table-row>`)), "over_limit"},
		{"a sheet of a million rows", XLSX, string(testutil.XLSXRows(strings.Repeat(`<row><c><v>1</v></c></row>`, 1_000_000))), "memory"},
		{"cells far to the right", XLSX, string(testutil.XLSXRows(strings.Repeat(`<row><c r="XFD1"><v>1</v></c></row>`, 1000))), "over_limit"},
		{"a row at the end", XLSX, string(testutil.XLSXRows(`<row r="1048576"><c r="A1048576"><v>1</v></c></row>`)), ""},
		{"an archive without parts", XLSX, string(testutil.Zip()), "broken"},
		{"an archive of another kind", EPUB, string(testutil.Zip("a", "b")), "broken"},
		{"half an archive", DOCX, docx("<w:p/>")[:60], "broken"},
		{"a page of errors", ODT, "<html>", "broken"},
		{"an old file", DOCX, string(oleMagic), "broken"},
		{"an encrypted file", XLSX, string(oleMagic) + "E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00", "encrypted"},
		{"a book of itself", EPUB, string(testutil.Zip("META-INF/container.xml", `<rootfile full-path="META-INF/container.xml"/>`)), "broken"},
	} {
		began := time.Now()
		d := limits.read(t.Context(), c.format, []byte(c.body), nil)
		check(t, d, limits)
		if (d.Unread.Cause == "") != (c.causes == "") || !strings.Contains(" "+c.causes+" ", " "+string(d.Unread.Cause)+" ") && c.causes != "" {
			t.Errorf("%s: %+v, want one of: %s", c.name, d.Unread, c.causes)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%s takes %v", c.name, took)
		}
	}
	for name, source := range map[string]string{
		"quotations": strings.Repeat(">", 60_000) + "a\n>b", "lists": strings.Repeat("- ", 30_000) + "a", "brackets": strings.Repeat("[", 60_000), "images": strings.Repeat("![", 20_000) + strings.Repeat("](x)", 4000),
		"stars": strings.Repeat("*a **b ", 8000), "too long": strings.Repeat("word ", 100_000), "cells": strings.Repeat("|", 30_000) + "\n" + strings.Repeat("|-", 15_000), "ticks": strings.Repeat("`a``", 15_000), "no end of front matter": "---\n" + strings.Repeat("a: b\n", 10_000),
	} {
		began := time.Now()
		page, unread := limits.html([]byte(source), nil)
		tooMuch := strings.Contains(" stars ticks images ", " "+name+" ") || len(source) > limits.Markdown
		if (unread.Cause == pdftext.TooLong) != tooMuch || len(page) == 0 {
			t.Errorf("%s: %+v, %d bytes", name, unread, len(page))
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%s takes %v", name, took)
		}
	}
}

// Few kilobytes can declare that thousands of cells show the same long text. No copy of it may be made for each.
func TestFormatsTakeNoMemoryForEachCellOfALongText(t *testing.T) {
	const cells, longest = 10_000, 50 << 10
	text, most := strings.Repeat("x", longest), Default
	most.Inflated = 8 << 20
	shared := func(rows, formats string) []byte {
		const main = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
		return testutil.XLSXRows(rows, "xl/sharedStrings.xml", `<sst `+main+`><si><t>`+text+`</t></si><si><t>short</t></si></sst>`,
			"xl/styles.xml", `<styleSheet `+main+`><numFmts count="1"><numFmt numFmtId="200" formatCode="`+formats+`"/></numFmts><cellXfs count="2"><xf/><xf numFmtId="200" applyNumberFormat="1"/></cellXfs></styleSheet>`)
	}
	row := `<table:table-row><table:table-cell table:number-columns-repeated="10000"><text:p>` + text + `</text:p></table:table-cell></table:table-row>`
	cell := func(number int, attributes string) string {
		return fmt.Sprintf(`<c t="s" %s><v>%d</v></c>`, attributes, number)
	}
	for _, c := range []struct {
		name   string
		format Format
		body   []byte
		cause  pdftext.Cause
	}{
		{"cells of OpenDocument", ODS, testutil.ODF(ODS.MediaType(), "", `<office:spreadsheet><table:table table:name="S">`+row+row), pdftext.TooLong},
		{"cells that share a text", XLSX, shared("<row>"+strings.Repeat(cell(0, ""), cells)+"</row>", ""), pdftext.Memory},
		{"rows that are one", XLSX, shared(strings.Repeat(`<row r="1">`+cell(0, "")+"</row>", cells), ""), pdftext.Memory},
		{"a format that repeats the text", XLSX, shared("<row>"+strings.Repeat(cell(0, `s="1"`), 10)+"</row>", ";;;"+strings.Repeat("@", 1000)), pdftext.Memory},
		{"a format that is long", XLSX, shared("<row>"+cell(1, `s="1"`)+"</row>", strings.Repeat("0", 5000)), pdftext.Memory},
		{"cells without end", XLSX, shared("<row>"+strings.Repeat("<c/>", 100_000)+"</row>", ""), pdftext.Memory},
		{"columns without end", CSV, []byte(strings.Repeat(",", 8<<20)), pdftext.TooLong},
		{"columns of a row of many lines", CSV, []byte(strings.Repeat(",,,,\"\n\"", 1<<20)), pdftext.TooLong},
		{"two parts of a name", XLSX, testutil.XLSXRows("", "xl/Worksheets/sheet1.xml", "<worksheet/>"), pdftext.Broken},
		{"a long text in many rows", XLSX, shared(strings.Repeat("<row>"+cell(0, "")+cell(1, `s="1"`)+"</row>", 100), "0;0;0;@"), ""},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d := most.read(t.Context(), c.format, c.body, nil)
		runtime.ReadMemStats(&after)
		check(t, d, most)
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 150 || d.Unread.Cause != c.cause {
			t.Errorf("%s: %d MiB, %+v, want cause %q", c.name, took, d.Unread, c.cause)
		}
	}
}

// realFiles returns files of this machine, as packages of Debian install them.
func realFiles(t testing.TB, patterns ...string) (files []string) {
	t.Helper()
	for _, p := range patterns {
		found, err := filepath.Glob(p)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	return files
}

func TestFormatsOfRealBooksHaveTheWordsOfTheirChapters(t *testing.T) {
	t.Parallel()
	files := realFiles(t, "/usr/share/developers-reference/*.epub", "/usr/share/developers-reference/[dj]*/*.epub", "/usr/share/doc/*/*.epub")
	if len(files) == 0 {
		t.Skip("no book is installed: developers-reference has one")
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d := Read(t.Context(), EPUB, body, nil)
		check(t, d, Default)
		w := &writer{ctx: t.Context(), limits: Default}
		a := w.open(body)
		var want []string
		for _, chapter := range a.spine(a.first(epubContainer, "rootfile", "full-path")) {
			want = append(want, wordsOfXHTML(t, a.read(chapter))...)
		}
		var got []string
		for _, b := range d.Text.Blocks {
			if b.Field != webrace.FieldTitle {
				got = append(got, strings.Fields(string(d.Text.Slice(b)))...)
			}
		}
		if g, w := strings.Join(got, ""), strings.Join(want, ""); g != w || len(g) < 10_000 || d.Title == "" || d.Unread.Cause != "" {
			at := 0
			for at < min(len(g), len(w)) && g[at] == w[at] {
				at++
			}
			t.Errorf("%s: %q, %+v, %d bytes of words, want %d; from %d on %.80q, want %.80q", file, d.Title, d.Unread, len(g), len(w), at, g[at:], w[at:])
		}
	}
}

// wordsOfXHTML is the slow way: the character data of a body by the strict reader of XML.
func wordsOfXHTML(t *testing.T, page []byte) (words []string) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(page))
	d.Entity = xml.HTMLEntity
	inBody, hidden := false, 0
	for {
		token, err := d.Token()
		switch token := token.(type) {
		case xml.StartElement:
			inBody = inBody || token.Name.Local == "body"
			if token.Name.Local == "script" || token.Name.Local == "style" || token.Name.Local == "svg" || hidden > 0 {
				hidden++
			}
		case xml.EndElement:
			hidden = max(hidden-1, 0)
		case xml.CharData:
			if inBody && hidden == 0 {
				words = append(words, strings.Fields(string(token))...)
			}
		}
		if errors.Is(err, io.EOF) {
			return words
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// leaves is the slow way to read JSON: decode all of it, and write the leaves in the order of their keys.
func leaves(body []byte) (all []string, ok bool) {
	var value any
	d := Decoder(body)
	if d.Decode(&value) != nil || d.More() {
		return nil, false
	}
	FlattenJSON(nil, value, func(scalar any) string {
		if scalar == nil {
			return "null"
		}
		return fmt.Sprint(scalar)
	}, func(leaf string) bool {
		if leaf = strings.Trim(strings.ReplaceAll(leaf, "\x00", ""), space); leaf != "" {
			all = append(all, leaf)
		}
		return true
	})
	slices.Sort(all)
	return all, true
}

func TestFormatsOfRealJSONHaveTheLeavesOfADecoder(t *testing.T) {
	t.Parallel()
	files := realFiles(t, "/usr/share/iso-codes/json/*.json", "/usr/share/*/*.json", "/usr/lib/node_modules/*/package.json")
	if len(files) == 0 {
		t.Skip("no JSON is installed: iso-codes has some")
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		want, ok := leaves(body)
		if err != nil || !ok || len(body) > 2<<20 {
			continue
		}
		d := Read(t.Context(), JSON, body, nil)
		check(t, d, Default)
		var got []string
		for _, b := range d.Text.Blocks {
			got = append(got, string(d.Text.Slice(b)))
		}
		if slices.Sort(got); !slices.Equal(got, want) || d.Unread.Cause != "" {
			t.Errorf("%s: %d leaves, want %d, %+v", file, len(got), len(want), d.Unread)
		}
	}
}

func FuzzJSON(f *testing.F) {
	for _, body := range []string{`{"a":[1,{"b c":null}],"d":"x"}`, `[[],{},[{}]]`, "1 2", `{"a":"\u0000 b"}`, `[1e5,-0.0]`, `{"a":{"a":1},"":[2]}`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		d := Read(t.Context(), JSON, body, nil)
		check(t, d, Default)
		want, ok := leaves(body)
		var keys int
		if !ok || d.Unread.Cause != "" || json.Valid(body) && repeatsKeys(body, &keys) {
			return
		}
		var got []string
		for _, b := range d.Text.Blocks {
			got = append(got, string(d.Text.Slice(b)))
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", body, got, want)
		}
	})
}

// repeatsKeys reports whether a decoder drops something: as many leaves are not written.
func repeatsKeys(body []byte, n *int) bool {
	lines := map[string]bool{}
	for _, b := range Part(JSON, body, nil, nil).Blocks {
		*n++
		_ = b
	}
	text := Part(JSON, body, nil, nil)
	for _, b := range text.Blocks {
		path, _, _ := strings.Cut(string(text.Slice(b)), ": ")
		lines[path] = true
	}
	decoded, _ := leaves(body)
	return len(decoded) != *n || len(lines) != *n
}

// FuzzCalendar holds that every block of a calendar is of an entry, or stands aside, however its lines end.
func FuzzCalendar(f *testing.F) {
	for _, body := range []string{
		"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:a\\, b\r\n c\r\nDTSTART;TZID=\"x:y\":20261128T190000\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
		"BEGIN:VCARD\nitem1.TEL:1\nFN:x\nPHOTO;ENCODING=b:AA\nEND:VCARD\n", "BEGIN:VEVENT\nBEGIN:VALARM\nEND:VEVENT\nSUMMARY:x", "X-WR-CALNAME:n\nBEGIN:VTIMEZONE\n",
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		d := Read(t.Context(), Calendar, body, nil)
		check(t, d, Default)
		for _, b := range d.Text.Blocks {
			if b.Entry == 0 && !b.Aside || int(b.Entry) > len(d.Text.Entries) {
				t.Fatalf("%q: %q is of entry %d of %d", body, d.Text.Slice(b), b.Entry, len(d.Text.Entries))
			}
		}
		crlf := Read(t.Context(), Calendar, bytes.ReplaceAll(bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n")), nil)
		if !bytes.Contains(body, []byte("\r")) && string(crlf.Text.Bytes) != string(d.Text.Bytes) {
			t.Fatalf("%q: with other ends of lines it is %q, not %q", body, crlf.Text.Bytes, d.Text.Bytes)
		}
	})
}

func FuzzCSV(f *testing.F) {
	for _, body := range []string{"a,b\n1,2\n", "a;b;c\n\"x;\n\";2\n", "sep=|\na|b", "\xef\xbb\xbfa\tb\n", "2019,x\n1,2\n\n3"} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		d := Read(t.Context(), TSV, body, nil)
		check(t, d, Default)
		check(t, Read(t.Context(), CSV, body, nil), Default)
		if d.Unread.Cause != "" {
			return
		}
		r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(body, []byte("\ufeff"))))
		r.Comma, r.LazyQuotes, r.FieldsPerRecord = '\t', true, -1
		rows, err := r.ReadAll()
		if err != nil {
			return
		}
		at := 0
		for _, row := range rows { // each is a block, and has its cells in their order
			if filledCells(row) == 0 || strings.Trim(collapse(strings.Join(row, "")), space) == "" {
				continue
			}
			if at == len(d.Text.Blocks) {
				t.Fatalf("%q: %q is lost", body, row)
			}
			text := string(d.Text.Slice(d.Text.Blocks[at]))
			at++
			for _, cell := range row {
				if cell = collapse(cell); len(cell) > longestName {
					continue
				}
				i := strings.Index(text, cell)
				if i < 0 {
					t.Fatalf("%q: %q is not in %q", body, cell, text)
				}
				text = text[i+len(cell):]
			}
		}
	})
}

func FuzzArchives(f *testing.F) {
	for _, body := range [][]byte{testutil.DOCX("T", "# a", "b"), testutil.XLSX("S", []string{"a", "b"}, []string{"1", "2"}), testutil.EPUB("B", "<p>x"), testutil.ODF(ODT.MediaType(), "T", "<text:p>a</text:p>")} {
		f.Add(body, uint8(0))
		f.Add(body, uint8(3))
	}
	limits := Default
	limits.Inflated = 1 << 20
	f.Fuzz(func(t *testing.T, body []byte, which uint8) {
		of := DOCX + Format(which)%(EPUB-DOCX+1)
		if held := inArchive(body); held != None && which < 128 {
			of = held
		}
		kept := bytes.Clone(body)
		d := limits.read(t.Context(), of, body, nil)
		check(t, d, limits)
		again := limits.read(t.Context(), of, body, nil)
		if render(&d.Text) != render(&again.Text) || d.Title != again.Title || d.Unread != again.Unread || !bytes.Equal(kept, body) {
			t.Fatalf("not the same the second time: %q, %q", render(&d.Text), render(&again.Text))
		}
	})
}

// FuzzXML reads parts of XML as they stand in archives, which random bytes hardly ever are.
func FuzzXML(f *testing.F) {
	f.Add(`<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>a</w:t><w:tab/></w:r><mc:Fallback><w:p><w:t>b</w:t></w:p></mc:Fallback></w:p>`)
	f.Add(`<office:spreadsheet><table:table table:name="S"><table:table-row table:number-rows-repeated="3"><table:table-cell table:number-columns-repeated="2"><text:p>a</text:p></table:table-cell></table:table-row>`)
	f.Add(`<text:h text:outline-level="2">a<text:s/>b<text:note><text:p>c</text:h>`)
	f.Fuzz(func(t *testing.T, body string) {
		for format, file := range map[Format][]byte{
			DOCX: testutil.Zip(docxMain, body), ODT: testutil.Zip(odfContent, body), EPUB: testutil.EPUB("T", body), XLSX: testutil.XLSXRows(body),
		} {
			check(t, Read(t.Context(), format, file, nil), Default)
		}
	})
}

// plainMarkdown is the library as it is, which counts nothing.
var plainMarkdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(goldmarkhtml.WithUnsafe()))

func FuzzMarkdown(f *testing.F) {
	f.Add([]byte("---\ntitle: a\n---\n# b\n\n* c\n  > d\n\n|a|\n|-|\n|b|\n[x]: y \"z\"\n"))
	f.Add([]byte("[a]: b 'c'\n[d]: <e>\n\n[a] ![d](f \"g\") *h **i** j* ~~k~~ `l` <m n=\"o\"> www.p.q r@s.t\n\n|a|`b\\|`|\n|-|-|\n|c\n"))
	f.Fuzz(func(t *testing.T, source []byte) {
		page, unread := HTML(source, nil)
		if again, _ := HTML(source, nil); !bytes.Equal(page, again) || !bytes.HasPrefix(page, []byte(`<html lang="`)) {
			t.Fatalf("%q, then %q", page, again)
		}
		if title, language, rest := frontMatter(source); !bytes.HasSuffix(source, rest) || strings.Contains(title+language, "\n") {
			t.Fatalf("%q, %q, %q", title, language, rest)
		}
		_, _, rest := frontMatter(source)
		var want bytes.Buffer
		if err := plainMarkdown.Convert(shallow(rest), &want); err != nil || unread.Cause == "" && !bytes.HasSuffix(page, want.Bytes()) {
			t.Fatalf("%q, want %q, %v", page, want.Bytes(), err)
		}
		little := Limits{Markdown: 1 << 20, Work: 1 << 15}
		if cut, _ := little.html(source, nil); len(cut) > len(page)+len(source) {
			t.Fatalf("%q, cut %q", page, cut)
		}
	})
}

// What is before the cut is what the library makes of that, and the cut is where a line ends.
func TestHostileMarkdownIsCutWhereALineBegins(t *testing.T) {
	t.Parallel()
	limits := Default
	limits.Work = 1 << 20
	for name, source := range map[string]string{
		"rows":       "# a\n\n" + strings.Repeat("|a", 100) + "\n" + strings.Repeat("|-", 100) + "\n" + strings.Repeat("|b\n", 10_000),
		"paragraphs": strings.Repeat("*a* [b](c)\n\n", 10_000),
		"entries":    strings.Repeat("- a\n", 10_000),
		"one line":   "# a\n\n" + strings.Repeat("[a](", 10_000),
	} {
		page, unread := limits.html([]byte(source), nil)
		var lines int
		if _, err := fmt.Sscanf(unread.Reason, "only its first %d lines are read", &lines); err != nil || unread.Cause != pdftext.TooLong || lines == 0 {
			t.Fatalf("%s: %+v", name, unread)
		}
		before := strings.Join(strings.SplitAfter(source, "\n")[:lines], "")
		var want bytes.Buffer
		if err := plainMarkdown.Convert([]byte(before), &want); err != nil || !bytes.HasSuffix(page, want.Bytes()) || want.Len() == 0 {
			t.Errorf("%s: %d lines are %d bytes, want %d", name, lines, len(page), want.Len())
		}
	}
}

// What a document becomes is reserved while it is made, and one for which there is no memory is not made.
func TestHostileDocumentsReserveWhatTheyMake(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		format Format
		body   []byte
		least  int
	}{
		"leaves of JSON":           {JSON, []byte("[" + strings.Repeat("1,", 200_000) + "1]"), 4 << 20},
		"a book that inflates":     {EPUB, testutil.EPUB("T", strings.Repeat("<p>some words", 1<<20)), 13 << 20},
		"a sheet that inflates":    {XLSX, testutil.XLSXRows(strings.Repeat("<row><c><v>1</v></c></row>", 1<<16)), 1 << 20},
		"a table to be filled up":  {Markdown, []byte(strings.Repeat("|a", 3000) + "\n" + strings.Repeat("|-", 3000) + "\n" + strings.Repeat("|a\n", 3000)), 16 << 20},
		"a row that repeats a lot": {ODS, testutil.ODF(ODS.MediaType(), "", `<office:spreadsheet><table:table><table:table-row table:number-rows-repeated="99"><table:table-cell table:number-columns-repeated="9999"><text:p>abc</text:p></table:table-cell></table:table-row>`), 8 << 20},
	} {
		read := func(reserve Reserve) {
			if c.format == Markdown {
				HTML(c.body, reserve)
			} else {
				Read(t.Context(), c.format, c.body, reserve)
			}
		}
		all, asked := 0, 0
		read(func(bytes int) error {
			all += bytes
			return nil
		})
		if all < c.least {
			t.Errorf("%s: %d bytes are reserved, want %d", name, all, c.least)
		}
		read(func(bytes int) error {
			asked++
			return errors.New("there is none")
		})
		if asked > 20 {
			t.Errorf("%s: it asks %d times for memory that there is not", name, asked)
		}
	}
}

// What a spreadsheet gives does not depend on how busy the machine is: a million cells are read, however long that
// takes.
func TestHostileSpreadsheetOfAMillionCellsIsReadWhole(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	const rows, columns = 10_000, 100
	body := testutil.XLSXRows(strings.Repeat("<row>"+strings.Repeat("<c><v>1</v></c>", columns)+"</row>", rows))
	if d := Read(t.Context(), XLSX, body, nil); len(d.Text.Blocks) != rows+1 || d.Unread.Cause != "" {
		t.Errorf("%d rows, %+v", len(d.Text.Blocks)-1, d.Unread)
	}
}
