package httpclient

import (
	"io"
	"math/bits"
	"sync"
)

// Buffers come in sizes that are 4, 5, 6 or 7 times a power of two, so that none is a quarter larger than what
// it was made for: many bodies wait at once for what becomes of them. What is larger than mostIdle is not kept.
const (
	smallestBuffer = 4 << 10
	sizesOfBuffers = 4*11 + 1 // up to mostIdle
)

// mostIdle is how many bytes of buffers wait to be used again. That is as much as the bodies that are mostly in
// flight at once; to keep what a few large pages needed for a moment would cost memory for nothing.
const mostIdle = 8 << 20

var buffers idleBuffers

// idleBuffers are buffers that no body uses, by their size. Beyond mostIdle the sizes give up one each in turn.
type idleBuffers struct {
	mu     sync.Mutex
	bySize [sizesOfBuffers][]*buffer
	bytes  int
	turn   int // the size that is the next to give up a buffer
}

// take returns a buffer of a size, or nil if there is none.
func (f *idleBuffers) take(class int) *buffer {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pop(class)
}

func (f *idleBuffers) pop(class int) *buffer {
	idle := f.bySize[class]
	if len(idle) == 0 {
		return nil
	}
	b := idle[len(idle)-1]
	idle[len(idle)-1] = nil
	f.bySize[class] = idle[:len(idle)-1]
	f.bytes -= cap(b.bytes)
	return b
}

func (f *idleBuffers) put(b *buffer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bySize[b.class] = append(f.bySize[b.class], b)
	f.bytes += cap(b.bytes)
	for f.bytes > mostIdle {
		f.turn = (f.turn + 1) % sizesOfBuffers
		f.pop(f.turn)
	}
}

// sizeClass returns the number of the smallest size that holds so many bytes, and that size.
func sizeClass(size int) (class, room int) {
	size = max(size, smallestBuffer)
	power := bits.Len(uint(size)) - 3 // the size begins with the three digits from 100 to 111
	quarters := (size + 1<<power - 1) >> power
	return 4*(power-10) + quarters - 4, quarters << power
}

// buffer holds a body. It comes from those that are idle, and goes back there by free.
type buffer struct {
	bytes []byte
	class int
}

// newBuffer returns an empty buffer for at least so many bytes.
func newBuffer(size int) *buffer {
	class, room := sizeClass(size)
	if class < sizesOfBuffers {
		if b := buffers.take(class); b != nil {
			b.bytes = b.bytes[:0]
			return b
		}
	}
	return &buffer{bytes: make([]byte, 0, room), class: class}
}

// free gives the buffer back; the caller must not touch it again. A nil buffer has nothing to give.
func (b *buffer) free() {
	if b != nil && b.class < sizesOfBuffers {
		buffers.put(b)
	}
}

// fill reads to the end, or until it holds limit bytes and there are more. An error leaves what came
// before it. Before it grows it asks whether it may become so large; nil lets it.
func (b *buffer) fill(r io.Reader, limit int, may func(bytes int) error) (truncated bool, err error) {
	for idle := 0; ; {
		if len(b.bytes) == cap(b.bytes) {
			if may != nil {
				if err := may(2 * cap(b.bytes)); err != nil {
					return false, err
				}
			}
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
