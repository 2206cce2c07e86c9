package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/pointer"
)

// tapped is a pipeline "numbers > double > sink", which waits until it is let go. double emits odd numbers
// to its port "odd" as well, which leads nowhere, and fails on multiples of ten.
func tapped(t *testing.T, n int) (run *Run, sink *collected, letGo func()) {
	t.Helper()
	gate := make(chan struct{})
	letGo = sync.OnceFunc(func() { close(gate) })
	sink = new(collected)
	double := process(func(ctx context.Context, it *Item, out Emitter) error {
		i := it.Value.(int)
		if i%10 == 0 {
			return errors.New("a ten")
		}
		if i%2 == 1 {
			if err := out.EmitTo(ctx, "odd", it); err != nil {
				return err
			}
		}
		return out.Emit(ctx, it.WithMeta("of", "numbers").With(2*i))
	})
	g := build().add("numbers", gated{count{n: n}, gate}).add("double", double, Common{OnError: Skip}).add("sink", sink).chain("numbers", "double", "sink").g
	g.Stages[0].Spec.In = nil
	g.Stages[1].Spec.Out = []Port{{}, {Name: "odd"}}
	g.Stages[2].Spec.Out = nil
	run, err := g.Start(t.Context(), RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		letGo()
		<-run.Done()
	})
	return run, sink, letGo
}

// gated is a source that begins when its gate opens.
type gated struct {
	Source
	gate <-chan struct{}
}

func (g gated) Run(ctx context.Context, out Emitter) error {
	select {
	case <-g.gate:
		return g.Source.Run(ctx, out)
	case <-ctx.Done():
		return nil
	}
}

// plenty lets a tap show all there is.
const plenty = tapBuffer

func mustTap(t *testing.T, run *Run, o TapOptions) *Tap {
	t.Helper()
	run.unboundTaps()
	tap, err := run.Tap(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return tap
}

// unboundTaps lets taps take the time they need, so that a slow machine shows as much as a fast one.
func (r *Run) unboundTaps() {
	b := &r.options.Resources.taps
	b.mu.Lock()
	defer b.mu.Unlock()
	b.share = unbounded
}

func TestATapShowsWhatPasses(t *testing.T) {
	for _, c := range []struct {
		stage, port string
		where       func(*Item) (bool, error)
		want        []string
	}{
		{"numbers", "", nil, []string{":0", ":1", ":2", ":3", ":4", ":5", ":6", ":7", ":8", ":9", ":10", ":11"}},
		{"double", "odd", nil, []string{"odd:1", "odd:11", "odd:3", "odd:5", "odd:7", "odd:9"}},
		{"double", "errors", nil, []string{`errors:{"stage":"double","error":"a ten","attempts":1,"kind":"json","value":0}`, `errors:{"stage":"double","error":"a ten","attempts":1,"kind":"json","value":10}`}},
		{"double", ":in", func(it *Item) (bool, error) { return it.Value.(int) > 8, nil }, []string{":in:10", ":in:11", ":in:9"}},
		{"double", "", func(it *Item) (bool, error) { return it.Value.(int)%3 == 0, nil }, []string{":12", ":18", ":6"}},
		{"sink", "", nil, []string{":in:12", ":in:14", ":in:16", ":in:18", ":in:2", ":in:22", ":in:4", ":in:6", ":in:8", ":in:10"}},
	} {
		t.Run(pointName(c.stage, c.port), func(t *testing.T) {
			run, sink, letGo := tapped(t, 12)
			tap := mustTap(t, run, TapOptions{Stage: c.stage, Port: c.port, Where: c.where, Rate: plenty})
			letGo()
			var got []string
			for seen := range tap.C {
				if seen.Stage != c.stage || seen.Pipeline != "test" || seen.Time.IsZero() {
					t.Errorf("shown as %+v", seen)
				}
				got = append(got, seen.Port+":"+string(seen.Value))
			}
			slices.Sort(got)
			slices.Sort(c.want)
			if !slices.Equal(got, c.want) {
				t.Errorf("it shows %v, want %v", got, c.want)
			}
			if passed := tap.Passed(); passed < int64(len(got)) || c.where == nil && passed != int64(len(got)) {
				t.Errorf("%d passed, %d are shown", passed, len(got))
			}
			if err := tap.Err(); !errors.Is(err, ErrTapRunEnded) {
				t.Errorf("it ended with %v", err)
			}
			if len(sink.values) != 10 {
				t.Errorf("%d items arrived, want 10", len(sink.values))
			}
		})
	}
}

func TestATapEndsWithAReason(t *testing.T) {
	stopped := errors.New("stopped looking")
	broken := errors.New("no such field")
	for name, c := range map[string]struct {
		o     TapOptions
		act   func(run *Run, cancel context.CancelCauseFunc)
		shown int
		want  error // nil: a panic
	}{
		"its context":           {TapOptions{}, func(_ *Run, cancel context.CancelCauseFunc) { cancel(stopped) }, 0, stopped},
		"the run is cancelled":  {TapOptions{}, func(run *Run, _ context.CancelCauseFunc) { run.Cancel() }, 0, ErrTapRunEnded},
		"the run drains":        {TapOptions{}, func(run *Run, _ context.CancelCauseFunc) { run.Drain() }, 0, ErrTapRunEnded},
		"the stage is replaced": {TapOptions{}, func(run *Run, _ context.CancelCauseFunc) { run.byName["numbers"].taps.end(ErrTapReplaced) }, 0, ErrTapReplaced},
		"the limit":             {TapOptions{Limit: 3}, nil, 3, ErrTapLimit},
		"the condition fails": {TapOptions{Where: func(it *Item) (bool, error) {
			if it.Value == 2 {
				return false, broken
			}
			return true, nil
		}}, nil, 2, broken},
		"the condition panics": {TapOptions{Where: func(it *Item) (bool, error) { return it.Value.(string) == "", nil }}, nil, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			run, _, letGo := tapped(t, 12)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			c.o.Stage = "numbers"
			run.unboundTaps() // it looks at each item, however slow the machine is
			tap, err := run.Tap(ctx, c.o)
			if err != nil {
				t.Fatal(err)
			}
			if c.act != nil {
				c.act(run, cancel)
			} else {
				letGo()
			}
			shown := 0
			for range tap.C {
				shown++
			}
			var panicked *panicError
			if err := tap.Err(); c.want != nil && !errors.Is(err, c.want) || c.want == nil && !errors.As(err, &panicked) || shown != c.shown {
				t.Errorf("after %d items it ended with %v, want %v after %d", shown, err, c.want, c.shown)
			}
			if pointer.Load(&run.byName["numbers"].taps.all) != nil {
				t.Error("items are still shown to it")
			}
		})
	}
}

