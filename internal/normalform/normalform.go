// Package normalform gives the form of a text in which it is compared, hashed and searched by rules: letters composed
// (NFC), and without the characters that nobody sees and that part no words for a reader: the soft hyphen, the space
// without width, marks of direction, and the like. Two texts that look the same by these are the same text. Joiners
// stay, since they change what is seen, and so do compatibility forms: H₂O is not H2O here.
//
// A text in normal form is returned as it is: nearly all are, and to see that costs a look at each character that is
// not ASCII. Making the form again changes nothing. It can be longer than the text, by a few letters that
// Unicode decomposes for good, three times at most.
package normalform

import (
	"encoding/binary"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/webrace/webrace/internal/swar"
)

// Ignored reports whether a character has no place in the normal form.
func Ignored(r rune) bool {
	switch {
	case r == '\u00ad', r == '\u061c', r == '\u200b', r == '\u200e', r == '\u200f', r == '\u2060', r == '\ufeff':
		return true
	case '\u202a' <= r && r <= '\u202e', '\u2066' <= r && r <= '\u2069':
		return true
	}
	return false
}

// Of returns the normal form of a text: the text itself if it is in it, or else what is written to the buffer.
func Of(buffer *[]byte, text []byte) []byte {
	from := suspicious(text)
	if from == len(text) {
		return text
	}
	*buffer = appendNormal((*buffer)[:0], text)
	return *buffer
}

// String returns the normal form of a text.
func String(text string) string {
	if Is(text) {
		return text
	}
	return string(appendNormal(nil, []byte(text)))
}

// Is reports whether nothing in a text needs a closer look: then it is in normal form. Some texts that are in normal
// form need one, those with marks behind letters that have no form in one.
func Is(text string) bool {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if isSuspicious(r) {
			return false
		}
		i += size
	}
	return true
}

// suspicious returns where the first character stands that needs a closer look; the end if none does.
func suspicious(text []byte) int {
	for i := 0; i < len(text); {
		if i+8 <= len(text) && binary.LittleEndian.Uint64(text[i:])&swar.Upper == 0 {
			i += 8
			continue
		}
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if isSuspicious(r) {
			return i
		}
		i += size
	}
	return len(text)
}

// appendNormal drops what is ignored first, since marks meet their letters by that.
func appendNormal(dst, text []byte) []byte {
	kept := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if !Ignored(r) {
			kept = append(kept, text[:size]...)
		}
		text = text[size:]
	}
	return norm.NFC.Append(dst, kept...)
}

// rowSize is how many characters a row holds, a bit for each.
const rowSize = 256

type row [rowSize / 64]uint64

var rows [utf8.MaxRune/rowSize + 1]atomic.Pointer[row]

// isSuspicious reports whether a text with the character may be in another form than the normal one. It is looked up:
// to ask Unicode's tables costs ten times as much.
func isSuspicious(r rune) bool {
	place := &rows[uint32(r)/rowSize]
	known := place.Load()
	if known == nil {
		known = newRow(r &^ (rowSize - 1))
		place.Store(known)
	}
	return known[r%rowSize/64]>>(r%64)&1 != 0
}

func newRow(first rune) *row {
	made := new(row)
	for i := range rune(rowSize) {
		text := string(first + i)
		if Ignored(first+i) || !norm.NFC.PropertiesString(text).BoundaryBefore() || !norm.NFC.IsNormalString(text) {
			made[i/64] |= 1 << (i % 64)
		}
	}
	return made
}
