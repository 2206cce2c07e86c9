package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// slowStates are states in memory that become durable when the test allows it, and tell what is.
type slowStates struct {
	memoryStates
	mu      sync.Mutex
	durable map[string]string
}

func (s *slowStates) Commit(writes []StateWrite, done func(error)) {
	s.mu.Lock()
	for _, w := range writes {
		if w.Value == nil {
			delete(s.durable, w.Key)
		} else {
			s.durable[w.Key] = string(w.Value)
		}
	}
	s.mu.Unlock()
	s.memoryStates.Commit(writes, done)
}

func newSlowStates() (*slowStates, *Env) {
	s := &slowStates{memoryStates: memoryStates{values: make(map[stateKey][]byte)}, durable: make(map[string]string)}
	resources := new(Resources)
	Provide[OpenStates](resources, func() (States, error) { return s, nil })
	return s, NewEnv("p", "stage", resources)
}

// TestStateIsThatOfTheItemsThatHaveEnded has items append their names to lists, of which each is the value of a key,
// and end in any order. What is durable has at any time no name of an item that is open, and all that those wrote
// which were told that they have ended. When all have, it is what is seen.
func TestStateIsThatOfTheItemsThatHaveEnded(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		store, env := newSlowStates()
		state, err := env.State("lists")
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		told := make(map[string]bool)
		wrote := make(map[string]map[string]int) // by name and key, how often
		open := make(map[string]*Item)
		look := func() {
			store.mu.Lock()
			defer store.mu.Unlock()
			mu.Lock()
			defer mu.Unlock()
			for name, keys := range wrote {
				for key, n := range keys {
					has := strings.Count(store.durable[key], name)
					if open[name] != nil && has > 0 || told[name] && has != n {
						t.Fatalf("seed %d: %s wrote %d times to %s, open %t, told of its end %t, and durable is %q",
							seed, name, n, key, open[name] != nil, told[name], store.durable[key])
					}
				}
			}
		}
		for i := range 40 {
			name := fmt.Sprintf("%d;", 100+i)
			wrote[name] = make(map[string]int)
			open[name] = NewItem(i, func(Outcome) {
				mu.Lock()
				defer mu.Unlock()
				told[name] = true
			})
			names := slices.Sorted(maps.Keys(open))
			for range random.IntN(6) {
				writer, key := names[random.IntN(len(names))], fmt.Sprint("key ", random.IntN(3))
				wrote[writer][key]++
				if err := state.Update(open[writer], key, func(list []byte) ([]byte, error) { return append(list, writer...), nil }); err != nil {
					t.Fatal(err)
				}
			}
			for len(open) > random.IntN(8) {
				ends := slices.Sorted(maps.Keys(open))[random.IntN(len(open))]
				it := open[ends]
				delete(open, ends)
				it.lease.done(nil)
				look()
			}
		}
		for _, name := range slices.Sorted(maps.Keys(open)) {
			it := open[name]
			delete(open, name)
			it.lease.done(nil)
			look()
		}
		seen := make(map[string]string)
		if err := state.Each(func(key string, value []byte) error { seen[key] = string(value); return nil }); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(seen, store.durable) || len(env.alone.last) > 0 {
			t.Fatalf("seed %d: when all have ended, %v is seen and %v durable, and %d writes are kept", seed, seen, store.durable, len(env.alone.last))
		}
	}
}

// queueLease is that of a queue.
type queueLease struct{}

func (queueLease) Item() *Item  { return nil }
func (queueLease) Done(Outcome) {}

