package objects

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/broadcast"
	"github.com/webrace/webrace/storage/internal/generation"
	"github.com/webrace/webrace/storage/internal/locks"
	"github.com/webrace/webrace/storage/internal/pebbledb"
	"github.com/webrace/webrace/storage/internal/readonly"
)

// format is the version of the directory's layout; see [Open]. A store has the first that knows all that is in it.
const (
	format            = formatResources
	formatResources   = 5
	formatScreenshots = 4
	formatZstd        = 3
	formatGzip        = 2
)

// Store is an object cache. Its methods may be called from many goroutines.
type Store struct {
	options  Options
	db       pebbledb.DB
	segments segments // the committer's own, but for read
	format   uint64   // that the index says it has; the committer's own
	buffers  *sync.Pool
	archive  atomic.Uint32 // the Compression of new records
	compress map[Compression]*sync.Pool
	users    users

	generation generation.Generation // that the index has reached; the committer's own
	reached    *generation.File      // records it beside the index

	urls    locks.Stripes // held while the next version of a URL is decided
	digests locks.Stripes // held while it is decided whether a body is new

	deciding   sync.RWMutex // held by Put and Touch from what they read to their place in the queue
	holds      holds
	collecting sync.Mutex    // held by a collection
	unlinking  sync.RWMutex  // held to unlink a segment; shared by readers of those that an index names
	moves      atomic.Uint64 // counts what was published of records that moved, or went
	removals   atomic.Uint64 // counts those that are to be told
	told       atomic.Uint64 // one more than the removals of which nothing is left to be told

	mu        sync.Mutex
	work      *sync.Cond // the committer waits for a write, or for closing
	space     *sync.Cond // writers wait for the queue to shrink
	queue     []*write
	waiting   int   // writes accepted and not yet answered
	bytes     int64 // their compressed size
	closing   bool
	failed    error
	accepted  uint64 // the last sequence number given out
	durable   counters
	news      broadcast.Cond // when durable.seq grows, and at the end
	waiters   []waiter       // callers of AwaitDurable
	versions  map[string]pendingVersion
	payloads  map[webrace.Digest]pendingPayload
	committer sync.WaitGroup
}

// pendingVersion is the latest version of a URL while it is not durable, with the write that makes it so.
type pendingVersion struct {
	version Version
	by      *write
}

// pendingPayload is a body that is not durable yet.
type pendingPayload struct {
	payload *payload
	by      *write
}

// Open opens the store in dir, and makes it if there is none. A directory of a newer format is refused
// with [ErrFormat], and one whose index is lost, damaged or older than its segments with an [fsck.Error] that
// tells what mends it; both are left as they are. What a crash left behind the last indexed record is indexed
// if it is whole, and else moved to a file beside, with a warning.
func Open(dir string, o Options) (*Store, error) {
	s, err := openStore(dir, o, false)
	if err != nil {
		return nil, fmt.Errorf("open object cache %s: %w", dir, err)
	}
	return s, nil
}

// openStore opens a store, also one whose index lacks records, if it is to be mended.
func openStore(dir string, o Options, mend bool) (*Store, error) {
	o = o.withDefaults()
	compress := map[Compression]*sync.Pool{}
	for _, c := range compressions {
		var err error
		if compress[c], err = compressors(c, o.Level); err != nil {
			return nil, err
		}
	}
	if o.ReadOnly {
		o.FS = readonly.FS{FS: o.FS}
	} else if err := makeDir(o.FS, dir); err != nil {
		return nil, err
	}
	if err := refuseLostIndex(dir, o); err != nil && !mend {
		return nil, err
	}
	db, err := openIndex(o.FS.PathJoin(dir, indexName), o)
	if err != nil {
		return nil, err
	}
	s := &Store{
		options:  o,
		db:       db,
		compress: compress,
		buffers:  &sync.Pool{New: func() any { return new(bytes.Buffer) }},
		segments: segments{fs: o.FS, dir: dir, limit: o.SegmentSize, sealed: map[uint32]*segmentState{}},
		holds:    newHolds(),
		urls:     locks.NewStripes(),
		digests:  locks.NewStripes(),
		versions: map[string]pendingVersion{},
		payloads: map[webrace.Digest]pendingPayload{},
	}
	s.work, s.space = sync.NewCond(&s.mu), sync.NewCond(&s.mu)
	s.segments.renewal = s.firstRecord
	err = s.segments.look()
	if err == nil {
		err = s.recover(mend)
	}
	if err != nil {
		return nil, errors.Join(err, s.segments.close(), s.reached.Close(), db.Close())
	}
	s.archive.Store(uint32(cmp.Or(o.Compression, s.segments.state.compression, Gzip)))
	if !o.ReadOnly {
		s.committer.Go(s.commitLoop)
	}
	return s, nil
}

