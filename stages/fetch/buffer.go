package fetch

import (
	"io"
	"math/bits"
	"sync"
)

// Buffers come in sizes that are 4, 5, 6 or 7 times a power of two, so that none is a quarter larger than what
// it was made for: many bodies wait at once for what becomes of them. What is larger than 16 MiB is not kept.
const (
	smallestBuffer = 4 << 10
	sizesOfBuffers = 4*12 + 1
)

var buffers [sizesOfBuffers]sync.Pool

// sizeClass returns the number of the smallest size that holds so many bytes, and that size.
func sizeClass(size int) (class, room int) {
	size = max(size, smallestBuffer)
	power := bits.Len(uint(size)) - 3 // the size begins with the three digits from 100 to 111
	quarters := (size + 1<<power - 1) >> power
	return 4*(power-10) + quarters - 4, quarters << power
}

// buffer holds a body. It comes from a pool, and goes back there by free.
type buffer struct {
	bytes []byte
	class int
}

// newBuffer returns an empty buffer for at least so many bytes.
func newBuffer(size int) *buffer {
	class, room := sizeClass(size)
	if class < len(buffers) {
		if b, ok := buffers[class].Get().(*buffer); ok {
			b.bytes = b.bytes[:0]
			return b
		}
	}
	return &buffer{bytes: make([]byte, 0, room), class: class}
}

// free gives the buffer back; the caller must not touch it again. A nil buffer has nothing to give.
func (b *buffer) free() {
	if b != nil && b.class < len(buffers) {
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
	larger := newBuffer(2 * cap(b.bytes))
	larger.bytes = append(larger.bytes, b.bytes...)
	*b, *larger = *larger, *b
	larger.free()
}
