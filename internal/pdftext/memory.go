package pdftext

import "github.com/tetratelabs/wazero/experimental"

// budget is the memory that a file takes, as the caller has it reserved before it is made.
type budget struct {
	reserve func(bytes int) error // nil has no limit
	held    int
}

// budgetStep is in what steps memory is reserved.
const budgetStep = 1 << 20

// hold has so many bytes in all reserved, and waits until there are any. The error is that of the caller's context.
func (b *budget) hold(bytes int) error {
	more := bytes - b.held
	if more <= 0 || b.reserve == nil {
		return nil
	}
	more = max(more, budgetStep)
	if err := b.reserve(more); err != nil {
		return err
	}
	b.held += more
	return nil
}

// release gives all back.
func (b *budget) release() {
	if b.held > 0 {
		_ = b.reserve(-b.held)
	}
	b.held = 0
}

// linearMemory is the memory of an instance. It lies outside of the collector's: addresses for all that the instance
// may have, of which the system gives what is touched. So nothing is copied when it grows, and nothing stays behind.
type linearMemory struct {
	budget
	most    int // bytes
	space   []byte
	refused bool // what was last asked for is more than there is
}

// Allocate finds addresses. If there are none, the instance does not start.
func (m *linearMemory) Allocate(_, _ uint64) experimental.LinearMemory {
	m.space = mapped(m.most)
	return m
}

// Reallocate gives the instance so many bytes in all, or none if that is too much.
func (m *linearMemory) Reallocate(size uint64) []byte {
	m.refused = size > uint64(len(m.space)) || m.hold(int(size)) != nil
	if m.refused {
		return nil
	}
	return m.space[:size:size]
}

// Free gives everything back, once.
func (m *linearMemory) Free() {
	unmap(m.space)
	m.space = nil
	m.release()
}
