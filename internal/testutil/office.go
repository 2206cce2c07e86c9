package testutil

import (
	"archive/zip"
	"bytes"
	"fmt"
	"html"
	"strings"
)

// Zip returns an archive of parts, given as names, each with its content.
func Zip(namesAndContents ...string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(namesAndContents); i += 2 {
		method := zip.Deflate
		if namesAndContents[i] == "mimetype" {
			method = zip.Store
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: namesAndContents[i], Method: method})
		if err == nil {
			_, err = w.Write([]byte(namesAndContents[i+1]))
		}
		if err != nil {
			panic(err) // of a bytes.Buffer
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// DOCX returns a document of a word processor: a line is a paragraph, and one that begins with "# " is a heading.
func DOCX(title string, lines ...string) []byte {
	var body strings.Builder
	for _, line := range lines {
		properties := ""
		if text, ok := strings.CutPrefix(line, "# "); ok {
			properties, line = `<w:pPr><w:pStyle w:val="berschrift1"/></w:pPr>`, text
		}
		fmt.Fprintf(&body, `<w:p>%s<w:r><w:t xml:space="preserve">%s</w:t></w:r></w:p>`, properties, html.EscapeString(line))
	}
	return Zip("[Content_Types].xml", `<Types/>`,
		"docProps/core.xml", `<cp:coreProperties xmlns:dc="d" xmlns:cp="c"><dc:title>`+html.EscapeString(title)+`</dc:title></cp:coreProperties>`,
		"word/styles.xml", `<w:styles><w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style></w:styles>`,
		"word/document.xml", `<w:document xmlns:w="w"><w:body>`+body.String()+`</w:body></w:document>`)
}

// XLSX returns a spreadsheet of one sheet, of texts.
func XLSX(sheet string, rows ...[]string) []byte {
	var cells strings.Builder
	for i, row := range rows {
		fmt.Fprintf(&cells, `<row r="%d">`, i+1)
		for j, cell := range row {
			fmt.Fprintf(&cells, `<c r="%c%d" t="inlineStr"><is><t>%s</t></is></c>`, 'A'+j, i+1, html.EscapeString(cell))
		}
		cells.WriteString("</row>")
	}
	return xlsx(sheet, cells.String())
}

func xlsx(sheet, rows string, others ...string) []byte {
	const main, office, packages = "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
		"http://schemas.openxmlformats.org/officeDocument/2006/relationships", "http://schemas.openxmlformats.org/package/2006/"
	const types = "application/vnd.openxmlformats-officedocument.spreadsheetml."
	relation := func(id, kind, target string) string {
		return `<Relationships xmlns="` + packages + `relationships"><Relationship Id="` + id + `" Type="` + office + "/" + kind + `" Target="` + target + `"/></Relationships>`
	}
	parts := []string{"[Content_Types].xml", `<Types xmlns="` + packages + `content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Override PartName="/xl/workbook.xml" ContentType="` + types + `sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="` + types + `worksheet+xml"/></Types>`,
		"_rels/.rels", relation("rId1", "officeDocument", "xl/workbook.xml"),
		"xl/workbook.xml", `<workbook xmlns="` + main + `" xmlns:r="` + office + `"><sheets><sheet name="` + html.EscapeString(sheet) + `" sheetId="1" r:id="rId1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", relation("rId1", "worksheet", "worksheets/sheet1.xml"),
		"xl/worksheets/sheet1.xml", `<worksheet xmlns="` + main + `"><sheetData>` + rows + `</sheetData></worksheet>`}
	return Zip(append(parts, others...)...)
}

// XLSXRows returns a spreadsheet of one sheet, with its rows as XML, and other parts, given as names, each with its
// content.
func XLSXRows(rows string, others ...string) []byte { return xlsx("Sheet", rows, others...) }

// EPUB returns a book of chapters, each the body of a page.
func EPUB(title string, chapters ...string) []byte {
	parts := []string{"mimetype", "application/epub+zip",
		"META-INF/container.xml", `<container><rootfiles><rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`}
	var manifest, spine strings.Builder
	for i, chapter := range chapters {
		fmt.Fprintf(&manifest, `<item id="c%d" href="chapter%%20%[1]d.xhtml" media-type="application/xhtml+xml"/>`, i)
		fmt.Fprintf(&spine, `<itemref idref="c%d"/>`, i)
		parts = append(parts, fmt.Sprintf("OEBPS/chapter %d.xhtml", i), `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Chapter</title></head><body>`+chapter+`</body></html>`)
	}
	return Zip(append(parts, "OEBPS/content.opf", `<package xmlns:dc="d"><metadata><dc:title>`+html.EscapeString(title)+`</dc:title><dc:language>en</dc:language></metadata><manifest>`+
		manifest.String()+`</manifest><spine>`+spine.String()+`</spine></package>`)...)
}

// ODF returns a file of OpenDocument, of that media type, with the content of its body as XML.
func ODF(mediaType, title, body string) []byte {
	return Zip("mimetype", mediaType,
		"meta.xml", `<office:document-meta><office:meta><dc:title>`+html.EscapeString(title)+`</dc:title></office:meta></office:document-meta>`,
		"content.xml", `<office:document-content><office:body>`+body+`</office:body></office:document-content>`)
}
