package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
)

// letters is a dead letter store in memory.
type letters struct {
	mu       sync.Mutex
	kept     []DeadLetterRecord
	replay   []DeadLetterRecord
	replayed []string
	err      error
}

func (l *letters) Put(_ context.Context, letter DeadLetterRecord) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	l.kept = append(l.kept, letter)
	return nil
}

func (l *letters) Replays(context.Context, string) ([]DeadLetterRecord, error) { return l.replay, nil }

func (l *letters) Replayed(_ context.Context, id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.replayed = append(l.replayed, id)
	return nil
}

// brokenAt fails on the number 3, the first times it sees it.
func brokenAt(times int, emitFirst bool) process {
	return func(ctx context.Context, it *Item, out Emitter) error {
		if it.Value == 3 {
			if emitFirst {
				_ = out.Emit(ctx, it)
			}
			if times > 0 {
				times--
				return fmt.Errorf("number %v: %w", it.Value, errBroken)
			}
			if emitFirst {
				return nil
			}
		}
		return out.Emit(ctx, it)
	}
}

func TestErrorPolicies(t *testing.T) {
	firstPause = 1
	for _, c := range []struct {
		name      string
		policy    OnError
		fails     int
		emitFirst bool
		out       int // items that come out, of 5
		letters   int
		stopped   bool
	}{
		{"dead-letter is the default", "", 1, false, 4, 1, false},
		{"dead-letter", DeadLetter, 1, false, 4, 1, false},
		{"skip", Skip, 1, false, 4, 0, false},
		{"retry succeeds at the third attempt", RetryFirst, 2, false, 5, 0, false},
		{"retry gives up after three attempts", RetryFirst, 3, false, 4, 1, false},
		{"retry never repeats what was emitted", RetryFirst, 1, true, 5, 1, false},
		{"stop", Stop, 1, false, -1, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			ends, store, sink := newOutcomes(), &letters{}, &collected{}
			b := build().add("numbers", count{5, ends.add}).
				add("broken", brokenAt(c.fails, c.emitFirst), Common{OnError: c.policy}).add("sink", sink).
				chain("numbers", "broken", "sink")
			report, err := b.g.Run(t.Context(), RunOptions{DeadLetters: store})
			if stopped := errors.Is(err, ErrStopped) && errors.Is(err, errBroken); stopped != c.stopped || !c.stopped && err != nil {
				t.Fatalf("run ended with %v", err)
			}
			if c.stopped {
				if !strings.Contains(err.Error(), "stage broken") || ends.all[3][0].Err == nil {
					t.Errorf("error %q names no stage, or the lease counts as done", err)
				}
				return
			}
			if len(sink.values) != c.out || len(store.kept) != c.letters {
				t.Errorf("%d items and %d dead letters, want %d and %d", len(sink.values), len(store.kept), c.out, c.letters)
			}
			if got := report.Stages["broken"].Buried; got != int64(c.letters) {
				t.Errorf("the report speaks of %d dead letters, want %d", got, c.letters)
			}
			ends.mustEndOnce(t, 5)
			if ends.all[3][0].Err != nil {
				t.Errorf("a failure that was taken care of ended the lease with %v", ends.all[3][0].Err)
			}
		})
	}
}

func TestDeadLetterTellsWhatIsNeeded(t *testing.T) {
	store := &letters{}
	mustRun(t, build().add("numbers", count{n: 5}).add("broken", brokenAt(1, false)).add("sink", &collected{}).
		chain("numbers", "broken", "sink"), RunOptions{DeadLetters: store})
	got := store.kept[0]
	if got.Pipeline != "test" || got.Stage != "broken" || got.Kind != "int" || string(got.Value) != "3" || got.Attempts != 1 ||
		!slices.Equal(got.Errors, []string{"number 3: broken", "broken"}) {
		t.Errorf("dead letter %+v", got)
	}
}

func TestRunStopsWhenADeadLetterCannotBeKept(t *testing.T) {
	for _, o := range []RunOptions{{}, {DeadLetters: &letters{err: errors.New("disk full")}}} {
		ends := newOutcomes()
		_, err := build().add("numbers", count{5, ends.add}).add("broken", brokenAt(1, false)).add("sink", &collected{}).
			chain("numbers", "broken", "sink").g.Run(t.Context(), o)
		if !errors.Is(err, errBroken) || ends.all[3][0].Err == nil {
			t.Errorf("run ended with %v, the item's lease with %v", err, ends.all[3])
		}
	}
}

func TestErrorsPortReplacesThePolicyAndCarriesTheAck(t *testing.T) {
	ends, failures, store := newOutcomes(), &collected{}, &letters{}
	mustRun(t, build().add("numbers", count{5, ends.add}).add("broken", brokenAt(1, false), Common{OnError: Stop}).
		add("sink", &collected{}).add("failures", failures).
		chain("numbers", "broken", "sink").edge("broken", "errors", "failures"), RunOptions{DeadLetters: store})
	ends.mustEndOnce(t, 5)
	if len(failures.values) != 1 || len(store.kept) != 0 {
		t.Fatalf("%d failures, %d letters", len(failures.values), len(store.kept))
	}
	if f := failures.values[0].(*Failure); f.Stage != "broken" || f.Value != 3 || !errors.Is(f, errBroken) {
		t.Errorf("failure %+v", f)
	}
}

