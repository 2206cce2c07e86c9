// Package states is the store of what stages remember from one run to the next: bytes by key.
//
// It guarantees:
//
//   - Writes whose Commit has called back without an error are there after a kill and after a power loss.
//   - The writes of a commit are there together or not at all, and none is there without those of the commits before.
//   - In a backup of several stores, see [Store.KeepEnds], no store knows that an item has ended whose writes are not
//     in the copy.
//
// All states of a data directory are in one Pebble database, and share its syncs.
package states

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/internal/groupcommit"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// Errors that callers tell from others.
var (
	// ErrClosed is the error of everything that is asked of a closed store.
	ErrClosed = errors.New("store of states is closed")
	// ErrReadOnly is the error of every change to a store that was opened with ReadOnly. It is an fs.ErrPermission.
	ErrReadOnly = fmt.Errorf("states are opened read-only: %w", fs.ErrPermission)
)

// Keys of the database, besides those of [kind].
const (
	valueKey = "v" // v<state>\x00<key>: a value

	separator = "\x00" // behind the name of a state
	valuesEnd = "w"    // behind all values
)

// Options are the options of a store. The zero value works.
type Options struct {
	FS     vfs.FS         // nil: the disk
	Logger *slog.Logger   // nil: slog.Default()
	Shared pebbledb.Cache // the block cache, if it is one that stores share; nil: one of its own
	// ReadOnly opens a store that is there and changes nothing, on read-only media as well.
	ReadOnly bool
	// Fatal is called when the database can no longer keep its promises, as on a full disk, and must not
	// return: to end there loses nothing that was promised. Nil panics.
	Fatal func(error)
}

// Write sets a key of a state, or removes it if the value is nil.
type Write = struct {
	State, Key string
	Value      []byte
}

// Store holds the states of a data directory.
type Store struct {
	db       *pebbledb.Store
	readOnly bool
	syncs    groupcommit.Committer[func(error)]

	order sync.Mutex // held to commit, so that callbacks come in the order of the commits

	mu      sync.Mutex
	keeping int           // backups for which callbacks wait
	kept    []func(error) // these, of commits that are durable
}

// kind is what is particular to the database.
var kind = pebbledb.Kind{
	Store: "states", Title: "states", Many: true, Closed: ErrClosed, ReadOnly: ErrReadOnly,
	Format: 1, FormatKey: "f", GenerationKey: "g",
}

// Open opens the states in dir, which is made if need be. The caller sees to it that one process has it open.
func Open(dir string, o Options) (*Store, error) {
	db, err := pebbledb.OpenStore(dir, kind, pebbledb.Options{
		Name: "database of states", FS: o.FS, Logger: o.Logger, ReadOnly: o.ReadOnly, Fatal: o.Fatal,
		Cache: 1 << 20, Shared: o.Shared, Memtable: 1 << 20,
	})
	if err != nil {
		return nil, err
	}
	s := &Store{db: db, readOnly: o.ReadOnly}
	s.syncs = groupcommit.Start(groupcommit.Limit[func(error)]{
		Changes: 256, Room: 256, Takes: func(func(error)) int { return 1 },
	}, s.sync, s.tell)
	return s, nil
}

// Get returns the value of a key, which is the caller's, or nil if there is none.
func (s *Store) Get(state, key string) ([]byte, error) { return s.db.Value(keyOf(state, key)) }

func keyOf(state, key string) []byte { return []byte(valueKey + state + separator + key) }

// Each calls visit for each key of a state, in their order, until it returns an error. The value is valid during the
// call.
func (s *Store) Each(state string, visit func(key string, value []byte) error) error {
	prefix := valueKey + state
	return s.db.Scan([]byte(prefix+separator), []byte(prefix+"\x01"), func(key, value []byte) (bool, error) {
		err := visit(string(key[len(prefix)+len(separator):]), value)
		return err == nil, err
	})
}

