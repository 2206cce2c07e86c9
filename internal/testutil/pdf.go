package testutil

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
)

// PDF is a PDF file for tests: as simple as readers take them, the same bytes for the same content.
type PDF struct {
	Title     string // in the file's own information; none if it is empty
	Pages     []PDFPage
	Bookmarks []string // titles of chapters, all on the first page
	Tagged    bool     // the file has a tree of structure, in which headings are H1 and other lines P
}

// PDFPage is a page of A4.
type PDFPage struct {
	Lines []PDFLine
	Links []string // URLs
}

// PDFLine is a line in Helvetica, of characters that Windows-1252 has.
type PDFLine struct {
	Text    string
	X, Y    float64 // in points, from the lower left corner
	Size    float64
	Heading bool // where the document is tagged
}

// Sizes and places of the lines of [PDFText].
const (
	bodySize    = 11
	headingSize = 20
	margin      = 72
	top         = 770
)

// PDFText returns a page of lines, one under the other. A line that begins with "# " is a heading; an empty one leaves
// a gap between paragraphs.
func PDFText(lines ...string) PDFPage {
	var p PDFPage
	y := float64(top)
	for _, text := range lines {
		heading, is := strings.CutPrefix(text, "# ")
		switch {
		case text == "":
			y -= bodySize
		case is:
			y -= 2 * headingSize
			p.Lines = append(p.Lines, PDFLine{heading, margin, y, headingSize, true})
			y -= headingSize
		default:
			y -= 1.2 * bodySize
			p.Lines = append(p.Lines, PDFLine{text, margin, y, bodySize, false})
		}
	}
	return p
}

// WritePDF returns a file of a title and pages.
func WritePDF(title string, pages ...PDFPage) []byte { return PDF{Title: title, Pages: pages}.Bytes() }

