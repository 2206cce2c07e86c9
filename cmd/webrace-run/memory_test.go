package main

import (
	"runtime"
	"testing"
	"time"
)

func TestAProcessIsKeptSmallButNeverToWhatItNeeds(t *testing.T) {
	t.Parallel()
	for inUse, last := uint64(0), int64(0); inUse < 1<<30; inUse += 1 << 20 {
		limit := limitFor(inUse)
		if limit < smallest || limit < last || limit < int64(inUse)*139/100 || limit > max(smallest, int64(inUse)*7/5+limits) {
			t.Fatalf("with %d MB in use the limit is %d MB", inUse>>20, limit>>20)
		}
		last = limit
	}
}

func TestWhatIsInUseIsKnownAfterEachCollection(t *testing.T) {
	t.Parallel()
	const large = 64 << 20
	seen := make(chan uint64)
	over := make(chan struct{})
	defer close(over)
	afterEachCollection(func(inUse uint64) {
		select {
		case seen <- inUse:
		case <-over:
		}
	})
	held := make([]byte, large)
	for noticed := 0; noticed < 3; {
		runtime.GC() // which may come before there is somebody to notice it
		select {
		case inUse := <-seen:
			noticed++
			if inUse < large {
				t.Errorf("%d bytes are in use, of which %d are held here", inUse, large)
			}
		case <-time.After(10 * time.Millisecond):
		}
	}
	runtime.KeepAlive(held)
}

// TestGarbageIsAShareOfWhatIsInUseOrSome holds that little memory is not collected all the time, and that much of it
// gathers no more garbage than its share.
func TestGarbageIsAShareOfWhatIsInUseOrSome(t *testing.T) {
	for inUse := uint64(1 << 20); inUse < 1<<30; inUse += 1 << 20 {
		garbage := inUse * uint64(garbageFor(inUse)) / 100
		if share := inUse * garbagePercent / 100; garbage < min(share, leastGarbage) || garbage > max(share, leastGarbage) {
			t.Errorf("with %d MB in use, %d MB of garbage gather", inUse>>20, garbage>>20)
		}
	}
	if garbageFor(0) > 100*leastGarbage>>20 {
		t.Error("with nothing in use, there is no limit")
	}
}
