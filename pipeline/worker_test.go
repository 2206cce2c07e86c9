package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"unsafe"
)

// fickle does something else for each number: it emits none, one or several items, on one port or two, at once or
// when another item comes; it holds, learns, fails and panics, before and after it emits.
type fickle struct {
	held chan func(error)

	mu    sync.Mutex
	tried map[int]bool // what has failed once
	kept  map[int]Held // until the next of its kind comes
}

func (f *fickle) Process(ctx context.Context, it *Item, out Emitter) error {
	i := it.Value.(int)
	switch i % 12 {
	case 0:
		return nil
	case 1:
		return out.Emit(ctx, it)
	case 2:
		return errors.Join(out.Emit(ctx, it.With(i)), out.EmitTo(ctx, "links", it.With(-i)), out.Emit(ctx, &Item{Value: i}))
	case 3:
		return f.inPairs(ctx, i/24, it, out)
	case 4:
		f.held <- it.Hold()
		return out.EmitTo(ctx, "links", it)
	case 5:
		err := out.Emit(ctx, it)
		f.held <- it.Hold()
		it.Learn(i)
		return err
	case 6:
		return errors.New("before it emits")
	case 7:
		return errors.Join(out.Emit(ctx, it), errors.New("after it has emitted"))
	case 8:
		_ = out.EmitTo(ctx, "links", it)
		panic("after it has emitted")
	case 9:
		return out.EmitTo(ctx, "nowhere", it)
	case 11:
		for part := range 2*maxTaken + 1 {
			if err := out.Emit(ctx, it.With(fmt.Sprint(i, " in parts ", part))); err != nil {
				return err
			}
		}
		return nil
	}
	f.mu.Lock()
	again := f.tried[i]
	f.tried[i] = true
	f.mu.Unlock()
	if !again {
		return errors.New("the first time")
	}
	return out.Emit(ctx, it)
}

// inPairs keeps the first item of a pair until the second comes, and emits the one that came first in between.
func (f *fickle) inPairs(ctx context.Context, pair int, it *Item, out Emitter) error {
	f.mu.Lock()
	first, paired := f.kept[pair]
	if !paired {
		f.kept[pair] = Keep(it)
	}
	f.mu.Unlock()
	if !paired {
		return out.EmitTo(ctx, "links", it.With("first"))
	}
	err := errors.Join(out.Emit(ctx, it.With("second")), out.Emit(ctx, first.Item.With("kept")), out.EmitTo(ctx, "links", it.With("third")))
	first.Done(err)
	return err
}

