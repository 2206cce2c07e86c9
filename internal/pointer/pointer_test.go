package pointer_test

import (
	"sync"
	"testing"

	"github.com/webrace/webrace/internal/pointer"
)

// TestGoroutinesShareAPointer counts with many: what one writes, the next one reads, and no number is lost.
func TestGoroutinesShareAPointer(t *testing.T) {
	t.Parallel()
	var shared pointer.Atomic[int]
	if pointer.Load(&shared) != nil || !pointer.CompareAndSwap(&shared, nil, new(int)) {
		t.Fatal("it is not nil at first")
	}
	const each, goroutines = 1000, 4
	var done sync.WaitGroup
	for range goroutines {
		done.Go(func() {
			for n := 0; n < each; {
				before := pointer.Load(&shared)
				after := *before + 1
				if pointer.CompareAndSwap(&shared, before, &after) {
					n++
				}
			}
		})
	}
	done.Wait()
	if n := *pointer.Swap(&shared, nil); n != each*goroutines {
		t.Errorf("%d goroutines count to %d", goroutines, n)
	}
	n := 1
	if pointer.Store(&shared, &n); pointer.Load(&shared) != &n {
		t.Error("it is not what was stored")
	}
}
