// Package storage opens a data directory: the one place where a running webrace keeps what it knows.
//
// It guarantees: a directory has one owner at a time, who holds it until [Dir.Close] or the end of its
// process, however that comes; a program that opens it meanwhile is told by which it is in use ([LockedError]).
// Several may read it together; an owner-to-be waits a moment for them to end.
// The version of its layout is checked before anything in it is read, and that of a newer program is
// refused ([FormatError]), untouched. A store is opened, and created, when it is first asked for, so a
// command that needs one of them does not wait for the others.
//
// The directory holds:
//
//	format       the version of this layout, as a number
//	stores       which of the following were made: one that is gone is not made anew without a word
//	lock         locked by its owner; tells who that is
//	frontier/    the URLs to be fetched, and what is known of each
//	objects/     the documents, in WARC files
//	control.db   URDs, ACIs, owners, secrets, cursors and dead letters
//	secrets.key  the key of the secrets, once there is one
//	quads/       what the documents say as RDF
//	fulltext/    the search index, which can be rebuilt from objects/
//	queues/      what waits between stages
//	states/      what stages remember
//	moved        the backup in which it went elsewhere, or came from there
//	webrace.sock where the owner answers, while it runs pipelines
package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/diskspace"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/storage/fulltext"
	"github.com/webrace/webrace/storage/internal/pebbledb"
	"github.com/webrace/webrace/storage/internal/private"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/storage/quads"
	"github.com/webrace/webrace/storage/queue"
	"github.com/webrace/webrace/storage/states"
)

// SocketName is the name in a data directory at which the process that owns it answers, while it runs
// pipelines. What it answers is not for this package to determine.
const SocketName = "webrace.sock"

// ErrClosed means that a data directory was used after it was closed.
var ErrClosed = errors.New("data directory is closed")

// Options are those of the stores; the zero value is right for most.
type Options struct {
	Frontier frontier.Options
	Objects  objects.Options
	Control  control.Options
	Fulltext fulltext.Options
	Queues   queue.Options
	States   states.Options
	Quads    quads.Options

	// ControlStore stands in for DIR/control.db: a store that the caller has open, and closes after all directories that
	// use it. None of the other options concern it, and the lock of the directory does not: others may use it
	// meanwhile. It is not the directory's to keep: it is neither checked, nor backed up, nor copied with it. A
	// control.db that lies in the directory stays as it is, and unread. Nil opens DIR/control.db.
	ControlStore *control.Store

	// Apart is the error of who asks for another store than the control store, because the directory is to have none. Nil:
	// it has all.
	Apart error

	// ReadOnly opens a directory that is there without changing anything in it, together with others who
	// do so; everything that would write is refused. It may lie on media that cannot be written.
	ReadOnly bool

	// Scratch, with ReadOnly, is a directory in which a store that is not there is made instead, to be
	// thrown away: for a program that tries things out.
	Scratch string

	// Caches is how many bytes the caches of the stores may have together; 0 leaves that to them.
	Caches int64

	// Cache is the cache of blocks of all stores over Pebble, which other directories may share; by Caches, what is
	// written last is then measured. The directory keeps it: who has made it may give it up by Unref when all are
	// open. Nil lets each store have its own.
	Cache Cache

	// DiskSpace lets writers wait while the disk is full, until it is closed. Nil lets them fail.
	DiskSpace *diskspace.Watch

	// Fatal is called when a store can no longer keep its promises, as on a full disk, and must not return:
	// to end there loses nothing that was promised. Nil panics. It stands in for the Fatal of each store.
	Fatal func(error)
}

// Cache keeps in memory what stores have read of their databases.
type Cache = pebbledb.Cache

// NewCache returns a cache of so many bytes for [Options].
func NewCache(bytes int64) Cache { return pebbledb.NewCache(bytes) }

// Dir is an open data directory. Its methods may be called concurrently; the stores they return are
// shared, and closed by [Dir.Close] alone.
type Dir struct {
	path string
	lock *lock // nil where the caller of newDir holds it
	from *lock // of the directory that it is a copy of; nil if it is none

	readOnly bool
	options  Options // as the stores get them

	keeping sync.Mutex // held to back up, or to collect garbage

	mu     sync.Mutex
	closed bool
	opened []io.Closer // in the order in which they were opened

	frontier lazy[*frontier.Store]
	objects  lazy[*objects.Store]
	control  lazy[*control.Store]
	fulltext lazy[*fulltext.Store]
	queues   lazy[*queue.Store]
	states   lazy[*states.Store]
	quads    lazy[*quads.Store]
}

