package testutil

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Construct is something of which a document can have much: of about so many bytes.
type Construct struct {
	Name string
	Grow func(size int) []byte
}

// Repeated returns a construct of a unit again and again, in which %d is its number, within what begins and ends it.
func Repeated(name, begin, unit, end string) Construct {
	return Construct{Name: name, Grow: func(size int) []byte {
		var b strings.Builder
		b.WriteString(begin)
		for i := 0; b.Len() < size-len(end); i++ {
			b.WriteString(strings.ReplaceAll(unit, "%d", strconv.Itoa(i)))
		}
		return []byte(b.String() + end)
	}}
}

const (
	small, large = 128 << 10, 1 << 20
	// mostLive is how much memory a document of a megabyte may take, beside itself.
	mostLive = 64 << 20
	// tolerance is by how much time and memory may grow faster than a document: for a machine that is busy, and for
	// tables that double.
	tolerance = 3
	// leastTime and leastMade are too little to be compared.
	leastTime, leastMade = 250 * time.Millisecond, 32 << 20
)

// Amplify reads a construct of a megabyte, and one of 128 KiB if that took long or made much, and fails where time or
// memory grows faster than the document, or takes more than 64 MiB. Read reports whether a limit was reached. With -v
// it tells what was measured. No other test may run meanwhile.
func Amplify(t *testing.T, c Construct, read func(body []byte) (over bool)) {
	t.Helper()
	body := c.Grow(large)
	after := measure(body, read)
	if after.time <= leastTime && after.made <= leastMade && after.live <= mostLive {
		t.Logf("%-28s %v", c.Name, after)
		return
	}
	little := c.Grow(small)
	before := measure(little, read)
	for tries := 1; tries < 5 && len(excess(before, after)) > 0; tries++ {
		after = after.least(measure(body, read))
		before.time = max(before.time, measure(little, read).time) // its few milliseconds may have had the machine to themselves
	}
	t.Logf("%-28s %v; %v", c.Name, before, after)
	for _, what := range excess(before, after) {
		t.Errorf("%s: %s", c.Name, what)
	}
}

// excess returns what grows faster than the document, or is too much.
func excess(before, after cost) (all []string) {
	const most = tolerance * large / small
	if after.time > leastTime && after.time > most*before.time {
		all = append(all, fmt.Sprintf("eight times as much takes %v instead of %v", after.time, before.time))
	}
	if after.made > leastMade && after.made > most*before.made {
		all = append(all, fmt.Sprintf("eight times as much makes %d MiB instead of %d MiB", after.made>>20, before.made>>20))
	}
	if after.live > mostLive {
		all = append(all, fmt.Sprintf("a megabyte takes %d MiB of memory", after.live>>20))
	}
	return all
}

// cost is what reading a document took.
type cost struct {
	time time.Duration // of a processor
	made uint64        // bytes that were allocated
	live uint64        // the most of them at once, as the garbage collector saw
	over bool
}

func (c cost) String() string {
	limit := ""
	if c.over {
		limit = ", over the limit"
	}
	return fmt.Sprintf("%v, %d MiB made, %d MiB at once%s", c.time.Round(time.Millisecond), c.made>>20, c.live>>20, limit)
}

// least returns the less of each. What was measured is measured again where it seems too much: on a machine that is
// busy, what is allocated while the garbage collector runs counts as alive, which is much of it then, and a processor
// that others use has forgotten more.
func (c cost) least(other cost) cost {
	return cost{min(c.time, other.time), min(c.made, other.made), min(c.live, other.live), c.over && other.over}
}

func measure(body []byte, read func([]byte) bool) (c cost) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // so that what is alive is seen often
	runtime.GC()
	var most atomic.Uint64
	base := liveHeap()
	var watching atomic.Bool
	watching.Store(true)
	defer watching.Store(false)
	watchHeap(func(live uint64) bool {
		for seen := most.Load(); live > seen && !most.CompareAndSwap(seen, live); seen = most.Load() {
		}
		return watching.Load()
	})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := threadTime()
	c.over = read(body)
	c.time = threadTime() - began
	runtime.ReadMemStats(&after)
	c.made = after.TotalAlloc - before.TotalAlloc
	if seen := most.Load(); seen > base {
		c.live = seen - base
	}
	return c
}

// watchHeap calls f after each garbage collection with what that has left, until f returns false.
func watchHeap(f func(live uint64) bool) {
	type sentinel [64]byte // large enough to lie in no block with others
	runtime.AddCleanup(new(sentinel), func(f func(uint64) bool) {
		if f(liveHeap()) {
			watchHeap(f)
		}
	}, f)
}

func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
