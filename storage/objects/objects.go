// Package objects is the object cache: every version of every document that was fetched, kept as
// WARC/1.1 segments any archive tool reads, with an index beside them.
//
// What it guarantees:
//   - Once the callback of [Store.Put] or [Store.Touch] was called with nil, the version survives
//     kill -9 and power loss. Until then it may be lost, and then no trace of it is ever seen; or, if its
//     records were written, it is there as a whole when the store is next opened.
//   - Versions of a URL are numbered 1, 2, 3, …, and Put knows the number at once, whether or not the
//     version before is durable yet. No number is used twice, also after versions were removed. A version
//     is a new digest: a body equal to the latest one of its URL, like a 304, only moves the time of
//     validation.
//   - What is asked for with credentials is kept apart from what others are shown at the same URL, and no
//     list of documents or versions of a URL has it: see [View].
//   - A body is stored once, however many URLs and versions have it. A screenshot is stored with the version that it
//     came with, or that is not stored at all.
//   - [Store.Collect] removes only what it was told to, and nothing that is pinned. What it removes is
//     gone as a whole, also after a power cut: a version, its links, its place in the log and, with the
//     last reference, its body. A body stays as long as any version has it.
//   - The log of versions has no holes a follower could fall into: when [Store.Next] hands out a
//     sequence number, every smaller one is durable.
//   - No file is ever to be deleted by hand: records that a crash left behind the last indexed one are indexed
//     on open, a torn one is moved to a file of its own (seg-….at-OFFSET.set-aside), and the run goes on.
//   - Nothing is removed because the index does not know it. An index that is lost, damaged or older than the
//     segments is refused, with an [fsck.Error], and [Mend] makes it again of the records. What a repair
//     takes away is renamed to *.set-aside.
//
// Readers see what is durable; Put and Touch also see what is still on its way. One process owns a
// directory at a time, which the index enforces by a lock of its own. After a failed write or sync the
// store refuses every further write, because the state of the disk is then unknown; opening it again
// recovers.
package objects

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/internal/pebbledb"
	"github.com/webrace/webrace/storage/internal/private"
)

var (
	// ErrNotFound means that the store has no such URL or version.
	ErrNotFound = errors.New("not in the object cache")
	// ErrIncomplete means that a limit cut a body, and that the latest version of its URL is complete.
	ErrIncomplete = errors.New("cut by a limit, over a complete version in the object cache")
	// ErrClosed means that the store was closed before the call, or while it waited.
	ErrClosed = errors.New("object cache is closed")
	// ErrCorrupt means that stored bytes are not those that the index describes.
	ErrCorrupt = errors.New("object cache is damaged")
	// ErrReadOnly means that the store was opened with ReadOnly. It is an [fs.ErrPermission].
	ErrReadOnly = fmt.Errorf("object cache is open for reading only: %w", fs.ErrPermission)
	// ErrFormat means that the directory was written by a newer release.
	ErrFormat = errors.New("object cache has a newer format")
)

// Options of a store; the zero value is ready to use.
type Options struct {
	FS          vfs.FS           // where everything is kept; the operating system's files when nil
	Level       int              // gzip level of records, 1 (fast) to 9 (small); 1 when 0
	Compression Compression      // of new records; as in the segment written to last, or Gzip, when 0: see [Store.Compress]
	SegmentSize int64            // a segment that would outgrow this is followed by a new one; 1 GiB when 0
	QueueBytes  int64            // compressed bytes that may wait for the disk before Put waits too; 64 MiB when 0
	CacheBytes  int64            // memory for blocks of the index; 32 MiB when 0
	Shared      pebbledb.Cache   // that memory, if it is one that stores share; nil: some of its own
	Logger      *slog.Logger     // slog.Default() when nil
	Now         func() time.Time // the clock; time.Now when nil
	// ReadOnly opens a store that is there and changes nothing, on read-only media as well.
	ReadOnly bool
	// Fatal is called when the index can no longer keep its promises, as on a full disk, and must not
	// return: to end there loses nothing that was promised. Nil panics.
	Fatal func(error)
}

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = private.Disk
	}
	o.Level = cmp.Or(o.Level, 1)
	o.SegmentSize = cmp.Or(o.SegmentSize, 1<<30)
	o.QueueBytes = cmp.Or(o.QueueBytes, 64<<20)
	o.CacheBytes = cmp.Or(o.CacheBytes, 32<<20)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Version is one stored state of a URL.
type Version struct {
	URL         string
	Secret      string         // the name of the credentials it was asked for with; empty for none
	Number      int            // counted from 1 for each [View] of a URL
	Seq         uint64         // its place in the log of all versions, from 1
	Digest      webrace.Digest // SHA-256 of the body
	Status      int            // the HTTP status it came with
	MediaType   string         // lower case, without parameters
	Charset     string         // of the body; empty when unknown
	Language    string         // BCP 47; empty when unknown
	Size        int64          // of the body in bytes
	FetchedAt   time.Time      // when it was first received
	ValidatedAt time.Time      // when it was last known to be current
	Truncated   bool           // a limit cut the body
	Screenshot  bool           // what the page looked like is stored with it
	Changed     bool           // the Put that returned this made it: always false when read
}

// Stats count what is durable.
type Stats struct {
	URLs         uint64 // URLs with at least one version
	Versions     uint64 // versions of all URLs
	Payloads     uint64 // distinct bodies
	PayloadBytes uint64 // their size before compression
	Segments     uint64 // segment files
	SegmentBytes uint64 // their size
	DeadBytes    uint64 // of those, what belongs to nothing any more
	Waiting      int    // writes accepted that are not durable yet
}
