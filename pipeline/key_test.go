package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// placedCount emits the numbers below it, and tells where each comes from.
type placedCount int

func (n placedCount) Run(ctx context.Context, out Emitter) error {
	for i := range int(n) {
		if err := out.Emit(ctx, NewItem(i, nil).From("numbers", uint64(i))); err != nil {
			return err
		}
	}
	return nil
}

// keys notes the keys of what comes, each with its value.
type keys struct {
	mu   sync.Mutex
	seen map[string][]string
}

func (k *keys) Process(_ context.Context, it *Item, _ Emitter) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.seen == nil {
		k.seen = make(map[string][]string)
	}
	key := KeyOf(it)
	k.seen[key] = append(k.seen[key], fmt.Sprint(it.Value))
	return nil
}

// splits makes each number three times, the last time for the port links.
var splits = process(func(ctx context.Context, it *Item, out Emitter) error {
	for i := range 2 {
		if err := out.Emit(ctx, it.With(it.Value.(int)*10+i)); err != nil {
			return err
		}
	}
	return out.EmitTo(ctx, "links", &Item{Value: it.Value})
})

// both emits what comes at both of its ports.
var both = process(func(ctx context.Context, it *Item, out Emitter) error {
	return errors.Join(out.Emit(ctx, it), out.EmitTo(ctx, "links", it))
})

// threes is a BatchProcessor that makes two of each item of its group, and one of all.
type threes struct{}

func (threes) ProcessBatch(ctx context.Context, its []*Item, out Emitter) error {
	for _, copied := range []string{"a", "b"} {
		for _, it := range its {
			if err := out.Emit(ctx, it.With(copied)); err != nil {
				return err
			}
		}
	}
	return out.Emit(ctx, &Item{Value: len(its)})
}

// keyFlows are graphs of every way in which an item is made of others, that end in a stage "sink".
func keyFlows(sink *keys) map[string]graphOf {
	one := func(name string, impl any, common ...Common) graphOf {
		return build().add("source", placedCount(6)).add(name, impl, common...).add("sink", sink).
			chain("source", name, "sink").edge(name, "links", "sink")
	}
	inc := Map(func(_ context.Context, i int) (int, error) { return i + 1, nil })
	fails := process(func(ctx context.Context, it *Item, out Emitter) error {
		return errors.Join(out.Emit(ctx, it), errors.New("broken"))
	})
	again := brokenAt(1, false)
	return map[string]graphOf{
		"map":   one("stage", inc),
		"split": one("stage", splits),
		"both":  one("stage", both),
		"split twice": build().add("source", placedCount(6)).add("first", splits).add("second", splits).add("sink", sink).
			chain("source", "first", "second", "sink").edge("first", "links", "second").edge("second", "links", "sink"),
		"branches that meet": build().add("source", placedCount(6)).add("left", inc).add("right", inc).add("sink", sink).
			chain("source", "left", "sink").chain("source", "right", "sink").chain("source", "sink"),
		"group":      one("stage", threes{}, Common{Batch: Batch{Count: 3, Period: 1 << 50}}),
		"groups":     one("stage", &pairs{full: make(chan []Held)}),
		"failures":   one("stage", fails).edge("stage", "errors", "sink"),
		"a retry":    one("stage", again, Common{OnError: RetryFirst}),
		"a window":   one("stage", &slides{}),
		"many calls": build().add("source", placedCount(200)).add("stage", splits).add("sink", sink).chain("source", "stage", "sink"),
	}
}

// slides keeps items, and makes of each two groups of its own.
type slides struct {
	mu   sync.Mutex
	held []Held
}

func (s *slides) Process(_ context.Context, it *Item, _ Emitter) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range []string{"one", "two"} {
		s.held = append(s.held, Keep(it.Branch(name)))
	}
	return nil
}

func (s *slides) Release(ctx context.Context, ended <-chan struct{}, out Emitter) error {
	<-ended
	for i := range s.held {
		for _, port := range []string{"", "links"} {
			group := s.held[i : i+1]
			if port != "" {
				group = []Held{Keep(group[0].Item)}
			}
			if err := EmitGroup(ctx, out, port, i, nil, group); err != nil {
				return err
			}
		}
	}
	return nil
}

// Whatever is made of items, no two have one key, and all have the same ones when the source brings them again.
func TestKeyOfIsTheSameAgainAndNeverThatOfAnother(t *testing.T) {
	t.Parallel()
	for name := range keyFlows(nil) {
		var runs [2]keys
		for i := range runs {
			mustRun(t, keyFlows(&runs[i])[name], RunOptions{DeadLetters: &letters{}})
		}
		for key, values := range runs[0].seen {
			if len(values) > 1 || key == "" {
				t.Errorf("%s: %q is the key of %q", name, key, values)
			}
		}
		if first, second := runs[0].seen, runs[1].seen; len(first) == 0 || !maps.EqualFunc(first, second, slices.Equal) {
			t.Errorf("%s: the keys are\n%v, and then\n%v", name, first, second)
		}
	}
}