func TestWhereThereIsNothingToTap(t *testing.T) {
	run, _, _ := tapped(t, 1)
	for at, want := range map[string]string{
		"duble":       `pipeline test has no stage "duble" (did you mean double?); there is numbers, double, sink`,
		"double.od":   `stage double has no output port "od" (did you mean double.odd?); there is double, double.odd, double.errors, double:in`,
		"numbers:in":  `stage numbers takes no input; there is numbers, numbers.links, numbers.errors`,
		"double.":     `"double." names no port after the point`,
		"":            `"" is neither STAGE nor STAGE.PORT nor STAGE:in`,
		"double.x:in": `"double.x:in" is neither STAGE nor STAGE.PORT nor STAGE:in`,
		"double:out":  `"double:out" is neither STAGE nor STAGE.PORT nor STAGE:in`,
	} {
		stage, port, err := ParseTapPoint(at)
		if err == nil {
			_, err = run.Tap(t.Context(), TapOptions{Stage: stage, Port: port})
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", at, err, want)
		}
	}
}

func TestANameAloneMeansTheDefaultPortOrElseAllThereIs(t *testing.T) {
	for _, c := range []struct{ in, out, want []string }{
		{[]string{"x"}, []string{"", "links"}, []string{""}},
		{[]string{"x"}, []string{"rdf", "other"}, []string{"rdf", "other"}},
		{[]string{"x"}, nil, []string{TapInput}},
		{nil, nil, nil},
	} {
		stage := &Stage{Name: "s"}
		for range c.in {
			stage.Spec.In = append(stage.Spec.In, KindOf[int]())
		}
		for _, name := range c.out {
			stage.Spec.Out = append(stage.Spec.Out, Port{Name: name})
		}
		run := &Run{graph: &Graph{Name: "test"}, byName: map[string]*node{"s": {name: "s", stage: stage}}}
		if _, got, err := run.tapPoint("s", ""); !slices.Equal(got, c.want) || (err != nil) != (c.want == nil) {
			t.Errorf("%v > %v: %v, %v, want %v", c.in, c.out, got, err, c.want)
		}
	}
}