// fickleRun lets numbers through a fickle stage and returns what came of them.
func fickleRun(t *testing.T, numbers int, common Common) (came map[string]int, ends *outcomes, report StageReport) {
	t.Helper()
	common.OnError = RetryFirst
	f := &fickle{held: make(chan func(error), 16), tried: make(map[int]bool), kept: make(map[int]Held)}
	ends, came = newOutcomes(), make(map[string]int)
	var mu sync.Mutex
	sink := func(name string) process {
		return func(_ context.Context, it *Item, _ Emitter) error {
			mu.Lock()
			defer mu.Unlock()
			switch v := it.Value.(type) {
			case *Failure:
				came[fmt.Sprint(name, v.Value, v.Attempts, v.Err)]++
			default:
				came[fmt.Sprint(name, v)]++
			}
			return nil
		}
	}
	letGo := make(chan struct{})
	go func() {
		defer close(letGo)
		for done := range f.held {
			done(nil)
		}
	}()
	b := build().add("count", count{numbers, ends.add}).add("fickle", f, common).
		add("a", sink("a")).add("b", sink("b")).add("c", sink("c")).add("e", sink("e")).
		chain("count", "fickle", "a").edge("fickle", "", "b").edge("fickle", "links", "c").edge("fickle", "errors", "e")
	r, err := b.g.Run(t.Context(), RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	close(f.held)
	<-letGo
	return came, ends, r.Stages["fickle"]
}

// TestWhatIsTakenAtOnceIsDealtWithAsIfOneByOne compares workers that take several items at once with one that finds
// no more than one.
func TestWhatIsTakenAtOnceIsDealtWithAsIfOneByOne(t *testing.T) {
	const numbers = 24 * 200
	pause := firstPause
	firstPause = 0
	defer func() { firstPause = pause }()
	cameSingly, endsSingly, reportSingly := fickleRun(t, numbers, Common{Buffer: 1})
	for _, workers := range []int{1, 3} {
		came, ends, report := fickleRun(t, numbers, Common{Workers: workers})
		if !maps.Equal(came, cameSingly) {
			for what := range cameSingly {
				if came[what] != cameSingly[what] {
					t.Errorf("%s came %d times, and one by one %d times", what, came[what], cameSingly[what])
				}
			}
		}
		ends.mustEndOnce(t, numbers)
		for i := range numbers {
			if o, want := ends.all[i][0], endsSingly.all[i][0]; !errors.Is(o.Err, want.Err) || !slices.Equal(o.Learned, want.Learned) {
				t.Errorf("%d ended with %v, and one by one with %v", i, o, want)
			}
		}
		if report.In != numbers || report.In != reportSingly.In || report.Out != reportSingly.Out || report.Errors != reportSingly.Errors || report.Waiting != 0 {
			t.Errorf("reported are %d in, %d out, %d errors, %d waiting; one by one %d, %d, %d, 0",
				report.In, report.Out, report.Errors, report.Waiting, reportSingly.In, reportSingly.Out, reportSingly.Errors)
		}
	}
}

// TestItemsKeepTheirOrder holds also where they go by several ports, and some are kept back to the end of a call.
func TestItemsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	const numbers, each = 2000, maxTaken + 2
	several := process(func(ctx context.Context, it *Item, out Emitter) error {
		i := it.Value.(int)
		port := []string{"", "links"}[i/3%2]
		for part := range each {
			if err := out.EmitTo(ctx, port, []*Item{{Value: each*i + part}, it.With(each*i + part)}[part%2]); err != nil {
				return err
			}
		}
		return nil
	})
	c := new(collected)
	b := build().add("count", count{n: numbers}).add("several", several).add("end", c).chain("count", "several", "end").edge("several", "links", "end")
	if _, err := b.g.Run(t.Context(), RunOptions{}); err != nil {
		t.Fatal(err)
	}
	for i, v := range c.values {
		if v != i {
			t.Fatalf("item %d is %v", i, v)
		}
	}
	if len(c.values) != each*numbers {
		t.Errorf("%d items of %d", len(c.values), each*numbers)
	}
}

// TestAStageReadsWhatItHasEmitted: a buffer that goes back to its pool when the lease ends is the stage's until
// the call has returned, also when nothing else is left of the lease.
func TestAStageReadsWhatItHasEmitted(t *testing.T) {
	t.Parallel()
	const numbers = 3000
	var wrong int
	stage := process(func(ctx context.Context, it *Item, out Emitter) error {
		open := true
		it.OnEnd(func() { open = false })
		err := out.Emit(ctx, it)
		if !open {
			wrong++
		}
		return err
	})
	b := build().add("count", count{n: numbers}).add("stage", stage).add("end", new(collected)).chain("count", "stage", "end")
	if _, err := b.g.Run(t.Context(), RunOptions{}); err != nil {
		t.Fatal(err)
	}
	if wrong > 0 {
		t.Errorf("%d leases of %d ended before the call", wrong, numbers)
	}
}

// TestALeaseIsSmall: there is one for each item of a source or queue, and what is allocated is collected.
func TestALeaseIsSmall(t *testing.T) {
	const most = 96 // bytes, which the allocator has a class of
	if size := unsafe.Sizeof(leased{}); size > most {
		t.Errorf("an item with a lease of its own has %d bytes, more than %d", size, most)
	}
}
