// Package sharedbuffer keeps what several goroutines write, such as log lines, for a test to read meanwhile.
package sharedbuffer

import (
	"bytes"
	"sync"
)

// Buffer may be written and read by many at once. Its zero value is empty.
type Buffer struct {
	mu    sync.Mutex
	bytes bytes.Buffer
}

// Write appends p. It never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes.Write(p)
}

// String returns all that was written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes.String()
}
