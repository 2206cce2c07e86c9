package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/webrace/webrace/storage/objects"
)

// Selection says which versions are exported.
type Selection struct {
	Prefix string    // of URLs that begin like this
	Latest bool      // the latest one of each URL alone
	Since  time.Time // that were fetched then or later
	// Versions are those that are exported, in this order, instead of what the fields above select; nil: those.
	Versions iter.Seq2[objects.Version, error]
	// Progress is told after each version how many there were.
	Progress func(versions int)
}

// WriteWARC writes versions as a WARC file of that name, and returns how many. They are ordered by URL and
// number. The file is not whole when there is an error.
func WriteWARC(ctx context.Context, store *objects.Store, out io.Writer, name string, s Selection) (int, error) {
	export, err := store.NewExport(out, name)
	if err != nil {
		return 0, fmt.Errorf("write WARC file: %w", err)
	}
	return s.each(ctx, store, func(v objects.Version) error {
		_, err := export.Write(v)
		return err
	})
}

// each calls f for every version that is selected. One that was removed meanwhile is passed over.
func (s Selection) each(ctx context.Context, store *objects.Store, f func(objects.Version) error) (n int, err error) {
	versions := s.Versions
	if versions == nil {
		versions = s.of(ctx, store)
	}
	for v, err := range versions {
		if err == nil {
			err = f(v)
		}
		if errors.Is(err, objects.ErrNotFound) {
			continue
		}
		if err != nil {
			return n, err
		}
		if n++; s.Progress != nil {
			s.Progress(n)
		}
		if err := ctx.Err(); err != nil {
			return n, err
		}
	}
	return n, nil
}

// of returns the versions of a store that are selected.
func (s Selection) of(ctx context.Context, store *objects.Store) iter.Seq2[objects.Version, error] {
	return func(yield func(objects.Version, error) bool) {
		for latest, err := range store.List(ctx, s.Prefix) {
			versions := []objects.Version{latest}
			if err == nil && !s.Latest {
				versions, err = store.Versions(latest.URL)
			}
			if err != nil && !yield(objects.Version{}, err) {
				return
			}
			for _, v := range versions {
				if err == nil && !v.FetchedAt.Before(s.Since) && !yield(v, nil) {
					return
				}
			}
		}
	}
}
