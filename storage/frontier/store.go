package frontier

import (
	"cmp"
	"encoding/binary"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/storage/internal/generation"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// ErrClosed is the error of everything that is asked of a closed queue or store.
var ErrClosed = errors.New("frontier is closed")

// Options are the options of a store. The zero value works.
type Options struct {
	FS     vfs.FS           // nil: the disk
	Logger *slog.Logger     // nil: slog.Default()
	Now    func() time.Time // nil: time.Now
	Cache  int64            // bytes of the block cache; 0: 48 MiB, of which what was written last takes up to 36
	Shared pebbledb.Cache   // the block cache, if it is one that stores share; nil: one of its own
	// ReadOnly opens a store that is there and changes nothing, on read-only media as well.
	ReadOnly bool
	// Fatal is called when the database can no longer keep its promises, as on a full disk, and must not
	// return: to end there loses nothing that was promised. Nil panics.
	Fatal func(error)
}

// Store is the frontier of every pipeline that shares a data directory.
type Store struct {
	db  *pebbledb.Store
	dir string
	log *slog.Logger
	now func() time.Time

	readOnly bool
	repeats  int // that a queue remembers, unless it sets another number

	committer committer

	news news // about crawls

	mu     sync.Mutex
	queues map[string]*Queue     // the open ones
	ran    map[string][]ranCrawl // by pipeline: of the queue that was closed last
	failed map[string]*failures  // the same
	closed bool

	looking sync.Mutex         // held while what is looked at is opened and closed
	views   map[string]*viewed // the queues that are open for who looks alone
}

// kind is what is particular to the database.
var kind = pebbledb.Kind{
	Store: "frontier", Title: "frontier", Closed: ErrClosed, ReadOnly: ErrReadOnly,
	Format: 1, FormatKey: "\x00\x00format",
	GenerationKey: "\x00\x00generation", Layout: generation.Varint,
}

// Open opens the frontier in dir, which is made if need be. The caller sees to it that one process has it open.
func Open(dir string, o Options) (*Store, error) {
	o.Logger = cmp.Or(o.Logger, slog.Default())
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Cache = cmp.Or(o.Cache, 48<<20)
	db, err := pebbledb.OpenStore(dir, kind, databaseOptions(o))
	if err != nil {
		return nil, err
	}
	s := &Store{
		db: db, dir: dir, readOnly: o.ReadOnly, log: o.Logger, now: o.Now, news: news{of: map[string]*crawlNews{}},
		queues: map[string]*Queue{}, ran: map[string][]ranCrawl{}, failed: map[string]*failures{},
	}
	s.repeats = int(o.Cache / 2 / repeatBytes)
	s.committer.start(db)
	return s, nil
}

// Close writes what was handed in, and closes every queue. Leases that are out are handed out again
// when the store is next opened.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	open := slices.Collect(maps.Values(s.queues))
	s.mu.Unlock()
	for _, q := range open {
		q.fail(ErrClosed)
		q.detach()
	}
	err := s.committer.close()
	s.news.close()
	for _, q := range open {
		q.closeFilter(err)
	}
	return errors.Join(err, s.db.Close())
}

// Pipelines returns the names of all pipelines that have a queue, open or not, in order.
func (s *Store) Pipelines() ([]string, error) {
	var names []string
	err := s.db.Scan([]byte(pipelinesKey), []byte(pipelinesKey+"\xff"), func(key, _ []byte) (bool, error) {
		names = append(names, string(key[len(pipelinesKey):]))
		return true, nil
	})
	return names, err
}

// knownKeys returns the keys of a pipeline that has a queue.
func (s *Store) knownKeys(pipeline string) (k keys, known bool, err error) {
	value, err := s.db.Value([]byte(pipelinesKey + pipeline))
	if err != nil || len(value) != len(k) {
		return k, false, err
	}
	return keys(value), true, nil
}

// keysOf returns the keys of a pipeline, numbered when it is new.
func (s *Store) keysOf(pipeline string) (keys, error) {
	k, known, err := s.knownKeys(pipeline)
	if err != nil || known {
		return k, err
	}
	if s.readOnly {
		return k, ErrReadOnly
	}
	others, err := s.Pipelines()
	if err != nil {
		return k, err
	}
	binary.BigEndian.PutUint16(k[:], uint16(len(others)+1))
	return k, s.db.Set([]byte(pipelinesKey+pipeline), k[:], pebbledb.Sync)
}