// Close makes everything accepted durable, answers it, and ends waiting followers. A second call returns
// [ErrClosed]. It waits for calls under way, including a List whose loop still runs.
func (s *Store) Close() error {
	if !s.users.Close() {
		return ErrClosed
	}
	s.mu.Lock()
	s.closing = true
	s.news.Broadcast()
	s.work.Broadcast()
	s.space.Broadcast()
	s.mu.Unlock()
	s.users.Wait()
	s.committer.Wait()
	if err := errors.Join(s.segments.close(), s.db.Close(), s.reached.Close()); err != nil {
		return fmt.Errorf("close object cache: %w", err)
	}
	return nil
}

// Stats counts what the store holds.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.durable
	return Stats{
		URLs: d.urls, Versions: d.versions, Payloads: d.payloads, PayloadBytes: d.payloadBytes,
		Segments: d.segments, SegmentBytes: d.segmentBytes, DeadBytes: d.dead, Waiting: s.waiting,
	}
}

// Compress has records be compressed so from now on; what is there stays as it is. Otherwise that is as it was in the
// segment that was written to last, or gzip.
func (s *Store) Compress(compression Compression) error {
	if s.options.ReadOnly || s.compression() == compression {
		return nil
	}
	if compression == Zstd {
		if err := s.do(&write{job: func(c *commit) error { c.need(formatZstd); return nil }}); err != nil {
			return err
		}
	}
	s.archive.Store(uint32(compression))
	return nil
}

func (s *Store) compression() Compression { return Compression(s.archive.Load()) }

// compressor returns one to write records with, which is given back by release.
func (s *Store) compressor(as Compression) *compressor { return s.compress[as].Get().(*compressor) }

func (s *Store) release(c *compressor) { s.compress[c.compression].Put(c) }

func (s *Store) firstRecord(name string, as Compression) []byte {
	c := s.compressor(as)
	defer s.release(c)
	var out bytes.Buffer
	c.append(&out, infoRecord(name, s.options.Now()))
	return out.Bytes()
}

// get is getFrom for what is durable.
func get[T any](s *Store, key []byte, decode func([]byte) (T, error)) (T, bool, error) {
	return getFrom(s.db, key, decode)
}

// getNew is get for a key that the index has most likely not got. It asks the filters of the largest tables, too, which
// Get leaves out; without them, a block of data is read for nearly every key that is new.
func getNew[T any](s *Store, key []byte, decode func([]byte) (T, error)) (v T, found bool, err error) {
	it, err := s.db.NewIter(pebbledb.IterOptions{UseL6Filters: true})
	if err != nil {
		return v, false, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	if !it.SeekPrefixGE(key) || !bytes.Equal(it.Key(), key) {
		return v, false, unreadable(it.Error())
	}
	value, err := it.ValueAndErr()
	if err != nil {
		return v, false, unreadable(err)
	}
	v, err = decode(value)
	return v, err == nil, err
}

// getFrom returns what the index has under key, as a reader sees it, decoded, and whether it has it.
func getFrom[T any](r pebbledb.Reader, key []byte, decode func([]byte) (T, error)) (T, bool, error) {
	value, closer, err := r.Get(key)
	if errors.Is(err, pebbledb.ErrNotFound) {
		var none T
		return none, false, nil
	}
	if err != nil {
		var none T
		return none, false, unreadable(err)
	}
	defer closer.Close()
	v, err := decode(value)
	return v, err == nil, err
}
