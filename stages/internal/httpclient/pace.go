package httpclient

import (
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// PaceOptions determine how slowly a body may come.
type PaceOptions struct {
	MinRate      pipeline.Size     `toml:"min_rate" doc:"the fewest bytes a second at which a body may come, on average, before it is given up; 0 for any"`
	MinRateAfter pipeline.Duration `toml:"min_rate_after" doc:"for how long a body may come more slowly than that at first"`
}

var defaultPace = PaceOptions{MinRate: 500, MinRateAfter: pipeline.Duration(10 * time.Second)}

// drainPatience is how long the rest of an unwanted body may take: then a new connection is cheaper.
const drainPatience = time.Second

func (o PaceOptions) validate() error {
	switch {
	case o.MinRate < 0:
		return &pipeline.OptionError{Option: "min_rate", Err: errors.New("must not be negative")}
	case o.MinRateAfter <= 0:
		return &pipeline.OptionError{Option: "min_rate_after", Err: errors.New("must be more than 0")}
	}
	return nil
}

// paces makes paces. Those that have done their work are used again, with their timers.
type paces struct {
	options PaceOptions
	idle    sync.Pool
}

// pace gives a body up that comes too slowly. It measures what the connection brings, before it is decoded.
type pace struct {
	io.ReadCloser
	all     *paces
	began   time.Time
	brought atomic.Int64
	giveUp  func()
	timer   *time.Timer
	checked atomic.Bool
	slow    atomic.Bool

	paused    atomic.Bool  // the body is not read now, for want of memory
	pausedFor atomic.Int64 // nanoseconds that it was not
}

// watch measures a body from now on, until stop. The reader that waits for it then gets an error from giveUp.
func (all *paces) watch(body io.ReadCloser, giveUp func()) *pace {
	p, _ := all.idle.Get().(*pace)
	if p == nil {
		p = &pace{all: all}
		p.timer = time.AfterFunc(math.MaxInt64, p.check)
	}
	p.ReadCloser, p.began, p.giveUp = body, time.Now(), giveUp
	p.brought.Store(0)
	p.pausedFor.Store(0)
	if all.options.MinRate > 0 {
		p.timer.Reset(time.Duration(all.options.MinRateAfter))
	}
	return p
}

func (p *pace) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	p.brought.Add(int64(n))
	return n, err
}

// check looks whether the body is as fast as it has to be, and when it might not be any more.
func (p *pace) check() {
	p.checked.Store(true)
	enough := time.Duration(float64(p.brought.Load()) / float64(p.all.options.MinRate) * float64(time.Second))
	took := time.Since(p.began) - time.Duration(p.pausedFor.Load())
	ahead := max(enough, time.Duration(p.all.options.MinRateAfter)) - took
	if ahead <= 0 && !p.paused.Load() {
		p.slow.Store(true)
		p.giveUp()
		return
	}
	p.timer.Reset(max(ahead, time.Second))
}

// stop ends the measuring, and reports whether the body was given up. The caller must not touch p again.
func (p *pace) stop() (slow bool) {
	if p.timer.Stop() && !p.checked.Load() { // or check may still be at it
		p.ReadCloser, p.giveUp = nil, nil
		p.all.idle.Put(p)
		return false
	}
	return p.slow.Load()
}

// slowError means that a body came too slowly.
type slowError struct{ rate pipeline.Size }

func (e *slowError) Error() string {
	return fmt.Sprintf("the body comes at less than %d bytes a second (option min_rate)", e.rate)
}
