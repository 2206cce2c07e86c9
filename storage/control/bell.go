package control

import "sync"

// bell wakes whoever waits for something to happen. The zero value is ready.
type bell struct {
	mu    sync.Mutex
	rings chan struct{} // closed at the next ring; nil while nobody listens
}

// next returns a channel that is closed when the bell rings next.
func (b *bell) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rings == nil {
		b.rings = make(chan struct{})
	}
	return b.rings
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rings != nil {
		close(b.rings)
		b.rings = nil
	}
}
