package keywordfilter

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/control"
)

// follower keeps the audience as the URD base is. The stages that share the work of a pipeline within a process, and
// have the same control store, have one in common. What was told of a document is in its visit.
type follower struct {
	control  *control.Store
	options  Options
	env      *pipeline.Env // of the first of the stages, which counts and logs for all
	audience atomic.Pointer[audience]

	changing chan struct{} // has room for one, who changes the audience
	copy     *control.Copy // nil: changes are not followed
	stop     context.CancelFunc
	ended    sync.WaitGroup
}

func newFollower(store *control.Store, o Options, env *pipeline.Env) *follower {
	return &follower{control: store, options: o, env: env, changing: make(chan struct{}, 1)}
}

// settle is how long a change waits for others, so that an import of many is taken in at once, and again
// is how long after a failure.
const settle, again = 50 * time.Millisecond, 5 * time.Second

// open makes the audience at least as new as the base is now. In a continuous run, changes are followed from then on.
func (f *follower) open(ctx context.Context) error {
	return f.change(ctx, func() error {
		if err := f.read(ctx); err != nil || !f.env.Continuous || f.copy != nil {
			return err
		}
		f.copy = f.control.Keep(f.audience.Load().revision)
		following, stop := context.WithCancel(context.Background())
		f.stop = stop
		f.ended.Go(f.env.Guard(func() { f.run(following) }))
		return nil
	})
}

// change calls what changes the audience, or the following of changes, when nobody else does. A stage that opens does
// not wait for one that waits for a database after it was told to stop.
func (f *follower) change(ctx context.Context, change func() error) error {
	select {
	case f.changing <- struct{}{}:
		defer func() { <-f.changing }()
		return change()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end waits until nothing is followed any more. It is called when no stage has the follower. Calling it twice does no
// harm.
func (f *follower) end() {
	if f.copy != nil {
		f.stop()
		f.ended.Wait()
		f.copy.Close()
	}
}

func (f *follower) run(ctx context.Context) {
	point := control.Point{Revision: f.audience.Load().revision}
	for ctx.Err() == nil {
		next, err := f.control.NextChange(ctx, point)
		if err == nil && next.Revision > f.audience.Load().revision {
			pause(ctx, settle)
			err = f.reload(ctx)
		}
		if err == nil {
			point = next
		} else if ctx.Err() == nil {
			f.env.Logger.Error("changes of URDs not taken in; trying again", "error", err)
			pause(ctx, again)
		}
	}
}

func (f *follower) reload(ctx context.Context) error {
	return f.change(ctx, func() error {
		if err := f.read(ctx); err != nil {
			return err
		}
		f.env.Counter("reloads").Add(1)
		return nil
	})
}

// read reads the base for the first time, or what has changed of it since.
func (f *follower) read(ctx context.Context) error {
	a := f.audience.Load()
	var err error
	if a == nil {
		a, err = loadAudience(ctx, f.control, f.options, f.env)
	} else {
		a, err = a.revised(ctx, f.control, f.env)
	}
	if err != nil {
		return err
	}
	f.audience.Store(a)
	if f.copy != nil {
		f.copy.At(a.revision)
	}
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