func TestPanicCostsOneItem(t *testing.T) {
	store, sink := &letters{}, &collected{}
	panics := process(func(ctx context.Context, it *Item, out Emitter) error {
		if it.Value == 2 {
			_ = it.Value.(string)
		}
		return out.Emit(ctx, it)
	})
	mustRun(t, build().add("numbers", count{n: 5}).add("fragile", panics).add("sink", sink).
		chain("numbers", "fragile", "sink"), RunOptions{DeadLetters: store})
	if len(sink.values) != 4 || len(store.kept) != 1 || !strings.Contains(store.kept[0].Errors[0], "stage fragile panicked: interface conversion") {
		t.Errorf("%d items out, letters %+v", len(sink.values), store.kept)
	}
}

func TestReplayedDeadLetterGoesThroughItsStageAgain(t *testing.T) {
	store := &letters{replay: []DeadLetterRecord{
		{ID: "7", Stage: "broken", Kind: "int", Value: []byte("41"), Meta: map[string]string{"k": "v"}},
		{ID: "8", Stage: "gone", Kind: "int", Value: []byte("1")},
		{ID: "9", Stage: "broken", Kind: "string", Value: []byte(`"x"`)},
		{ID: "10", Stage: "broken", Kind: "int", Value: []byte("3")},
	}}
	sink := &collected{}
	mustRun(t, build().add("numbers", count{n: 1}).add("broken", brokenAt(1, false)).add("sink", sink).
		chain("numbers", "broken", "sink"), RunOptions{DeadLetters: store})
	slices.Sort(store.replayed)
	if !slices.Contains(sink.values, any(41)) || !slices.Equal(store.replayed, []string{"10", "7"}) {
		t.Errorf("out %v, replayed %v", sink.values, store.replayed)
	}
	if len(store.kept) != 1 || string(store.kept[0].Value) != "3" {
		t.Errorf("the letter that failed again is not kept anew: %+v", store.kept)
	}
}

// A stage that takes anything gets a letter back as the value that it was, and not as what JSON makes of it.
func TestAReplayedDeadLetterIsOfItsKindAlsoWhereAnyIsTaken(t *testing.T) {
	value := any([]byte("bytes"))
	written, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	store := &letters{replay: []DeadLetterRecord{{ID: "1", Stage: "any", Kind: fmt.Sprintf("%T", value), Value: written}}}
	sink := &collected{}
	b := build().add("numbers", count{n: 1}).add("any", sink).chain("numbers", "any")
	b.g.Stages[1].Spec.In = Kinds(KindOf[any]())
	mustRun(t, b, RunOptions{DeadLetters: store})
	if !slices.ContainsFunc(sink.values, func(v any) bool { return reflect.DeepEqual(v, value) }) {
		t.Errorf("%#v came back, not %#v", sink.values, value)
	}
}

func TestSourceThatFailsEndsTheRun(t *testing.T) {
	failing := sourceFunc(func(context.Context, Emitter) error { return errBroken })
	_, err := build().add("source", failing).add("sink", &collected{}).chain("source", "sink").g.Run(t.Context(), RunOptions{})
	if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "stage source") {
		t.Errorf("run ended with %v", err)
	}
}

type sourceFunc func(context.Context, Emitter) error

func (f sourceFunc) Run(ctx context.Context, out Emitter) error { return f(ctx, out) }

// lifecycle records when it is opened and closed.
type lifecycle struct {
	process
	name    string
	log     *[]string
	openErr error
}

func (s lifecycle) Open(context.Context) error {
	*s.log = append(*s.log, "open "+s.name)
	return s.openErr
}

func (s lifecycle) Close() error {
	*s.log = append(*s.log, "close "+s.name)
	return nil
}

func TestStagesOpenInOrderAndCloseInReverse(t *testing.T) {
	pass := process(func(ctx context.Context, it *Item, out Emitter) error { return out.Emit(ctx, it) })
	var log []string
	b := func(err error) graphOf {
		return build().add("numbers", count{n: 3}).add("a", lifecycle{pass, "a", &log, nil}).add("b", lifecycle{pass, "b", &log, err}).
			chain("numbers", "a", "b")
	}
	mustRun(t, b(nil), RunOptions{})
	if want := []string{"open a", "open b", "close b", "close a"}; !slices.Equal(log, want) {
		t.Errorf("%v, want %v", log, want)
	}
	log = nil
	_, err := b(errBroken).g.Run(t.Context(), RunOptions{})
	if want := []string{"open a", "open b", "close b", "close a"}; !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "open stage b") || !slices.Equal(log, want) {
		t.Errorf("failed open: %v, %v", err, log)
	}
}

// A failure is written as kinds.md has it by whatever writes JSON, and is read again.
func TestAFailureIsWrittenByTheNamesOfItsKind(t *testing.T) {
	written, err := json.Marshal([]any{&Failure{Stage: "s", Value: Record{"a": "b"}, Err: errBroken, Attempts: 2}})
	if want := `[{"stage":"s","error":"broken","attempts":2,"kind":"record","value":{"a":"b"}}]`; err != nil || string(written) != want {
		t.Fatalf("%s, %v, want %s", written, err, want)
	}
	var read []*Failure
	if err := json.Unmarshal(written, &read); err != nil || read[0].Stage != "s" || read[0].Err.Error() != "broken" || read[0].Value.(Record)["a"] != "b" {
		t.Errorf("read %+v, %v", read, err)
	}
}
