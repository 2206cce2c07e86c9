package fetch

import "testing"

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
	if class, room := sizeClass(16 << 20); class != len(buffers)-1 || room != 16<<20 {
		t.Errorf("16 MiB is of class %d of %d", class, len(buffers))
	}
}
