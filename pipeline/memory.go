package pipeline

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace/internal/pointer"
	"github.com/webrace/webrace/pipeline/codec"
)

// Memory is a budget of bytes for what flows: a weighted semaphore that the runs of a process share. What a lease takes
// from it goes back when the lease ends. The runtime takes what sources emit; a stage that makes more of an item takes
// that by [Env.Reserve]. What does not fit waits in the order of coming, but leases that hold something already come
// before those that hold nothing, because they can only end when they go on. No lease waits for ever:
//
//   - At each stage, one lease at a time may go beyond the budget, if it holds something already. So leases that all
//     wait for more do not wait for each other: those at the last stage where any wait go on, one by one, and end. The
//     budget is exceeded by one item for each stage that waits, at most.
//   - An item that is larger than the budget is let in when nothing else is there.
//   - While a lease waits, stages that keep items let go of them before their time: see [EarlyReleaser].
//
// A nil *Memory has no limit.
type Memory struct {
	size    int64
	used    atomic.Int64
	waiting atomic.Int32 // how many wait; while none does, what fits passes without the lock

	mu     sync.Mutex
	waits  []*memoryWait   // in the order of coming
	beyond map[*Env]*lease // at a stage, the lease that may go beyond the budget
}

// memoryWait is a lease that waits for memory at a stage.
type memoryWait struct {
	lease *lease
	at    *Env
	bytes int64
	since time.Time
	given chan struct{} // closed when it has them
}

// memoryHeld is what a lease has taken from a budget.
type memoryHeld struct {
	from  pointer.Atomic[Memory] // nil: it has taken nothing
	bytes atomic.Int64
}

// NewMemory returns a budget of so many bytes.
func NewMemory(size int64) *Memory { return &Memory{size: size, beyond: make(map[*Env]*lease)} }

// MemoryState is how a budget stands.
type MemoryState struct {
	Size    int64 `json:"size"`    // in bytes; 0 without a limit
	Used    int64 `json:"used"`    // it may be more than the size, as [Memory] describes
	Waiting int   `json:"waiting"` // leases that wait for memory
}

// State returns how the budget stands.
func (m *Memory) State() MemoryState {
	if m == nil {
		return MemoryState{}
	}
	return MemoryState{Size: m.size, Used: m.used.Load(), Waiting: int(m.waiting.Load())}
}

// Memory returns the budget that the stage's run takes from.
func (e *Env) Memory() *Memory {
	if e.run == nil {
		return nil
	}
	return e.run.options.Memory
}

// Reserve takes bytes of memory for an item, and waits until there are any: for a body before it is read, for a
// text before it is made. The item's lease gives them back when it ends. A negative number gives back at once what
// has turned out to be too many. The error is that of ctx, and then nothing is taken. Without a budget, or without
// a lease, there is nothing to take. A [BatchProcessor] takes all that it needs for one and the same item of its
// group: the others end no sooner, and would wait for it.
func (e *Env) Reserve(ctx context.Context, it *Item, bytes int) error {
	m, l := e.Memory(), it.lease
	switch {
	case m == nil || l == nil || bytes == 0:
		return nil
	case bytes < 0:
		l.memory.bytes.Add(int64(bytes))
		m.giveBack(int64(-bytes))
		return nil
	case m.waiting.Load() == 0 && m.fits(int64(bytes)):
		l.memory.add(m, int64(bytes))
		return nil
	}
	return m.await(ctx, &memoryWait{lease: l, at: e, bytes: int64(bytes), since: time.Now(), given: make(chan struct{})})
}

func (h *memoryHeld) add(from *Memory, bytes int64) {
	pointer.Store(&h.from, from)
	h.bytes.Add(bytes)
}

// end gives back what the lease has taken.
func (h *memoryHeld) end(l *lease) {
	m := pointer.Load(&h.from)
	if m == nil {
		return
	}
	if l.beyond.Load() {
		m.endBeyond(l)
	}
	m.giveBack(h.bytes.Load())
}

