// Package testutil is what tests of several packages need: a buffer for the logs of goroutines, a disk that can be
// filled, PDF files, golden files, and random XPath expressions that are held against libxml2.
package testutil

import (
	"bytes"
	"sync"
)

// Buffer may be written and read by many at once, as the log of a program that still runs. Its zero value is empty.
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
