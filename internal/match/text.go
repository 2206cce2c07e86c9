package match

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/normalform"
	"github.com/webrace/webrace/internal/swar"
)

// appendCollapsed appends the text to dst, with one blank for each run of white space and control
// characters, none at either end, and nothing for bytes that are no text.
func appendCollapsed(dst, text []byte) []byte {
	from := len(dst)
	dst = appendBlanked(dst, text)
	kept := bytes.Trim(dst[from:], " ")
	return append(dst[:from], kept...)
}

// compared returns what of a text is compared: its normal form, as appendCollapsed writes it, in the buffer; or the
// text as it is where that changes nothing.
func compared(buffer *[]byte, text []byte) []byte {
	if collapsed(text) {
		return text
	}
	var form []byte
	*buffer = appendCollapsed((*buffer)[:0], normalform.Of(&form, text))
	return *buffer
}

// collapsed reports whether appendCollapsed would leave a text as it is, as far as that is told at a glance:
// it is printable ASCII without two blanks in a row, or one at an end.
func collapsed(text []byte) bool {
	if len(text) < 8 || text[0] == ' ' || text[len(text)-1] == ' ' {
		return len(text) == 0
	}
	last := len(text) - 8
	for i := 0; ; i = min(i+7, last) { // a byte is looked at twice, with what follows it
		if tidy(binary.LittleEndian.Uint64(text[i:])) < 8 {
			return false
		}
		if i == last {
			return true
		}
	}
}

// appendBlanked does the same, but leaves a blank at either end where there was white space.
func appendBlanked(dst, text []byte) []byte {
	dst = slices.Grow(dst, len(text))
	blank := false
	for len(text) > 0 {
		if len(text) >= 8 && !(blank && text[0] == ' ') { // nearly all of most texts stays as it is
			x, n := binary.LittleEndian.Uint64(text), len(dst)
			binary.LittleEndian.PutUint64(dst[n:n+8], x)
			if kept := tidy(x); kept > 0 {
				dst, text, blank = dst[:n+kept], text[kept:], text[kept-1] == ' '
				continue
			}
		}
		r, size := rune(text[0]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text)
		}
		switch {
		case r == utf8.RuneError && size == 1:
		case r == ' ' || r < ' ' || r >= 0x7f && (unicode.IsSpace(r) || unicode.IsControl(r)):
			if !blank {
				dst = append(dst, ' ')
			}
			blank = true
		default:
			dst = append(dst, text[:size]...)
			blank = false
		}
		text = text[size:]
	}
	return dst
}

// tidy returns with how many bytes, of eight, a text begins that is printable ASCII, up to two blanks in a row. It may
// be fewer.
func tidy(x uint64) int {
	control := (x - ' '*swar.Each) &^ x
	blank := swar.Zeroes(x ^ ' '*swar.Each)
	return bits.TrailingZeros64((control|x|(x+swar.Each))&swar.Upper|blank&(blank>>8)) / 8
}

func digestOfSet(sums []webrace.Digest) webrace.Digest {
	slices.SortFunc(sums, func(a, b webrace.Digest) int {
		if c := cmp.Compare(binary.BigEndian.Uint64(a[:]), binary.BigEndian.Uint64(b[:])); c != 0 {
			return c
		}
		return bytes.Compare(a[:], b[:])
	})
	sum := sha256.New()
	for _, s := range slices.Compact(sums) {
		sum.Write(s[:])
	}
	return webrace.Digest(sum.Sum(nil))
}
