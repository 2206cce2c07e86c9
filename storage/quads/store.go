package quads

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/internal/generation"
	"github.com/webrace/webrace/storage/internal/locks"
	"github.com/webrace/webrace/storage/internal/pebbledb"
	"github.com/webrace/webrace/storage/internal/private"
	"github.com/webrace/webrace/storage/internal/readonly"
)

// format is the version of the layout of the whole database.
const format = 1

// Store holds the quads of a data directory. Its methods may be called concurrently.
type Store struct {
	db       pebbledb.DB
	dir      string
	fs       vfs.FS
	readOnly bool
	opening  generation.ID // tells one opening of a store from another
	users    locks.Users

	contexts locks.Stripes // held while a context changes
	changing sync.RWMutex  // held alone by what changes more than contexts
	lexicon  lexicon
	terms    termCache
	sizes    keySizes

	committing sync.Mutex // held to commit; the fields down to the next empty line belong to it
	counts     counts
	generation generation.Generation

	syncer syncer
}

// Open opens the store in dir, which is made if need be. The caller sees to it that one process has it open;
// pebble's own lock refuses a second one.
func Open(dir string, o Options) (*Store, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
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
	s := &Store{dir: dir, fs: o.FS, readOnly: o.ReadOnly, opening: generation.NewID(), contexts: locks.NewStripes()}
	db, err := pebbledb.Open(dir, s.databaseOptions(o))
	if fsck.IsDamage(err) {
		return nil, refusal("damaged database", dir, err.Error(), "begins an empty one")
	}
	if err != nil {
		return nil, fmt.Errorf("open quad store %s: %w", dir, err)
	}
	s.db = db
	for _, part := range []func() error{s.checkGeneration, s.checkFormat, s.readCounts, s.countCommits} {
		if err = part(); err != nil {
			break
		}
	}
	if pebbledb.IsCorruption(err) {
		err = refusal("damaged database", dir, err.Error(), "begins an empty one")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open quad store %s: %w", dir, err), db.Close())
	}
	s.lexicon.begin(db, s.counts.next)
	s.syncer.start()
	return s, nil
}

// refusal is the error of a store that cannot be used as it is.
func refusal(kind, where, detail, repair string) error {
	return &fsck.Error{
		Finding: fsck.Finding{Store: "quads", Kind: kind, Where: where, Detail: detail},
		Mend:    "webrace-store restore BACKUP --only quads brings it back from a backup, webrace-store fsck --repair " + repair,
	}
}

// checkFormat has a new store begin with the term of the provenance graph.
func (s *Store) checkFormat() error {
	value, err := s.get([]byte(formatKey))
	if err != nil {
		return err
	}
	if value == nil && s.readOnly {
		return nil
	}
	if value == nil && s.generation.Commits > 0 {
		return s.db.Set([]byte(formatKey), []byte{format}, pebbledb.Sync)
	}
	if value == nil {
		b := s.db.NewBatch()
		defer b.Close()
		err := errors.Join(
			b.Set([]byte(formatKey), []byte{format}),
			setTerm(b, rdf.NewIRI(ProvenanceGraph), provenanceID),
			b.Set([]byte(countsKey), counts{next: 2, terms: 1}.encode()),
		)
		if err != nil {
			return err
		}
		return b.Commit(pebbledb.Sync)
	}
	if len(value) != 1 || value[0] > format {
		return fmt.Errorf("its format %v is newer than %d, the newest this program knows", value, format)
	}
	return nil
}

// readCounts reads what is counted. What cannot be read is counted anew by the check.
func (s *Store) readCounts() error {
	value, err := s.get([]byte(countsKey))
	if err != nil {
		return err
	}
	if s.counts, err = decodeCounts(value); err == nil || s.readOnly && value == nil {
		return nil
	}
	s.counts = counts{}
	last, err := s.lastNumber()
	s.counts.next = last + 1
	return err
}

