package aciemit

import (
	"context"
	"fmt"
	"slices"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/xmlschema"
)

// awaitDocuments waits until the documents that the annotations name are durable, once for all of them. Annotations
// that name no stored version wait for nothing.
func (s *stage) awaitDocuments(ctx context.Context, acis []*xmlschema.ACI) error {
	if !slices.ContainsFunc(acis, func(a *xmlschema.ACI) bool { return a.Docbase.Version > 0 }) {
		return nil
	}
	return s.dir.AwaitDocuments(ctx)
}

// notStored ends the run, because documents that annotations name cannot be made durable. The items are held with the
// error, as the stage cache holds the documents': their requests are not done, and the next run repeats them. An error
// of this stage would make dead letters of the annotations instead, and a later run could store them, without their
// documents.
func notStored(ctx context.Context, its []*pipeline.Item, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, it := range its {
		it.Hold()(fmt.Errorf("make the documents of annotations durable: %w", err))
	}
	return nil
}
