package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
)

// lent is a queue of numbers that writes down what its leases are told, in the order in which that happens.
type lent struct {
	deaf bool // the leases cannot tell which notes concern them

	mu     sync.Mutex
	next   int
	of     int
	told   []string
	ended  int
	sealed chan struct{}
	idle   chan struct{}
}

func newLent(of int, deaf bool) *lent {
	return &lent{of: of, deaf: deaf, sealed: make(chan struct{}), idle: make(chan struct{})}
}

func (q *lent) Put(context.Context, *Item) error { return nil }
func (q *lent) Seal()                            { close(q.sealed) }

func (q *lent) Take(ctx context.Context) (Lease, error) {
	q.mu.Lock()
	if q.next < q.of {
		defer q.mu.Unlock()
		q.next++
		l := loan{q, q.next}
		if q.deaf {
			return l, nil
		}
		return knowing{l}, nil
	}
	q.mu.Unlock()
	select {
	case <-q.idle:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (q *lent) write(format string, args ...any) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.told = append(q.told, fmt.Sprintf(format, args...))
}

type loan struct {
	q *lent
	n int
}

func (l loan) Item() *Item      { return &Item{Value: l.n} }
func (l loan) Release(note any) { l.q.write("%d released: %v", l.n, note) }

func (l loan) Done(o Outcome) {
	l.q.write("%d done: learned %v, %v", l.n, o.Learned, o.Err)
	l.q.mu.Lock()
	defer l.q.mu.Unlock()
	if l.q.ended++; l.q.ended == l.q.of {
		close(l.q.idle)
	}
}

type knowing struct{ loan }

func (l knowing) Concerns(note any) bool { return note == l.n }

// joined runs a queue of two numbers into one group, and what a stage makes of that.
func joined(t *testing.T, q *lent, taker any) []string {
	t.Helper()
	g := NewGraph("test")
	number, group := KindOf[int](), KindOf[int]()
	g.AddStage("feed", Spec{Type: "feed", Out: []Port{{Kind: number}}}, func(*Env) (any, error) {
		return sourceOf(func(context.Context, Emitter) error { return nil }), nil
	})
	g.AddStage("queue", Spec{Type: "queue", In: Kinds(number), Out: []Port{{Kind: number}}, Queue: true}, func(*Env) (any, error) { return q, nil })
	g.AddStage("keeper", Spec{Type: "keeper", In: Kinds(number), Out: []Port{{Kind: group}}}, func(*Env) (any, error) {
		return &pairs{full: make(chan []Held)}, nil
	})
	g.AddStage("taker", Spec{Type: "taker", In: Kinds(group), Out: []Port{{Name: "apart", Kind: number}}}, func(*Env) (any, error) { return taker, nil })
	g.AddStage("sink", Spec{Type: "sink", In: Kinds(number)}, func(*Env) (any, error) {
		return process(func(_ context.Context, it *Item, _ Emitter) error {
			it.Release(it.Value)
			it.Learn(it.Value)
			return nil
		}), nil
	})
	g.Wire("feed > queue > keeper > taker", "taker.apart > sink")
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Run(t.Context(), RunOptions{}); err != nil {
		t.Error(err)
	}
	return q.told
}

func notes(notes ...any) process {
	return func(_ context.Context, it *Item, _ Emitter) error {
		for _, note := range notes {
			it.Release(note)
		}
		return nil
	}
}

func TestANoteIsToldToTheMemberThatItConcerns(t *testing.T) {
	for name, c := range map[string]struct {
		deaf  bool
		notes []any
		want  []string
	}{
		"each":            {false, []any{2, 1, 2}, []string{"2 released: 2", "1 released: 1", "1 done", "2 done"}},
		"one":             {false, []any{2}, []string{"2 released: 2", "1 done", "2 done"}},
		"none of them":    {false, []any{7, 1}, []string{"1 released: 1", "2 released: 7", "1 done", "2 done"}},
		"they cannot say": {true, []any{1, 2}, []string{"1 released: 2", "2 released: 2", "1 done", "2 done"}},
		"nothing is said": {false, nil, []string{"1 done", "2 done"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := joined(t, newLent(2, c.deaf), notes(c.notes...))
			for i, line := range got {
				if len(line) > 6 && line[2:6] == "done" {
					got[i] = line[:6]
				}
			}
			if slices.Sort(got[len(got)-2:]); !slices.Equal(got, c.want) {
				t.Errorf("the queue was told %q, want %q", got, c.want)
			}
		})
	}
}

// TestAGroupThatIsTakenApartHasAsManyOutcomes has each member learn and be released by itself.
func TestAGroupThatIsTakenApartHasAsManyOutcomes(t *testing.T) {
	apart := process(func(ctx context.Context, it *Item, out Emitter) error {
		for _, member := range Members(it) {
			if err := out.EmitTo(ctx, "apart", member.With(member.Value)); err != nil {
				return err
			}
		}
		return nil
	})
	got := joined(t, newLent(2, true), apart)
	slices.Sort(got)
	want := []string{"1 done: learned [1], <nil>", "1 released: 1", "2 done: learned [2], <nil>", "2 released: 2"}
	if !slices.Equal(got, want) {
		t.Errorf("the queue was told %q, want %q", got, want)
	}
}

// TestANoteFindsItsWayThroughGroupsOfGroups is of a list of lists, as two keepers in a row make it.
func TestANoteFindsItsWayThroughGroupsOfGroups(t *testing.T) {
	var told []any
	items := []*Item{{Value: 1}, {Value: 2}}
	for _, it := range items {
		it.lease = newLease(nil)
		it.lease.origin = noted{it.Value, func(note any) { told = append(told, it.Value, note) }}
	}
	var outcome []error
	joint := newJoint(items, func(_ int, err error) { outcome = append(outcome, err) })
	outer := newJoint([]*Item{{Value: "both", lease: joint}, {Value: "no lease"}}, func(i int, err error) {
		if i == 0 {
			joint.done(err)
		}
	})
	outer.releaseEarly(2)
	outer.releaseEarly(1)
	broken := errors.New("broken")
	outer.done(broken)
	if !slices.Equal(told, []any{2, 2, 1, 1}) || !slices.Equal(outcome, []error{broken, broken}) {
		t.Errorf("told %v, ended with %v", told, outcome)
	}
}

// noted is a lease that a note concerns which is its value.
type noted struct {
	value any
	tell  func(note any)
}

func (n noted) Item() *Item            { return &Item{Value: n.value} }
func (n noted) Done(Outcome)           {}
func (n noted) Release(note any)       { n.tell(note) }
func (n noted) Concerns(note any) bool { return note == n.value }
