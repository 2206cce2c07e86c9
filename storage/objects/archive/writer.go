package archive

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/storage/objects/warc"
)

// writer stores documents, whose versions have the order of their dates, and counts them.
type writer struct {
	store    *objects.Store
	versions int
	known    int

	waiting map[string]bool // URLs with writes that may not be durable yet
	writes  sync.WaitGroup
	mu      sync.Mutex
	failed  error
}

func newWriter(store *objects.Store) *writer {
	return &writer{store: store, waiting: map[string]bool{}}
}

// maxWaiting is how many writes share the wait for the disk.
const maxWaiting = 4096

// settle waits until everything is durable.
func (w *writer) settle() error {
	w.writes.Wait()
	clear(w.waiting)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

func (w *writer) done(err error) {
	if err != nil {
		w.mu.Lock()
		w.failed = err
		w.mu.Unlock()
	}
	w.writes.Done()
}

// begin makes sure that what was written of a URL can be read.
func (w *writer) begin(url string) error {
	if w.waiting[url] || len(w.waiting) >= maxWaiting {
		return w.settle()
	}
	return nil
}

// put stores a document, unless it is known. The reason is why it cannot be stored.
func (w *writer) put(d *webrace.Document) (reason string, err error) {
	if err := w.begin(d.URL); err != nil {
		return "", err
	}
	latest, err := w.store.Latest(d.URL)
	switch {
	case errors.Is(err, objects.ErrNotFound):
	case err != nil:
		return "", err
	case !d.At.After(latest.FetchedAt):
		known, err := w.knows(d)
		if err != nil {
			return "", err
		}
		if known {
			w.known++
			return "", nil
		}
		if d.At.Before(latest.FetchedAt) {
			return fmt.Sprintf("it is older than version %d, of %s, and versions are kept in their order", latest.Number, latest.FetchedAt.Format(time.RFC3339)), nil
		}
	}
	w.waiting[d.URL] = true
	w.writes.Add(1)
	version, err := w.store.Put(d, w.done)
	if err != nil {
		w.writes.Done()
		delete(w.waiting, d.URL)
		if errors.Is(err, objects.ErrIncomplete) {
			return fmt.Sprintf("some of it is missing, and version %d is complete", latest.Number), nil
		}
		return "", err
	}
	if version.Changed {
		w.versions++
	} else {
		w.known++
	}
	return "", nil
}

// knows reports whether a document that is no newer than the latest version is stored: it was fetched at
// that time, or it is what was current then.
func (w *writer) knows(d *webrace.Document) (bool, error) {
	versions, err := w.store.Versions(d.URL)
	if err != nil {
		return false, err
	}
	digest := webrace.Digest(sha256.Sum256(d.Body))
	var current webrace.Digest
	for _, v := range versions {
		if v.FetchedAt.After(d.At) {
			break
		}
		if current = v.Digest; v.FetchedAt.Equal(d.At) && v.Digest == digest {
			return true, nil
		}
	}
	return current == digest, nil
}

// touch records that the latest version was still current. The reason is why it cannot be.
func (w *writer) touch(url string, at time.Time) (reason string, err error) {
	if err := w.begin(url); err != nil {
		return "", err
	}
	latest, err := w.store.Latest(url)
	if errors.Is(err, objects.ErrNotFound) {
		return "what this revisit confirms is in none of the files, and not in the object cache", nil
	}
	if err != nil {
		return "", err
	}
	w.known++
	if at.Before(latest.FetchedAt) {
		return "", nil
	}
	w.waiting[url] = true
	w.writes.Add(1)
	if _, err = w.store.Touch(url, at, w.done); err != nil {
		w.writes.Done()
	}
	return "", err
}

// stored returns the document that was fetched from a URL at that time, to the second; nil if there is none.
func (w *writer) stored(url, date string) (*warc.Response, error) {
	at, err := warc.ParseDate(date)
	if err != nil {
		return nil, nil
	}
	if err := w.begin(url); err != nil {
		return nil, err
	}
	versions, err := w.store.Versions(url)
	if errors.Is(err, objects.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, v := range versions {
		if !v.FetchedAt.Truncate(time.Second).Equal(at.Truncate(time.Second)) {
			continue
		}
		body, header, err := w.store.Body(v)
		if err != nil {
			return nil, err
		}
		return &warc.Response{Status: v.Status, Header: header, MediaType: v.MediaType, Body: body, Truncated: v.Truncated}, nil
	}
	return nil, nil
}
