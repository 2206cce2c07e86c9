package pebbledb

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/internal/generation"
	"github.com/webrace/webrace/storage/internal/private"
	"github.com/webrace/webrace/storage/internal/readonly"
)

// Kind is what is particular to the database of a store, and to what is said of it.
type Kind struct {
	Store    string // in findings, and in a backup: "quads"
	Title    string // in errors: "quad store"
	Many     bool   // one speaks of several: a backup brings them back
	Closed   error  // of what is asked after Close
	ReadOnly error  // of changes to what was opened to be read

	Format        byte // the newest version of the layout that this program knows
	FormatKey     string
	GenerationKey string
	Layout        generation.Layout
	Begin         func(Batch) error // writes what a new database begins with, besides its format; may be nil
	Whole         bool              // one that has lost all commits may have some files still: it is damaged, not older
}

// Store is the database of a store. One that is damaged, newer than the program or older than what was stored last is
// refused when it is opened; its commits are counted, see package generation; and nothing reads it when it closes.
type Store struct {
	DB
	FS vfs.FS

	kind     Kind
	dir      string
	readOnly bool

	generation generation.Generation // of what was committed last; the committer's own
	reached    *generation.File      // tells which generation is durable

	uses   sync.RWMutex // held to use the database, so that nothing does when it closes
	shut   bool
	closed sync.Once
}

// OpenStore opens the database in dir, which is made if need be. What the store itself reads before anything can be
// committed is part of opening. The caller sees to it that one process has it open; Pebble's own lock refuses a second.
func OpenStore(dir string, k Kind, o Options, reads ...func(Reader) error) (*Store, error) {
	if o.FS == nil {
		o.FS = private.Disk
	}
	if o.ReadOnly {
		o.FS = readonly.FS{FS: o.FS}
	}
	db, err := Open(dir, o)
	if fsck.IsDamage(err) {
		return nil, k.damaged(dir, err.Error())
	}
	if err != nil {
		return nil, fmt.Errorf("open %s %s: %w", k.Title, dir, err)
	}
	s := &Store{DB: db, FS: o.FS, kind: k, dir: dir, readOnly: o.ReadOnly}
	err = s.begin(reads)
	if IsCorruption(err) {
		err = k.damaged(dir, err.Error())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s %s: %w", k.Title, dir, err), db.Close())
	}
	return s, nil
}

func (k Kind) damaged(dir, detail string) error {
	return k.refusal("damaged database", dir, detail, k.one("begins an empty one", "begins empty ones"))
}

// refusal is the error of a store that cannot be used as it is.
func (k Kind) refusal(kind, where, detail, repair string) error {
	return &fsck.Error{
		Finding: fsck.Finding{Store: k.Store, Kind: kind, Where: where, Detail: detail},
		Mend: fmt.Sprintf("webrace-store restore BACKUP --only %s brings %s back from a backup, webrace-store fsck --repair %s",
			k.Store, k.one("it", "them"), repair),
	}
}

func (k Kind) one(one, many string) string {
	if k.Many {
		return many
	}
	return one
}

// begin refuses the database before anything is written to it, or makes it ready.
func (s *Store) begin(reads []func(Reader) error) error {
	if err := s.checkGeneration(); err != nil {
		return err
	}
	if err := s.checkFormat(); err != nil {
		return err
	}
	for _, read := range reads {
		if err := read(s.DB); err != nil {
			return err
		}
	}
	if s.readOnly {
		return nil
	}
	return s.count()
}

func (s *Store) generationPath() string { return s.FS.PathJoin(s.dir, generation.FileName) }

// checkGeneration refuses a database that has lost commits.
func (s *Store) checkGeneration() error {
	value, err := Get(s.DB, []byte(s.kind.GenerationKey))
	if err == nil && value != nil {
		s.generation, err = s.kind.Layout.Decode(value)
	}
	if err != nil {
		return err
	}
	wrong, err := generation.Compare(s.FS, s.generationPath(), s.generation)
	switch {
	case err != nil:
		return err
	case wrong != "" && value == nil && s.kind.Whole:
		return s.kind.damaged(s.dir, wrong)
	case wrong != "":
		return s.kind.refusal(generation.Older, s.dir, wrong, s.kind.one("goes on with it as it is", "goes on with them as they are"))
	}
	return nil
}

