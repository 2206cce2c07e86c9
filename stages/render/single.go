package render

import (
	"context"
	"fmt"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/httpclient"
)

// Single renders single documents as the stage does, outside any pipeline.
type Single struct{ stage *stage }

// OpenSingle starts a browser, which gets all that pages ask for from fetcher. A browser that is missing or does not
// work is an error. It has to be closed.
func OpenSingle(ctx context.Context, o Options, fetcher httpclient.SubresourceFetcher) (*Single, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	lent := new(pipeline.Resources)
	pipeline.Provide(lent, fetcher)
	made, err := newStage(o, pipeline.NewEnv("one", "render", lent))
	if err != nil {
		return nil, err
	}
	s := made.(*stage)
	if err := s.Open(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return &Single{s}, nil
}

// Wants reports whether the stage would render a document, or pass it on as it is.
func (a *Single) Wants(d *webrace.Document) bool { return a.stage.wants(d) }

// Render returns what the scripts of a page made of it, and where they send its reader, empty if nowhere. A page that
// gives an error is passed on as it was fetched by the stage.
func (a *Single) Render(ctx context.Context, d *webrace.Document) (made *webrace.Document, next string, err error) {
	r, err := a.stage.render(ctx, d)
	if err != nil {
		return nil, "", fmt.Errorf("render %s: %w", d.URL, err)
	}
	return rendered(d, r), r.next, nil
}

// Close ends the browser.
func (a *Single) Close() error { return a.stage.Close() }
