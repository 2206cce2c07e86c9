package httpclient

import (
	"math/rand/v2"
	"testing"
)

// TestBuffersAreLargeEnoughAndNotMuchLarger looks at every size near a border, and at the classes' order.
func TestBuffersAreLargeEnoughAndNotMuchLarger(t *testing.T) {
	t.Parallel()
	last := -1
	for size := range 1 << 25 {
		if size > 1<<14 && size%1021 != 0 && size&(size-1) != 0 && (size+1)&size != 0 {
			continue
		}
		class, room := sizeClass(size)
		switch {
		case room < size:
			t.Fatalf("%d bytes get %d", size, room)
		case size >= smallestBuffer && 4*room >= 5*size+4:
			t.Fatalf("%d bytes get %d", size, room)
		case class != last && class != last+1:
			t.Fatalf("%d bytes are of class %d after %d", size, class, last)
		}
		if again, same := sizeClass(room); again != class || same != room {
			t.Fatalf("a buffer of %d bytes is of class %d, and of %d as one of %d", room, class, again, same)
		}
		last = class
	}
	if class, room := sizeClass(mostIdle); class != sizesOfBuffers-1 || room != mostIdle {
		t.Errorf("%d bytes are of class %d of %d", mostIdle, class, sizesOfBuffers)
	}
}

func TestNoMoreBuffersAreKeptThanAreMostlyInFlight(t *testing.T) {
	t.Parallel()
	var idle idleBuffers
	r := rand.New(rand.NewPCG(7, 11))
	for range 10_000 {
		class, room := sizeClass(r.IntN(2 << 20))
		b := idle.take(class)
		if b == nil {
			b = &buffer{bytes: make([]byte, 0, room), class: class}
		}
		if cap(b.bytes) != room {
			t.Fatalf("a buffer of %d bytes for %d", cap(b.bytes), room)
		}
		idle.put(b)
		if r.IntN(4) == 0 { // another body needed two at once
			idle.put(&buffer{bytes: make([]byte, 0, room), class: class})
		}
		kept := 0
		for _, sized := range idle.bySize {
			for _, b := range sized {
				kept += cap(b.bytes)
			}
		}
		if kept != idle.bytes || kept > mostIdle {
			t.Fatalf("%d bytes are kept, counted as %d; the most is %d", kept, idle.bytes, mostIdle)
		}
	}
}
