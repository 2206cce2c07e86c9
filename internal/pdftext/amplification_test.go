package pdftext

import (
	"fmt"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// grown returns a construct of PDF files: write is called until the file is as large as it is to be.
func grown(name string, write func(f *testutil.PDFFile, size int) []byte) testutil.Construct {
	return testutil.Construct{Name: name, Grow: func(size int) []byte { return write(&testutil.PDFFile{}, size) }}
}

// content returns a construct of a page whose content is a unit again and again, within what begins and ends it.
func content(name, begin, unit, end string) testutil.Construct {
	of := testutil.Repeated(name, begin, unit, end)
	return grown(name, func(f *testutil.PDFFile, size int) []byte { return page(f, f.Stream("", of.Grow(size)), helvetica) })
}

// deflatedContent is content of 32 times the size, compressed.
func deflatedContent(name, unit string) testutil.Construct {
	return grown(name, func(f *testutil.PDFFile, size int) []byte {
		return page(f, f.Stream("/Filter /FlateDecode", deflated(unit, 32*size/len(unit))), helvetica)
	})
}

// objects returns a construct of objects of which a page has a list as a resource.
func objects(name, kind, object string) testutil.Construct {
	return grown(name, func(f *testutil.PDFFile, size int) []byte {
		var names, shown strings.Builder
		for i := 0; 2*i*len(object) < size; i++ {
			fmt.Fprintf(&names, "/F%d %d 0 R ", i, f.Add(object))
			fmt.Fprintf(&shown, "BT /F%d 9 Tf (a) Tj ET ", i)
		}
		return page(f, f.Stream("", []byte(shown.String())), fmt.Sprintf("/%s << %s >>", kind, &names))
	})
}

// formsInForms is a chain of forms each of which shows the next one twice.
func formsInForms(f *testutil.PDFFile, size int) []byte {
	inner := f.Stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << "+helvetica+" >>", []byte("BT /F1 9 Tf (x) Tj ET"))
	for range size / 150 {
		inner = f.Stream(fmt.Sprintf("/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X %d 0 R >> >>", inner), []byte("/X Do /X Do"))
	}
	return page(f, f.Stream("", []byte("/X Do")), fmt.Sprintf("/XObject << /X %d 0 R >>", inner))
}

// oneForm is a page that shows a form again and again, which shows many words.
func oneForm(f *testutil.PDFFile, size int) []byte {
	form := f.Stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << "+helvetica+" >>", []byte(strings.Repeat("BT /F1 9 Tf (words) Tj ET ", size/52)))
	return page(f, f.Stream("", []byte(strings.Repeat("/X Do ", size/12))), fmt.Sprintf("/XObject << /X %d 0 R >>", form))
}

// manyPages is a file of pages that share a content.
func manyPages(f *testutil.PDFFile, size int) []byte {
	shared := f.Stream("", []byte("BT /F1 9 Tf (a page) Tj ET"))
	tree := f.Reserve()
	var kids []string
	for i := 0; i < size/150; i++ {
		kids = append(kids, fmt.Sprintf("%d 0 R", f.Add(fmt.Sprintf("<< /Type /Page /Parent %d 0 R /MediaBox [0 0 9 9] /Contents %d 0 R /Resources << %s >> >>", tree, shared, helvetica))))
	}
	f.Set(tree, fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", len(kids), strings.Join(kids, " ")))
	return f.Bytes(f.Add(fmt.Sprintf("<< /Type /Catalog /Pages %d 0 R >>", tree)), 0)
}

// written returns a construct of a document that [testutil.PDF] writes, of units of about so many bytes.
func written(name string, unit int, document func(n int) testutil.PDF) testutil.Construct {
	return testutil.Construct{Name: name, Grow: func(size int) []byte { return document(size / unit).Bytes() }}
}

// TestAmplification reads each construct of PDF files. PDFium's memory is no part of the collector's: it is what is
// reserved for it.
func TestAmplification(t *testing.T) {
	e, err := started()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []testutil.Construct{
		content("texts", "", "BT /F1 9 Tf (some words) Tj ET\n", ""),
		content("texts in one", "BT /F1 9 Tf ", "(a) Tj ", "ET"),
		content("characters", "BT /F1 9 Tf (", "a", ") Tj ET"),
		content("places of characters", "BT /F1 9 Tf [", "(a) -9000 ", "] TJ ET"),
		content("lines", "BT /F1 9 Tf 1 0 0 1 9 800 Tm 9 TL ", "(a) ' ", "ET"),
		content("states", "", "q ", ""),
		content("paths", "", "0 0 m 9 9 l S\n", ""),
		content("a path", "0 0 m ", "9 9 l ", "S"),
		content("marked contents", "", "/P << /MCID %d >> BDC ", ""),
		content("lists in lists", "", "[", ""),
		content("dictionaries in dictionaries", "/P ", "<< /A ", ""),
		content("pictures in the content", "", "BI /W 1 /H 1 /BPC 8 /CS /G ID a EI\n", ""),
		content("names that are none", "", "abc ", ""),
		deflatedContent("compressed states", "q Q "),
		deflatedContent("compressed texts", "BT /F1 9 Tf (some words) Tj ET\n"),
		deflatedContent("compressed blanks", "        "),
		objects("fonts", "Font", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"),
		objects("fonts with encodings", "Font", "<< /Type /Font /Subtype /TrueType /BaseFont /A /Encoding << /Differences [1 /a /b /c /d] >> >>"),
		grown("forms in forms", formsInForms),
		grown("a form again and again", oneForm),
		grown("pages", manyPages),
		written("links", 250, func(n int) testutil.PDF {
			p := testutil.PDFText("links")
			for i := range n {
				p.Links = append(p.Links, fmt.Sprintf("http://h/%d", i))
			}
			return testutil.PDF{Pages: []testutil.PDFPage{p}}
		}),
		written("bookmarks", 130, func(n int) testutil.PDF {
			d := testutil.PDF{Pages: []testutil.PDFPage{testutil.PDFText("a")}}
			for i := range n {
				d.Bookmarks = append(d.Bookmarks, fmt.Sprint("Chapter ", i))
			}
			return d
		}),
		written("marked headings", 1000, func(n int) testutil.PDF {
			d := testutil.PDF{Tagged: true}
			for range n / 40 {
				d.Pages = append(d.Pages, testutil.PDFText(strings.Split(strings.Repeat("# a\n", 40), "\n")...))
			}
			return d
		}),
	} {
		most, held := 0, 0
		testutil.Amplify(t, c, func(body []byte) bool {
			d := e.read(t.Context(), body, Default, func(bytes int) error {
				held += bytes
				most = max(most, held)
				return nil
			})
			check(t, d)
			if held > 4*len(text(d))+8<<20 {
				t.Errorf("%s: %d MiB are not given back", c.Name, held>>20)
			}
			held = 0
			return d.Unread.Cause == TooLong || d.Unread.Cause == Memory
		})
		t.Logf("%-28s %d MiB of PDFium's", c.Name, most>>20)
		if most > 64<<20 {
			t.Errorf("%s: %d MiB are reserved", c.Name, most>>20)
		}
	}
}