// pooled is a value whose body is good only during its lease.
type pooled struct{ text *[]byte }

func (p pooled) MarshalJSON() ([]byte, error) { return json.Marshal(string(*p.text)) }

func (p pooled) Owned() any { return pooled{new(bytes.Clone(*p.text))} }

// Under load, with bodies that are used again as soon as their lease ends: everything arrives, each tap
// shows whole bodies only, and a tap that nobody reads holds nothing up.
func TestTapsUnderLoadShowWholeItemsAndLoseNone(t *testing.T) {
	const items = 20_000
	pool := sync.Pool{New: func() any { b := make([]byte, 100); return &b }}
	pages := process(func(ctx context.Context, it *Item, out Emitter) error {
		b := pool.Get().(*[]byte)
		for i := range *b {
			(*b)[i] = 'a' + byte(it.Value.(int)%26)
		}
		it.OnEnd(func() {
			clear(*b)
			pool.Put(b)
		})
		return out.Emit(ctx, it.With(pooled{b}))
	})
	var arrived atomic.Int64
	sink := process(func(context.Context, *Item, Emitter) error { arrived.Add(1); return nil })
	gate := make(chan struct{})
	run, err := build().add("numbers", gated{count{n: items}, gate}).add("pages", pages, Common{Workers: 4}).add("sink", sink, Common{Workers: 4}).
		chain("numbers", "pages", "sink").g.Start(t.Context(), RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	var shown atomic.Int64
	for _, at := range []string{"pages", "sink:in", "pages", "pages:in"} {
		stage, port, _ := ParseTapPoint(at)
		tap := mustTap(t, run, TapOptions{Stage: stage, Port: port, Rate: 1_000_000})
		readers.Go(func() {
			for seen := range tap.C {
				shown.Add(1)
				text := strings.Trim(string(seen.Value), `"`)
				if port != ":in" && strings.Trim(text, text[:1]) != "" || text[0] == 0 {
					t.Errorf("torn: %s", text)
				}
			}
			if tap.Passed() != items {
				t.Errorf("%s: %d passed, want %d", at, tap.Passed(), items)
			}
		})
	}
	unread := mustTap(t, run, TapOptions{Stage: "pages", Rate: 1_000_000})
	close(gate)
	if _, err := run.Wait(); err != nil {
		t.Fatal(err)
	}
	readers.Wait()
	if arrived.Load() != items || shown.Load() == 0 {
		t.Errorf("%d items arrived, %d were shown", arrived.Load(), shown.Load())
	}
	waiting, queued := 0, cap(unread.queue) // at the end of the run, and looked at while those before are read
	for range unread.C {
		waiting++
	}
	if waiting < tapBuffer || waiting > tapBuffer+queued || unread.Missed() == 0 {
		t.Errorf("of the tap that nobody read, %d items wait and %d are missed, want %d, up to %d more, and some", waiting, unread.Missed(), tapBuffer, queued)
	}
}

func TestATapKeepsToItsAllowance(t *testing.T) {
	start := time.Now()
	a := newAllowance(20, mostWork, start)
	now, shown, worked := start, 0, time.Duration(0)
	const took = 40 * time.Microsecond
	for now.Before(start.Add(10 * time.Second)) {
		shown++
		worked += took
		now = now.Add(took)
		now = now.Add(a.spend(true, took, 100, now))
	}
	if shown < 200 || shown > 221 { // 20 at once, and 20 a second
		t.Errorf("%d items are shown in 10 s", shown)
	}
	b := newAllowance(1_000_000, mostWork, start)
	now, worked = start, 0
	for now.Before(start.Add(10 * time.Second)) {
		worked += took
		now = now.Add(took)
		now = now.Add(b.spend(false, took, 100, now))
	}
	if worked < 90*time.Millisecond || worked > 112*time.Millisecond { // 10 ms at once, and a hundredth of the time
		t.Errorf("%v of 10 s are spent on looking", worked)
	}
}

func TestAnItemIsShownOnALine(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		body string
		size int
		want string
	}{
		"text":             {"grün", 5, `"body":"grün","body_size":5`},
		"text that is cut": {"gr\xc3", 5, `"body":"gr","body_size":5`},
		"binary":           {"\x00\xff", 2, `"body_base64":"AP8=","body_size":2`},
		"no body":          {"", 0, `"value":{"a":1}`},
	} {
		seen := Tapped{Pipeline: "p", Stage: "s", Port: "odd", Time: at, Number: 3, Kind: "k", Meta: map[string]string{"a": "b"},
			Value: json.RawMessage(`{"a":1}`), Body: []byte(c.body), BodySize: c.size}
		line, err := json.Marshal(seen)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(line), c.want) || !strings.HasPrefix(string(line), `{"pipeline":"p","stage":"s","port":"odd","time":"2026-11-21T12:00:00Z","number":3,"kind":"k"`) {
			t.Errorf("%s: %s", name, line)
		}
		var again Tapped
		if err := json.Unmarshal(line, &again); err != nil {
			t.Fatal(err)
		}
		if second, _ := json.Marshal(again); string(second) != string(line) {
			t.Errorf("%s: read again it is %s", name, second)
		}
	}
}