// lazy is a store that is opened when it is first asked for.
type lazy[T io.Closer] struct {
	name  string
	open  func() (T, error)
	store T
	ready bool
}

// Open takes a data directory into possession, creating it when there is none.
func Open(dir string, o Options) (*Dir, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open data directory: %w", err)
	}
	if !o.ReadOnly {
		if err := MakeDir(dir); err != nil {
			return nil, fmt.Errorf("create data directory: %w", err)
		}
	}
	if o.ReadOnly && o.Scratch != "" && isNew(dir) {
		_ = private.Touch(filepath.Join(dir, lockFile)) // for who takes the directory meanwhile; on media that cannot be written nobody does
	}
	held, err := acquire(dir, o.ReadOnly)
	if err != nil {
		return nil, err
	}
	err = checkFormat(dir, o)
	if err == nil && !o.ReadOnly {
		err = noteStores(dir)
	}
	if err != nil {
		return nil, errors.Join(err, held.release())
	}
	return newDir(dir, held, o), nil
}

// MakeDir makes a directory that its owner alone can read. One that is there is made so if it is empty: otherwise it
// stays as it is, and the check of the stores tells of it.
func MakeDir(dir string) error {
	if err := os.MkdirAll(dir, private.Dir); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		return err
	}
	return os.Chmod(dir, private.Dir)
}

// newDir is the directory at path, whose layout is the current one.
func newDir(path string, held *lock, o Options) *Dir {
	d := &Dir{path: path, lock: held, readOnly: o.ReadOnly}
	o.share(exists(d.Path("quads")))
	o.Fulltext.Cache = searched{dir: d}
	d.options = o
	if o.Cache != nil {
		o.Cache.Ref()
	}
	d.frontier = storeOf(d, "frontier", frontier.Open, &o.Frontier, &o.Frontier.ReadOnly)
	d.objects = storeOf(d, "objects", objects.Open, &o.Objects, &o.Objects.ReadOnly)
	d.control = storeOf(d, "control", control.Open, &o.Control, &o.Control.ReadOnly)
	d.control.store, d.control.ready = o.ControlStore, o.ControlStore != nil
	d.fulltext = storeOf(d, "fulltext", fulltext.Open, &o.Fulltext, &o.Fulltext.ReadOnly)
	d.queues = storeOf(d, "queues", queue.Open, &o.Queues, &o.Queues.ReadOnly)
	d.states = storeOf(d, "states", states.Open, &o.States, &o.States.ReadOnly)
	d.quads = storeOf(d, "quads", quads.Open, &o.Quads, &o.Quads.ReadOnly)
	return d
}

// storeOf is a store of the directory, with its options, of which one is readOnly.
func storeOf[T io.Closer, O any](d *Dir, name string, open func(path string, o O) (T, error), o *O, readOnly *bool) lazy[T] {
	return lazy[T]{name: name, open: func() (T, error) {
		path := d.options.place(d, storeFiles[name], readOnly)
		return open(path, *o)
	}}
}

// place returns where a store is: in the directory, or in that of what is tried out, where it may be
// written.
func (o *Options) place(d *Dir, name string, readOnly *bool) string {
	path := d.Path(name)
	if !o.ReadOnly || o.Scratch == "" {
		return path
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path
	}
	*readOnly = false
	return filepath.Join(o.Scratch, name)
}

