// Package fulltext is the search index over the object cache. It only finds: texts stay in the cache,
// and fragments of them are made from there with [Fragment]. It can be rebuilt from the cache at any
// time, so whoever feeds it keeps a cursor into the cache and advances it after [Store.Index] returned.
//
// What it guarantees: when Index returns, its documents survive kill -9 and are found; indexing the same
// documents again, in any order, changes nothing, since a document replaces the version of its URL that
// is indexed unless that one is newer. Words are found in all their forms, whatever their case and
// accents, by the analysis that keywords are matched with.
//
// Queries are written in bleve's query string language: words; +word that must and -word that must not
// occur; "a phrase"; word* for beginnings; word~ for misspellings; field:word; date:>="2026-01-31";
// word^3 to weigh. Fields are title, headings, body, url, host, language, type, date and version; a word
// without a field is looked for in the first three.
package fulltext

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	index "github.com/blevesearch/bleve_index_api"
)

var (
	// ErrCorrupt says that the index cannot be read. Remove its directory, and index again from the first version on.
	ErrCorrupt = errors.New("full-text index is damaged (webrace-store fsck --repair removes it, webrace-run search builds it anew)")
	// ErrFormat says that another release made the index. Remove its directory, and index again.
	ErrFormat = errors.New("full-text index has another format")
	// ErrQuery says that a query is not one; the text after it says why, to be shown to who wrote it.
	ErrQuery = errors.New("bad query")
)

// format changes when documents would be indexed otherwise than before. Only then is an index that was
// made before of no use.
const format = "1"

var formatKey = []byte("webrace-format")

// Document is what is indexed of a version of a URL. Texts are plain UTF-8.
type Document struct {
	URL      string
	Version  int
	Language string // BCP 47; empty when unknown
	Type     string // the media type
	Date     time.Time
	Title    string
	Headings string
	Body     string // the rest of the text
}

// Options of an index; the zero value is right for most.
type Options struct {
	ReadOnly bool // the index must be there, nothing is written, and changes are refused
	// Retry runs what changes the index, and may run it again while it fails for want of room
	// ([syscall.ENOSPC]). Nil runs it once.
	Retry func(ctx context.Context, change func() error) error
}

// Store is an open index. Its methods may be called from many goroutines.
type Store struct {
	path    string
	options Options

	writing    sync.Mutex // from looking up indexed versions until they are replaced
	generation uint64     // changes made so far

	using  sync.RWMutex // held to use the index, so that it is not replaced meanwhile
	index  bleve.Index  // nil after a failure until it is opened again
	closed bool
}

// Open opens the index in dir, and makes it if there is none.
func Open(dir string, o Options) (*Store, error) {
	if _, err := os.Stat(filepath.Join(dir, "index_meta.json")); errors.Is(err, fs.ErrNotExist) && !o.ReadOnly {
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
	if err == nil && string(found) != format {
		err = fmt.Errorf("%w: %q, and this release has %q", ErrFormat, found, format)
	}
	var generation uint64
	if err == nil {
		generation, err = checkGeneration(s.path, ix)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("open full-text index %s: %w", s.path, err), ix.Close())
	}
	s.index, s.generation = ix, generation
	return nil
}