// A condition that never comes to an end holds up nobody: all items arrive, and the run ends.
func TestACostlyTapSlowsNoStage(t *testing.T) {
	run, sink, letGo := tapped(t, 500)
	endless := make(chan struct{})
	asked := make(chan struct{}, 500)
	wait := func(*Item) (bool, error) {
		asked <- struct{}{}
		<-endless
		return false, nil
	}
	var all []*Tap
	for _, at := range []string{"numbers", "double", "double:in", "sink"} {
		stage, port, _ := ParseTapPoint(at)
		all = append(all, mustTap(t, run, TapOptions{Stage: stage, Port: port, Where: wait}))
	}
	letGo()
	<-asked
	if _, err := run.Wait(); err != nil || len(sink.values) != 450 {
		t.Errorf("%d items arrived, want 450: %v", len(sink.values), err)
	}
	if len(asked) != 0 {
		t.Errorf("%d items were looked at beside one", len(asked))
	}
	close(endless)
	for _, tap := range all {
		for range tap.C {
		}
	}
	if kept := run.options.Resources.taps.bytes.Load(); kept != 0 {
		t.Errorf("%d bytes are kept of items that nobody looks at any more", kept)
	}
}

func TestTapsAreBoundedInNumber(t *testing.T) {
	run, _, _ := tapped(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last *Tap
	for range mostTaps {
		tap, err := run.Tap(ctx, TapOptions{Stage: "sink"})
		if err != nil {
			t.Fatal(err)
		}
		last = tap
	}
	if _, err := run.Tap(t.Context(), TapOptions{Stage: "numbers"}); !errors.Is(err, ErrTapsFull) {
		t.Errorf("one more: %v", err)
	}
	cancel()
	<-last.C
	if _, err := run.Tap(t.Context(), TapOptions{Stage: "numbers"}); err != nil {
		t.Errorf("once one has ended: %v", err)
	}
}

// What waits to be looked at is bounded in bytes, and a condition that gives up misses the item.
func TestATapMissesWhatIsTooMuch(t *testing.T) {
	b := new(tapBudget)
	if !b.keep(2*mostTapBytes) || b.keep(1) {
		t.Error("one of any size has room, and none beside it")
	}
	b.drop(2 * mostTapBytes)
	if !b.keep(mostTapBytes) || b.keep(1) {
		t.Error("the room is of another size")
	}
	run, _, letGo := tapped(t, 12)
	tap := mustTap(t, run, TapOptions{Stage: "numbers", Rate: plenty, Where: func(it *Item) (bool, error) {
		if it.Value.(int) > 3 {
			return false, ErrTapTooLong
		}
		return true, nil
	}})
	letGo()
	shown := 0
	for range tap.C {
		shown++
	}
	if err := tap.Err(); shown != 4 || tap.Missed() != 8 || !errors.Is(err, ErrTapRunEnded) {
		t.Errorf("%d shown, %d missed, %v", shown, tap.Missed(), err)
	}
}
