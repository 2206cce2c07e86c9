package frontier

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/internal/pebbledb"
	"github.com/webrace/webrace/storage/internal/private"
	"github.com/webrace/webrace/storage/internal/readonly"
)

// ErrClosed is the error of everything that is asked of a closed queue or store.
var ErrClosed = errors.New("frontier is closed")

// format is the version of the layout of the whole database.
const format = 1

// Options are the options of a store. The zero value works.
type Options struct {
	FS     vfs.FS           // nil: the disk
	Logger *slog.Logger     // nil: slog.Default()
	Now    func() time.Time // nil: time.Now
	Cache  int64            // bytes of the block cache; 0: 48 MiB, of which what was written last takes up to 36
	// ReadOnly opens a store that is there and changes nothing, on read-only media as well.
	ReadOnly bool
	// Fatal is called when the database can no longer keep its promises, as on a full disk, and must not
	// return: to end there loses nothing that was promised. Nil panics.
	Fatal func(error)
}

// Store is the frontier of every pipeline that shares a data directory.
type Store struct {
	db  pebbledb.DB
	dir string
	fs  vfs.FS
	log *slog.Logger
	now func() time.Time

	readOnly bool
	repeats  int // that a queue remembers, unless it says otherwise

	committer committer

	reads sync.RWMutex // held to read from the database, so that none is under way when it closes
	shut  bool

	news news // about crawls

	mu     sync.Mutex
	queues map[string]*Queue     // the open ones
	ran    map[string][]ranCrawl // by pipeline: of the queue that was closed last
	failed map[string]*failures  // the same
	closed bool
}

// Open opens the frontier in dir, which is made if need be. The caller sees to it that one process has
// it open; pebble's own lock refuses a second one.
func Open(dir string, o Options) (*Store, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Cache == 0 {
		o.Cache = 48 << 20
	}
	if o.FS == nil {
		o.FS = private.Disk
	}
	if o.ReadOnly {
		o.FS = readonly.FS{FS: o.FS}
	}
	db, err := pebbledb.Open(dir, databaseOptions(o))
	if fsck.IsDamage(err) {
		return nil, refusal("damaged database", dir, err.Error(), "begins an empty one")
	}
	if err != nil {
		return nil, fmt.Errorf("open frontier %s: %w", dir, err)
	}
	s := &Store{db: db, dir: dir, fs: o.FS, readOnly: o.ReadOnly, log: o.Logger, now: o.Now, news: news{of: map[string]*crawlNews{}}, queues: map[string]*Queue{}, ran: map[string][]ranCrawl{}, failed: map[string]*failures{}}
	s.repeats = int(o.Cache / 2 / repeatBytes)
	err = s.checkFormat()
	if err == nil {
		err = s.checkGeneration()
	}
	if pebbledb.IsCorruption(err) {
		err = refusal("damaged database", dir, err.Error(), "begins an empty one")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open frontier %s: %w", dir, err), db.Close())
	}
	s.committer.start(db)
	return s, nil
}

func (s *Store) checkFormat() error {
	value, err := s.get([]byte(formatKey))
	if err != nil {
		return err
	}
	if value == nil {
		return s.db.Set([]byte(formatKey), []byte{format}, pebbledb.Sync)
	}
	if len(value) != 1 || value[0] > format {
		return fmt.Errorf("its format %v is newer than %d, the newest this program knows", value, format)
	}
	return nil
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
	open := make([]*Queue, 0, len(s.queues))
	for _, q := range s.queues {
		open = append(open, q)
	}
	s.mu.Unlock()
	for _, q := range open {
		q.fail(ErrClosed)
	}
	err := s.committer.close()
	s.news.close()
	for _, q := range open {
		q.closeFilter(err)
	}
	s.reads.Lock()
	defer s.reads.Unlock()
	s.shut = true
	return errors.Join(err, s.db.Close(), s.committer.reached.Close())
}

// Pipelines returns the names of all pipelines that have a queue, open or not, in order.
func (s *Store) Pipelines() ([]string, error) {
	var names []string
	err := s.scan([]byte(pipelinesKey), []byte(pipelinesKey+"\xff"), func(key, _ []byte) (bool, error) {
		names = append(names, string(key[len(pipelinesKey):]))
		return true, nil
	})
	return names, err
}

// knownKeys returns the keys of a pipeline that has a queue.
func (s *Store) knownKeys(pipeline string) (k keys, known bool, err error) {
	value, err := s.get([]byte(pipelinesKey + pipeline))
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

// get returns a copy of the value of key, or nil when there is none.
func (s *Store) get(key []byte) ([]byte, error) {
	s.reads.RLock()
	defer s.reads.RUnlock()
	if s.shut {
		return nil, ErrClosed
	}
	return pebbledb.Get(s.db, key)
}

// scan calls visit for each key from start on and before end, until it returns false. Key and value are
// valid during the call alone, which must not wait for anything.
func (s *Store) scan(start, end []byte, visit func(key, value []byte) (more bool, err error)) error {
	s.reads.RLock()
	defer s.reads.RUnlock()
	if s.shut {
		return ErrClosed
	}
	return pebbledb.Scan(s.db, start, end, visit)
}
