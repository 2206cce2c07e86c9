package storage

import (
	"context"
	"errors"
	"fmt"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// annotations finds those that wait and speak of a version that is not stored. Nothing can bring it back, and
// the annotation itself is whole: repaired, it speaks of no version.
func (c *check) annotations() error {
	if !c.dir.OwnsControl() || !exists(c.dir.Path("control.db")) || !exists(c.dir.Path("objects")) {
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
	done := int64(0)
	for a, err := range requests.ACIs(c.ctx, control.Filter{}) {
		if err != nil {
			return nil // the check of the store reported it
		}
		done++
		fsck.Tell(c.ctx, fsck.Progress{Store: "control", Step: "annotations", Done: done})
		if !a.Retrieved.IsZero() || a.Docbase.Version == 0 {
			continue
		}
		err := keeps(c.ctx, documents, a.ACI)
		switch {
		case errors.Is(err, objects.ErrNotFound), errors.Is(err, errOtherDocument):
			f := fsck.Finding{Store: "control", Kind: "annotation of a lost version", Where: a.ID, Repaired: c.repair,
				Detail: fmt.Sprintf("%s waits for version %d of %s, which is not stored", a.Owner, a.Docbase.Version, a.URI)}
			if errors.Is(err, errOtherDocument) {
				f.Kind, f.Detail = "annotation of another document",
					fmt.Sprintf("%s waits for %s as version %d of %s, and %v", a.Owner, a.Docbase.Digest, a.Docbase.Version, a.URI, err)
			}
			if c.report(f); !c.repair {
				continue
			}
			a.Docbase.Version = 0
			if err := requests.ReplaceACI(c.ctx, a.ACI); err != nil {
				return err
			}
		case err != nil:
			return err
		}
	}
	return nil
}

// errOtherDocument means that a version is stored, and is not the document that an annotation speaks of.
var errOtherDocument = errors.New("another document is stored as that version")

// keeps returns [objects.ErrNotFound] if no view of a URL has the version of an annotation, and errOtherDocument if
// none that has it has that document: annotations of earlier releases do not tell with which credentials it was asked
// for.
func keeps(ctx context.Context, documents *objects.Store, a *xmlschema.ACI) error {
	err := keepsAs(documents, objects.View(a.Docbase.Secret, a.URI), a)
	if err == nil || !errors.Is(err, objects.ErrNotFound) && !errors.Is(err, errOtherDocument) {
		return err
	}
	for v, failure := range documents.Private(ctx, a.URI) {
		if failure != nil {
			return failure
		}
		got := keepsAs(documents, v.View(), a)
		if got == nil || !errors.Is(got, objects.ErrNotFound) {
			err = got
		}
		if got == nil {
			break
		}
	}
	return err
}

func keepsAs(documents *objects.Store, view string, a *xmlschema.ACI) error {
	v, err := documents.Get(view, a.Docbase.Version)
	if err == nil && a.Docbase.Digest != "" && a.Docbase.Digest != v.Digest.String() {
		return errOtherDocument
	}
	return err
}