// create makes an index beside dir and moves it there when it is complete, so that a crash never leaves
// half of one. A dir that is there already must be empty, or it holds the remains of an index.
func create(dir string) error {
	if rest, err := os.ReadDir(dir); err == nil && len(rest) > 0 {
		return fmt.Errorf("%w: index_meta.json is missing", ErrCorrupt)
	}
	fresh := strings.TrimRight(dir, string(filepath.Separator)) + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	ix, err := bleve.NewUsing(fresh, newMapping(), scorch.Name, scorch.Name, nil)
	if err != nil {
		return err
	}
	if err := errors.Join(ix.SetInternal(formatKey, []byte(format)), ix.Close()); err != nil {
		return err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(fresh, dir)
}

// openIndex opens an index that is there. Its files are read by libraries that panic at some kinds of
// damage.
func openIndex(dir string, readOnly bool) (ix bleve.Index, err error) {
	defer func() {
		if p := recover(); p != nil {
			ix, err = nil, fmt.Errorf("%w: %v", ErrCorrupt, p)
		}
	}()
	ix, err = bleve.OpenUsing(dir, map[string]any{
		"bolt_timeout": "2s", // or a second owner would wait for ever
		"read_only":    readOnly,
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

// Count returns how many documents are indexed.
func (s *Store) Count() (n uint64, err error) {
	err = s.use(func(ix bleve.Index) error {
		n, err = ix.DocCount()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("count full-text index: %w", err)
	}
	return n, nil
}

// Index adds documents, all at once and durably: some hundreds at a time cost far less than one by one.
// Of several versions of a URL the newest stays, whether they come together or one after the other.
func (s *Store) Index(ctx context.Context, documents []Document) error {
	err := s.change(ctx, func(batch *bleve.Batch) error {
		newest := make(map[string]int, len(documents))
		for i := range documents {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := s.add(batch, &documents[i], newest); err != nil {
				return fmt.Errorf("%q: %w", documents[i].URL, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("index %d documents: %w", len(documents), err)
	}
	return nil
}

// add puts a document into a batch unless one that is newer is indexed or in there.
func (s *Store) add(batch *bleve.Batch, d *Document, newest map[string]int) error {
	have, ok := newest[d.URL]
	if !ok {
		var err error
		if have, err = s.version(d.URL); err != nil {
			return err
		}
	}
	newest[d.URL] = max(have, d.Version)
	if d.Version < have {
		return nil
	}
	return batch.Index(d.URL, d.fields())
}

// Delete removes documents by their URLs; those that are not indexed do no harm.
func (s *Store) Delete(ctx context.Context, urls []string) error {
	err := s.change(ctx, func(batch *bleve.Batch) error {
		for _, u := range urls {
			batch.Delete(u)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("remove %d documents from full-text index: %w", len(urls), err)
	}
	return nil
}

// DeleteVersions removes the documents of URLs unless a newer version than the one given is indexed.
func (s *Store) DeleteVersions(ctx context.Context, highest map[string]int) error {
	err := s.change(ctx, func(batch *bleve.Batch) error {
		for u, version := range highest {
			have, err := s.version(u)
			if err != nil {
				return fmt.Errorf("%q: %w", u, err)
			}
			if have > 0 && have <= version {
				batch.Delete(u)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("remove %d documents from full-text index: %w", len(highest), err)
	}
	return nil
}

// Version returns the version of a URL that is indexed, 0 for none.
func (s *Store) Version(url string) (int, error) {
	version, err := s.version(url)
	if err != nil {
		return 0, fmt.Errorf("look up %q in full-text index: %w", url, err)
	}
	return version, nil
}

// version returns the version of a URL that is indexed, 0 for none.
func (s *Store) version(url string) (int, error) {
	var d index.Document
	err := s.use(func(ix bleve.Index) (err error) {
		d, err = ix.Document(url)
		return err
	})
	if err != nil || d == nil {
		return 0, err
	}
	version := 0
	d.VisitFields(func(f index.Field) {
		if n, ok := f.(index.NumericField); ok && f.Name() == "version" {
			if v, err := n.Number(); err == nil {
				version = int(v)
			}
		}
	})
	return version, nil
}

func (d *Document) fields() map[string]any {
	fields := map[string]any{
		"url": d.URL, "host": hostOf(d.URL), "language": strings.ToLower(d.Language), "type": strings.ToLower(d.Type),
		"title": d.Title, "headings": d.Headings, "body": d.Body, "version": d.Version,
	}
	if !d.Date.IsZero() {
		fields["date"] = d.Date
	}
	return fields
}

func hostOf(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}
