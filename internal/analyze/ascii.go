package analyze

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/swar"
)

// The words of most pages are ASCII. They are classified, folded and hashed eight bytes at a time, with
// one flag for each byte, its upper bit.

const (
	each  = swar.Each
	flags = swar.Upper
)

// classifyASCII returns a flag for each of the eight bytes of x that is an ASCII letter, digit or
// underscore, and x with its letters in lower case, as far as it is ASCII.
func classifyASCII(x uint64) (word, lower uint64) {
	low := x &^ flags
	letters := ((low | 0x20*each) + each*(0x80-'a')) &^ ((low | 0x20*each) + each*(0x7f-'z')) & flags
	digits := (low + each*(0x80-'0')) &^ (low + each*(0x7f-'9'))
	underscores := (low + each*(0x80-'_')) &^ (low + each*(0x7f-'_'))
	return (letters | digits | underscores) & flags &^ x, x | letters>>2
}

// inWord tells the bytes that a word may begin with: ASCII that is part of a word, and all that is not ASCII.
var inWord = func() (is [256]bool) {
	for c := range is {
		is[c] = c >= utf8.RuneSelf || classify(rune(c)) == letter
	}
	return is
}()

// asciiWord returns where the word at the byte at ends, the hash of its folded form, and the first eight bytes of that,
// if it is ASCII up to an ASCII separator or the end. It returns at itself if the run of ASCII letters ends in anything
// else, which may belong to the word.
func asciiWord(text []byte, at, end int) (stop int, hash, begins uint64) {
	i := at
	for i+8 <= len(text) {
		word, lower := classifyASCII(binary.LittleEndian.Uint64(text[i:]))
		n := min(bits.TrailingZeros64(^word&flags)/8, end-i)
		lower &= 1<<(8*n) - 1 // all of it for 8
		if i == at {
			begins = lower
		}
		if n < 8 {
			stop = i + n
			if stop < end && text[stop] >= utf8.RuneSelf {
				return at, 0, 0
			}
			return stop, hashEnd(hash, lower, stop-at), begins
		}
		hash = hashOn(hash, lower)
		i += 8
	}
	return lastASCIIWord(text, at, i, end, hash, begins)
}

// lastASCIIWord goes on with asciiWord where fewer than eight bytes are left.
func lastASCIIWord(text []byte, at, i, end int, hash, begins uint64) (int, uint64, uint64) {
	last, n := uint64(0), 0
	for ; i+n < end && inWord[text[i+n]]; n++ {
		c := text[i+n]
		if c >= utf8.RuneSelf {
			return at, 0, 0
		}
		last |= uint64(lowerASCII(c)) << (8 * n)
	}
	if i == at {
		begins = last
	}
	return i + n, hashEnd(hash, last, i+n-at), begins
}

func lowerASCII(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c |= 0x20
	}
	return c
}
