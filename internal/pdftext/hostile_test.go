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
	if testing.Short() {
		t.Skip("compiles PDFium once more, for other limits")
	}
	limits := Limits{Pages: 50, Text: 64 << 10, Links: 10, Memory: 64 << 20, Time: 2 * time.Second}
	e, err := newEngine(limits.Memory, 2, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.runtime.Close(context.Background()) })
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
		d := e.read(t.Context(), c.body, limits)
		check(t, d)
		t.Logf("%s: %s: %s, %d blocks", c.name, d.Unread.Cause, d.Unread.Reason, len(d.Blocks))
		if d.Unread.Cause == "" || !strings.Contains(" "+c.causes+" ", " "+string(d.Unread.Cause)+" ") {
			t.Errorf("%s: %+v, want one of: %s", c.name, d.Unread, c.causes)
		}
		if len(d.Links) > limits.Links || d.Unread.Cause == TooLong && len(text(d)) > limits.Text {
			t.Errorf("%s: %d links, %d bytes", c.name, len(d.Links), len(text(d)))
		}
		// What a file did to its instance is over with it.
		if d := e.read(t.Context(), whole, limits); d.Title != "Title" || render(d.Blocks) != "1 A text\n" {
			t.Fatalf("after %s: %+v", c.name, d)
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
	if d := Read(t.Context(), openEncrypted("BT /F1 12 Tf 72 700 Td (open to all) Tj ET")); render(d.Blocks) != "1 open to all\n" {
		t.Errorf("%+v", d)
	}
}

func TestTheCallerMayEndTheReading(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if d := Read(ctx, explodingForms()); d.Unread.Cause != Time || !strings.Contains(d.Unread.Reason, "cancelled") {
		t.Errorf("%+v", d.Unread)
	}
	if d := Read(ctx, testutil.WritePDF("", testutil.PDFText("Text"))); d.Unread.Cause != Time {
		t.Errorf("%+v", d)
	}
	if d := Read(t.Context(), testutil.WritePDF("", testutil.PDFText("Text"))); render(d.Blocks) != "1 Text\n" {
		t.Errorf("what was cancelled is remembered: %+v", d)
	}
}

func TestWhatIsNoPDFDoesNotStartTheEngine(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "<html>Not found</html>", strings.Repeat(" ", header) + "%PDF-1.7"} {
		if d := Read(t.Context(), []byte(body)); d.Unread != (Unread{Broken, "it is no PDF file"}) {
			t.Errorf("%q: %+v", body, d)
		}
	}
}
