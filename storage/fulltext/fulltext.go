// Package fulltext is the search index over the object cache. It only finds: texts stay in the cache,
// and fragments of them are made from there with [Fragment]. It can be rebuilt from the cache at any
// time, so the stage that feeds it keeps a cursor into the cache and advances it after [Store.Index] returned.
//
// What it guarantees: the index is a function of the cache alone. When [Store.Index] returns, the latest
// versions of its documents' URLs survive kill -9 and are found, whatever was indexed before, in whatever
// order, and however often; an index that is rebuilt answers alike, in the same order. Of each URL as many
// of the latest versions are kept as [Store.KeepVersions] sets: the latest is what a search finds, the
// others are found when asked for. Words are found in all their forms, whatever their case and accents, by
// the analysis that keywords are matched with.
//
// Queries are words, which must all occur; "a phrase"; AND, OR, NOT, parentheses; +word and -word;
// beginning* and misspelt~1; title:, heading:, body: and url: in front of words; host:, lang:, type:, date:,
// after: and before: as conditions. docs/search.md tells the rest. A query that is none is refused with a
// [QueryError].
package fulltext

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	index "github.com/blevesearch/bleve_index_api"
)

var (
	// ErrCorrupt means that the index cannot be read. Remove its directory, and index again from the first version on.
	ErrCorrupt = errors.New("full-text index is damaged (webrace-store search --rebuild makes it anew)")
	// ErrFormat means that another release made the index. Remove its directory, and index again.
	ErrFormat = errors.New("full-text index has another format (webrace-store search --rebuild makes it anew)")
	// ErrOutdated is the ErrFormat of an older release.
	ErrOutdated = fmt.Errorf("%w, of an older release", ErrFormat)
	// ErrQuery means that a query is not one; the text after it tells why, to be shown to who wrote it.
	ErrQuery = errors.New("bad query")
)

// format changes when documents would be indexed otherwise than before. Only then is an index that was
// made before of no use.
const format = 3 // 2 folded words before it took their stems, and had Thai and its like in words of a line

var formatKey = []byte("webrace-format")

// Document is what is indexed of a version of a URL. Texts are plain UTF-8, with a [BlockEnd] between blocks.
type Document struct {
	URL        string
	Version    int
	Language   string // BCP 47; empty when unknown
	Type       string // the media type
	Date       time.Time
	Title      string
	Headings   string
	Body       string // the rest of the text
	Navigation string // which hardly counts

	// Shortened is set when it is indexed, if that is not the whole of it: it has more words than phrases are looked
	// for in, or more different ones than are indexed.
	Shortened bool
}

func (d *Document) bytes() int {
	return len(d.Title) + len(d.Headings) + len(d.Body) + len(d.Navigation)
}

// Options of an index; the zero value is right for most.
type Options struct {
	ReadOnly bool // the index must be there, nothing is written, and changes are refused
	// Cache holds what is indexed. Without one, the index takes what it is given for all that there is, and
	// keeps the latest version of each URL alone.
	Cache Cache
	// Retry runs what changes the index, and may run it again while it fails for want of room
	// ([syscall.ENOSPC]). Nil runs it once.
	Retry func(ctx context.Context, change func() error) error
}

// Store is an open index. Its methods may be called from many goroutines.
type Store struct {
	path    string
	options Options

	writing    sync.Mutex      // from looking up indexed versions until they are replaced
	generation uint64          // changes made so far
	counter    termCounter     // of what is indexed
	keep       int             // versions of a URL that are kept; 0 for all
	late       map[string]bool // URLs that were changed while the index is being rebuilt; nil when it is not

	rebuilding sync.Mutex

	using  sync.RWMutex // held to use the index, so that it is not replaced meanwhile
	index  *bleveIndex  // nil after a failure until it is opened again
	closed bool
}

// Open opens the index in dir, and makes it if there is none.
func Open(dir string, o Options) (*Store, error) {
	if err := endSwap(dir, o.ReadOnly); err != nil {
		return nil, fmt.Errorf("open full-text index %s: %w", dir, err)
	}
	if _, err := os.Stat(filepath.Join(dir, metaFile)); errors.Is(err, fs.ErrNotExist) && !o.ReadOnly {
		if err := create(dir); err != nil {
			return nil, fmt.Errorf("make full-text index %s: %w", dir, explain(err))
		}
	}
	s := &Store{path: dir, options: o}
	if err := s.open(); err != nil {
		return nil, err
	}
	return s, nil
}

// open opens the index that is there.
func (s *Store) open() error {
	ix, err := openIndex(s.path, s.options.ReadOnly)
	if err != nil {
		return fmt.Errorf("open full-text index %s: %w", s.path, explain(err))
	}
	found, err := ix.GetInternal(formatKey)
	if n, parseErr := strconv.Atoi(string(found)); err == nil && (parseErr != nil || n != format) {
		err = fmt.Errorf("%w: %q, and this release has %d", otherFormat(n), found, format)
	}
	var generation uint64
	if err == nil {
		generation, err = checkGeneration(s.path, ix)
	}
	keep := DefaultVersions
	if err == nil {
		keep, err = versionsKept(ix)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("open full-text index %s: %w", s.path, err), ix.Close())
	}
	s.index, s.generation, s.keep = ix, generation, keep
	return nil
}

