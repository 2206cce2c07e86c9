// Package pebbledb is what stores over Pebble share: the databases themselves, which report to the logs of their
// stores, and end the program where they cannot go on.
//
// It is the one package that names Pebble's types, and it names them in bodies of functions alone. Whoever imports a
// package compiles the generic types again that those of its types lead to, of which Pebble has many: stores hold
// interfaces instead, behind which no compiler looks.
package pebbledb

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// ErrNotFound is the error of getting what is not there.
var ErrNotFound = pebble.ErrNotFound

// IsCorruption reports whether an error is that of a damaged database.
var IsCorruption = pebble.IsCorruptionError

// Durability is when a write returns.
type Durability bool

// A write returns when it is durable, or at once: then it becomes so with the next one that is.
const (
	Sync   Durability = true
	NoSync Durability = false
)

// Reader is a state of a database.
type Reader interface {
	// Get returns a value, which is valid until the closer is closed, or [ErrNotFound].
	Get(key []byte) (value []byte, closer io.Closer, err error)
	NewIter(IterOptions) (*Iterator, error)
}

// IterOptions are those of an iterator.
type IterOptions struct {
	LowerBound, UpperBound []byte // nil for none
	UseL6Filters           bool   // asks the filters of the last level too, where most keys are
}

// Batch gathers writes that take effect together. It must be closed.
type Batch interface {
	Reader // of the database with what the batch holds, if it is indexed
	Set(key, value []byte) error
	Delete(key []byte) error
	DeleteRange(start, end []byte) error
	Empty() bool
	Len() int // in bytes
	Commit(Durability) error
	SyncWait() error // waits until a batch is durable that was applied
	Close() error
}

// Snapshot is a state of a database that does not change. It must be closed.
type Snapshot interface {
	Reader
	Close() error
}

// DB is an open database.
type DB interface {
	Reader
	Set(key, value []byte, d Durability) error
	Delete(key []byte, d Durability) error
	NewBatch() Batch
	NewIndexedBatch() Batch // which can be read
	Apply(Batch) error      // commits it; SyncWait of the batch tells when it is durable
	Sync() error            // makes durable what was written
	NewSnapshot() Snapshot
	Checkpoint(dir string) error // copies all that was written to a directory that is not there
	DiskSpaceUsage() uint64
	EstimateDiskUsage(start, end []byte) (uint64, error)
	Flush() error // and Compact, so that tests have tables to look at
	Compact(ctx context.Context, start, end []byte, parallelize bool) error
	Close() error
}

// Options are those of a database. What is zero is as Pebble has it.
type Options struct {
	Name     string       // in the log
	FS       vfs.FS       // nil: the disk
	Logger   *slog.Logger // nil: slog.Default()
	ReadOnly bool
	// Fatal is called when the database can no longer keep its promises, as on a full disk, and must not return; nil
	// panics. Nothing that was promised is lost, because it is in the database's own log.
	Fatal func(error)

	Cache       int64  // bytes of blocks of tables in memory
	Shared      Cache  // one of blocks of tables, in the place of one of its own of so many bytes; nil: none
	Memtable    uint64 // bytes of what was written last, in memory; there are up to three of them
	TableSize   int64  // bytes of a table
	FewTables   bool   // larger and fewer tables, which costs less where keys come in no order
	WithoutLog  bool   // for what is thrown away
	Filter      *Filter
	LastFilter  *Filter              // of tables of the last level; nil: as Filter
	SyncBetween func() time.Duration // that a sync waits for more to share it; may be nil
}

// Open opens a database, which is made if there is none.
func Open(dir string, o Options) (DB, error) {
	opened, err := pebble.Open(dir, optionsOf(o))
	if err != nil {
		return nil, err
	}
	return db{opened}, nil
}

// Cache is one of blocks of tables that databases share. What they wrote last takes its place in it, too.
type Cache interface {
	Size() int64 // bytes of the blocks in it
	Ref()        // keeps it, as databases do while they are open, for whoever has got it from another
	Unref()      // gives it up, for whoever has made or kept it
}

// NewCache returns an empty cache of so many bytes. Where it is called, no compiler is to look into it.
//
//go:noinline
func NewCache(bytes int64) Cache { return pebble.NewCache(bytes) }

func optionsOf(o Options) *pebble.Options {
	p := &pebble.Options{
		FS: o.FS, ReadOnly: o.ReadOnly, CacheSize: o.Cache, MemTableSize: o.Memtable, DisableWAL: o.WithoutLog,
		WALMinSyncInterval: o.SyncBetween, FormatMajorVersion: pebble.FormatNewest,
	}
	if o.Shared != nil {
		p.Cache = o.Shared.(*pebble.Cache)
	}
	if o.FewTables {
		p.L0CompactionThreshold, p.LBaseMaxBytes = 8, 128<<20
	}
	for i := range p.Levels {
		p.TargetFileSizes[i] = o.TableSize
	}
	report(o, p)
	setFilters(o, p)
	return p
}

// Exists reports whether there is a database in a directory.
func Exists(dir string, fsys vfs.FS) (bool, error) {
	description, err := pebble.Peek(dir, fsys)
	if err != nil {
		return false, err
	}
	return description.Exists, nil
}

func writing(d Durability) *pebble.WriteOptions {
	if d {
		return pebble.Sync
	}
	return pebble.NoSync
}

type db struct{ *pebble.DB }

func (d db) NewIter(o IterOptions) (*Iterator, error) { return newIter(d.DB, o) }
func (d db) Set(key, value []byte, durability Durability) error {
	return d.DB.Set(key, value, writing(durability))
}
func (d db) Delete(key []byte, durability Durability) error {
	return d.DB.Delete(key, writing(durability))
}
func (d db) NewBatch() Batch             { return batch{d.DB.NewBatch()} }
func (d db) NewIndexedBatch() Batch      { return batch{d.DB.NewIndexedBatch()} }
func (d db) Apply(b Batch) error         { return d.ApplyNoSyncWait(b.(batch).Batch, pebble.Sync) }
func (d db) Sync() error                 { return d.LogData(nil, pebble.Sync) }
func (d db) NewSnapshot() Snapshot       { return snapshot{d.DB.NewSnapshot()} }
func (d db) Checkpoint(dir string) error { return d.DB.Checkpoint(dir, pebble.WithFlushedWAL()) }
func (d db) DiskSpaceUsage() uint64      { return d.Metrics().DiskSpaceUsage() }

type batch struct{ *pebble.Batch }

func (b batch) NewIter(o IterOptions) (*Iterator, error) { return newIter(b.Batch, o) }
func (b batch) Set(key, value []byte) error              { return b.Batch.Set(key, value, nil) }
func (b batch) Delete(key []byte) error                  { return b.Batch.Delete(key, nil) }
func (b batch) DeleteRange(start, end []byte) error      { return b.Batch.DeleteRange(start, end, nil) }
func (b batch) Commit(d Durability) error                { return b.Batch.Commit(writing(d)) }

type snapshot struct{ *pebble.Snapshot }

func (s snapshot) NewIter(o IterOptions) (*Iterator, error) { return newIter(s.Snapshot, o) }
