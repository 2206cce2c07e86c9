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

// Selection determines which versions are exported.
type Selection struct {
	Prefix string    // of URLs that begin like this
	Latest bool      // the latest one of each URL alone
	Since  time.Time // that were fetched then or later
	// Versions are those that are exported, in this order, instead of what the fields above select; nil: those.
	Versions iter.Seq2[objects.Version, error]
	// Answers also gives what the pages of the file link to that was no document, so that who reads it there can follow
	// the links; nil: documents alone.
	Answers *Answers
	// Progress is told after each version how many there were.
	Progress func(versions int)
}

// WriteWARC writes versions as a WARC file of that name, and returns how many. They are ordered by URL and
// number. The file is not whole when there is an error.
func WriteWARC(ctx context.Context, store *objects.Store, out io.Writer, name string, s Selection) (int, error) {
	n, err := s.write(ctx, store, out, name, func(objects.Version, objects.Exported) error { return nil },
		func(objects.Answer, objects.Exported) error { return nil })
	if err != nil {
		err = fmt.Errorf("write WARC file: %w", err)
	}
	return n, err
}

// write writes the records that are selected, and tells of each what was written.
func (s Selection) write(
	ctx context.Context, store *objects.Store, out io.Writer, name string,
	version func(objects.Version, objects.Exported) error, answer func(objects.Answer, objects.Exported) error,
) (n int, err error) {
	export, err := store.NewExport(out, name)
	if err != nil {
		return 0, err
	}
	export.Requests = s.Answers != nil
	linked := s.Answers.of(s.Prefix, s.Since)
	write := func(a objects.Answer) error {
		written, err := export.WriteAnswer(a)
		if err != nil {
			return err
		}
		return answer(a, written)
	}
	if err := linked.fromStarts(write); err != nil {
		return 0, err
	}
	return s.each(ctx, store, func(v objects.Version) error {
		written, err := export.Write(v)
		if err != nil {
			return err
		}
		if err := version(v, written); err != nil {
			return err
		}
		return linked.fromVersion(store, v, write)
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
