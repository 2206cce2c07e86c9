package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// down is a sink whose receiver does not answer, and which notes what it has tried. Up, it takes all.
type down struct {
	tried keys
	up    bool
}

func (d *down) Process(ctx context.Context, it *Item, out Emitter) error {
	_ = d.tried.Process(ctx, it, out)
	if d.up {
		return nil
	}
	<-ctx.Done()
	return fmt.Errorf("deliver: %w", ctx.Err())
}

// downForGroups is one that takes groups, and fails on each of their items.
type downForGroups struct{ *down }

func (d downForGroups) ProcessBatch(ctx context.Context, its []*Item, out Emitter) error {
	errs := make([]error, len(its))
	for i, it := range its {
		errs[i] = d.Process(ctx, it, out)
	}
	if errors.Join(errs...) == nil {
		return nil
	}
	return &GroupError{Errs: errs}
}

// processes is down without ProcessBatch.
type processes struct{ d *down }

func (p processes) Process(ctx context.Context, it *Item, out Emitter) error {
	return p.d.Process(ctx, it, out)
}

// What a sink that is down holds goes to the one that a reload puts in its place: each item once, with the key that it
// was tried with, and nothing is lost.
func TestReloadOfASinkThatIsDown(t *testing.T) {
	const items, few = 50, 5
	inc := Map(func(_ context.Context, i int) (int, error) { return i, nil })
	for name, c := range map[string]struct {
		flow  func(ends *outcomes, sink *down) graphOf
		items int
	}{
		"when all has come": {items: few, flow: func(ends *outcomes, sink *down) graphOf {
			return build().add("source", placedEnds{few, ends}).add("more", idle).add("sink", processes{sink}).chain("source", "sink")
		}},
		"a processor": {flow: func(ends *outcomes, sink *down) graphOf {
			return build().add("source", placedEnds{items, ends}).add("map", inc).add("sink", processes{sink}, Common{Workers: 3}).chain("source", "map", "sink")
		}},
		"a processor of groups": {flow: func(ends *outcomes, sink *down) graphOf {
			return build().add("source", placedEnds{items, ends}).add("map", inc).
				add("sink", downForGroups{sink}, Common{Batch: Batch{Count: 7, Period: Duration(time.Hour)}}).chain("source", "map", "sink")
		}},
		"behind a split and a keeper": {flow: func(ends *outcomes, sink *down) graphOf {
			return build().add("source", placedEnds{items, ends}).add("split", splits).add("pairs", &pairs{full: make(chan []Held)}).
				add("sink", processes{sink}).chain("source", "split", "pairs", "sink").edge("split", "links", "sink")
		}},
		"behind a stage of groups": {flow: func(ends *outcomes, sink *down) graphOf {
			return build().add("source", placedEnds{items, ends}).add("threes", threes{}, Common{Batch: Batch{Count: 7, Period: Duration(time.Second)}}).
				add("sink", processes{sink}).chain("source", "threes", "sink")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ends, old, next := newOutcomes(), &down{}, &down{up: true}
				run := c.flow(ends, old).with("old").started(t)
				time.Sleep(time.Minute)
				want := &down{up: true}
				all := c.flow(newOutcomes(), want).started(t)
				time.Sleep(time.Minute)
				mustEnd(t, all)
				if change := c.flow(ends, next).with("new").mustReload(t, run); !slices.Equal(change.Replaced, []string{"sink"}) {
					t.Errorf("the reload has changed %v", change)
				}
				time.Sleep(time.Minute)
				mustEnd(t, run)
				ends.mustEndOnce(t, cmp.Or(c.items, items))
				for i, all := range ends.all {
					if all[0].Err != nil || all[0].Failed != nil {
						t.Fatalf("item %d ended with %+v", i, all[0])
					}
				}
				if strings.Contains(name, "groups") || strings.Contains(name, "keeper") {
					return // groups are as time has it
				}
				if !maps.EqualFunc(next.tried.seen, want.tried.seen, slices.Equal) {
					t.Errorf("%d came to the new sink, want %d", len(next.tried.seen), len(want.tried.seen))
				}
				for key, values := range old.tried.seen {
					if !slices.Equal(next.tried.seen[key], values) {
						t.Errorf("%v was tried as %s, and %v came", values, key, next.tried.seen[key])
					}
				}
			})
		})
	}
}

// placedEnds is a source of numbers, which are known by what they are, and end somewhere.
type placedEnds struct {
	n    int
	ends *outcomes
}

func (s placedEnds) Run(ctx context.Context, out Emitter) error {
	for i := range s.n {
		it := NewItem(i, func(o Outcome) { s.ends.add(i, o) }).From("numbers", uint64(i))
		if err := out.Emit(ctx, it); err != nil {
			return err
		}
	}
	return nil
}

// A reload that changes something else has a sink that is down go on with what it held.
func TestReloadOfASinkThatIsDownAndStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ends, sink := newOutcomes(), &answers{until: make(chan struct{})}
		flow := func(version string) graphOf {
			pass := process(func(ctx context.Context, it *Item, out Emitter) error { return out.Emit(ctx, it) })
			return build().add("source", placedEnds{40, ends}).add("pass", pass).with(version).add("sink", sink).chain("source", "pass", "sink")
		}
		run := flow("one").started(t)
		time.Sleep(time.Minute)
		flow("two").mustReload(t, run)
		close(sink.until)
		if _, err := run.Wait(); err != nil {
			t.Fatal(err)
		}
		ends.mustEndOnce(t, 40)
		if len(sink.took.seen) != 40 {
			t.Errorf("%d items were taken", len(sink.took.seen))
		}
	})
}

// answers is a sink whose receiver answers from some time on.
type answers struct {
	until chan struct{}
	took  keys
}

func (a *answers) Process(ctx context.Context, it *Item, out Emitter) error {
	select {
	case <-a.until:
		return a.took.Process(ctx, it, out)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A reload that fails leaves the sink what it held, whether more was to come or not.
func TestReloadOfASinkThatIsDownFails(t *testing.T) {
	for _, more := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			const items = 12
			ends, sink, stuck := newOutcomes(), &answers{until: make(chan struct{})}, &stubborn{until: make(chan struct{})}
			flow := func(sink any, version string) graphOf {
				b := build().add("source", placedEnds{items, ends}).add("more", idle).add("stuck", stuck).add("sink", sink).with(version).chain("source", "stuck", "sink")
				if more {
					b.chain("more", "sink")
				}
				return b
			}
			run := flow(sink, "one").started(t)
			time.Sleep(time.Second)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := run.Reload(ctx, flow(&answers{}, "two").g); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the reload is answered %v", err)
			}
			close(stuck.until)
			close(sink.until)
			synctest.Wait()
			run.Drain()
			if _, err := run.Wait(); err != nil {
				t.Fatal(err)
			}
			ends.mustEndOnce(t, items)
			if len(sink.took.seen) != items {
				t.Errorf("%v: %d of %d items were taken", more, len(sink.took.seen), items)
			}
		})
	}
}

// idle is a source that gives nothing until it is told to end.
var idle = sourceOf(func(ctx context.Context, _ Emitter) error {
	<-ctx.Done()
	return nil
})

// stubborn passes on all but the first item, which it is not done with for a long time.
type stubborn struct {
	until chan struct{}
	first sync.Once
}

func (s *stubborn) Process(ctx context.Context, it *Item, out Emitter) error {
	s.first.Do(func() {
		held := it.Hold()
		go func() {
			<-s.until
			held(nil)
		}()
	})
	return out.Emit(ctx, it)
}
