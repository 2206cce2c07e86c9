package pdftext

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/klippa-app/go-pdfium/enums"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/testutil"
)

// render shows blocks as text does: those that are not body with their field.
func render(blocks []Block) string {
	var b strings.Builder
	for _, block := range blocks {
		fmt.Fprintf(&b, "%d ", block.Page)
		if block.Field != webrace.FieldBody {
			b.WriteString(block.Field.String() + ": ")
		}
		b.WriteString(block.Text + "\n")
	}
	return b.String()
}

// prose is a page's paragraph of so many lines, which are full.
func prose(lines int) []string {
	all := make([]string, lines)
	for i := range all {
		all[i] = strings.Repeat("seven words make a line of text that is full ", 2)[:80]
	}
	return all
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	lines := func(l ...testutil.PDFLine) []testutil.PDFPage { return []testutil.PDFPage{{Lines: l}} }
	for _, c := range []struct {
		name  string
		d     testutil.PDF
		title string
		want  string
	}{
		{"a declared title is the title", testutil.PDF{Title: "  Annual \u2013 report ", Pages: []testutil.PDFPage{testutil.PDFText("Words")}}, "Annual \u2013 report", "1 Words\n"},
		{"the largest heading of the first page is, where there is none", testutil.PDF{Pages: []testutil.PDFPage{testutil.PDFText(append([]string{"# Caf\u00e9"}, prose(2)...)...), testutil.PDFText("# Other")}},
			"Caf\u00e9", "1 heading: Caf\u00e9\n1 " + prose(1)[0] + " " + prose(1)[0] + "\n2 heading: Other\n"},
		{"all of one size has no headings", testutil.PDF{Pages: []testutil.PDFPage{testutil.PDFText("One", "", "Two")}}, "", "1 One\n1 Two\n"},
		{"lines that run on are a paragraph, short ones are not", testutil.PDF{Pages: []testutil.PDFPage{testutil.PDFText(slices.Concat(prose(3), []string{"end.", "Name: A", "City: B", "", "The next"})...)}}, "",
			"1 " + prose(1)[0] + " " + prose(1)[0] + " " + prose(1)[0] + " end.\n1 Name: A\n1 City: B\n1 The next\n"},
		{"items of a list are blocks", testutil.PDF{Pages: []testutil.PDFPage{testutil.PDFText("\u2022 "+prose(1)[0], "\u2022 "+prose(1)[0], "1. "+prose(1)[0], "b) "+prose(1)[0])}}, "",
			"1 \u2022 " + prose(1)[0] + "\n1 \u2022 " + prose(1)[0] + "\n1 1. " + prose(1)[0] + "\n1 b) " + prose(1)[0] + "\n"},
		{"divided words are whole", testutil.PDF{Pages: []testutil.PDFPage{testutil.PDFText(prose(1)[0]+" bank-", "ruptcy "+prose(1)[0])}}, "",
			"1 " + prose(1)[0] + " bankruptcy " + prose(1)[0] + "\n"},
		{"parts of a line are a line", testutil.PDF{Pages: lines(testutil.PDFLine{Text: "x", X: 72, Y: 700, Size: 10}, testutil.PDFLine{Text: "2", X: 77.2, Y: 704, Size: 6}, testutil.PDFLine{Text: "plus", X: 85, Y: 700, Size: 10})}, "",
			"1 x2 plus\n"},
		{"columns are not", testutil.PDF{Pages: lines(testutil.PDFLine{Text: "left", X: 72, Y: 700, Size: 10}, testutil.PDFLine{Text: "right", X: 300, Y: 700, Size: 10})}, "", "1 left right\n"},
		{"bookmarks name headings", testutil.PDF{Bookmarks: []string{"Costs and revenue"}, Pages: []testutil.PDFPage{testutil.PDFText("Costs and Revenue", "", "They were high.")}}, "",
			"1 heading: Costs and Revenue\n1 They were high.\n"},
		{"structure decides about headings", testutil.PDF{Tagged: true, Pages: lines(
			testutil.PDFLine{Text: "Heading", X: 72, Y: 700, Size: 10, Heading: true}, testutil.PDFLine{Text: "Large", X: 72, Y: 600, Size: 30}, testutil.PDFLine{Text: "small text of the body", X: 72, Y: 500, Size: 10})}, "Large",
			"1 heading: Heading\n1 Large\n1 small text of the body\n"},
	} {
		d := Read(t.Context(), c.d.Bytes(), nil)
		if got := render(d.Blocks); got != c.want || d.Title != c.title || d.Unread != (Unread{}) || d.Pages != len(c.d.Pages) {
			t.Errorf("%s: title %q, %d pages, %v\n got %s\nwant %s", c.name, d.Title, d.Pages, d.Unread, got, c.want)
		}
	}
}