// lastNumber returns the highest number that a term has.
func (s *Store) lastNumber() (last uint64, err error) {
	for _, kind := range []rdf.Kind{rdf.IRI, rdf.Literal, rdf.Blank} {
		it, err := s.db.NewIter(pebbledb.IterOptions{
			LowerBound: keyOfID(idKey, newID(kind, 0)), UpperBound: after(keyOfID(idKey, newID(kind, lastNumber))),
		})
		if err != nil {
			return 0, err
		}
		if it.Last() && len(it.Key()) == idKeySize {
			last = max(last, numberOf(idOf(it.Key()[1:])))
		}
		if err := errors.Join(it.Error(), it.Close()); err != nil {
			return 0, err
		}
	}
	return last, nil
}

// checkGeneration refuses a database that has lost commits, before anything is written to it. What has lost them all is
// no database to go on with: some of its files may be there still.
func (s *Store) checkGeneration() error {
	path := s.fs.PathJoin(s.dir, generation.FileName)
	value, err := s.get([]byte(generationKey))
	if err != nil {
		return err
	}
	have, err := decodeGeneration(value)
	if err != nil {
		return err
	}
	wrong, err := generation.Compare(s.fs, path, have)
	switch {
	case err != nil:
		return err
	case wrong != "" && value == nil:
		return refusal("damaged database", s.dir, wrong, "begins an empty one")
	case wrong != "":
		return refusal(generation.Older, s.dir, wrong, "goes on with it as it is")
	}
	s.generation = have
	return nil
}

// countCommits begins to count.
func (s *Store) countCommits() (err error) {
	if s.readOnly {
		return nil
	}
	if s.generation.Commits == 0 {
		s.generation = generation.Generation{ID: generation.NewID(), Commits: 1}
		if err := s.db.Set([]byte(generationKey), encodeGeneration(s.generation), pebbledb.Sync); err != nil {
			return err
		}
	}
	s.syncer.reached, err = generation.Create(s.fs, s.fs.PathJoin(s.dir, generation.FileName), s.generation)
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
		return g, fmt.Errorf("%w: the record that counts commits is %x", errDamaged, value)
	}
	copy(g.ID[:], value[1:])
	g.Commits = binary.BigEndian.Uint64(value[1+len(g.ID):])
	return g, nil
}

// Close makes durable what was accepted, answers it, and waits for calls under way and for snapshots to be closed. A
// second call does nothing.
func (s *Store) Close() error {
	if !s.users.Close() {
		return nil
	}
	s.users.Wait()
	s.syncer.close()
	if err := errors.Join(s.syncer.reached.Close(), s.db.Close()); err != nil {
		return fmt.Errorf("close quad store: %w", err)
	}
	return nil
}

// change begins a call that changes the store; leave ends it.
func (s *Store) change() (leave func(), err error) {
	if s.readOnly {
		return nil, ErrReadOnly
	}
	if !s.users.Enter() {
		return nil, ErrClosed
	}
	return s.users.Leave, nil
}

// lock keeps others from changing a context, and from changing more than contexts, until unlock is called. URLs of one
// IRI are one context.
func (s *Store) lock(url string) (unlock func()) {
	s.changing.RLock()
	leave := s.contexts.Lock([]byte(rdf.EscapeIRI(url)))
	return func() {
		leave()
		s.changing.RUnlock()
	}
}

// Backup writes a copy of the store, as it stands now, to a directory that does not exist yet and opens as a store. The
// store may be in use; what was promised before the call is in the copy.
func (s *Store) Backup(ctx context.Context, to string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !s.users.Enter() {
		return ErrClosed
	}
	defer s.users.Leave()
	if err := s.db.Checkpoint(to); err != nil {
		return fmt.Errorf("back up the quad store to %s: %w", to, err)
	}
	return nil
}

// Stats counts what the store holds.
func (s *Store) Stats() (Stats, error) {
	if !s.users.Enter() {
		return Stats{}, ErrClosed
	}
	defer s.users.Leave()
	s.committing.Lock()
	c := s.counts
	s.committing.Unlock()
	return c.stats(s.db.DiskSpaceUsage()), nil
}

// get returns a copy of the value of a key, nil when there is none.
func (s *Store) get(key []byte) ([]byte, error) { return pebbledb.Get(s.db, key) }
