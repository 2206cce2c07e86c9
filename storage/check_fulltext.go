package storage

import (
	"errors"
	"fmt"

	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/fulltext"
	"github.com/webrace/webrace/storage/objects"
)

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
	if errors.Is(err, fulltext.ErrOutdated) {
		return nil // it is made anew when it is opened to be written
	}
	if err != nil {
		return c.fix("fulltext", "does not open", "fulltext", err.Error(), func() error {
			return errors.Join(c.setAside("fulltext"), c.dir.dropFulltext())
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
	first, done, total := cursor+1, int64(0), int64(documents.Stats().URLs)
	for v, err := range documents.List(c.ctx, "") {
		if err != nil {
			return err
		}
		done++
		fsck.Tell(c.ctx, fsck.Progress{Store: "fulltext", Step: "documents", Done: done, Total: total})
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
