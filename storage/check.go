package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/fulltext"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// Check verifies every store, and that they fit together, while nothing else uses the directory. Each
// damage is reported and, if asked, repaired as far as that is possible; what is lost is said. The error is
// for what kept the check itself from working.
func (d *Dir) Check(ctx context.Context, repair bool, report fsck.Report) error {
	return d.check(ctx, repair, report, (*objects.Store).Check)
}

// CheckDeep is Check that also reads every stored document.
func (d *Dir) CheckDeep(ctx context.Context, repair bool, report fsck.Report) error {
	return d.check(ctx, repair, report, (*objects.Store).CheckDeep)
}

func (d *Dir) check(ctx context.Context, repair bool, report fsck.Report, documents checking[*objects.Store]) error {
	if repair && d.readOnly {
		return fmt.Errorf("repair %s: it is open for reading only", d.path)
	}
	d.keeping.Lock()
	defer d.keeping.Unlock()
	c := &check{d, ctx, repair, report, documents}
	for _, part := range []func() error{c.leftovers, c.missing, c.stores, c.fulltext, c.annotations} {
		if err := part(); err != nil {
			return fmt.Errorf("check %s: %w", d.path, err)
		}
	}
	return nil
}

type check struct {
	dir    *Dir
	ctx    context.Context
	repair bool
	report fsck.Report

	documents checking[*objects.Store]
}

// checking is how a store checks itself.
type checking[T any] func(store T, ctx context.Context, repair bool, report fsck.Report) error

// fix reports a damage of a store, and repairs it if that is wanted and possible.
func (c *check) fix(store, kind, where, detail string, repair func() error) error {
	f := fsck.Finding{Store: store, Kind: kind, Where: where, Detail: detail}
	if c.repair && repair != nil {
		if err := repair(); err != nil {
			c.report(f)
			return fmt.Errorf("repair %s %s: %w", kind, where, err)
		}
		f.Repaired = true
	}
	c.report(f)
	return nil
}