func TestLinesThatPagesHaveInCommonAreNavigation(t *testing.T) {
	t.Parallel()
	var pages []testutil.PDFPage
	for i := range 4 {
		p := testutil.PDFText("", "", "", fmt.Sprintf("Text of its own: %s", strings.Repeat("x", i+1)), "", "More of it")
		p.Lines = append(p.Lines, testutil.PDFLine{Text: "ACME", X: 72, Y: 800, Size: 8}, testutil.PDFLine{Text: fmt.Sprintf("Page %d of 4", i+1), X: 72, Y: 30, Size: 8})
		pages = append(pages, p)
	}
	d := Read(t.Context(), testutil.WritePDF("", pages...), nil)
	got := map[webrace.Field]int{}
	for _, b := range d.Blocks {
		got[b.Field]++
	}
	if got[webrace.FieldNavigation] != 8 && got[webrace.FieldNavigation] != 12 { // the second line from below may be one of them
		t.Errorf("%v:\n%s", got, render(d.Blocks))
	}
	if !strings.Contains(render(d.Blocks), "2 navigation: Page 2 of 4\n") || !strings.Contains(render(d.Blocks), "2 Text of its own: xx\n") {
		t.Error(render(d.Blocks))
	}
}

func TestLinksAreThoseOfTheFile(t *testing.T) {
	t.Parallel()
	d := Read(t.Context(), testutil.WritePDF("", testutil.PDFPage{Links: []string{"http://a.org/x?y=z", "next.pdf"}}, testutil.PDFPage{Links: []string{"mailto:a@b.c"}}), nil)
	if !slices.Equal(d.Links, []string{"http://a.org/x?y=z", "next.pdf", "mailto:a@b.c"}) {
		t.Errorf("%q", d.Links)
	}
}

// TestAChangedParagraphLeavesTheOthers holds that blocks are the same from version to version.
func TestAChangedParagraphLeavesTheOthers(t *testing.T) {
	t.Parallel()
	first := slices.Concat([]string{"# Notes"}, prose(4), []string{"", "The rate is 5 per cent.", ""}, prose(6))
	second := slices.Clone(first)
	second[6] = "The rate is 6 per cent, from May on."
	second = slices.Insert(second, 7, "", "A paragraph that is new.")
	before, after := Read(t.Context(), testutil.WritePDF("T", testutil.PDFText(first...)), nil), Read(t.Context(), testutil.WritePDF("T", testutil.PDFText(second...)), nil)
	var added []string
	for _, b := range after.Blocks {
		if !slices.Contains(before.Blocks, b) {
			added = append(added, b.Text)
		}
	}
	if !slices.Equal(added, []string{"The rate is 6 per cent, from May on.", "A paragraph that is new."}) {
		t.Errorf("new are %q of\n%s", added, render(after.Blocks))
	}
}

func TestManyAtOnceGiveWhatEachAloneGives(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			want := fmt.Sprintf("Number %d", i)
			if d := Read(context.Background(), testutil.WritePDF(want, testutil.PDFText(want)), nil); d.Title != want || render(d.Blocks) != "1 "+want+"\n" {
				t.Errorf("%+v", d)
			}
		})
	}
	wg.Wait()
}

func TestWhatWasReadLastIsKeptWithinBounds(t *testing.T) {
	t.Parallel()
	r := recent{documents: map[[32]byte]*Document{}}
	document := func(bytes int) *Document { return &Document{Blocks: []Block{{Text: strings.Repeat("x", bytes)}}} }
	for i := range 3 * mostKept {
		r.put([32]byte{byte(i)}, document(1000))
	}
	if len(r.documents) != mostKept || r.get([32]byte{0}) != nil || r.get([32]byte{3*mostKept - 1}) == nil {
		t.Errorf("%d are kept", len(r.documents))
	}
	for i := range mostKept {
		r.put([32]byte{100 + byte(i)}, document(keptBytes/3))
	}
	r.put([32]byte{200}, document(keptBytes))
	if r.bytes > keptBytes || len(r.documents) != 2 || len(r.order) != 2 || r.get([32]byte{200}) != nil {
		t.Errorf("%d bytes of %d documents are kept", r.bytes, len(r.documents))
	}
}

