package pdftext

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/md5"
	"crypto/rc4"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/testutil"
)

// page returns a file of one page with a content and resources.
func page(f *testutil.PDFFile, content int, resources string, trailer ...string) []byte {
	pages := f.Reserve()
	page := f.Add(fmt.Sprintf("<< /Type /Page /Parent %d 0 R /MediaBox [0 0 595 842] /Contents %d 0 R /Resources << %s >> >>", pages, content, resources))
	f.Set(pages, fmt.Sprintf("<< /Type /Pages /Count 1 /Kids [%d 0 R] >>", page))
	return f.Bytes(f.Add(fmt.Sprintf("<< /Type /Catalog /Pages %d 0 R >>", pages)), 0, trailer...)
}

const helvetica = "/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>"

// deflated compresses a unit so many times over.
func deflated(unit string, times int) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	block := bytes.Repeat([]byte(unit), 1000)
	for range times / 1000 {
		z.Write(block)
	}
	z.Close()
	return b.Bytes()
}

// explodingForms is a page that shows a form twenty times, which shows another twenty times, and so on.
func explodingForms() []byte {
	f := &testutil.PDFFile{}
	inner := f.Stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << "+helvetica+" >>", []byte("BT /F1 9 Tf (x) Tj ET"))
	for range 8 {
		inner = f.Stream(fmt.Sprintf("/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X %d 0 R >> >>", inner), []byte(strings.Repeat("/X Do ", 20)))
	}
	return page(f, f.Stream("", []byte("/X Do")), fmt.Sprintf("/XObject << /X %d 0 R >>", inner))
}

func deepPages() []byte {
	f := &testutil.PDFFile{}
	node := f.Add("<< /Type /Page /MediaBox [0 0 9 9] >>")
	for range 5000 {
		node = f.Add(fmt.Sprintf("<< /Type /Pages /Count 1 /Kids [%d 0 R] >>", node))
	}
	return f.Bytes(f.Add(fmt.Sprintf("<< /Type /Catalog /Pages %d 0 R >>", node)), 0)
}

func encrypted() []byte {
	f := &testutil.PDFFile{}
	pages := f.Add("<< /Type /Pages /Count 0 /Kids [] >>")
	root := f.Add(fmt.Sprintf("<< /Type /Catalog /Pages %d 0 R >>", pages))
	key := strings.Repeat("ab", 32)
	return f.Bytes(root, 0, fmt.Sprintf("/ID [<00><00>] /Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <%s> /U <%s> >>", key, key))
}

func TestHostileFilesEndWithAReason(t *testing.T) {
	t.Parallel()
	limits := Limits{Pages: 50, Text: 64 << 10, Links: 10, Memory: 64 << 20, Work: 300 << 20}
	e, err := started()
	if err != nil {
		t.Fatal(err)
	}
	whole := testutil.WritePDF("Title", testutil.PDFText("A text"))
	for _, c := range []struct {
		name   string
		body   []byte
		causes string // that it may end with, since readers may well cope
	}{
		{"encrypted", encrypted(), "encrypted"},
		{"a header alone", []byte("%PDF-1.7\n"), "broken"},
		{"its first half", whole[:len(whole)/2], "broken no_text"},
		{"zeros", append([]byte("%PDF-1.7\n"), make([]byte, 1<<20)...), "broken"},
		{"a page tree that is its own child", bytes.ReplaceAll(whole, []byte("/Kids [3 0 R ]"), []byte("/Kids [1 0 R ]")), "broken no_text"},
		{"pages in 5000 levels", deepPages(), "broken no_text"},
		{"a million pages that are not there", bytes.ReplaceAll(whole, []byte("/Count 1"), []byte("/Count 1000000")), "broken no_text over_limit"},
		{"forms that explode", explodingForms(), "time memory over_limit"},
		{"a stream that inflates to 300 MB", func() []byte {
			f := &testutil.PDFFile{}
			return page(f, f.Stream("/Filter /FlateDecode", deflated("q Q ", 75_000_000)), "")
		}(), "time memory broken no_text"},
		{"ten million characters", func() []byte {
			f := &testutil.PDFFile{}
			return page(f, f.Stream("/Filter /FlateDecode", deflated("BT /F1 9 Tf (some words) Tj ET\n", 1_000_000)), helvetica)
		}(), "time memory over_limit"},
		{"more than the memory", append(bytes.Clone(whole), make([]byte, 40<<20)...), "memory"},
		{"100 pages", func() []byte {
			pages := make([]testutil.PDFPage, 100)
			for i := range pages {
				pages[i] = testutil.PDFText("Text", "more")
			}
			return testutil.WritePDF("", pages...)
		}(), "over_limit"},
	} {
		d := e.read(t.Context(), c.body, limits, nil)
		check(t, d)
		t.Logf("%s: %s: %s, %d blocks", c.name, d.Unread.Cause, d.Unread.Reason, len(d.Blocks))
		if d.Unread.Cause == "" || !strings.Contains(" "+c.causes+" ", " "+string(d.Unread.Cause)+" ") {
			t.Errorf("%s: %+v, want one of: %s", c.name, d.Unread, c.causes)
		}
		if len(d.Links) > limits.Links || d.Unread.Cause == TooLong && len(text(d)) > limits.Text {
			t.Errorf("%s: %d links, %d bytes", c.name, len(d.Links), len(text(d)))
		}
		// What a file did to its instance is over with it.
		if d := e.read(t.Context(), whole, limits, nil); d.Title != "Title" || render(d.Blocks) != "1 A text\n" {
			t.Fatalf("after %s: %+v", c.name, d)
		}
	}
}