// TestStateOfItemsThatDoNotEndWell has three items append to a list, one after the other, and the second come to
// another end than the others.
func TestStateOfItemsThatDoNotEndWell(t *testing.T) {
	for name, c := range map[string]struct {
		second        func(*Item)
		durable, seen string
	}{
		"well":                           {func(it *Item) { it.lease.done(nil) }, "abc", "abc"},
		"a failure that a policy has":    {func(it *Item) { it.lease.handled(errBroken); it.lease.done(nil) }, "abc", "abc"},
		"it goes back to its queue":      {func(it *Item) { it.lease.done(Retry(errBroken, time.Now())) }, "abc", "abc"},
		"its call fails":                 {func(it *Item) { it.undoCall(); it.lease.done(nil) }, "abc", "abc"},
		"it is not done":                 {func(it *Item) { it.lease.done(context.Canceled) }, "a", "a"},
		"it has not ended":               {func(*Item) {}, "a", "abc"},
		"not done after those behind it": {nil, "a", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			store, env := newSlowStates()
			state, err := env.State("list")
			if err != nil {
				t.Fatal(err)
			}
			var items []*Item
			for _, letter := range "abc" {
				it := newLeased(letter, nil)
				it.lease.origin = queueLease{}
				items = append(items, it)
				if err := state.Update(it, "k", func(list []byte) ([]byte, error) { return append(list, byte(letter)), nil }); err != nil {
					t.Fatal(err)
				}
			}
			if c.second != nil {
				c.second(items[1])
			}
			items[0].lease.done(nil)
			items[2].lease.done(nil)
			if c.second == nil {
				items[1].lease.done(errBroken)
				if !errors.Is(items[2].lease.outcome().Err, errBroken) {
					t.Errorf("what stands on a write that will never be is told it is done: %+v", items[2].lease.outcome())
				}
			}
			seen, err := state.Get("k")
			if string(seen) != c.seen || err != nil || store.durable["k"] != c.durable {
				t.Errorf("%q is seen, and %q durable, want %q and %q; %v", seen, store.durable["k"], c.seen, c.durable, err)
			}
		})
	}
}

// TestStateUndoesWhatNobodyHasSeen: what the last of the items that wrote to a key has written is gone when it fails.
func TestStateUndoesWhatNobodyHasSeen(t *testing.T) {
	store, env := newSlowStates()
	state, err := env.State("s")
	if err != nil {
		t.Fatal(err)
	}
	put := func(it *Item, value []byte) {
		if err := state.Put(it, "k", value); err != nil {
			t.Fatal(err)
		}
	}
	must := func(seen, durable string) {
		t.Helper()
		if got, err := state.Get("k"); string(got) != seen || err != nil || store.durable["k"] != durable {
			t.Errorf("%q is seen, and %q durable, want %q and %q; %v", got, store.durable["k"], seen, durable, err)
		}
	}
	put(nil, []byte("of none")) // durable by itself
	must("of none", "of none")
	first, second := newLeased(1, nil), newLeased(2, nil)
	first.lease.origin = queueLease{}
	put(first, []byte("first"))
	put(second, []byte("second"))
	put(second, nil)
	must("", "of none")
	second.undoCall()
	must("first", "of none")
	first.lease.done(Retry(errBroken, time.Now()))
	must("of none", "of none")
	put(second, nil)
	second.lease.done(nil)
	must("", "")
}

// TestStateOfACallThatIsRepeatedCountsOnce has a stage fail after it has written, so that it is called again.
func TestStateOfACallThatIsRepeatedCountsOnce(t *testing.T) {
	store, _ := newSlowStates()
	resources := new(Resources)
	Provide[OpenStates](resources, func() (States, error) { return store, nil })
	g := build().add("numbers", count{5, nil})
	var state *State
	failures := 2
	counts := process(func(ctx context.Context, it *Item, out Emitter) error {
		err := state.Update(it, "n", func(n []byte) ([]byte, error) { return append(n, 'x'), nil })
		if it.Value == 3 && failures > 0 {
			failures--
			return errBroken
		}
		return err
	})
	g.g.AddStage("counts", Spec{Type: "counts", In: Kinds(KindOf[any]())}, func(env *Env) (_ any, err error) {
		state, err = env.State("counts")
		return counts, err
	}).Common.OnError = RetryFirst
	mustRun(t, g.chain("numbers", "counts"), RunOptions{Resources: resources})
	if store.durable["n"] != "xxxxx" {
		t.Errorf("5 items are counted as %q", store.durable["n"])
	}
}

