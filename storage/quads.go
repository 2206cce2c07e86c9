package storage

import (
	"context"
	"errors"
	"sync"

	"github.com/webrace/webrace/storage/objects"
)

// QuadsCursor is the follower of the object cache that fills the quad store again: the stage objects of the shipped
// pipeline quads.
const QuadsCursor = "quads/objects"

// refillQuads has the follower that fills the quad store begin anew, if it has begun: what it passed may be lost from
// there. What is indexed already changes nothing.
func (d *Dir) refillQuads() error {
	if !exists(d.Path("objects")) {
		return nil
	}
	documents, err := d.Objects()
	if err != nil {
		return nil // reported already
	}
	cursor, err := documents.Cursor(QuadsCursor)
	if err != nil || cursor == 0 {
		return err
	}
	return documents.SetCursor(QuadsCursor, 0, true)
}

// storedIn returns what tells whether any version of a URL is stored. A version that was accepted before the first
// question is: what it states may have been indexed before it was durable.
func storedIn(ctx context.Context, documents *objects.Store) func(url string) (bool, error) {
	durable := sync.OnceValue(func() error { return documents.AwaitDurable(ctx) })
	return func(url string) (bool, error) {
		if err := durable(); err != nil {
			return false, err
		}
		_, err := documents.Latest(url)
		if errors.Is(err, objects.ErrNotFound) {
			return false, nil
		}
		return err == nil, err
	}
}
