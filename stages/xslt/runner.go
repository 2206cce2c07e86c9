package xslt

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// errTime is the error of a document that is transformed for too long.
var errTime = errors.New("its time is over")

// runner runs transformations within a limit of time. The library looks at its context between instructions only: one
// that is late, as within a single expression, is left behind and goes on in the background, while its document fails.
// There are places for as many again as there are workers; while all are taken, what comes waits for one.
type runner struct {
	env    *pipeline.Env
	limit  time.Duration
	places chan struct{} // one taken by each transformation
	left   *atomic.Int64 // of these, left behind
}

func newRunner(env *pipeline.Env, limit time.Duration) *runner {
	return &runner{env: env, limit: limit, places: make(chan struct{}, 2*max(env.Workers, 1)), left: env.Level("left_behind")}
}

// run returns what f does. The outcome of what exceeds the limit, which also ends what waits for a place, is [errTime];
// a panic is an error.
func (r *runner) run(parent context.Context, f func(context.Context) (outcome, error)) (outcome, error) {
	ctx, cancel := context.WithTimeoutCause(parent, r.limit, errTime)
	select {
	case r.places <- struct{}{}:
	case <-ctx.Done():
		defer cancel()
		return outcome{}, r.ended(ctx)
	}
	j := &job{done: make(chan struct{})}
	go func() {
		defer cancel()
		j.err = r.env.Try(func() (err error) {
			j.made, err = f(ctx)
			return err
		})
		if !j.state.CompareAndSwap(working, ended) {
			r.left.Add(-1)
		}
		<-r.places
		close(j.done)
	}()
	select {
	case <-j.done:
	case <-ctx.Done():
		if j.state.CompareAndSwap(working, leftBehind) {
			r.left.Add(1)
			return outcome{}, r.ended(ctx)
		}
		<-j.done
	}
	return j.made, j.err
}

// job is one transformation.
type job struct {
	state atomic.Int32
	done  chan struct{}
	made  outcome // of these two, once it is done
	err   error
}

const (
	working = iota
	ended
	leftBehind // its document has failed
)

// ended returns why a transformation has none.
func (r *runner) ended(ctx context.Context) error {
	cause := context.Cause(ctx)
	switch behind := r.left.Load(); {
	case !errors.Is(cause, errTime):
		return cause
	case int(behind) >= cap(r.places):
		return fmt.Errorf("%w after %v: %d transformations whose time is over are at work still, and leave no room", errTime, r.limit, behind)
	}
	return fmt.Errorf("%w after %v: timeout", errTime, r.limit)
}

// patience is how long close waits; a variable for the tests.
var patience = 30 * time.Second

// close waits for what was left behind.
func (r *runner) close() error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	held := 0
	defer func() {
		for range held {
			<-r.places
		}
	}()
	for ; held < cap(r.places); held++ {
		select {
		case r.places <- struct{}{}:
		case <-timer.C:
			return fmt.Errorf("%d transformations whose time is over are at work still", cap(r.places)-held)
		}
	}
	return nil
}
