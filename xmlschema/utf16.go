package xmlschema

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// utf16Reader gives a document of UTF-16 in UTF-8. Half a character becomes the byte 0xFF, which UTF-8 never has: the
// decoder of golang.org/x/text makes U+FFFD of it, which the document might hold.
type utf16Reader struct {
	r       *bufio.Reader
	order   binary.ByteOrder
	pending []byte
}

func (u *utf16Reader) Read(p []byte) (n int, err error) {
	for len(u.pending) == 0 {
		if err := u.character(); err != nil {
			return 0, err
		}
		for len(u.pending) < len(p) && u.r.Buffered() >= 4 { // what is there already
			if err := u.character(); err != nil {
				return 0, err
			}
		}
	}
	n = copy(p, u.pending)
	u.pending = u.pending[n:]
	return n, nil
}

// character reads one.
func (u *utf16Reader) character() error {
	var unit [2]byte
	switch _, err := io.ReadFull(u.r, unit[:]); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		u.pending = append(u.pending, 0xff)
		return nil
	case err != nil:
		return err
	}
	r := rune(u.order.Uint16(unit[:]))
	if !utf16.IsSurrogate(r) {
		u.pending = utf8.AppendRune(u.pending, r)
		return nil
	}
	next, err := u.r.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if len(next) == 2 {
		if whole := utf16.DecodeRune(r, rune(u.order.Uint16(next))); whole != utf8.RuneError {
			u.r.Discard(2)
			u.pending = utf8.AppendRune(u.pending, whole)
			return nil
		}
	}
	u.pending = append(u.pending, 0xff)
	return nil
}
