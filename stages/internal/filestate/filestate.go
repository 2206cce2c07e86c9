// Package filestate reads files for a stage, and tells later whether they hold something else by now: what a stage
// needs to be a [pipeline.OutdatedReporter].
package filestate

import (
	"crypto/sha256"
	"os"
	"sync"
)

// Files are those that have been read. The zero value is ready, and any number of goroutines may use it at once.
type Files struct {
	mu   sync.Mutex
	read map[string]digest // by path
}

type digest = [sha256.Size]byte

// Read reads a file, and remembers what it holds.
func (f *Files) Read(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err == nil {
		f.Note(path, text)
	}
	return text, err
}

// Note remembers what the file of a path holds, for one who has read it in another way.
func (f *Files) Note(path string, text []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.read == nil {
		f.read = make(map[string]digest)
	}
	f.read[path] = sha256.Sum256(text)
}

// Outdated reports whether a file holds something else by now, or cannot be read.
func (f *Files) Outdated() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for path, before := range f.read {
		if text, err := os.ReadFile(path); err != nil || sha256.Sum256(text) != before {
			return true
		}
	}
	return false
}
