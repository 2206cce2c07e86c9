// Package queue keeps durable first-in-first-out queues of records: what stands between two stages of a pipeline that
// are not to wait for each other, or that run at different times.
//
// It guarantees, for every queue:
//
//   - A record whose Put has called back without an error is there after a kill and after a power loss, until it is
//     taken and done.
//   - A record whose Done has called back without an error is never handed out again.
//   - A record is out once at a time. One that is out when the process ends is handed out again.
//   - Records are handed out in the order in which they were put, but for those that were given back: these come
//     again when they are due.
//   - A queue takes no more bytes than it was told, what it holds beside what is out included.
//
// All queues of a data directory are in one Pebble database, and share its syncs: see committer.
package queue

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/internal/broadcast"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// Errors that callers tell from others.
var (
	// ErrClosed is the error of everything that is asked of a closed queue or store.
	ErrClosed = errors.New("queue is closed")
	// ErrReadOnly is the error of every change to a store that was opened with ReadOnly. It is an fs.ErrPermission.
	ErrReadOnly = fmt.Errorf("queues are opened read-only: %w", fs.ErrPermission)
)

// Keys of the database, besides those of [kind]. Numbers are big-endian, so that records are in the order in which
// they were put.
const (
	nameKey   = "n" // n<name>: the number of a queue
	stateKey  = "s" // s<number>: how many records it has, and how large they are
	recordKey = "r" // r<number><sequence>: a record

	namesEnd = "o" // behind all names
)

const (
	numberSize   = 4
	sequenceSize = 8
)

// Options are the options of a store. The zero value works.
type Options struct {
	FS     vfs.FS         // nil: the disk
	Logger *slog.Logger   // nil: slog.Default()
	Cache  int64          // bytes of the block cache; 0: 8 MiB
	Shared pebbledb.Cache // the block cache, if it is one that stores share; nil: one of its own
	// ReadOnly opens a store that is there and changes nothing, on read-only media as well.
	ReadOnly bool
	// Fatal is called when the database can no longer keep its promises, as on a full disk, and must not
	// return: to end there loses nothing that was promised. Nil panics.
	Fatal func(error)
}

// Store holds the queues of a data directory.
type Store struct {
	db        *pebbledb.Store
	readOnly  bool
	committer committer

	changed broadcast.Cond
	mu      sync.Mutex
	queues  map[string]*Queue // the open ones
	keeping int               // backups under way
	closed  bool
}

// kind is what is particular to the database.
var kind = pebbledb.Kind{
	Store: "queues", Title: "queues", Many: true, Closed: ErrClosed, ReadOnly: ErrReadOnly,
	Format: 1, FormatKey: "f", GenerationKey: "g",
}

// Open opens the queues in dir, which is made if need be. The caller sees to it that one process has it open.
func Open(dir string, o Options) (*Store, error) {
	o.Cache = cmp.Or(o.Cache, 8<<20)
	db, err := pebbledb.OpenStore(dir, kind, pebbledb.Options{
		Name: "database of queues", FS: o.FS, Logger: o.Logger, ReadOnly: o.ReadOnly, Fatal: o.Fatal,
		Cache: o.Cache, Shared: o.Shared, Memtable: 8 << 20, // records are written, read once, and deleted soon after
	})
	if err != nil {
		return nil, err
	}
	s := &Store{db: db, readOnly: o.ReadOnly, queues: make(map[string]*Queue)}
	s.committer.start(db)
	return s, nil
}

// Close writes what was handed in, and closes every queue. What is out is handed out again when the store is next
// opened.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	open := slices.Collect(maps.Values(s.queues))
	s.mu.Unlock()
	s.changed.Broadcast()
	for _, q := range open {
		q.shut(ErrClosed)
	}
	err := s.committer.close()
	return errors.Join(err, s.db.Close())
}

// Queue opens the queue of a name, which is made if there is none. It is one caller's until that closes it, or,
// by sides, that of several until the last one leaves it. During a backup it is opened when that is over.
func (s *Store) Queue(ctx context.Context, name string, o QueueOptions) (*Queue, error) {
	if s.readOnly {
		return nil, ErrReadOnly
	}
	for {
		next := s.changed.Next()
		q, busy, err := s.tryOpen(name, o)
		if !busy {
			return q, err
		}
		select {
		case <-next:
		case <-ctx.Done():
			return nil, fmt.Errorf("open queue %s while queues are backed up: %w", name, ctx.Err())
		}
	}
}

func (s *Store) tryOpen(name string, o QueueOptions) (q *Queue, busy bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, false, ErrClosed
	case s.queues[name] != nil:
		q = s.queues[name]
		busy, err = q.join(o)
		return q, busy, err
	case s.keeping > 0:
		return nil, true, nil
	}
	number, err := s.numberOf(name)
	if err != nil {
		return nil, false, fmt.Errorf("open queue %s: %w", name, err)
	}
	if q, err = newQueue(s, name, number, o); err != nil {
		return nil, false, fmt.Errorf("open queue %s: %w", name, err)
	}
	q.enter(o.Side)
	s.queues[name] = q
	return q, false, nil
}

// numberOf returns the number of a queue, which a new one gets.
func (s *Store) numberOf(name string) (uint32, error) {
	value, err := s.db.Value([]byte(nameKey + name))
	if err != nil {
		return 0, err
	}
	if len(value) == numberSize {
		return binary.BigEndian.Uint32(value), nil
	}
	if value != nil {
		return 0, fmt.Errorf("%w: its number is %x", errDamaged, value)
	}
	last := uint32(0)
	err = s.db.Scan([]byte(nameKey), []byte(namesEnd), func(_, value []byte) (bool, error) {
		if len(value) == numberSize {
			last = max(last, binary.BigEndian.Uint32(value))
		}
		return true, nil
	})
	if err != nil {
		return 0, err
	}
	return last + 1, s.db.Set([]byte(nameKey+name), binary.BigEndian.AppendUint32(nil, last+1), pebbledb.Sync)
}

// Held is what a queue holds on disk.
type Held struct {
	Name    string
	Records int64
	Bytes   int64
}

// Held lists what all queues hold, open or not, by name.
func (s *Store) Held() (all []Held, err error) {
	err = s.db.Scan([]byte(nameKey), []byte(namesEnd), func(key, value []byte) (bool, error) {
		held := Held{Name: string(key[len(nameKey):])}
		if len(value) == numberSize {
			state, err := s.state(binary.BigEndian.Uint32(value))
			if err != nil {
				return false, err
			}
			held.Records, held.Bytes = state.records, state.bytes
		}
		all = append(all, held)
		return true, nil
	})
	return all, err
}

// KeepDone keeps on disk what is done, or dropped, until release is called: in a backup of several stores, what was
// done while the others were copied has to be in the copy of the queues.
func (s *Store) KeepDone() (release func()) {
	s.mu.Lock()
	s.keeping++
	s.committer.keep(true)
	s.mu.Unlock()
	return sync.OnceFunc(func() {
		s.mu.Lock()
		if s.keeping--; s.keeping == 0 {
			s.committer.keep(false)
		}
		s.mu.Unlock()
		s.changed.Broadcast()
	})
}

// Backup writes a copy of the store, as it stands now, to a directory that does not exist yet and opens as a store. The
// store may be in use; what was promised before the call is in the copy.
func (s *Store) Backup(ctx context.Context, to string) error { return s.db.Backup(ctx, to) }
