// Package frontiertest proves of a frontier what storage/frontier guarantees of its own: another backend
// that passes [Run] can take its place. Guarantees are held against power losses, of which the backend
// under test knows how to bring one about.
package frontiertest

import (
	"context"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/frontier"
)

// Backend is where a frontier is kept. Each guarantee gets one of its own, empty at first.
type Backend interface {
	// Open opens the frontier, with what it kept, on a clock.
	Open(now func() time.Time) (Store, error)
	// Kill has the open store lose what is not durable, as a power loss would, and ends it.
	Kill(Store) error
}

// Store is a frontier of several pipelines; the methods are those of [frontier.Store].
type Store interface {
	Queue(pipeline string, o frontier.QueueOptions) (Queue, error)
	CrawlStatuses(pipeline string) ([]frontier.CrawlStatus, error)
	Pause(ctx context.Context, pipeline, host string) error
	Resume(ctx context.Context, pipeline, host string) error
	Drop(ctx context.Context, pipeline, host string) (int, error)
	Close() error
}

// Queue is the frontier of one pipeline; the methods are those of [frontier.Queue].
type Queue interface {
	Start(ctx context.Context, c webrace.Crawl, newRound bool) (frontier.Round, error)
	Offer(l *webrace.Links, done func(frontier.Offered, error))
	Take(ctx context.Context) (Lease, error)
	Seal()
	Stats() frontier.Stats
	Close() error
}

// Lease is a URL that was handed out; the methods are those of [frontier.Lease].
type Lease interface {
	Request() webrace.Request
	Release(webrace.HostReport)
	Done(o frontier.Outcome, done func(error))
}

// Run tests every guarantee, each on a new backend.
func Run(t *testing.T, newBackend func(t *testing.T) Backend) {
	for _, g := range guarantees {
		t.Run(g.name, func(t *testing.T) {
			if err := g.holds(t.Context(), newBackend(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

type guarantee struct {
	name string
	test func(*session)
}

// holds tests one guarantee.
func (g guarantee) holds(ctx context.Context, b Backend) (err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	s := &session{started: map[string]bool{}, ctx: ctx, backend: b, at: time.Unix(1e9, 0).UTC(), options: frontier.QueueOptions{Fresh: -1, Wait: -1}}
	defer func() {
		if s.store != nil {
			s.store.Close()
		}
		switch f := recover().(type) {
		case nil:
		case failure:
			err = f.error
		default:
			panic(f)
		}
	}()
	s.open()
	g.test(s)
	return nil
}
