package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/fetch"
)

// Fetcher asks the web for single pages, as the stage fetch does: one at a time, as robots.txt allows, with the pauses
// that each host is left, and not at addresses of networks that are not admitted.
type Fetcher struct {
	turn   chan struct{}
	single *fetch.Single
}

// fetchTime is how long a request may take, with the pause before it: others wait for their turn.
const fetchTime = time.Minute

// NewFetcher makes one, which is to be closed. By what is lent it finds the key to sign requests with, if it is to.
func NewFetcher(o fetch.Options, lent *pipeline.Resources) (*Fetcher, error) {
	single, err := fetch.NewSingle(o, lent)
	if err != nil {
		return nil, err
	}
	return &Fetcher{turn: make(chan struct{}, 1), single: single}, nil
}

// Close ends it when the request under way has ended.
func (f *Fetcher) Close() error {
	f.turn <- struct{}{}
	defer func() { <-f.turn }()
	return f.single.Close()
}

func (f *Fetcher) get(ctx context.Context, url string) (*webrace.Document, error) {
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	d, err := f.single.Get(ctx, webrace.Request{URL: url})
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%s gave no document within %s, or its host rests for longer: %w", url, fetchTime, err)
	}
	return d, err
}