// pagesOf is a file of pages with contents, which share resources.
func pagesOf(f *testutil.PDFFile, resources string, contents ...string) []byte {
	tree := f.Reserve()
	kids := ""
	for _, c := range contents {
		kids += fmt.Sprintf("%d 0 R ", f.Add(fmt.Sprintf("<< /Type /Page /Parent %d 0 R /MediaBox [0 0 595 842] /Contents %d 0 R /Resources << %s >> >>", tree, f.Stream("", []byte(c)), resources)))
	}
	f.Set(tree, fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", len(contents), kids))
	return f.Bytes(f.Add(fmt.Sprintf("<< /Type /Catalog /Pages %d 0 R >>", tree)), 0)
}

// A file of which a page takes too much is read up to there, wherever that is and whatever else the machine does.
func TestAFileIsCutAtThePageThatTakesTooMuch(t *testing.T) {
	t.Parallel()
	e, err := started()
	if err != nil {
		t.Fatal(err)
	}
	words := func(s string) string { return "BT /F1 9 Tf 72 700 Td (" + s + ") Tj ET " }
	file := func(third string) []byte {
		f := &testutil.PDFFile{}
		form := f.Stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << "+helvetica+" >>", []byte(strings.Repeat(words("x"), 100)))
		return pagesOf(f, helvetica+fmt.Sprintf(" /XObject << /X %d 0 R >>", form), words("one"), words("two"), third, words("four"))
	}
	for _, c := range []struct {
		body   []byte
		limits Limits
		want   Unread
	}{
		{file(strings.Repeat("/X Do ", 500)), Limits{Pages: 9, Text: 1 << 20, Memory: 64 << 20, Work: 8 << 20}, Unread{TooLong, "only the first 2 of its 4 pages are read: the next takes too much work"}},
		{file(strings.Repeat("q ", 300_000)), Limits{Pages: 9, Text: 1 << 20, Memory: 24 << 20, Work: 1 << 40}, Unread{TooLong, "only the first 2 of its 4 pages are read: the next takes too much memory"}},
	} {
		counts := make(chan int64)
		for range 4 {
			go func() {
				r := &reading{limits: c.limits}
				_ = r.run(t.Context(), e, c.body)
				counts <- r.work
			}()
		}
		first := <-counts
		for range 3 {
			if n := <-counts; n != first {
				t.Errorf("%s: the work is %d, and another time %d", c.want.Reason, first, n)
			}
		}
		if d := e.read(t.Context(), c.body, c.limits, nil); d.Unread != c.want || render(d.Blocks) != "1 one\n2 two\n" {
			t.Errorf("%+v, want %+v", d, c.want)
		}
		if d := e.read(t.Context(), c.body, Default, nil); d.Unread.Cause != "" || !strings.HasSuffix(render(d.Blocks), "4 four\n") {
			t.Errorf("within the limits: %+v", d.Unread)
		}
	}
}

// openEncrypted is a file that is encrypted for a reader without a password: ISO 32000, 7.6, revision 2.
func openEncrypted(content string) []byte {
	const padding = "\x28\xbf\x4e\x5e\x4e\x75\x8a\x41\x64\x00\x4e\x56\xff\xfa\x01\x08\x2e\x2e\x00\xb6\xd0\x68\x3e\x80\x2f\x0c\xa9\xfe\x64\x53\x69\x7a"
	rc4Of := func(key []byte, text string) []byte {
		out := make([]byte, len(text))
		c, _ := rc4.NewCipher(key)
		c.XORKeyStream(out, []byte(text))
		return out
	}
	owner := strings.Repeat("o", 32)
	digest := md5.Sum([]byte(padding + owner + "\xfc\xff\xff\xff" + "id"))
	key := digest[:5]
	of := md5.Sum([]byte(string(key) + "\x01\x00\x00\x00\x00")) // of the first object
	f := &testutil.PDFFile{}
	stream := f.Stream("", rc4Of(of[:10], content))
	return page(f, stream, helvetica, fmt.Sprintf("/ID [<%x><%[1]x>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <%x> /U <%x> >>", "id", owner, rc4Of(key, padding)))
}

func TestAFileThatAnybodyMayOpenIsRead(t *testing.T) {
	t.Parallel()
	if d := Read(t.Context(), openEncrypted("BT /F1 12 Tf 72 700 Td (open to all) Tj ET"), nil); render(d.Blocks) != "1 open to all\n" {
		t.Errorf("%+v", d)
	}
}

func TestTheCallerMayEndTheReading(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if d := Read(ctx, explodingForms(), nil); d.Unread.Cause != Time || !strings.Contains(d.Unread.Reason, "cancelled") {
		t.Errorf("%+v", d.Unread)
	}
	if d := Read(ctx, testutil.WritePDF("", testutil.PDFText("Text")), nil); d.Unread.Cause != Time {
		t.Errorf("%+v", d)
	}
	if d := Read(t.Context(), testutil.WritePDF("", testutil.PDFText("Text")), nil); render(d.Blocks) != "1 Text\n" {
		t.Errorf("what was cancelled is remembered: %+v", d)
	}
}

func TestWhatIsNoPDFDoesNotStartTheEngine(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "<html>Not found</html>", strings.Repeat(" ", header) + "%PDF-1.7"} {
		if d := Read(t.Context(), []byte(body), nil); d.Unread != (Unread{Broken, "it is no PDF file"}) {
			t.Errorf("%q: %+v", body, d)
		}
	}
}
