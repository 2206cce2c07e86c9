package hostile

import (
	"bytes"
	"strings"

	"github.com/webrace/webrace/internal/testutil"
)

// unread is a case of a site that has a document whose text cannot be read for a reason, or not whole.
func unread(name, does, path, mediaType, counter string, document []byte) Case {
	return Case{
		Name: name, Does: does,
		Lay:    func(s *Site) { s.handle(path, body(mediaType, document)) },
		Expect: Expect{Counters: some{"pages": 1, "normalize." + counter: 1}, Why: says{path: "its text was not read, or not whole"}, Asked: 1},
	}
}

func pdf(name, does, counter string, file []byte) Case {
	return unread(name, does, "/bad.pdf", "application/pdf", counter, file)
}

func documents() []Case {
	wholePDF := testutil.WritePDF("A file", testutil.PDFText("Some words"))
	return []Case{
		pdf("pdf-cut", "has the first half of a PDF", "unread_broken", wholePDF[:len(wholePDF)/2]),
		pdf("pdf-encrypted", "has a PDF that needs a password", "unread_encrypted", encryptedPDF()),
		pdf("pdf-mislabelled", "has a page in HTML for a PDF", "unread_broken", []byte("<html><p>No such file")),
		pdf("pdf-of-a-million-pages", "has a PDF that says it has a million pages", "unread_over_limit", bytes.ReplaceAll(wholePDF, []byte("/Count 1"), []byte("/Count 1000000"))),
		pdf("pdf-of-itself", "has a PDF whose pages are within one another", "unread_broken", bytes.ReplaceAll(wholePDF, []byte("/Kids [3 0 R ]"), []byte("/Kids [1 0 R ]"))),
		unread("markdown-table", "has a table in Markdown whose rows are to be filled up: 28 kB mean 16 million cells", "/bad.md", "text/markdown", "unread_over_limit",
			[]byte(strings.Repeat("|a", 4000)+"\n"+strings.Repeat("|-", 4000)+"\n"+strings.Repeat("|a\n", 4000))),
		unread("markdown-definitions", "has 60,000 definitions of links in Markdown", "/bad.md", "text/markdown", "unread_over_limit",
			[]byte(strings.Repeat("[definition]: x\n", 60_000))),
		unread("json-leaves", "has a list of 300,000 numbers in JSON", "/bad.json", "application/json", "unread_over_limit",
			[]byte("["+strings.Repeat("1,", 300_000)+"1]")),
		unread("csv-columns", "has a table of 300,000 columns", "/bad.csv", "text/csv", "unread_over_limit", []byte(strings.Repeat("a,", 300_000))),
		unread("ods-repeats", "has a sheet whose cells and rows repeat a million times", "/bad.ods", "application/vnd.oasis.opendocument.spreadsheet", "unread_over_limit",
			testutil.ODF("application/vnd.oasis.opendocument.spreadsheet", "", `<office:spreadsheet><table:table><table:table-row table:number-rows-repeated="1000000">`+
				`<table:table-cell table:number-columns-repeated="1000000"><text:p>a</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>`)),
		unread("xlsx-far-cells", "has a sheet of a thousand rows with one cell each, in the last column", "/bad.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
			"unread_over_limit", testutil.XLSXRows(strings.Repeat(`<row><c r="XFD1"><v>1</v></c></row>`, 1000))),
		unread("epub-paragraphs", "has a book of 300,000 paragraphs, in a few kilobytes", "/bad.epub", "application/epub+zip", "unread_over_limit", testutil.EPUB("T", strings.Repeat("<p>a", 300_000))),
		unread("html-blocks", "has a page of 300,000 paragraphs", "/bad", "text/html", "unread_over_limit", []byte(strings.Repeat("<p>a", 300_000))),
	}
}

func encryptedPDF() []byte {
	f := &testutil.PDFFile{}
	key := strings.Repeat("ab", 32)
	f.Add("<< /Type /Pages /Count 0 /Kids [] >>")
	return f.Bytes(f.Add("<< /Type /Catalog /Pages 1 0 R >>"), 0,
		"/ID [<00><00>] /Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <"+key+"> /U <"+key+"> >>")
}
