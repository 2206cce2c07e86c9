package sparql

import (
	"context"
	"net"
	"net/http"
	"sync"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/storage/quads"
)

type stage struct {
	options Options
	env     *pipeline.Env
	quads   *quads.Store
	places  chan struct{}        // has one for each query that runs or waits
	turns   chan struct{}        // has one for each query that runs
	records chan pipeline.Record // what Run emits

	mu       sync.Mutex
	run      context.Context // ends when the run is cancelled
	door     *admin.Endpoint
	listener net.Listener
	stop     func() // stops the server
	ending   bool   // nothing more is taken
	ended    chan struct{}
	under    sync.WaitGroup // requests under way, each of which is added while ending is false

	described description
}

// description is what was said last of the store, which takes a while to count.
type description struct {
	turn    chan struct{} // has one while somebody counts
	state   string
	triples []webrace.Triple
}

// Run answers queries until the run is told to end, and emits a record of each. Queries that run by then are answered.
func (s *stage) Run(ctx context.Context, out pipeline.Emitter) error {
	s.mu.Lock()
	s.ending, s.ended = false, make(chan struct{})
	if s.stop == nil && s.listener != nil {
		s.stop = admin.Serve(s.listener, s.door.GuardPrograms(http.HandlerFunc(s.serve)))
	}
	s.mu.Unlock()
	err := s.emit(ctx, out)
	s.end()
	for {
		select {
		case r := <-s.records: // of a query that was under way: there is no time to wait for room
			_ = s.emitRecord(context.WithoutCancel(ctx), out, r)
		default:
			return err
		}
	}
}

func (s *stage) emit(ctx context.Context, out pipeline.Emitter) error {
	for {
		select {
		case r := <-s.records:
			if err := s.emitRecord(ctx, out, r); err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// emitRecord counts a record that is not taken any more, as in a reload.
func (s *stage) emitRecord(ctx context.Context, out pipeline.Emitter, r pipeline.Record) error {
	err := out.Emit(ctx, &pipeline.Item{Value: r})
	if err != nil {
		s.env.Counter("unrecorded").Add(1)
	}
	return err
}

// end takes nothing more, and waits until all that runs is answered.
func (s *stage) end() {
	s.mu.Lock()
	s.ending = true
	close(s.ended)
	s.mu.Unlock()
	s.under.Wait()
}

// enter begins a request, unless the run ends. It returns a channel that is closed when those that wait are to go.
func (s *stage) enter() (ended <-chan struct{}, leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending {
		return nil, nil, false
	}
	s.under.Add(1)
	return s.ended, s.under.Done, true
}

// Close stops listening, and waits for a moment until answers under way have been read.
func (s *stage) Close() error {
	s.mu.Lock()
	listener, stop := s.listener, s.stop
	s.listener, s.stop = nil, nil
	s.mu.Unlock()
	switch {
	case stop != nil:
		stop()
	case listener != nil:
		return listener.Close()
	}
	return nil
}
