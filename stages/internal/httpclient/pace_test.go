package httpclient

import (
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// dripper is a body that brings some bytes every second.
type dripper struct{ rate, left int }

func (d *dripper) Read(p []byte) (int, error) {
	if d.left <= 0 {
		return 0, io.EOF
	}
	time.Sleep(time.Second) // by the clock of a bubble of synctest
	n := min(d.rate, d.left, len(p))
	d.left -= n
	return n, nil
}

func (d *dripper) Close() error { return nil }

func TestABodyIsTooSlowByItsAverageAfterAWhile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rate, size int
		options    PaceOptions
		slow       bool
	}{
		"fast enough":            {200, 5000, PaceOptions{100, pipeline.Duration(3 * time.Second)}, false},
		"too slow":               {90, 5000, PaceOptions{100, pipeline.Duration(3 * time.Second)}, true},
		"slow, but soon through": {10, 20, PaceOptions{100, pipeline.Duration(3 * time.Second)}, false},
		"any":                    {1, 500, PaceOptions{0, pipeline.Duration(3 * time.Second)}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			var given atomic.Int64
			all := &paces{options: c.options}
			for range 2 {
				given.Store(0)
				p := all.watch(&dripper{c.rate, c.size}, func() { given.Add(1) })
				_, _ = io.Copy(io.Discard, p)
				slow := p.stop()
				time.Sleep(time.Hour)
				if slow != c.slow || given.Load() == 1 != c.slow {
					t.Errorf("%s: slow %v, given up %d times", name, slow, given.Load())
				}
			}
		})
	}
}

func TestOptionsOfPaceThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	for option, o := range map[string]PaceOptions{"min_rate": {-1, 1}, "min_rate_after": {1, 0}} {
		all := Defaults
		all.PaceOptions = o
		var wrong *pipeline.OptionError
		if err := all.Validate(); !errors.As(err, &wrong) || wrong.Option != option {
			t.Errorf("%s: %v", option, err)
		}
	}
}