// fits takes bytes if the budget has them.
func (m *Memory) fits(bytes int64) bool {
	for {
		used := m.used.Load()
		if used > 0 && used+bytes > m.size {
			return false
		}
		if m.used.CompareAndSwap(used, used+bytes) {
			return true
		}
	}
}

func (m *Memory) giveBack(bytes int64) {
	m.used.Add(-bytes)
	if m.waiting.Load() > 0 {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.serve()
	}
}

// endBeyond lets another lease go beyond the budget where one did that has ended.
func (m *Memory) endBeyond(l *lease) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.beyond, func(_ *Env, other *lease) bool { return other == l })
	m.serve()
}

func (m *Memory) await(ctx context.Context, w *memoryWait) error {
	w.at.memory.waiting.Add(1)
	defer func() {
		w.at.memory.waiting.Add(-1)
		w.at.memory.waited.Add(int64(time.Since(w.since)))
	}()
	m.mu.Lock()
	m.waits = append(m.waits, w)
	m.waiting.Add(1) // before looking: a lease that gives something back, and sees none waiting, has done so before
	m.serve()
	m.mu.Unlock()
	select {
	case <-w.given:
		return nil
	case <-ctx.Done():
		return m.giveUp(ctx, w)
	}
}

// giveUp takes a wait back, unless it has been served meanwhile.
func (m *Memory) giveUp(ctx context.Context, w *memoryWait) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.Index(m.waits, w)
	if i < 0 {
		return nil
	}
	m.drop(i)
	m.serve() // what came behind it may fit
	return ctx.Err()
}

func (m *Memory) drop(i int) {
	m.waits = slices.Delete(m.waits, i, i+1)
	m.waiting.Add(-1)
}

// serve gives bytes to the leases that wait and can have them now. The caller holds m.mu.
func (m *Memory) serve() {
	for len(m.waits) > 0 {
		i := m.next()
		if i < 0 {
			return
		}
		w := m.waits[i]
		m.drop(i)
		w.lease.memory.add(m, w.bytes)
		close(w.given)
	}
}

// next takes the bytes for the wait that can be served, and returns its index, or -1 if there is none: the first of a
// lease that holds something if it fits, or else one of a lease that may go beyond the budget; the first of all if none
// holds something.
func (m *Memory) next() int {
	holds := func(w *memoryWait) bool { return w.lease.memory.bytes.Load() > 0 }
	first := slices.IndexFunc(m.waits, holds)
	if m.fits(m.waits[max(first, 0)].bytes) {
		return max(first, 0)
	}
	if first < 0 {
		return -1
	}
	for i, w := range m.waits[first:] {
		if other := m.beyond[w.at]; holds(w) && (other == nil || other == w.lease) {
			m.beyond[w.at] = w.lease
			w.lease.beyond.Store(true)
			m.used.Add(w.bytes)
			return first + i
		}
	}
	return -1
}

// stalled reports whether a lease has waited for so long.
func (m *Memory) stalled(after time.Duration) bool {
	if m == nil || m.waiting.Load() == 0 {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.waits) > 0 && time.Since(m.waits[0].since) >= after
}

// flatWeight is what a value is taken to keep beside what is known of it.
const flatWeight = 512

// weight returns about how many bytes a value keeps that a source has made. It takes little time.
func weight(v any) int {
	return flatWeight + sizeOf(v)
}

func sizeOf(v any) int {
	if bytes, known := codec.Size(v); known {
		return bytes
	}
	const (
		word  = 16
		entry = 48 // of a map, with the string that names it, and the places that are free
	)
	bytes := word
	switch v := v.(type) {
	case string:
		bytes += len(v)
	case []byte:
		bytes += len(v)
	case Record:
		for name, v := range v {
			bytes += entry + len(name) + sizeOf(v)
		}
	case List:
		for _, v := range v {
			bytes += sizeOf(v)
		}
	}
	return bytes
}