// Bytes returns the file.
func (d PDF) Bytes() []byte {
	w := &pdfWriter{PDFFile: &PDFFile{}, catalog: "/Type /Catalog"}
	pages, font := w.Reserve(), w.Add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
	if d.Tagged {
		w.structure = w.Reserve()
	}
	kids := make([]int, len(d.Pages))
	for i, p := range d.Pages {
		kids[i] = w.page(p, pages, font, d.Tagged)
	}
	w.Set(pages, fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", len(kids), references(kids)))
	w.catalog += fmt.Sprintf(" /Pages %d 0 R", pages)
	if d.Tagged {
		w.Set(w.structure, fmt.Sprintf("<< /Type /StructTreeRoot /K [%s] /ParentTree << /Nums [%s] >> >>", references(w.elements), w.parents))
		w.catalog += fmt.Sprintf(" /MarkInfo << /Marked true >> /StructTreeRoot %d 0 R", w.structure)
	}
	if len(d.Bookmarks) > 0 && len(kids) > 0 {
		w.outline(d.Bookmarks, kids[0])
	}
	info := 0
	if d.Title != "" {
		info = w.Add("<< /Title " + textString(d.Title) + " >>")
	}
	return w.Bytes(w.Add("<< "+w.catalog+" >>"), info)
}

// pdfWriter is the work on a document.
type pdfWriter struct {
	*PDFFile
	catalog   string
	structure int
	elements  []int  // of the structure
	parents   string // which elements the marked contents of each page belong to
	tagged    int    // pages
}

func (w *pdfWriter) page(p PDFPage, pages, font int, tagged bool) int {
	number := w.Reserve()
	var content strings.Builder
	var elements []int
	for i, l := range p.Lines {
		kind := "P"
		if l.Heading {
			kind = "H1"
		}
		if tagged {
			fmt.Fprintf(&content, "/%s << /MCID %d >> BDC\n", kind, i)
			elements = append(elements, w.Add(fmt.Sprintf("<< /Type /StructElem /S /%s /P %d 0 R /Pg %d 0 R /K %d >>", kind, w.structure, number, i)))
		}
		fmt.Fprintf(&content, "BT /F1 %g Tf 1 0 0 1 %g %g Tm %s Tj ET\n", l.Size, l.X, l.Y, pdfString(l.Text))
		if tagged {
			content.WriteString("EMC\n")
		}
	}
	var links []int
	for i, url := range p.Links {
		links = append(links, w.Add(fmt.Sprintf("<< /Type /Annot /Subtype /Link /Rect [72 %d 300 %d] /A << /S /URI /URI %s >> >>", 20+10*i, 28+10*i, pdfString(url))))
	}
	more := ""
	if tagged {
		w.parents += fmt.Sprintf("%d [%s] ", w.tagged, references(elements))
		more = fmt.Sprintf(" /StructParents %d", w.tagged)
		w.tagged++
		w.elements = append(w.elements, elements...)
	}
	w.Set(number, fmt.Sprintf("<< /Type /Page /Parent %d 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 %d 0 R >> >> /Contents %d 0 R /Annots [%s]%s >>",
		pages, font, w.Stream("", []byte(content.String())), references(links), more))
	return number
}

func (w *pdfWriter) outline(titles []string, page int) {
	root := w.Reserve()
	items := make([]int, len(titles))
	for i := range titles {
		items[i] = w.Reserve()
	}
	for i, title := range titles {
		item := fmt.Sprintf("<< /Title %s /Parent %d 0 R /Dest [%d 0 R /Fit]", textString(title), root, page)
		if i > 0 {
			item += fmt.Sprintf(" /Prev %d 0 R", items[i-1])
		}
		if i+1 < len(items) {
			item += fmt.Sprintf(" /Next %d 0 R", items[i+1])
		}
		w.Set(items[i], item+" >>")
	}
	w.Set(root, fmt.Sprintf("<< /Type /Outlines /First %d 0 R /Last %d 0 R /Count %d >>", items[0], items[len(items)-1], len(items)))
	w.catalog += fmt.Sprintf(" /Outlines %d 0 R", root)
}

func references(objects []int) string {
	var b strings.Builder
	for _, n := range objects {
		fmt.Fprintf(&b, "%d 0 R ", n)
	}
	return b.String()
}

// textString returns a text as it is written outside of pages: in UTF-16.
func textString(s string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, "%04x", unit)
	}
	return "<feff" + b.String() + ">"
}

// pdfString returns a text as the font shows it.
func pdfString(s string) string {
	b, err := charmap.Windows1252.NewEncoder().Bytes([]byte(s))
	if err != nil {
		panic(fmt.Sprintf("testutil: %q is not in Windows-1252", s))
	}
	return fmt.Sprintf("<%x>", b)
}

// PDFFile is a file as it is made of objects, numbered from 1, for what [PDF] cannot express. Nothing is checked.
type PDFFile struct{ objects []string }

// Reserve returns the number of an object that is set later.
func (f *PDFFile) Reserve() int { return f.Add("null") }

// Add adds an object.
func (f *PDFFile) Add(object string) int {
	f.objects = append(f.objects, object)
	return len(f.objects)
}

// Set sets a reserved object.
func (f *PDFFile) Set(number int, object string) { f.objects[number-1] = object }

// Stream adds a stream, with entries of its dictionary besides its length.
func (f *PDFFile) Stream(entries string, content []byte) int {
	return f.Add(fmt.Sprintf("<< /Length %d %s >>\nstream\n%s\nendstream", len(content), entries, content))
}

// Bytes returns the file, with its catalog and, unless it is 0, its information; trailer is added to the trailer.
func (f *PDFFile) Bytes(root, info int, trailer ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	offsets := make([]int, len(f.objects))
	for i, object := range f.objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root %d 0 R", len(offsets)+1, root)
	if info > 0 {
		fmt.Fprintf(&b, " /Info %d 0 R", info)
	}
	fmt.Fprintf(&b, " %s >>\nstartxref\n%d\n%%%%EOF\n", strings.Join(trailer, " "), start)
	return b.Bytes()
}
