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
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/internal/generation"
	"github.com/webrace/webrace/storage/internal/groupcommit"
	"github.com/webrace/webrace/storage/internal/pebbledb"
	"github.com/webrace/webrace/storage/internal/private"
	"github.com/webrace/webrace/storage/internal/readonly"
)

// Errors that callers tell from others.
var (
	// ErrClosed is the error of everything that is asked of a closed store.
	ErrClosed = errors.New("store of states is closed")
	// ErrReadOnly is the error of every change to a store that was opened with ReadOnly. It is an fs.ErrPermission.
	ErrReadOnly = fmt.Errorf("states are opened read-only: %w", fs.ErrPermission)
)

// format is the version of the layout of the database.
const format = 1

// Keys of the database.
const (
	formatKey     = "f" // the version of the layout
	generationKey = "g" // how many commits there were
	valueKey      = "v" // v<state>\x00<key>: a value

	separator = "\x00" // behind the name of a state
	valuesEnd = "w"    // behind all values
)

// Options are the options of a store. The zero value works.
type Options struct {
	FS     vfs.FS       // nil: the disk
	Logger *slog.Logger // nil: slog.Default()
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
	db         pebbledb.DB
	dir        string
	fs         vfs.FS
	readOnly   bool
	syncs      *groupcommit.Committer[func(error)]
	generation generation.Generation
	reached    *generation.File // says which generation is durable

	uses   sync.RWMutex // held to use the database, so that nothing does when it closes
	closed bool
	order  sync.Mutex // held to commit, so that callbacks come in the order of the commits

	mu      sync.Mutex
	keeping int           // backups for which callbacks wait
	kept    []func(error) // these, of commits that are durable
	err     error         // the fault that ended it
}

// Open opens the states in dir, which is made if need be. The caller sees to it that one process has it open; pebble's
// own lock refuses a second one.
func Open(dir string, o Options) (*Store, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.FS == nil {
		o.FS = private.Disk
	}
	if o.ReadOnly {
		o.FS = readonly.FS{FS: o.FS}
	}
	db, err := pebbledb.Open(dir, pebbledb.Options{
		Name: "database of states", FS: o.FS, Logger: o.Logger, ReadOnly: o.ReadOnly, Fatal: o.Fatal, Cache: 1 << 20, Memtable: 1 << 20,
	})
	if fsck.IsDamage(err) {
		return nil, refusal("damaged database", dir, err.Error(), "begins empty ones")
	}
	if err != nil {
		return nil, fmt.Errorf("open states %s: %w", dir, err)
	}
	s := &Store{db: db, dir: dir, fs: o.FS, readOnly: o.ReadOnly}
	err = s.checkFormat()
	if err == nil {
		err = s.checkGeneration()
	}
	if pebbledb.IsCorruption(err) {
		err = refusal("damaged database", dir, err.Error(), "begins empty ones")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open states %s: %w", dir, err), db.Close())
	}
	s.syncs = groupcommit.Start(groupcommit.Limit[func(error)]{
		Changes: 256, Room: 256, Takes: func(func(error)) int { return 1 },
	}, s.sync)
	return s, nil
}

// refusal is the error of states that cannot be used as they are.
func refusal(kind, where, detail, repair string) error {
	return &fsck.Error{
		Finding: fsck.Finding{Store: "states", Kind: kind, Where: where, Detail: detail},
		Mend:    "webrace-store restore BACKUP --only states brings them back from a backup, webrace-store fsck --repair " + repair,
	}
}

