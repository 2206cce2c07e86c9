package pdftext

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"unicode/utf16"
	"unsafe"

	"github.com/tetratelabs/wazero/api"
)

// line is a line of text on a page, or several that a divided word joins. Coordinates are those of the page: its lower
// left corner is the origin, its unit commonly a point.
type line struct {
	text    string  // visible, with single blanks
	page    int     // from 1
	left, y float64 // where the baseline of the first character begins
	right   float64 // where the last character ends
	end     float64 // the height of its baseline
	size    float64 // of the font, as it is shown
	heading bool    // the file says so
	turned  bool    // it is not written from left to right
	hyphen  bool    // a word goes on in the next line
}

// structureShare is the part of its work that a file may spend on the tree of its structure. PDFium goes through all of
// a tree that is flat, for each page anew; behind that part, headings are those that are large.
const structureShare = 4

// readPage adds the lines and links of a page that is loaded.
func (r *reading) readPage(page uint64, number int, tagged bool) {
	r.readLinks(page)
	var headings map[int32]bool
	if tagged && r.onStructure < r.most/structureShare {
		before := r.work
		headings = r.headingsOf(page)
		r.onStructure += r.work - before
	}
	text := r.call("FPDFText_LoadPage", page)
	if text == 0 {
		r.broken++
		return
	}
	p := pageText{reading: r, handle: text, number: number, headings: headings}
	p.read()
	r.call("FPDFText_ClosePage", text)
}

// pageText is the text of one page.
type pageText struct {
	*reading
	handle   uint64
	number   int
	headings map[int32]bool // the marked contents that are headings
}

// read cuts the text of the page into lines, where PDFium sees new ones.
func (p *pageText) read() {
	count := int(int32(p.call("FPDFText_CountChars", p.handle)))
	if count <= 0 {
		return
	}
	buffer := p.allocate(4*count + 4) // two units for each character, in case
	units := int(int32(p.call("FPDFText_GetText", p.handle, 0, uint64(count), uint64(buffer))))
	all := decodeUTF16(p.bytes(buffer, 2*max(0, min(units, 2*count))))
	p.free(buffer)
	for at := 0; at < len(all); {
		end := at
		for end < len(all) && all[end] != '\n' && all[end] != '\r' {
			end++
		}
		p.add(all[at:end], at)
		if p.over != "" {
			return
		}
		at = end + 1
	}
}

// decodeUTF16 reads UTF-16 up to its end or a zero, little end first.
func decodeUTF16(b []byte) []rune {
	units := make([]uint16, 0, len(b)/2)
	for ; len(b) >= 2; b = b[2:] {
		unit := binary.LittleEndian.Uint16(b)
		if unit == 0 {
			break
		}
		units = append(units, unit)
	}
	return utf16.Decode(units)
}

// add adds a line that begins at a character of the page's text, unless it shows nothing.
func (p *pageText) add(text []rune, at int) {
	var l line
	if n := len(text); n > 0 && isHyphen(text[n-1]) {
		l.hyphen, text = true, text[:n-1]
	}
	first, last := bounds(text)
	if l.text = collapse(expand(text)); l.text == "" {
		return
	}
	if p.size += len(l.text) + lineCost; p.size > p.limits.Text {
		p.over = fmt.Sprintf("only the first %d MiB of its text are read, up to page %d of %d", p.limits.Text>>20, p.number, p.pages)
		return
	}
	if err := p.taken.hold(2*p.size + (cap(p.lines)+1)*int(unsafe.Sizeof(l))); err != nil { // as lines, and as blocks
		panic(&failure{Time, err})
	}
	l.page = p.number
	p.measure(&l, p.index(at+first), p.index(at+(first+last)/2), p.index(at+last))
	p.lines = append(p.lines, l)
}

// lineCost is how many bytes of the limit a line takes besides its text, since it takes memory.
const lineCost = 16

// isHyphen reports whether PDFium takes a character for a hyphen that the end of the line made.
func isHyphen(r rune) bool { return r == 0x02 || r == 0xfffe || r == 0xad }

// bounds returns the first and the last character that is visible; 0 if none is.
func bounds(text []rune) (first, last int) {
	seen := false
	for i, r := range text {
		if v := visible(r); v > ' ' {
			if !seen {
				first, seen = i, true
			}
			last = i
		}
	}
	return first, last
}

// expand writes ligatures as the letters that they stand for.
func expand(text []rune) string {
	var b strings.Builder
	for _, r := range text {
		if r >= 0xfb00 && int(r-0xfb00) < len(ligatures) {
			b.WriteString(ligatures[r-0xfb00])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// ligatures are those of U+FB00 on.
var ligatures = []string{"ff", "fi", "fl", "ffi", "ffl", "st", "st"}

// index returns the number by which PDFium knows a character of the page's text; -1 for none.
func (p *pageText) index(at int) int32 {
	return int32(p.call("FPDFText_GetCharIndexFromTextIndex", p.handle, uint64(at)))
}

// measure finds out where a line is and how large, by its first, middle and last character. A number that is none
// counts as 0.
func (p *pageText) measure(l *line, first, middle, last int32) {
	if first < 0 || middle < 0 || last < 0 {
		return
	}
	at := uint64(p.scratch)
	if p.call("FPDFText_GetCharOrigin", p.handle, uint64(first), at, at+8) != 0 {
		l.left, l.y = p.double(0), p.double(1)
	}
	if p.call("FPDFText_GetCharOrigin", p.handle, uint64(last), at, at+8) != 0 {
		l.end = p.double(1)
	}
	if p.call("FPDFText_GetLooseCharBox", p.handle, uint64(last), at) != 0 { // left, top, right, bottom
		l.right = p.float(2)
	}
	scale := 1.0
	if p.call("FPDFText_GetMatrix", p.handle, uint64(middle), at) != 0 {
		scale = math.Hypot(p.float(2), p.float(3))
		l.turned = p.float(0) < math.Abs(p.float(1))
	}
	l.size = finite(api.DecodeF64(p.call("FPDFText_GetFontSize", p.handle, uint64(middle))) * scale)
	l.heading = len(p.headings) > 0 && p.headings[p.markedContent(middle)]
}

// markedContent returns the marked content that a character belongs to; -1 for none.
func (p *pageText) markedContent(char int32) int32 {
	object := p.call("FPDFText_GetTextObject", p.handle, uint64(char))
	if object == 0 {
		return -1
	}
	return int32(p.call("FPDFPageObj_GetMarkedContentID", object))
}

// double returns a number that a function has left.
func (in *instance) double(i int) float64 {
	return finite(math.Float64frombits(binary.LittleEndian.Uint64(in.bytes(in.scratch+8*uint32(i), 8))))
}

// float is double for numbers of four bytes.
func (in *instance) float(i int) float64 {
	return finite(float64(math.Float32frombits(binary.LittleEndian.Uint32(in.bytes(in.scratch+4*uint32(i), 4)))))
}

// finite returns 0 for what is no number, or is out of all proportion.
func finite(f float64) float64 {
	if f > -1e9 && f < 1e9 {
		return f
	}
	return 0
}