// leftovers finds files that were being made when a crash came. The stores look after their own.
func (c *check) leftovers() error {
	entries, err := os.ReadDir(c.dir.path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".new") && !strings.HasSuffix(name, ".partial") {
			continue
		}
		err := c.fix("data directory", "leftover file", name, "a crash left it unfinished", func() error {
			return os.RemoveAll(filepath.Join(c.dir.path, name))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// missing finds that the control store is not there though others are: every run makes it.
func (c *check) missing() error {
	if exists(c.dir.Path("control.db")) || !exists(c.dir.Path("frontier")) && !exists(c.dir.Path("objects")) {
		return nil
	}
	return c.fix("control", "missing store", "control.db", "URDs and annotations are lost; only a backup has them", func() error {
		_, err := c.dir.Control()
		return err
	})
}

// stores has each store check itself.
func (c *check) stores() error {
	return errors.Join(
		checkStore(c, "frontier", "frontier", c.dir.Frontier, (*frontier.Store).Check),
		checkStore(c, "objects", "objects", c.dir.Objects, c.documents),
		checkStore(c, "control", "control.db", c.dir.Control, (*control.Store).Check),
	)
}

func checkStore[T any](c *check, name, file string, open func() (T, error), checks checking[T]) error {
	if !exists(c.dir.Path(file)) {
		return nil
	}
	store, err := open()
	if err != nil {
		return c.fix(name, "does not open", file, err.Error(), nil)
	}
	return checks(store, c.ctx, c.repair, c.report)
}

// fulltext checks the index against the documents it was made of.
func (c *check) fulltext() error {
	if !exists(c.dir.Path("fulltext")) || !exists(c.dir.Path("objects")) {
		return nil
	}
	documents, err := c.dir.Objects()
	if err != nil {
		return nil // reported already
	}
	index, err := c.dir.Fulltext()
	if err != nil {
		return c.fix("fulltext", "does not open", "fulltext", err.Error(), func() error {
			return c.dir.dropFulltext()
		})
	}
	if err := c.orphans(index, documents); err != nil {
		return err
	}
	return c.unindexed(index, documents)
}

// orphans finds what is indexed and not stored.
func (c *check) orphans(index *fulltext.Store, documents *objects.Store) error {
	var orphans []string
	for d, err := range index.Each(c.ctx) {
		if err == nil {
			_, err = documents.Get(d.URL, d.Version)
		}
		switch {
		case errors.Is(err, objects.ErrNotFound):
			orphans = append(orphans, d.URL)
			c.report(fsck.Finding{Store: "fulltext", Kind: "orphan document", Where: d.URL,
				Detail: fmt.Sprintf("version %d is not stored", d.Version), Repaired: c.repair})
		case err != nil:
			return err
		}
	}
	if !c.repair || len(orphans) == 0 {
		return nil
	}
	return index.Refresh(c.ctx, orphans)
}

// unindexed finds documents that the follower that fills the index has passed, and that are not in there
// as they are. To repair, it begins again before the first of them.
func (c *check) unindexed(index *fulltext.Store, documents *objects.Store) error {
	cursor, err := documents.Cursor(SearchCursor)
	if err != nil || cursor == 0 {
		return err
	}
	first := cursor + 1
	for v, err := range documents.List(c.ctx, "") {
		if err != nil {
			return err
		}
		if v.Seq > cursor {
			continue
		}
		missing, err := lacks(index, documents, v)
		if err != nil {
			return err
		}
		if !missing {
			continue
		}
		c.report(fsck.Finding{Store: "fulltext", Kind: "not indexed", Where: v.URL,
			Detail: fmt.Sprintf("version %d is stored; it is indexed by webrace-run search", v.Number), Repaired: c.repair})
		first = min(first, v.Seq)
	}
	if !c.repair || first > cursor {
		return nil
	}
	return documents.SetCursor(SearchCursor, first-1, true)
}

// lacks reports whether a document with text is not in the index. The check of the documents tells of one
// that cannot be read.
func lacks(index *fulltext.Store, documents *objects.Store, v objects.Version) (bool, error) {
	if have, err := index.Version(v.URL); err != nil || have == v.Number {
		return false, err
	}
	d, err := stored(documents, v.URL, v.Number)
	if err != nil {
		return false, nil
	}
	_, hasText, err := fulltext.FromDocument(d)
	return hasText && err == nil, nil
}

// annotations finds those that wait and speak of a version that is not stored. Nothing can bring it back, and
// the annotation itself is whole: repaired, it speaks of no version.
func (c *check) annotations() error {
	if !exists(c.dir.Path("control.db")) || !exists(c.dir.Path("objects")) {
		return nil
	}
	requests, err := c.dir.Control()
	if err != nil {
		return nil // reported already
	}
	documents, err := c.dir.Objects()
	if err != nil {
		return nil
	}
	for a, err := range requests.ACIs(c.ctx, control.Filter{}) {
		if err != nil {
			return nil // the check of the store reported it
		}
		if !a.Retrieved.IsZero() || a.Docbase.Version == 0 {
			continue
		}
		err := keeps(c.ctx, documents, a.URI, a.Docbase.Version)
		switch {
		case errors.Is(err, objects.ErrNotFound):
			c.report(fsck.Finding{Store: "control", Kind: "annotation of a lost version", Where: a.ID, Repaired: c.repair,
				Detail: fmt.Sprintf("%s waits for version %d of %s, which is not stored", a.Owner, a.Docbase.Version, a.URI)})
			if !c.repair {
				continue
			}
			a.Docbase.Version = 0
			if _, err := requests.PutACIs(c.ctx, []*xmlschema.ACI{a.ACI}); err != nil {
				return err
			}
		case err != nil:
			return err
		}
	}
	return nil
}

// keeps says [objects.ErrNotFound] if no view of a URL has a version: an annotation does not say with which
// credentials its document was asked for.
func keeps(ctx context.Context, documents *objects.Store, url string, number int) error {
	_, err := documents.Get(url, number)
	if !errors.Is(err, objects.ErrNotFound) {
		return err
	}
	for v, failure := range documents.Private(ctx, url) {
		if failure != nil {
			return failure
		}
		if _, got := documents.Get(v.View(), number); !errors.Is(got, objects.ErrNotFound) {
			return got
		}
	}
	return err
}
