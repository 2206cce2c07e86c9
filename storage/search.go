package storage

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/fulltext"
	"github.com/webrace/webrace/storage/objects"
)

// Fulltext returns the search index. One that an older release has made is made anew first, which may take
// as long as the cache is large; if that is interrupted, the pipeline that fills the index does the rest. What
// a collection of garbage has removed before it was killed is no longer found.
func (d *Dir) Fulltext() (*fulltext.Store, error) {
	store, err := ready(d, &d.fulltext)
	var lost *fsck.Error
	if errors.As(err, &lost) && !d.readOnly {
		slog.Warn("the full-text index is gone: webrace-run search fills a new one", "dir", d.path)
		if err := d.dropFulltext(); err != nil {
			return nil, err
		}
		store, err = ready(d, &d.fulltext)
	}
	if errors.Is(err, fulltext.ErrOutdated) && !d.readOnly {
		slog.Info("the full-text index was made by an older release: it is made anew", "dir", d.path)
		if err := d.dropFulltext(); err != nil {
			return nil, err
		}
		if err := d.RebuildFulltext(context.Background(), nil); err != nil {
			return nil, err
		}
		store, err = ready(d, &d.fulltext)
	}
	if err != nil || d.readOnly || !exists(d.Path("objects")) {
		return store, err
	}
	documents, err := d.Objects()
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	return store, documents.TellRemoved(ctx, unfind{d, ctx}.removed)
}

// FulltextOutdated returns why the search index must be written before it may be searched, in a directory that is open
// for reading alone: an older release made it, or a collection of garbage was killed before the index forgot what
// it removed. It returns "" where there is nothing to write, and where [Dir.Fulltext] sees to that by itself.
func (d *Dir) FulltextOutdated() (why string, err error) {
	if !d.readOnly || !exists(d.Path("objects")) {
		return "", nil
	}
	_, err = ready(d, &d.fulltext)
	if errors.Is(err, fulltext.ErrOutdated) {
		return "an older release made it", nil
	}
	if err != nil {
		return "", err
	}
	documents, err := d.Objects()
	if err != nil {
		return "", err
	}
	err = documents.TellRemoved(context.Background(), nil)
	if errors.Is(err, objects.ErrReadOnly) {
		return "a removal of versions was interrupted", nil
	}
	return "", err
}

// dropFulltext removes the index, which is not open, and has the follower that fills it begin anew.
func (d *Dir) dropFulltext() error {
	documents, err := d.Objects()
	if err != nil {
		return err
	}
	if err := documents.SetCursor(SearchCursor, 0, true); err != nil {
		return err
	}
	if err := os.RemoveAll(d.Path("fulltext")); err != nil {
		return fmt.Errorf("remove full-text index: %w", err)
	}
	return d.forgetMade("fulltext")
}

// RebuildFulltext makes the search index anew of the object cache, also one that is damaged or of another
// release. While it does, the index that is there is searched and kept up to date as ever, if it can be.
// Progress is told, in URLs of all, unless it is nil.
func (d *Dir) RebuildFulltext(ctx context.Context, progress func(done, all int)) error {
	documents, err := d.Objects()
	if err != nil {
		return err
	}
	index, err := d.Fulltext()
	if errors.Is(err, fulltext.ErrCorrupt) || errors.Is(err, fulltext.ErrFormat) {
		if err = d.dropFulltext(); err == nil {
			index, err = d.Fulltext()
		}
	}
	if err != nil {
		return err
	}
	last, all := documents.Last(), int(documents.Stats().URLs)
	err = index.Rebuild(ctx, urlsOf(ctx, documents), func(done int) {
		if progress != nil {
			progress(done, max(all, done))
		}
	})
	if err != nil {
		return err
	}
	cursor, err := documents.Cursor(SearchCursor)
	if err != nil || cursor >= last {
		return err
	}
	return documents.SetCursor(SearchCursor, last, true)
}

func urlsOf(ctx context.Context, documents *objects.Store) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for v, err := range documents.List(ctx, "") {
			if !urlnorm.IsMarked(v.URL) && !yield(v.URL, err) { // which is for those who made the request
				return
			}
		}
	}
}

// Unsearchable returns how many versions are stored that the pipeline which fills the search index has not
// come to yet.
func (d *Dir) Unsearchable() (uint64, error) {
	documents, err := d.Objects()
	if err != nil {
		return 0, err
	}
	cursor, err := documents.Cursor(SearchCursor)
	if err != nil {
		return 0, err
	}
	return max(documents.Last(), cursor) - cursor, nil
}

// PrivateFulltext returns an index of what was fetched with the credentials of a name, which is kept in memory
// until it is closed: the index of the directory holds nothing of that, because who searches it need not be who may
// see it.
func (d *Dir) PrivateFulltext(ctx context.Context, secret string) (*fulltext.Store, error) {
	documents, err := d.Objects()
	if err != nil {
		return nil, err
	}
	var urls []string
	for v, err := range documents.Shown(ctx, secret, "") {
		if err != nil {
			return nil, err
		}
		urls = append(urls, v.URL)
	}
	return fulltext.InMemory(ctx, searched{d, secret}, urls)
}

// searched is the object cache as the search index needs it: what is shown to requests with the credentials of
// a name, or with none.
type searched struct {
	dir    *Dir
	secret string
}

func (s searched) Versions(url string) ([]int, error) {
	documents, err := s.dir.Objects()
	if err != nil {
		return nil, err
	}
	versions, err := documents.Versions(objects.View(s.secret, url))
	if errors.Is(err, objects.ErrNotFound) {
		return nil, nil
	}
	numbers := make([]int, len(versions))
	for i, v := range versions {
		numbers[i] = v.Number
	}
	return numbers, err
}

func (s searched) Document(url string, version int) (fulltext.Document, bool, error) {
	documents, err := s.dir.Objects()
	if err != nil {
		return fulltext.Document{}, false, err
	}
	d, err := stored(documents, objects.View(s.secret, url), version)
	if errors.Is(err, objects.ErrNotFound) || errors.Is(err, objects.ErrCorrupt) {
		return fulltext.Document{}, false, nil // gone meanwhile; or damaged, which fsck tells of
	}
	if err != nil {
		return fulltext.Document{}, false, err
	}
	return fulltext.FromDocument(d)
}

// stored reads a version as the search index wants it.
func stored(documents *objects.Store, view string, version int) (*webrace.Document, error) {
	v, err := documents.Get(view, version)
	if err != nil {
		return nil, err
	}
	body, header, err := documents.Body(v)
	if err != nil {
		return nil, err
	}
	return &webrace.Document{URL: v.URL, Version: v.Number, MediaType: v.MediaType, Header: header, At: v.FetchedAt, Body: body}, nil
}