// otherFormat tells older formats from others.
func otherFormat(found int) error {
	if found > 0 && found < format {
		return ErrOutdated
	}
	return ErrFormat
}

// create makes an index beside dir and moves it there when it is complete, so that a crash never leaves
// half of one. A dir that is there already must be empty, or it holds the remains of an index.
func create(dir string) error {
	if rest, err := os.ReadDir(dir); err == nil && len(rest) > 0 {
		return fmt.Errorf("%w: %s is missing", ErrCorrupt, metaFile)
	}
	fresh := strings.TrimRight(dir, string(filepath.Separator)) + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	ix, err := makeBleve(fresh)
	if err != nil {
		return err
	}
	if err := errors.Join(ix.SetInternal(formatKey, strconv.AppendInt(nil, format, 10)), ix.Close()); err != nil {
		return err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(fresh, dir)
}

// mergePlan counts the segments of an index by their bytes: there are up to ten of each power of ten, so that a
// document is written again as often as the index grows tenfold. The library by itself counts documents and takes up to
// 2,000 of them for one: it merged nearly every batch with what was there.
var mergePlan = map[string]any{"FloorSegmentFileSize": 1 << 20}

// openIndex opens an index that is there. Its files are read by libraries that panic at some kinds of damage, and that
// fault where a file which they have mapped into memory is shorter than it claims.
func openIndex(dir string, readOnly bool) (ix *bleveIndex, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			ix, err = nil, fmt.Errorf("%w: %v", ErrCorrupt, p)
		}
	}()
	ix, err = openBleve(dir, map[string]any{
		"bolt_timeout":           "2s", // or a second owner would wait for ever
		"read_only":              readOnly,
		"scorchMergePlanOptions": mergePlan,
	})
	if err != nil {
		if strings.HasSuffix(err.Error(), "timeout") {
			return nil, fmt.Errorf("it is in use by another process: %w", err)
		}
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return ix, nil
}

// Close closes the index. Closing twice does no harm.
func (s *Store) Close() error {
	s.using.Lock()
	defer s.using.Unlock()
	s.closed = true
	if s.index == nil {
		return nil
	}
	err := s.index.Close()
	if s.index = nil; err != nil {
		return fmt.Errorf("close full-text index: %w", err)
	}
	return nil
}

// Count returns how many documents are indexed, superseded versions included.
func (s *Store) Count() (n uint64, err error) {
	err = s.use(func(ix *bleveIndex) error {
		n, err = ix.DocCount()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("count full-text index: %w", err)
	}
	return n, nil
}

// Index makes documents found, durably: some hundreds at a time cost far less than one by one. Each URL
// changes at one moment, with all its versions.
func (s *Store) Index(ctx context.Context, documents []Document) error {
	given := make(map[string][]*Document, len(documents))
	var urls []string
	for i := range documents {
		d := &documents[i]
		if given[d.URL] == nil {
			urls = append(urls, d.URL)
		}
		given[d.URL] = append(given[d.URL], d)
	}
	if err := s.settle(ctx, urls, given); err != nil {
		return fmt.Errorf("index %d documents: %w", len(documents), err)
	}
	return nil
}

// Refresh brings URLs in line with the cache: for when versions of them were removed from there.
func (s *Store) Refresh(ctx context.Context, urls []string) error {
	if err := s.settle(ctx, urls, nil); err != nil {
		return fmt.Errorf("refresh %d URLs of full-text index: %w", len(urls), err)
	}
	return nil
}

// Delete removes all that is indexed of URLs; those that are not indexed do no harm.
func (s *Store) Delete(ctx context.Context, urls []string) error {
	err := s.change(ctx, func(batch *index.Batch) error {
		return s.read(func(r index.IndexReader) error {
			superseded, err := hasSuperseded(ctx, r)
			if err != nil {
				return err
			}
			for _, u := range urls {
				have, err := versionsIn(r, u, superseded)
				if err != nil {
					return err
				}
				have.remove(batch, u, nil)
			}
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("remove %d URLs from full-text index: %w", len(urls), err)
	}
	return nil
}

// Version returns the version of a URL that is indexed as its latest, 0 for none.
func (s *Store) Version(url string) (version int, err error) {
	err = s.read(func(r index.IndexReader) error {
		latest, err := latestIn(r, url)
		version = max(latest, 0)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("look up %q in full-text index: %w", url, err)
	}
	return version, nil
}

// read runs f on the index as it is now.
func (s *Store) read(f func(index.IndexReader) error) error {
	return s.use(func(ix *bleveIndex) error { return ix.read(f) })
}
