package match

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/bytewise"
)

// appendCollapsed appends the text to dst, with one blank for each run of white space and control
// characters, none at either end, and nothing for bytes that are no text.
func appendCollapsed(dst, text []byte) []byte {
	from := len(dst)
	dst = appendBlanked(dst, text)
	kept := bytes.Trim(dst[from:], " ")
	return append(dst[:from], kept...)
}

// collapsed reports whether appendCollapsed would leave a text as it is, as far as that is told at a glance:
// it is printable ASCII without two blanks in a row, or one at an end.
func collapsed(text []byte) bool {
	if len(text) < 8 || text[0] == ' ' || text[len(text)-1] == ' ' {
		return len(text) == 0
	}
	last := len(text) - 8
	for i := 0; ; i = min(i+7, last) { // a byte is looked at twice, with what follows it
		x := binary.LittleEndian.Uint64(text[i:])
		control := (x - ' '*bytewise.Each) &^ x
		if (control|x|(x+bytewise.Each))&bytewise.Upper != 0 {
			return false
		}
		if blank := bytewise.Zeroes(x ^ ' '*bytewise.Each); blank&(blank>>8) != 0 {
			return false
		}
		if i == last {
			return true
		}
	}
}

// appendBlanked does the same, but leaves a blank at either end where there was white space.
func appendBlanked(dst, text []byte) []byte {
	blank := false
	for len(text) > 0 {
		if plain := plainPrefix(text); plain > 0 { // nearly all of most texts
			dst = append(dst, text[:plain]...)
			text, blank = text[plain:], false
			continue
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

// plainPrefix returns how many bytes the text begins with that are printable ASCII and no blank.
func plainPrefix(text []byte) int {
	for i, b := range text {
		if b <= ' ' || b >= 0x7f {
			return i
		}
	}
	return len(text)
}

func digestOfSet(sums []webrace.Digest) webrace.Digest {
	slices.SortFunc(sums, func(a, b webrace.Digest) int { return bytes.Compare(a[:], b[:]) })
	sum := sha256.New()
	for _, s := range slices.Compact(sums) {
		sum.Write(s[:])
	}
	return webrace.Digest(sum.Sum(nil))
}
