package htmltext

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/webrace/webrace/internal/swar"
)

// Most of a page is text without anything to replace, in runs too short for calls to pay: between two tags
// of highlighted code there are a few bytes. So they are looked at and copied eight at a time.

// run consumes running text up to the next '<'.
func (s *Scanner) run() {
	if s.dirty || s.template > 0 || len(s.foreign) > 0 || len(s.concealed.open) > 0 {
		rest := s.src[s.pos:]
		if lt := bytes.IndexByte(rest, '<'); lt >= 0 {
			rest = rest[:lt]
		}
		s.text(rest)
		s.pos += len(rest)
		return
	}
	if len(s.Text.Bytes) == s.block {
		s.pos = skipSpace(s.src, s.pos)
	}
	for {
		s.plainRun()
		if s.pos == len(s.src) || s.src[s.pos] == '<' {
			return
		}
		s.decodeReference()
	}
}

// decodeReference adds the character that the '&' at pos refers to, if it does.
func (s *Scanner) decodeReference() {
	from := len(s.Text.Bytes)
	var used int
	if s.Text.Bytes, used = s.reference(s.Text.Bytes, s.src[s.pos+1:], false); used == 0 {
		s.Text.Bytes = append(s.Text.Bytes, '&')
	}
	if s.pre == 0 {
		swar.Replace(s.Text.Bytes[from:], '\n', ' ')
	}
	s.pos += 1 + used
}

// plainRun copies text up to the next '<' or '&', and line feeds as blanks unless they are shown.
func (s *Scanner) plainRun() {
	src, i := s.src, s.pos
	dst := s.Text.Bytes
	shown := byte('\n' ^ ' ') // by what a line feed differs from what is copied for it
	if s.pre > 0 {
		shown = 0
	}
	for i+8 <= len(src) {
		if cap(dst)-len(dst) < 8 {
			dst = slices.Grow(dst, 64+cap(dst)/2)
		}
		x := binary.LittleEndian.Uint64(src[i:])
		n := len(dst)
		feeds := swar.ExactZeroes(x ^ '\n'*swar.Each)
		binary.LittleEndian.PutUint64(dst[n:n+8], x^feeds>>7*uint64(shown))
		if stop := swar.Zeroes(x^'<'*swar.Each) | swar.Zeroes(x^'&'*swar.Each); stop != 0 {
			taken := bits.TrailingZeros64(stop) / 8
			s.Text.Bytes, s.pos = dst[:n+taken], i+taken
			return
		}
		dst, i = dst[:n+8], i+8
	}
	for ; i < len(src) && src[i] != '<' && src[i] != '&'; i++ {
		c := src[i]
		if c == '\n' {
			c ^= shown
		}
		dst = append(dst, c)
	}
	s.Text.Bytes, s.pos = dst, i
}