func TestStateWantsAPlaceAndAName(t *testing.T) {
	for want, env := range map[string]*Env{
		"stage s needs a pipeline.OpenStates, which this program does not provide": NewEnv("p", "s", nil),
	} {
		if _, err := env.State("x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	_, env := newSlowStates()
	if _, err := env.State("two words"); err == nil || !strings.Contains(err.Error(), `state "two words": a name consists of`) {
		t.Error(err)
	}
}

// TestStateBehindAGroupIsThatOfItsItems has a stage write for lists that a keeper has made: each becomes durable when
// all that is made of the list has ended, and before the items of the list have.
func TestStateBehindAGroupIsThatOfItsItems(t *testing.T) {
	store, _ := newSlowStates()
	resources := new(Resources)
	Provide[OpenStates](resources, func() (States, error) { return store, nil })
	var mu sync.Mutex
	early := 0
	numbers := count{9, func(int, Outcome) {
		store.mu.Lock()
		defer store.mu.Unlock()
		mu.Lock()
		defer mu.Unlock()
		if store.durable["lists"] == "" {
			early++
		}
	}}
	var state *State
	g := build().add("numbers", numbers).add("group", &groups{emit: true}, Common{Batch: Batch{Count: 3, Period: Duration(time.Hour)}})
	g.g.AddStage("remember", Spec{Type: "remember", In: Kinds(KindOf[any]())}, func(env *Env) (_ any, err error) {
		state, err = env.State("lists")
		return process(func(_ context.Context, it *Item, _ Emitter) error {
			return state.Update(it, "lists", func(n []byte) ([]byte, error) { return append(n, 'x'), nil })
		}), err
	})
	mustRun(t, g.chain("numbers", "group", "remember"), RunOptions{Resources: resources})
	if early > 0 || len(store.durable["lists"]) < 3 {
		t.Errorf("%d items ended before what was made of them was durable: %q", early, store.durable["lists"])
	}
}

// What is kept is durable when Keep returns, while items are open that have written before and after it; it stays when
// they come to nothing.
func TestStateKeepsWithoutAnItem(t *testing.T) {
	store, env := newSlowStates()
	state, err := env.State("answers")
	if err != nil {
		t.Fatal(err)
	}
	before, after := NewItem(1, nil), NewItem(2, nil)
	if err := state.Put(before, "of an item", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := state.Keep(t.Context(), "kept", []byte("y")); err != nil {
		t.Fatal(err)
	}
	if err := state.Put(after, "of another", []byte("z")); err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"kept": "y"}; !maps.Equal(store.durable, want) {
		t.Errorf("durable is %v, want %v", store.durable, want)
	}
	if value, err := state.Get("kept"); err != nil || string(value) != "y" {
		t.Errorf("%q, %v", value, err)
	}
	if err := state.Keep(t.Context(), "kept", nil); err != nil || len(store.durable) > 0 {
		t.Errorf("%v, durable is %v", err, store.durable)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	never := &hangingStates{memoryStates{values: make(map[stateKey][]byte)}}
	resources := new(Resources)
	Provide[OpenStates](resources, func() (States, error) { return never, nil })
	if state, err = NewEnv("p", "stage", resources).State("answers"); err != nil {
		t.Fatal(err)
	}
	if err := state.Keep(cancelled, "kept", []byte("y")); !errors.Is(err, context.Canceled) {
		t.Errorf("on a disk that hangs: %v", err)
	}
}

// hangingStates are on a disk that does not come back.
type hangingStates struct{ memoryStates }

func (*hangingStates) Commit([]StateWrite, func(error)) {}

// TestEachVisitsWhatIsThereByThen changes a state while it is visited.
func TestEachVisitsWhatIsThereByThen(t *testing.T) {
	_, env := newSlowStates()
	state, err := env.State("seen")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"d", "b", "a", "c"} {
		if err := state.Put(nil, key, []byte("1")); err != nil {
			t.Fatal(err)
		}
	}
	seen := ""
	err = state.Each(func(key string, value []byte) error {
		seen += key + string(value) + " "
		for changed, to := range map[string][]byte{"b": nil, "c": []byte("2"), "e": []byte("3"), "a": nil} {
			if err := state.Put(nil, changed, to); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || seen != "a1 c2 d1 " {
		t.Errorf("visited %q, %v", seen, err)
	}
}
