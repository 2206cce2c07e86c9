package objects

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/internal/generation"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// The index is what makes segments a store, and without it their records belong to nothing. So a store that is
// opened with another index than its own must not go on as if that were right: it would take what it does not know
// for what a crash has left. See [generation.Generation] for how an index is known to be older.

// indexName is the name of the index within the directory of a store.
const indexName = "index"

// Kinds of damage to the index as a whole.
const (
	damageNoIndex  = "lost index"
	damageIndex    = "damaged index"
	damageOldIndex = "index older than the documents"
)

func indexError(kind, where, detail string) error {
	return &fsck.Error{
		Finding: fsck.Finding{Store: "objects", Kind: kind, Where: where, Detail: detail},
		Mend:    "webrace-store fsck --repair builds it again from the documents; nothing was changed",
	}
}

func openIndex(dir string, o Options) (pebbledb.DB, error) {
	db, err := pebbledb.Open(dir, pebbledb.Options{
		Name: "object cache index", FS: o.FS, Logger: o.Logger, ReadOnly: o.ReadOnly, Fatal: o.Fatal,
		Cache: o.CacheBytes, Shared: o.Shared, Memtable: 4 << 20,
		Filter: &pebbledb.Filter{}, // most URLs that are looked up are new
	})
	if err != nil && fsck.IsDamage(err) {
		return nil, indexError(damageIndex, dir, err.Error())
	}
	if err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	return db, nil
}

// unreadable is the error of reading an index that is open, if there is one.
func unreadable(err error) error {
	switch {
	case err == nil:
		return nil
	case pebbledb.IsCorruption(err):
		return indexError(damageIndex, "", err.Error())
	}
	return fmt.Errorf("read index: %w", err)
}

// refuseLostIndex looks for an index before one would be made: it is always there before anything else is.
func refuseLostIndex(dir string, o Options) error {
	index := o.FS.PathJoin(dir, indexName)
	if there, err := hasIndex(index, o); there || err != nil {
		return err
	}
	if _, err := o.FS.Stat(o.FS.PathJoin(dir, generation.FileName)); err == nil {
		return indexError(damageNoIndex, index, "it is not there, and there was one")
	}
	files, err := segmentFiles(o.FS, dir)
	if err != nil || len(files) == 0 {
		return err
	}
	return indexError(damageNoIndex, index, fmt.Sprintf("it is not there, and %d segments of documents are", len(files)))
}

func hasIndex(path string, o Options) (bool, error) {
	if _, err := o.FS.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	there, err := pebbledb.Exists(path, o.FS)
	if err != nil {
		return fsck.IsDamage(err), nil // opening it reports what is wrong
	}
	return there, nil
}

// checkGeneration refuses an index that has lost commits. One of a release that did not count them begins to.
func (s *Store) checkGeneration(mend bool) (err error) {
	index := s.options.FS.PathJoin(s.segments.dir, indexName)
	path := s.generationPath()
	var counted bool
	if s.generation, counted, err = get(s, generationKey, decodeGeneration); err != nil {
		return err
	}
	wrong, err := generation.Compare(s.options.FS, path, s.generation)
	if err != nil {
		return err
	}
	if wrong == "" && !counted {
		wrong, err = s.emptied()
	}
	switch {
	case err != nil:
		return err
	case wrong != "" && !mend:
		return indexError(damageOldIndex, index, wrong)
	case wrong != "":
		s.generation = generation.Generation{} // until it is mended
		return nil
	case s.options.ReadOnly:
		return nil
	case !counted:
		err = s.count(generation.Generation{ID: generation.NewID(), Commits: 1})
	}
	if err == nil {
		s.reached, err = generation.Create(s.options.FS, path, s.generation)
	}
	return err
}

func (s *Store) generationPath() string {
	return s.options.FS.PathJoin(s.segments.dir, generation.FileName)
}

// count has the index begin with a generation.
func (s *Store) count(g generation.Generation) error {
	if err := s.db.Set(generationKey, generation.Varint.Encode(g), pebbledb.Sync); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	s.generation = g
	return nil
}

// emptied reports that an index which counts no commits has no segments either, though there are some: one that
// is new counts before it has any.
func (s *Store) emptied() (wrong string, err error) {
	known, err := s.indexedSegments()
	if err != nil || len(known) > 0 {
		return "", err
	}
	files, err := segmentFiles(s.options.FS, s.segments.dir)
	if err != nil || len(files) == 0 {
		return "", err
	}
	return fmt.Sprintf("it is empty, and there are %d segments of documents", len(files)), nil
}