func (s *Store) checkFormat() error {
	value, err := pebbledb.Get(s.db, []byte(formatKey))
	if err != nil || value == nil && s.readOnly {
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

// checkGeneration refuses a database that has lost commits.
func (s *Store) checkGeneration() error {
	path := s.fs.PathJoin(s.dir, generation.FileName)
	value, err := pebbledb.Get(s.db, []byte(generationKey))
	if err != nil {
		return err
	}
	have, err := decodeGeneration(value)
	if err != nil {
		return err
	}
	wrong, err := generation.Compare(s.fs, path, have)
	if err != nil {
		return err
	}
	if wrong != "" {
		return refusal(generation.Older, s.dir, wrong, "goes on with them as they are")
	}
	if s.readOnly {
		return nil
	}
	if value == nil {
		have = generation.Generation{ID: generation.NewID(), Commits: 1}
		if err := s.db.Set([]byte(generationKey), encodeGeneration(have), pebbledb.Sync); err != nil {
			return err
		}
	}
	s.generation = have
	s.reached, err = generation.Create(s.fs, path, have)
	return err
}

func encodeGeneration(g generation.Generation) []byte {
	return binary.BigEndian.AppendUint64(append([]byte{1}, g.ID[:]...), g.Commits)
}

func decodeGeneration(value []byte) (g generation.Generation, err error) {
	switch {
	case value == nil:
		return g, nil
	case len(value) != 1+len(g.ID)+8 || value[0] != 1:
		return g, fmt.Errorf("damaged value: the record that counts commits is %x", value)
	}
	copy(g.ID[:], value[1:])
	g.Commits = binary.BigEndian.Uint64(value[1+len(g.ID):])
	return g, nil
}

// use lets the database be used until done is called.
func (s *Store) use() (done func(), err error) {
	s.uses.RLock()
	if s.closed {
		s.uses.RUnlock()
		return nil, ErrClosed
	}
	return s.uses.RUnlock, nil
}

// Get returns the value of a key, which is the caller's, or nil if there is none.
func (s *Store) Get(state, key string) ([]byte, error) {
	done, err := s.use()
	if err != nil {
		return nil, err
	}
	defer done()
	return pebbledb.Get(s.db, keyOf(state, key))
}

func keyOf(state, key string) []byte { return []byte(valueKey + state + separator + key) }

// Each calls visit for each key of a state, in their order, until it returns an error. The value is valid during the
// call.
func (s *Store) Each(state string, visit func(key string, value []byte) error) error {
	done, err := s.use()
	if err != nil {
		return err
	}
	defer done()
	prefix := valueKey + state
	return pebbledb.Scan(s.db, []byte(prefix+separator), []byte(prefix+"\x01"), func(key, value []byte) (bool, error) {
		err := visit(string(key[len(prefix)+len(separator):]), value)
		return err == nil, err
	})
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
	over, err := s.use()
	if err != nil {
		return err
	}
	defer over()
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
	if err := s.failure(); err != nil {
		return err
	}
	if err := batch.Commit(pebbledb.NoSync); err != nil {
		return fmt.Errorf("commit states: %w", err)
	}
	if !s.syncs.Add(done) {
		return ErrClosed
	}
	return nil
}

// sync makes durable what was committed before the callbacks were added, and calls back.
func (s *Store) sync(callbacks []func(error)) {
	err := s.failure()
	if err == nil {
		err = s.count()
	}
	s.mu.Lock()
	if err != nil {
		s.err = err
	} else if s.keeping > 0 {
		s.kept = append(s.kept, callbacks...)
		callbacks = nil
	}
	s.mu.Unlock()
	for _, done := range callbacks {
		done(err)
	}
}

// count commits the next generation, and so makes durable all that was committed before.
func (s *Store) count() error {
	next := s.generation
	next.Commits++
	if err := s.db.Set([]byte(generationKey), encodeGeneration(next), pebbledb.Sync); err != nil {
		return fmt.Errorf("commit states: %w", err)
	}
	s.generation = next
	if err := s.reached.Write(next); err != nil {
		return fmt.Errorf("count a commit of states: %w", err)
	}
	return nil
}

func (s *Store) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
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
func (s *Store) Backup(ctx context.Context, to string) error {
	done, err := s.use()
	if err = errors.Join(err, ctx.Err()); err != nil {
		return err
	}
	defer done()
	if err := s.db.Checkpoint(to); err != nil {
		return fmt.Errorf("back up the states to %s: %w", to, err)
	}
	return nil
}

// Check reads all values; asked to, it removes what belongs to no state. Damage of the database itself is an error of
// pebble's.
func (s *Store) Check(ctx context.Context, repair bool, report fsck.Report) error {
	done, err := s.use()
	if err != nil {
		return err
	}
	defer done()
	if repair && s.readOnly {
		return fmt.Errorf("repair the states: %w", ErrReadOnly)
	}
	read := int64(0)
	return pebbledb.Scan(s.db, []byte(valueKey), []byte(valuesEnd), func(key, _ []byte) (bool, error) {
		if read++; read%1000 == 0 {
			fsck.Tell(ctx, fsck.Progress{Store: "states", Step: "values", Done: read})
		}
		if state, _, found := strings.Cut(string(key[len(valueKey):]), separator); !found || state == "" {
			report.Reportf("states", "damaged value", fmt.Sprintf("%x", key), repair, "the key of no state")
			if repair {
				if err := s.db.Delete(append([]byte{}, key...), pebbledb.Sync); err != nil {
					return false, err
				}
			}
		}
		return true, ctx.Err()
	})
}

// Close makes durable what was handed in.
func (s *Store) Close() error {
	s.uses.Lock()
	if s.closed {
		s.uses.Unlock()
		return nil
	}
	s.closed = true
	s.uses.Unlock()
	s.syncs.Close()
	err := s.failure()
	return errors.Join(err, s.db.Close(), s.reached.Close())
}
