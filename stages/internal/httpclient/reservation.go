package httpclient

import (
	"context"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// firstReserved is the memory that a request takes before it is made: that of most bodies. So a host is not asked for
// what there is no room for.
const firstReserved = 64 << 10

// Reservation is the memory that a body takes of the run's budget. A nil one has no limit.
type Reservation struct {
	env   *pipeline.Env
	it    *pipeline.Item
	ctx   context.Context
	bytes int
}

// Reserve waits until there is memory for a body, as far as that can be known before it is asked for.
func Reserve(ctx context.Context, env *pipeline.Env, it *pipeline.Item) (*Reservation, error) {
	if env.Memory() == nil {
		return nil, nil
	}
	return &Reservation{env, it, ctx, firstReserved}, env.Reserve(ctx, it, firstReserved)
}

// has reports whether there is room for a body of so many bytes.
func (r *Reservation) has(bytes int) bool { return r == nil || bytes <= r.bytes }

// extend waits until there is room for so many bytes.
func (r *Reservation) extend(bytes int) error {
	if r.has(bytes) {
		return nil
	}
	err := r.env.Reserve(r.ctx, r.it, bytes-r.bytes)
	if err == nil {
		r.bytes = bytes
	}
	return err
}

// settle gives back what the body of a response did not need; all of it if there is none.
func (r *Reservation) settle(a *Response) {
	if r == nil {
		return
	}
	needed := 0
	if a != nil && a.buffer != nil {
		needed = cap(a.buffer.bytes)
	}
	if needed < r.bytes {
		_ = r.env.Reserve(r.ctx, r.it, needed-r.bytes) // which does not wait
		r.bytes = needed
	}
}

// stopwatch gives a request up that takes too long. It is paused while the request waits for memory, which is not the
// server's doing.
type stopwatch struct {
	timer *time.Timer
	until time.Time
	pace  *pace // of the body that is read
}

func newStopwatch(limit time.Duration, giveUp func()) *stopwatch {
	return &stopwatch{timer: time.AfterFunc(limit, giveUp), until: time.Now().Add(limit)}
}

// during calls f while the watch is paused.
func (s *stopwatch) during(f func() error) error {
	began := time.Now()
	left := s.until.Sub(began)
	s.timer.Stop()
	if s.pace != nil {
		s.pace.paused.Store(true)
	}
	err := f()
	if s.pace != nil {
		s.pace.pausedFor.Add(int64(time.Since(began)))
		s.pace.paused.Store(false)
	}
	s.until = time.Now().Add(left)
	s.timer.Reset(left)
	return err
}

// stop ends the watching.
func (s *stopwatch) stop() { s.timer.Stop() }