// words returns the words of a text, without what stands beside them.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// pdftotext returns what poppler reads of a file.
func pdftotext(t *testing.T, path string) []string {
	out, err := exec.Command("pdftotext", "-enc", "UTF-8", path, "-").Output()
	if err != nil {
		return nil
	}
	return words(string(out))
}

func needPoppler(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("pdftotext"); err != nil {
		t.Skip("pdftotext is missing, to compare with: install the Debian package poppler-utils")
	}
}

func TestWordsAreThoseThatPopplerReads(t *testing.T) {
	t.Parallel()
	needPoppler(t)
	page := slices.Concat([]string{"# Crawling \u2013 caf\u00e9 & \u00dcbung"}, prose(5), []string{"", "1. first item of two", "2. second item", "", "The end-", "ing of words"})
	body := testutil.PDF{Title: "not text", Tagged: true, Pages: []testutil.PDFPage{testutil.PDFText(page...), testutil.PDFText(prose(40)...), testutil.PDFText("# Last", "words")}}.Bytes()
	path := filepath.Join(t.TempDir(), "x.pdf")
	if err := os.WriteFile(path, body, 0o600); err != nil {
		t.Fatal(err)
	}
	got := words(text(Read(t.Context(), body, nil)))
	if want := pdftotext(t, path); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func text(d *Document) string {
	var b strings.Builder
	for _, block := range d.Blocks {
		b.WriteString(block.Text + "\n")
	}
	return b.String()
}

// pdfiumModule returns where go-pdfium is, as go.sum has it.
func pdfiumModule(t testing.TB) string {
	_ = enums.FPDF_FILEIDTYPE_PERMANENT // so that go.mod requires the module, of which nothing else is imported
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/klippa-app/go-pdfium").Output()
	if err != nil {
		t.Skipf("go-pdfium is not here: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// TestPDFiumIsThatOfGoPDFium holds the file in this repository to the one that go.sum vouches for.
func TestPDFiumIsThatOfGoPDFium(t *testing.T) {
	want, err := os.ReadFile(filepath.Join(pdfiumModule(t), "webassembly", "pdfium.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := pdfiumWasm()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("pdfium.wasm.zst is another PDFium than that of the module in go.mod: engine.go tells how it is made")
	}
}

// realFiles returns the files that go-pdfium is tested with, many of them damaged.
func realFiles(t testing.TB) []string {
	files, _ := filepath.Glob(filepath.Join(pdfiumModule(t), "shared_tests", "testdata", "*.pdf"))
	if len(files) == 0 {
		t.Skip("the files that go-pdfium is tested with are not here")
	}
	return files
}

// TestRealFiles reads files of many makers. Two readers disagree on formulas, forms and what lies outside of a page;
// but most words must be the same.
func TestRealFiles(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("reads 138 files")
	}
	files := realFiles(t)
	_, err := exec.LookPath("pdftotext")
	both, theirs := 0, 0
	for _, path := range files {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		d := Read(t.Context(), body, nil)
		check(t, d)
		count := map[string]int{}
		for _, w := range words(text(d)) {
			count[w]++
		}
		for _, w := range pdftotext(t, path) {
			if theirs++; count[w] > 0 {
				both, count[w] = both+1, count[w]-1
			}
		}
	}
	t.Logf("%d files, %d of %d words of poppler", len(files), both, theirs)
	if err == nil && both*100 < theirs*90 {
		t.Errorf("of %d words that poppler reads, %d were read", theirs, both)
	}
}

// check verifies what is promised of any document.
func check(t *testing.T, d *Document) {
	t.Helper()
	page := 1
	for _, b := range d.Blocks {
		if b.Text == "" || !utf8.ValidString(b.Text) || collapse(b.Text) != b.Text || b.Page < page || b.Page > d.Pages {
			t.Fatalf("block %+v after page %d of %d", b, page, d.Pages)
		}
		page = b.Page
	}
	if !utf8.ValidString(d.Title) || collapse(d.Title) != d.Title || d.Named && d.Title == "" {
		t.Fatalf("title %q", d.Title)
	}
	for _, l := range d.Links {
		if l == "" || !utf8.ValidString(l) {
			t.Fatalf("link %q", l)
		}
	}
	if (d.Unread.Cause == "") != (d.Unread.Reason == "") || len(d.Blocks) == 0 && d.Unread.Cause == "" {
		t.Fatalf("no text, and the reason %+v", d.Unread)
	}
}
