package diskspace

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// awayError is of a server that is away, or not.
type awayError bool

func (awayError) Error() string { return "no answer" }
func (e awayError) Away() bool  { return bool(e) }

// Who wants something of a server that is away waits until it is back, which is told once, as is that it is back; other
// errors, the end of the context and that of the watch are returned.
func TestAServerThatIsAwayIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told []string
		w := New(Options{FS: newDisk(1 << 40), Away: func(err error) { told = append(told, fmt.Sprint(err)) }})
		back := time.Now().Add(time.Minute)
		var waiting sync.WaitGroup
		for range 5 {
			waiting.Go(func() {
				tries := 0
				err := w.Do(t.Context(), func() error {
					if tries++; time.Now().Before(back) {
						return fmt.Errorf("put: %w", awayError(true))
					}
					return nil
				})
				if err != nil || tries < 50 {
					t.Errorf("%v after %d tries", err, tries)
				}
			})
		}
		waiting.Wait()
		if fmt.Sprint(told) != "[put: no answer <nil>]" {
			t.Errorf("told %q", told)
		}
		other := awayError(false)
		if err := w.Do(t.Context(), func() error { return other }); !errors.Is(err, other) {
			t.Errorf("another failure is %v", err)
		}
		ended := func() error { return awayError(true) }
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := w.Do(ctx, ended); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, awayError(true)) {
			t.Errorf("the context ended: %v", err)
		}
		time.AfterFunc(time.Minute, w.Close)
		if err := w.Do(t.Context(), ended); !errors.Is(err, awayError(true)) {
			t.Errorf("the watch was closed: %v", err)
		}
	})
}
