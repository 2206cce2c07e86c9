// Package quads keeps what documents state as RDF: quads, each a triple and the context that states it, which is the
// URL of a document.
//
// It guarantees:
//
//   - A context states what one version of its document stated, and nothing else: whoever reads sees the state before
//     or after a change of a context, never one between.
//   - What Replace has called back for without an error is there after a kill and after a power loss.
//   - A graph that is not whole, and one of an older version than what is indexed, change no quad.
//   - A [Snapshot] is one state, and stays so while it is read.
//   - The triples in the graph urn:webrace:provenance state of each context what is known of its document. They change
//     with it, in the same step, and nobody else can state anything there.
//
// All of it is in one Pebble database: an id for each term, each quad in six orders, the words of literals, and a
// record of each context. See keys.go for the layout.
package quads

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// ProvenanceGraph is the IRI of the graph that records which document each context is: the graphs that the union of all
// graphs is made of are those of the contexts, without this one.
const ProvenanceGraph = "urn:webrace:provenance"

// Errors that callers tell from others.
var (
	// ErrClosed is the error of everything that is asked of a closed store.
	ErrClosed = errors.New("quad store is closed")
	// ErrReadOnly is the error of every change to a store that was opened with ReadOnly. It is an fs.ErrPermission.
	ErrReadOnly = fmt.Errorf("quad store is opened read-only: %w", fs.ErrPermission)
)

// Options are the options of a store. The zero value works.
type Options struct {
	FS     vfs.FS         // nil: the disk
	Logger *slog.Logger   // nil: slog.Default()
	Cache  int64          // bytes of the block cache; 0: 48 MiB, of which what was written last takes up to 24
	Shared pebbledb.Cache // the block cache, if it is one that stores share; nil: one of its own
	// ReadOnly opens a store that is there and changes nothing, on read-only media as well.
	ReadOnly bool
	// Fatal is called when the database can no longer keep its promises, as on a full disk, and must not
	// return: to end there loses nothing that was promised. Nil panics.
	Fatal func(error)
}

// Context is the version of a document that states something. Where the URL has characters that no IRI may have, the
// graph is called by the IRI in which they are percent-encoded.
type Context struct {
	URL       string
	Version   int // as it is stored; 0 if it is not known, as of what was imported
	Digest    webrace.Digest
	At        time.Time // when that version was fetched
	MediaType string
}

// Record is what is known of a context.
type Record struct {
	Context           // what is indexed; only the URL is set if nothing is
	Quads    int      // that it states
	Imported bool     // it came from a file, and not from a document
	Seen     int      // the version that was seen last; it is above Version if it was not whole
	Problems []string // of that version

	fingerprint [16]byte // of the graph as it was given; zero if that is not known, or not all of it is there
}

// Change is what came of a replacement.
type Change struct {
	Added, Removed int  // quads of the context
	Older          bool // what is indexed is newer, and stays
	Kept           bool // the graph was not whole: what was indexed stays, and its problems were noted
}

// Stats counts what a store holds.
type Stats struct {
	Contexts   int64
	Quads      int64 // without those of the provenance graph
	Provenance int64 // those
	Terms      int64
	Revision   uint64 // changes with every step: two states of the same revision are the same
	Bytes      int64  // on disk
}
