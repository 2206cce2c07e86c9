package otlp

import (
	"encoding/json"
	"io"
	"sync"
)

// File gets a line for each lease. It may be used by many goroutines at once, which wait for the disk alone.
type File struct {
	service string

	mu  sync.Mutex
	out io.Writer
	err error
}

var _ Sink = (*File)(nil)

// NewFile returns a file that names the service that the spans are of.
func NewFile(out io.Writer, service string) *File { return &File{service: service, out: out} }

// Err returns why something could not be written; nothing is, from then on.
func (f *File) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *File) take(lease []span) {
	line, err := json.Marshal(export(f.service, lease)) // of types that can always be written
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
	if f.err == nil {
		_, f.err = f.out.Write(append(line, '\n'))
	}
}