// checkFormat refuses the layout of a newer program. A new database gets its format, and what else it begins with.
func (s *Store) checkFormat() error {
	value, err := Get(s.DB, []byte(s.kind.FormatKey))
	switch {
	case err != nil:
		return err
	case value == nil && !s.readOnly:
		return s.writeFormat()
	case value != nil && (len(value) != 1 || value[0] > s.kind.Format):
		return fmt.Errorf("its format %v is newer than %d, the newest this program knows", value, s.kind.Format)
	}
	return nil
}

func (s *Store) writeFormat() (err error) {
	b := s.NewBatch()
	defer func() { err = errors.Join(err, b.Close()) }()
	if err := b.Set([]byte(s.kind.FormatKey), []byte{s.kind.Format}); err != nil {
		return err
	}
	if s.kind.Begin != nil && s.generation.Commits == 0 {
		if err := s.kind.Begin(b); err != nil {
			return err
		}
	}
	return b.Commit(Sync)
}

// count begins to count, or goes on.
func (s *Store) count() (err error) {
	if s.generation.Commits == 0 {
		s.generation = generation.Generation{ID: generation.NewID(), Commits: 1}
		if err := s.Set([]byte(s.kind.GenerationKey), s.kind.Layout.Encode(s.generation), Sync); err != nil {
			return err
		}
	}
	s.reached, err = generation.Create(s.FS, s.generationPath(), s.generation)
	return err
}

// Publish commits a batch as the next generation, durably.
func (s *Store) Publish(b Batch) error {
	if err := s.commit(b, func() error { return b.Commit(Sync) }); err != nil {
		return fmt.Errorf("commit to the %s: %w", s.kind.Title, err)
	}
	if err := s.Reached(s.generation); err != nil {
		return fmt.Errorf("count a commit to the %s: %w", s.kind.Title, err)
	}
	return nil
}

// Submit commits a batch as the next generation, of which Reached is to be told when SyncWait of the batch returns.
func (s *Store) Submit(b Batch) error { return s.commit(b, func() error { return s.Apply(b) }) }

func (s *Store) commit(b Batch, do func() error) error {
	next := s.generation
	next.Commits++
	err := b.Set([]byte(s.kind.GenerationKey), s.kind.Layout.Encode(next))
	if err == nil {
		err = do()
	}
	if err == nil {
		s.generation = next
	}
	return err
}

// Reached records that a generation is durable.
func (s *Store) Reached(g generation.Generation) error { return s.reached.Write(g) }

// Generation is that of what was committed last.
func (s *Store) Generation() generation.Generation { return s.generation }

// Enter keeps the database open until Leave; after Shut it is the error of what is closed.
func (s *Store) Enter() error {
	s.uses.RLock()
	if s.shut {
		s.uses.RUnlock()
		return s.kind.Closed
	}
	return nil
}

// Leave ends what Enter began.
func (s *Store) Leave() { s.uses.RUnlock() }

// Value returns a copy of the value of key, or nil when there is none.
func (s *Store) Value(key []byte) ([]byte, error) {
	if err := s.Enter(); err != nil {
		return nil, err
	}
	defer s.Leave()
	return Get(s.DB, key)
}

// Scan calls visit for each key from start on and before end, until it returns false. Key and value are valid during
// the call alone, which must not wait for anything.
func (s *Store) Scan(start, end []byte, visit func(key, value []byte) (more bool, err error)) error {
	if err := s.Enter(); err != nil {
		return err
	}
	defer s.Leave()
	return Scan(s.DB, start, end, visit)
}

// Backup writes a copy of the database, as it stands now, to a directory that does not exist yet and opens as a store.
// It may be in use; what was promised before the call is in the copy. Files that do not change any more are shared with
// the copy where the file system can.
func (s *Store) Backup(ctx context.Context, to string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.Enter(); err != nil {
		return err
	}
	defer s.Leave()
	if err := s.Checkpoint(to); err != nil {
		return fmt.Errorf("back up the %s to %s: %w", s.kind.Title, to, err)
	}
	return nil
}

// Shut lets nothing enter any more, returns when nothing is inside, and reports whether it was the first call.
func (s *Store) Shut() (first bool) {
	s.uses.Lock()
	defer s.uses.Unlock()
	first, s.shut = !s.shut, true
	return first
}

// Close closes the database when nothing is inside any more. A second call does nothing.
func (s *Store) Close() (err error) {
	s.Shut()
	s.closed.Do(func() { err = errors.Join(s.DB.Close(), s.reached.Close()) })
	return err
}
