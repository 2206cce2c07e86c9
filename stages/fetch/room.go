package fetch

import (
	"context"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// firstRoom is the memory that a request takes before it is made: that of most bodies. So a host is not asked for what
// there is no room for.
const firstRoom = 64 << 10

// room is the memory that a body takes of the run's budget. A nil room has no limit.
type room struct {
	env   *pipeline.Env
	it    *pipeline.Item
	ctx   context.Context
	bytes int
}

// newRoom waits until there is memory for a body, as far as that can be known before it is asked for.
func newRoom(ctx context.Context, env *pipeline.Env, it *pipeline.Item) (*room, error) {
	if env.Memory() == nil {
		return nil, nil
	}
	return &room{env, it, ctx, firstRoom}, env.Reserve(ctx, it, firstRoom)
}

// has reports whether there is room for a body of so many bytes.
func (r *room) has(bytes int) bool { return r == nil || bytes <= r.bytes }

// extend waits until there is room for so many bytes.
func (r *room) extend(bytes int) error {
	if r.has(bytes) {
		return nil
	}
	err := r.env.Reserve(r.ctx, r.it, bytes-r.bytes)
	if err == nil {
		r.bytes = bytes
	}
	return err
}

// settle gives back what the body did not need.
func (r *room) settle(b *buffer) {
	if r == nil {
		return
	}
	needed := 0
	if b != nil {
		needed = cap(b.bytes)
	}
	if needed < r.bytes {
		_ = r.env.Reserve(r.ctx, r.it, needed-r.bytes) // which does not wait
		r.bytes = needed
	}
}

// stopwatch gives a request up that takes too long. It stands while the request waits for memory, which is not the
// server's doing.
type stopwatch struct {
	timer *time.Timer
	until time.Time
	pace  *pace // of the body that is read
}

func newStopwatch(limit time.Duration, giveUp func()) *stopwatch {
	return &stopwatch{timer: time.AfterFunc(limit, giveUp), until: time.Now().Add(limit)}
}

// during calls f while the watch stands.
func (s *stopwatch) during(f func() error) error {
	began := time.Now()
	left := s.until.Sub(began)
	s.timer.Stop()
	if s.pace != nil {
		s.pace.standing.Store(true)
	}
	err := f()
	if s.pace != nil {
		s.pace.stood.Add(int64(time.Since(began)))
		s.pace.standing.Store(false)
	}
	s.until = time.Now().Add(left)
	s.timer.Reset(left)
	return err
}

// stop ends the watching.
func (s *stopwatch) stop() { s.timer.Stop() }