// share hands what concerns all stores to each. Where there is no quad store yet, the others do not leave it a share of
// the caches.
func (o *Options) share(hasQuads bool) {
	if o.Fatal != nil {
		o.Frontier.Fatal, o.Objects.Fatal, o.Quads.Fatal = o.Fatal, o.Fatal, o.Fatal
		o.Queues.Fatal, o.States.Fatal = o.Fatal, o.Fatal
	}
	o.Frontier.ReadOnly, o.Objects.ReadOnly, o.Quads.ReadOnly = o.ReadOnly, o.ReadOnly, o.ReadOnly
	o.Control.ReadOnly, o.Fulltext.ReadOnly = o.ReadOnly, o.ReadOnly
	o.Queues.ReadOnly, o.States.ReadOnly = o.ReadOnly, o.ReadOnly
	if o.Caches > 0 { // the frontier looks up each link of a page, the object cache each page
		o.Quads.Cache = o.Caches * 3 / 8
		others := o.Caches
		if hasQuads {
			others -= o.Quads.Cache
		}
		o.Frontier.Cache, o.Objects.CacheBytes = others/2, others/4
		o.Control.Cache = others / 4
	}
	o.Frontier.Shared, o.Objects.Shared, o.Quads.Shared = o.Cache, o.Cache, o.Cache
	o.Queues.Shared, o.States.Shared = o.Cache, o.Cache
	if o.DiskSpace == nil {
		return
	}
	o.Frontier.FS, o.Objects.FS = o.DiskSpace.FS(disk(o.Frontier.FS)), o.DiskSpace.FS(disk(o.Objects.FS))
	o.Queues.FS, o.States.FS = o.DiskSpace.FS(disk(o.Queues.FS)), o.DiskSpace.FS(disk(o.States.FS))
	o.Quads.FS = o.DiskSpace.FS(disk(o.Quads.FS))
	o.Control.Retry, o.Fulltext.Retry = o.DiskSpace.Do, o.DiskSpace.Do
}

func disk(fs vfs.FS) vfs.FS {
	if fs == nil {
		return private.Disk
	}
	return fs
}

// Path returns the absolute path of a name in the directory, and that of the directory itself for "".
func (d *Dir) Path(name string) string { return filepath.Join(d.path, name) }

// Owner returns who holds the directory.
func (d *Dir) Owner() Owner { return readOwner(d.Path(lockFile)) }

// Frontier returns the store of the URLs to be fetched.
func (d *Dir) Frontier() (*frontier.Store, error) { return ready(d, &d.frontier) }

// Objects returns the store of documents.
func (d *Dir) Objects() (*objects.Store, error) { return ready(d, &d.objects) }

// AwaitDocuments waits until every document that the object cache has accepted so far is durable: see
// [objects.Store.AwaitDurable]. A cache that is not open has accepted none, and stays closed.
func (d *Dir) AwaitDocuments(ctx context.Context) error {
	d.mu.Lock()
	store, open := d.objects.store, d.objects.ready
	d.mu.Unlock()
	if !open {
		return nil
	}
	return store.AwaitDurable(ctx)
}

// Control returns the store of URDs, ACIs, cursors and dead letters.
func (d *Dir) Control() (*control.Store, error) { return ready(d, &d.control) }

// OwnsControl reports whether the control store is one of the directory, and not one from outside.
func (d *Dir) OwnsControl() bool { return d.options.ControlStore == nil }

// Queues returns the store of what waits between stages.
func (d *Dir) Queues() (*queue.Store, error) { return ready(d, &d.queues) }

// States returns the store of what stages remember.
func (d *Dir) States() (*states.Store, error) { return ready(d, &d.states) }

// Quads returns the store of what documents state as RDF.
func (d *Dir) Quads() (*quads.Store, error) { return ready(d, &d.quads) }

// ready opens a store unless it is open. One that could not be opened is tried again when next asked for.
func ready[T io.Closer](d *Dir, l *lazy[T]) (T, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var none T
	switch {
	case d.closed:
		return none, ErrClosed
	case l.ready:
		return l.store, nil
	case d.options.Apart != nil:
		return none, d.options.Apart
	}
	if err := d.lost(l.name); err != nil {
		return none, err
	}
	store, err := l.open()
	if err != nil {
		return none, err
	}
	if !d.readOnly {
		if err := noteStores(d.path); err != nil {
			return none, errors.Join(err, store.Close())
		}
	}
	l.store, l.ready = store, true
	d.opened = append(d.opened, store)
	return store, nil
}

// shut closes a store, if it is open, so that it can be mended, and opened again.
func shut[T io.Closer](d *Dir, l *lazy[T]) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !l.ready {
		return nil
	}
	l.ready = false
	d.opened = slices.DeleteFunc(d.opened, func(c io.Closer) bool { return c == io.Closer(l.store) })
	return l.store.Close()
}

// Close closes the stores, the last opened first, and then gives the directory up. Closing twice does no
// harm.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	var failures []error
	for i := len(d.opened) - 1; i >= 0; i-- {
		failures = append(failures, d.opened[i].Close())
	}
	if d.options.Cache != nil {
		d.options.Cache.Unref()
	}
	for _, l := range []*lock{d.lock, d.from} {
		if l != nil {
			failures = append(failures, l.release())
		}
	}
	return errors.Join(failures...)
}
