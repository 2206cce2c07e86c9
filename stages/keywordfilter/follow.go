package keywordfilter

import (
	"context"
	"sync"
	"time"

	"github.com/webrace/webrace/storage/control"
)

// follower keeps the audience as the URD base is.
type follower struct {
	stage *stage
	copy  *control.Copy
	stop  context.CancelFunc
	ended sync.WaitGroup
}

// settle is how long a change waits for others, so that an import of many is taken in at once, and again
// is how long after a failure.
const settle, again = 50 * time.Millisecond, 5 * time.Second

func (s *stage) follow() *follower {
	ctx, stop := context.WithCancel(context.Background())
	f := &follower{stage: s, copy: s.control.Keep(s.audience.Load().revision), stop: stop}
	f.ended.Go(s.env.Guard(func() { f.run(ctx) }))
	return f
}

// end waits until nothing is followed any more. Calling it twice does no harm.
func (f *follower) end() {
	f.stop()
	f.ended.Wait()
	f.copy.Close()
}

func (f *follower) run(ctx context.Context) {
	point := control.Point{Revision: f.stage.audience.Load().revision}
	for ctx.Err() == nil {
		next, err := f.stage.control.NextChange(ctx, point)
		if err == nil && next.Revision > f.stage.audience.Load().revision {
			pause(ctx, settle)
			err = f.reload(ctx)
		}
		if err == nil {
			point = next
		} else if ctx.Err() == nil {
			f.stage.env.Logger.Error("changes of URDs not taken in; trying again", "error", err)
			pause(ctx, again)
		}
	}
}

func (f *follower) reload(ctx context.Context) error {
	s := f.stage
	a, err := s.audience.Load().revised(ctx, s.control, s.env)
	if err != nil {
		return err
	}
	s.audience.Store(a)
	s.env.Counter("reloads").Add(1)
	f.copy.At(a.revision)
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