// What a stage passes on has the key that it came with, and so has what is made of it alone.
func TestKeyOfIsThatOfTheItemThatOneIsMadeOf(t *testing.T) {
	t.Parallel()
	var at [4]keys
	look := func(i int) process {
		return func(ctx context.Context, it *Item, out Emitter) error {
			return errors.Join(at[i].Process(ctx, it, out), out.Emit(ctx, it.With(it.Value).WithMeta("a", "b")))
		}
	}
	single := &pairs{full: make(chan []Held)}
	mustRun(t, build().add("source", placedCount(1)).add("a", look(0)).add("b", look(1)).add("keeps", single).add("c", look(2)).add("d", &at[3]).
		chain("source", "a", "b", "keeps", "c", "d"), RunOptions{})
	for i := range at {
		if !slices.Equal(slices.Collect(maps.Keys(at[i].seen)), slices.Collect(maps.Keys(at[0].seen))) {
			t.Errorf("%d: %v, and first %v", i, at[i].seen, at[0].seen)
		}
	}
}

// An item of which its source tells nothing has a key, which is in all branches the same and no other's.
func TestKeyOfWhatASourceSaysNothingOf(t *testing.T) {
	t.Parallel()
	var here, there keys
	b := build().add("source", count{n: 20}).add("here", &here).add("there", &there).chain("source", "here").chain("source", "there")
	mustRun(t, b, RunOptions{})
	if len(here.seen) != 20 || !maps.EqualFunc(here.seen, there.seen, slices.Equal) {
		t.Errorf("keys %v and %v", here.seen, there.seen)
	}
}

// A dead letter that is processed again has the key that it had.
func TestKeyOfADeadLetterThatIsReplayed(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]any{"placed": placedCount(1), "not placed": count{n: 1}} {
		var first, second keys
		store := &letters{}
		broken := process(func(ctx context.Context, it *Item, out Emitter) error {
			return errors.Join(first.Process(ctx, it, out), errors.New("broken"))
		})
		flow := func(last any, source any) graphOf {
			return build().add("source", source).add("split", splits).add("last", last).chain("source", "split", "last")
		}
		mustRun(t, flow(broken, source), RunOptions{DeadLetters: store})
		store.replay = store.kept
		mustRun(t, flow(&second, placedCount(0)), RunOptions{DeadLetters: store})
		if len(first.seen) != 2 || !maps.EqualFunc(first.seen, second.seen, slices.Equal) {
			t.Errorf("%s: the keys were %v, and are %v", name, first.seen, second.seen)
		}
	}
}

// numbered is a queue whose items tell where they come from.
type numbered []uint64

func (q *numbered) Put(context.Context, *Item) error { return nil }
func (q *numbered) Seal()                            {}
func (q *numbered) Take(context.Context) (Lease, error) {
	if len(*q) == 0 {
		return nil, io.EOF
	}
	next := (*q)[0]
	*q = (*q)[1:]
	return numberedLease(next), nil
}

type numberedLease uint64

func (l numberedLease) Item() *Item  { return (&Item{Value: int(l)}).From("queue", uint64(l)) }
func (l numberedLease) Done(Outcome) {}

func TestKeyOfWhatComesFromAQueue(t *testing.T) {
	t.Parallel()
	var runs [2]keys
	for i, order := range []numbered{{1, 2, 3, 4, 5}, {5, 3, 4, 2, 1}} {
		mustRun(t, build().add("source", count{}).add("queue", &order).add("sink", &runs[i]).chain("source", "queue", "sink"), RunOptions{})
	}
	if len(runs[0].seen) != 5 || !maps.EqualFunc(runs[0].seen, runs[1].seen, slices.Equal) {
		t.Errorf("the keys are %v, and then %v", runs[0].seen, runs[1].seen)
	}
}

// Numbers of branches differ for all that one item may be made into.
func FuzzKeyOfBranches(f *testing.F) {
	f.Add(uint64(0), uint64(9), uint16(0), uint16(1))
	f.Add(uint64(1<<63), uint64(0), uint16(7), uint16(65535))
	f.Fuzz(func(t *testing.T, of, stage uint64, n, m uint16) {
		if a, b := branch(of).nth(branch(stage), int(n)), branch(of).nth(branch(stage), int(m)); (a == b) != (n == m) || a.sent() {
			t.Errorf("branches %d and %d of %x are %x and %x", n, m, of, a, b)
		}
	})
}

// What is in flight when a run is cancelled is lost if nobody waits for it.
func TestWhatIsLostIsCounted(t *testing.T) {
	for name, c := range map[string]struct {
		source any
		lost   int64
	}{"awaited": {count{5, newOutcomes().add}, 0}, "not awaited": {count{n: 5}, 5}, "placed": {placedCount(5), 5}} {
		run := build().add("source", c.source).add("sink", processes{&down{}}).chain("source", "sink").started(t)
		for run.Snapshot().Stages["source"].Out < 5 {
			runtime.Gosched()
		}
		run.Cancel()
		if report, _ := run.Wait(); report.Lost != c.lost {
			t.Errorf("%s: %d items are lost, want %d", name, report.Lost, c.lost)
		}
	}
}
