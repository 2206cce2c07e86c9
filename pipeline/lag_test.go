package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"
)

// behind is a source that does not know its lag, or does.
type behind struct{ err error }

func (behind) Run(context.Context, Emitter) error { return nil }

func (b behind) Lag(context.Context) (int64, error) { return 7, b.err }

func TestARunKnowsTheLagOfThoseStagesThatDo(t *testing.T) {
	t.Parallel()
	g := NewGraph("followers")
	kind := KindOf[string]()
	for name, source := range map[string]any{"knows": behind{}, "fails": behind{errors.New("broken")}, "mute": count{1, nil}} {
		g.AddStage(name, Spec{Type: name, Out: []Port{{Kind: kind}}}, func(*Env) (any, error) { return source, nil })
	}
	g.AddStage("end", Spec{Type: "end", In: Kinds(KindOf[any]())}, func(*Env) (any, error) {
		return process(func(context.Context, *Item, Emitter) error { return nil }), nil
	})
	g.Wire("knows, fails, mute > end")
	run, err := g.Start(t.Context(), RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if lags := run.Lag(t.Context()); !maps.Equal(lags, map[string]int64{"knows": 7}) {
		t.Errorf("the lags are %v", lags)
	}
	if run.Graph() != g {
		t.Error("the run is of another graph")
	}
	if _, err := run.Wait(); err != nil {
		t.Error(err)
	}
}

func TestTheLagOfALogIsWhatLiesBehindTheCursor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cursor, last uint64
		want         int64
	}{{0, 0, 0}, {3, 10, 7}, {10, 10, 0}, {12, 10, 0}} {
		t.Run(fmt.Sprintf("%d of %d", c.cursor, c.last), func(t *testing.T) {
			log := Log[int]{
				Cursor: func(context.Context) (uint64, error) { return c.cursor, nil },
				Last:   func(context.Context) (uint64, error) { return c.last, nil },
			}
			if lag, err := log.Lag(t.Context()); err != nil || lag != c.want {
				t.Errorf("%d, %v, want %d", lag, err, c.want)
			}
		})
	}
}