// Names returns the names of all states that have a key, in their order.
func (s *Store) Names() (names []string, err error) {
	for from := valueKey; ; {
		next := ""
		err := s.db.Scan([]byte(from), []byte(valuesEnd), func(key, _ []byte) (bool, error) {
			next, _, _ = strings.Cut(string(key[len(valueKey):]), separator)
			return false, nil
		})
		if err != nil || next == "" {
			return names, err
		}
		names = append(names, next)
		from = valueKey + next + "\x01"
	}
}

// Commit takes writes that become durable together, and after those of the calls before. Get and Each know of them when
// it returns; done is called once they are durable, or with the reason why they are not, by another goroutine. It must
// not block. Commit does not wait for the disk.
func (s *Store) Commit(writes []Write, done func(error)) {
	if err := s.commit(writes, done); err != nil {
		go done(err)
	}
}

func (s *Store) commit(writes []Write, done func(error)) error {
	if s.readOnly {
		return ErrReadOnly
	}
	err := s.db.Enter()
	if err != nil {
		return err
	}
	defer s.db.Leave()
	batch := s.db.NewBatch()
	defer batch.Close()
	for _, w := range writes {
		if strings.Contains(w.State, separator) {
			return fmt.Errorf("%q is no name of a state", w.State)
		}
		if w.Value == nil {
			err = batch.Delete(keyOf(w.State, w.Key))
		} else {
			err = batch.Set(keyOf(w.State, w.Key), w.Value)
		}
		if err != nil {
			return err
		}
	}
	s.order.Lock()
	defer s.order.Unlock()
	if err := s.syncs.Failure(); err != nil {
		return err
	}
	if err := batch.Commit(pebbledb.NoSync); err != nil {
		return fmt.Errorf("commit states: %w", err)
	}
	return s.syncs.Add(done)
}

// sync commits the next generation, and so makes durable what was committed before the callbacks were added.
func (s *Store) sync([]func(error)) error {
	batch := s.db.NewBatch()
	defer batch.Close()
	return s.db.Publish(batch)
}

func (s *Store) tell(callbacks []func(error), err error) {
	s.mu.Lock()
	if err == nil && s.keeping > 0 {
		s.kept = append(s.kept, callbacks...)
		callbacks = nil
	}
	s.mu.Unlock()
	for _, done := range callbacks {
		done(err)
	}
}

// KeepEnds lets no commit call back until release is called, though it is durable: in a backup of several stores, none
// is to know of the end of an item whose writes are not in the copy of the states, which is made first.
func (s *Store) KeepEnds() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keeping++
	return sync.OnceFunc(s.letGo)
}

func (s *Store) letGo() {
	s.mu.Lock()
	var kept []func(error)
	if s.keeping--; s.keeping == 0 {
		kept, s.kept = s.kept, nil
	}
	s.mu.Unlock()
	for _, done := range kept {
		done(nil)
	}
}

// Backup writes a copy of the store, as it stands now, to a directory that does not exist yet and opens as a store. The
// store may be in use; what was promised before the call is in the copy.
func (s *Store) Backup(ctx context.Context, to string) error { return s.db.Backup(ctx, to) }

// Check reads all values; asked to, it removes what belongs to no state. Damage of the database itself is an error of
// pebble's.
func (s *Store) Check(ctx context.Context, repair bool, report fsck.Report) error {
	c, err := s.db.Check(ctx, repair, report)
	if err != nil {
		return err
	}
	return c.Run(func() error {
		return c.Each("values", []byte(valueKey), []byte(valuesEnd), func(key, _ []byte) error {
			if state, _, found := strings.Cut(string(key[len(valueKey):]), separator); found && state != "" {
				return nil
			}
			c.Tell("damaged value", fmt.Sprintf("%x", key), repair, "the key of no state")
			return c.Remove(key)
		})
	})
}

// Close makes durable what was handed in.
func (s *Store) Close() error {
	if !s.db.Shut() {
		return nil
	}
	return errors.Join(s.syncs.Close(ErrClosed), s.db.Close())
}
