package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/lru"
	"github.com/webrace/webrace/internal/pagepath"
	"github.com/webrace/webrace/internal/reading"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/objects"
)

// markdownTree writes each document to a file of its own below a folder, at a path that its URL determines, and a list
// of all files there. A file is written when it is not there as it would be; it has its name once it is whole. Nothing
// is removed. Whatever a site names, and whatever links there are in the folder, no file is beside it. Several
// documents may be written at once, each of another URL.
type markdownTree struct {
	mu                        sync.Mutex // of what follows up to the counts
	root                      *os.Root
	folders                   lru.Cache[*os.Root] // within it, by their paths
	written, same, withSecret int

	name    string // of the folder, as it was given
	store   *objects.Store
	options outputOptions
}

func newMarkdownTree(_ io.Writer, name string, dir *storage.Dir, o outputOptions) (documentWriter, error) {
	if err := os.MkdirAll(name, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	store, err := dir.Objects()
	return &markdownTree{root: root, folders: lru.New(openFolders, func(r *os.Root) { r.Close() }), name: name, store: store, options: o}, err
}

// write writes a document. What was fetched with a secret is for its owner, and not written beside what all may see.
func (t *markdownTree) write(ctx context.Context, d *webrace.Document) error {
	name := pagepath.Of(d.URL, ".md")
	if t.leaves(name, d) {
		return nil
	}
	whole := *d
	var err error
	if whole.Header, whole.Body, err = t.store.AsStored(d); err != nil {
		return err
	}
	page, err := reading.Of(ctx, &whole, reading.Options{All: t.options.all})
	if err != nil {
		return err
	}
	content := append(page.AppendFrontMatter(nil, t.stored(d)), page.Markdown...)
	t.mu.Lock()
	defer t.mu.Unlock()
	changed, err := t.replace(name, content)
	if changed {
		t.written++
	} else {
		t.same++
	}
	return err
}

// leaves counts a document of which nothing is to be written, and reports whether this is one.
func (t *markdownTree) leaves(name string, d *webrace.Document) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case d.Secret != "":
		t.withSecret++
	case t.has(name, d):
		t.same++
	default:
		return false
	}
	return true
}

// has reports whether a file is of the version of a document already, and has the part of it that is wanted.
func (t *markdownTree) has(name string, d *webrace.Document) bool {
	if d.Changed || d.Version == 0 {
		return false
	}
	folder, err := t.folder(path.Dir(name))
	if err != nil {
		return false
	}
	file, err := folder.Open(path.Base(name))
	if err != nil {
		return false
	}
	defer file.Close()
	l, ok := reading.ReadFrontMatter(file)
	part := reading.PartMain // a page that has none is read again: it may have been all that was wanted last time
	if t.options.all {
		part = reading.PartAll
	}
	return ok && l.Version == d.Version && l.Digest == d.Digest.String() && l.Part == part
}

// stored returns which version a document is of. It came when that was fetched, whenever it was confirmed since.
func (t *markdownTree) stored(d *webrace.Document) reading.Stored {
	s := reading.Stored{Version: d.Version, Fetched: d.At, Digest: d.Digest}
	if v, err := t.store.Get(d.URL, d.Version); err == nil { // otherwise it is not durable yet, or not to be stored
		s.Fetched = v.FetchedAt
	}
	return s
}

// replace gives a file this content, and reports whether it had another.
func (t *markdownTree) replace(name string, content []byte) (changed bool, err error) {
	folder, err := t.folder(path.Dir(name))
	if err != nil {
		return true, err
	}
	name = path.Base(name)
	if old, err := folder.ReadFile(name); err == nil && bytes.Equal(old, content) {
		return false, nil
	}
	part := partName(name)
	err = folder.WriteFile(part, content, 0o666)
	if err == nil {
		err = folder.Rename(part, name)
	}
	if err != nil {
		return true, errors.Join(err, ignoreMissing(folder.Remove(part)))
	}
	return true, nil
}

// openFolders is how many folders are kept open: each file of a deep one would open all that it lies in.
const openFolders = 64

// folder returns a folder of the tree, which it makes if it is not there.
func (t *markdownTree) folder(name string) (*os.Root, error) {
	if folder, ok := t.folders.Get(name); ok {
		return folder, nil
	}
	if err := t.root.MkdirAll(filepath.FromSlash(name), 0o777); err != nil {
		return nil, err
	}
	folder, err := t.root.OpenRoot(filepath.FromSlash(name))
	if err == nil {
		t.folders.Add(name, folder)
	}
	return folder, err
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// indexName is the file that lists the others.
const indexName = "index.md"

// finish writes the list of all documents in the folder, those of earlier runs, too, by their URLs.
func (t *markdownTree) finish() (err error) {
	defer func() {
		for _, name := range t.folders.Keys() {
			t.folders.Remove(name)
		}
		err = errors.Join(err, t.root.Close())
	}()
	var all []reading.Listed
	err = fs.WalkDir(t.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name == indexName || !strings.HasSuffix(name, ".md") {
			return err
		}
		file, err := t.root.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		if matter, ok := reading.ReadFrontMatter(file); ok {
			all = append(all, reading.Listed{Path: name, URL: matter.URL, Title: matter.Title})
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("list the documents: %w", err)
	}
	_, err = t.replace(indexName, reading.AppendList(nil, all))
	return err
}

// summary tells what was written.
func (t *markdownTree) summary() string {
	s := fmt.Sprintf("%s in %s, %d of them new or changed; %s lists all that are there", wording.Count(t.written+t.same, "document"), t.name, t.written, filepath.Join(t.name, indexName))
	if t.withSecret > 0 {
		s += fmt.Sprintf("; %s left out that were fetched with a secret", wording.Count(t.withSecret, "document"))
	}
	return s
}
