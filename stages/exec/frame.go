package exec

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A frame is a header, which is JSON, and a body:
//
//	u32le  length of all that follows
//	u32le  length of the header
//	header
//	body
const (
	lengths    = 8  // the two
	frameStart = 4  // the length of the header, which the first length counts
	quoted     = 40 // bytes of garbage that an error quotes
)

// appendFrame adds a frame to a buffer.
func appendFrame(b []byte, header, body []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(frameStart+len(header)+len(body)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	b = append(b, header...)
	return append(b, body...)
}

// readFrame reads the next frame of at most limit bytes. Header and body are the caller's. [io.EOF] means
// that there is none; a frame that breaks off is an [io.ErrUnexpectedEOF].
func readFrame(r *bufio.Reader, limit int64) (header, body []byte, err error) {
	var start [lengths]byte
	if n, err := io.ReadFull(r, start[:]); err != nil {
		if n > 0 && errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, nil, fmt.Errorf("a frame breaks off after %q: %w", start[:n], err)
		}
		return nil, nil, err
	}
	total := int64(binary.LittleEndian.Uint32(start[:4]))
	head := int64(binary.LittleEndian.Uint32(start[4:]))
	switch {
	case head > total-frameStart, total > limit && isText(start[:]):
		return nil, nil, fmt.Errorf("what it wrote to standard output is no frame: %q; text goes to standard error", garbage(start[:], r))
	case total > limit:
		return nil, nil, fmt.Errorf("a frame of %d bytes: max_frame is %d", total, limit)
	}
	frame, err := readBytes(r, total-frameStart)
	if err != nil {
		return nil, nil, fmt.Errorf("a frame of %d bytes breaks off: %w", total, io.ErrUnexpectedEOF)
	}
	return frame[:head:head], frame[head:], nil
}

// trusted is how much memory is taken at once on the word of a frame's length alone.
const trusted = 1 << 20

func readBytes(r io.Reader, n int64) ([]byte, error) {
	buffer := make([]byte, 0, min(n, trusted))
	for int64(len(buffer)) < n {
		at := len(buffer)
		part := min(n-int64(at), int64(max(trusted, at))) // doubles, as far as bytes have come
		buffer = append(buffer, make([]byte, part)...)
		if _, err := io.ReadFull(r, buffer[at:]); err != nil {
			return nil, err
		}
	}
	return buffer, nil
}

func isText(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// garbage returns the beginning of what is no frame, as far as it has come already.
func garbage(start []byte, r *bufio.Reader) []byte {
	more, _ := r.Peek(min(r.Buffered(), quoted-len(start)))
	return append(append([]byte{}, start...), more...)
}
