package pdftext

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// FuzzRead holds that any file ends with blocks in the order of the pages, or with a reason, and the same one twice.
func FuzzRead(f *testing.F) {
	d := testutil.PDF{Title: "T", Tagged: true, Bookmarks: []string{"A", "B"}, Pages: []testutil.PDFPage{testutil.PDFText("# A", "text-", "of A"), {Links: []string{"x"}}}}
	f.Add(d.Bytes())
	f.Add(encrypted())
	f.Add(deepPages()[:4000])
	for i, path := range realFiles(f) {
		if body, err := os.ReadFile(path); err == nil && i%8 == 0 && len(body) < 20_000 {
			f.Add(body)
		}
	}
	limits := Limits{Pages: 20, Text: 1 << 16, Links: 10, Memory: Default.Memory, Work: 100 << 20}
	e, err := started()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		kept := bytes.Clone(body)
		d := e.read(t.Context(), body, limits, nil)
		if !bytes.Equal(body, kept) {
			t.Fatal("the body was changed")
		}
		check(t, d)
		again := e.read(t.Context(), body, limits, nil)
		if render(d.Blocks) != render(again.Blocks) || d.Unread != again.Unread || d.Title != again.Title {
			t.Fatalf("not the same the second time: %+v\n%+v", d, again)
		}
	})
}

// linesOf makes lines of any bytes: of each line's numbers, and its text.
func linesOf(data []byte) (lines []line) {
	number := func(at int) float64 {
		if len(data) < at+2 {
			return 0
		}
		return finite(float64(int16(binary.LittleEndian.Uint16(data[at:]))) / 8)
	}
	page := 1
	for len(data) > 12 {
		n := min(int(data[11]), len(data)-12)
		l := line{
			text: collapse(strings.ToValidUTF8(string(data[12:12+n]), "")), left: number(0), y: number(2), right: number(4), end: number(6), size: math.Abs(number(8)),
			heading: data[10]&1 != 0, turned: data[10]&2 != 0, hyphen: data[10]&4 != 0,
		}
		if data[10]&8 != 0 {
			page++
		}
		if l.page = page; l.text != "" {
			lines = append(lines, l)
		}
		data = data[12+n:]
	}
	return lines
}

// FuzzLayOut holds that blocks are the lines' text, in their order, whatever their places and sizes are: nothing is
// lost or doubled but white space and the hyphens of divided words.
func FuzzLayOut(f *testing.F) {
	f.Add([]byte("\x00\x01\x00\x02\x00\x03\x00\x02\x50\x00\x00\x05hello\x00\x01\x00\x02\x00\x03\x00\x02\x50\x00\x04\x05wor-l\x00\x01\x90\x01\x00\x03\x00\x02\x50\x00\x08\x021."))
	f.Fuzz(func(t *testing.T, data []byte) {
		lines := linesOf(data)
		var want strings.Builder
		for _, l := range lines {
			want.WriteString(l.text)
		}
		blocks := layOut(slices.Clone(lines), outline{"hello": true})
		d := &Document{Blocks: blocks, Unread: Unread{Textless, "-"}}
		if n := len(lines); n > 0 {
			d.Pages = lines[n-1].page
		}
		check(t, d)
		titleOf(lines)
		plain := strings.NewReplacer(" ", "", "-", "", "\n", "")
		if got := plain.Replace(text(d)); got != plain.Replace(want.String()) {
			t.Fatalf("got %q, want %q", got, want.String())
		}
	})
}
