package mcp

import (
	"context"
	"errors"
	"fmt"

	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/usage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
)

// allowsUse refuses to give a page to a model, which an agent is, if its owner states that it is not to be.
func (l *Limits) allowsUse(url string, stated usage.Statements) error {
	if l.AnyUse {
		return nil
	}
	allowed, by := stated.Allows(usage.AIInput)
	if allowed {
		return nil
	}
	return &withheldError{fmt.Errorf("the owner of %s states that it is not to be given to a model: %s", unmarked(url), short(by.String(), 500))}
}

// withheldError is why a page is not given to an agent.
type withheldError struct{ error }

// isWithheld reports whether what an alert quotes is of a version that is not to be given to a model. What is not
// stored any more states nothing.
func (d *Desk) isWithheld(ctx context.Context, a control.ACI) (bool, error) {
	if d.Limits.AnyUse || a.Docbase.Version == 0 {
		return false, ctx.Err()
	}
	cache, err := d.Dir.Objects()
	if err != nil {
		return false, err
	}
	version, err := cache.Get(objects.View(a.Docbase.Secret, a.URI), a.Docbase.Version)
	if errors.Is(err, objects.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	body, header, err := cache.Body(version)
	if errors.Is(err, objects.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	stated := usage.OfBody(version.URL, header, body, extract.ContentType(header, version.MediaType))
	return d.Limits.allowsUse(version.URL, stated) != nil, ctx.Err()
}
