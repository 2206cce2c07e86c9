// Package readonly opens databases that are only read.
package readonly

import (
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// FS is a file system without locks, for a database that no program changes: a lock is a file, which read-only media
// cannot make.
type FS struct{ vfs.FS }

// Lock locks nothing.
func (FS) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }
