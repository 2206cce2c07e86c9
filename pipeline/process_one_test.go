package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

type processorFunc func(context.Context, *pipeline.Item, pipeline.Emitter) error

func (f processorFunc) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	return f(ctx, it, out)
}

func TestAValueProcessedAloneEndsLikeALease(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	at := time.Unix(1, 0)
	var trace []string
	process := func(err error) pipeline.Alone {
		trace = nil
		return pipeline.ProcessOne(t.Context(), processorFunc(func(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
			it.OnEnd(func() { trace = append(trace, "end") })
			it.Release("first")
			it.Release("second")
			it.Learn("a")
			go it.Hold()(nil)
			return errors.Join(out.Emit(ctx, it.With(1)), out.EmitTo(ctx, "p", &pipeline.Item{Value: 2}), err)
		}), 0, func(port string, value any) error {
			trace = append(trace, fmt.Sprint(port, value))
			return nil
		})
	}
	got := process(nil)
	if got.Err != nil || got.Note != "first" || !slices.Equal(got.Learned, []any{"a"}) {
		t.Errorf("became %+v", got)
	}
	if want := []string{"1", "p2", "end"}; !slices.Equal(trace, want) {
		t.Errorf("order of things: %q, want %q", trace, want)
	}
	if got := process(broken); !errors.Is(got.Err, broken) {
		t.Errorf("the error is %v", got.Err)
	}
	if got := process(pipeline.Retry(broken, at)); !errors.Is(got.Err, broken) || !got.RetryAt.Equal(at) {
		t.Errorf("became %+v", got)
	}
}

func TestAValueProcessedAloneIsNotWaitedForWhenTheContextEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	got := pipeline.ProcessOne(ctx, processorFunc(func(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
		it.Hold()
		cancel()
		return nil
	}), 0, nil)
	if !errors.Is(got.Err, context.Canceled) {
		t.Errorf("became %+v", got)
	}
}
