package fetch

import (
	"io"
	"math/bits"
	"sync"
)

// Buffers come in sizes that are powers of two, from smallest to largest; what is larger is not kept.
const (
	smallestBuffer = 12 // 4 KiB
	largestBuffer  = 24 // 16 MiB
)

var buffers [largestBuffer + 1]sync.Pool

// buffer holds a body. It comes from a pool, and goes back there by free.
type buffer struct {
	bytes []byte
	class int
}

// newBuffer returns an empty buffer for at least so many bytes.
func newBuffer(size int) *buffer {
	class := max(smallestBuffer, bits.Len(uint(size)))
	if class <= largestBuffer {
		if b, ok := buffers[class].Get().(*buffer); ok {
			b.bytes = b.bytes[:0]
			return b
		}
	}
	return &buffer{bytes: make([]byte, 0, 1<<class), class: class}
}

// free gives the buffer back; the caller must not touch it again. A nil buffer has nothing to give.
func (b *buffer) free() {
	if b != nil && b.class <= largestBuffer {
		buffers[b.class].Put(b)
	}
}

// fill reads to the end, or until it holds limit bytes and there are more. An error leaves what came
// before it.
func (b *buffer) fill(r io.Reader, limit int) (truncated bool, err error) {
	for idle := 0; ; {
		if len(b.bytes) == cap(b.bytes) {
			b.grow()
		}
		n, err := r.Read(b.bytes[len(b.bytes):min(cap(b.bytes), limit+1)])
		b.bytes = b.bytes[:len(b.bytes)+n]
		switch {
		case len(b.bytes) > limit:
			b.bytes = b.bytes[:limit]
			return true, nil
		case err == io.EOF:
			return false, nil
		case err != nil:
			return false, err
		case n > 0:
			idle = 0
		default:
			if idle++; idle == 100 {
				return false, io.ErrNoProgress
			}
		}
	}
}

// grow moves the bytes to a buffer of twice the size.
func (b *buffer) grow() {
	larger := newBuffer(cap(b.bytes))
	larger.bytes = append(larger.bytes, b.bytes...)
	*b, *larger = *larger, *b
	larger.free()
}
