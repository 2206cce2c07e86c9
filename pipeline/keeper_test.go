package pipeline

import (
	"context"
	"errors"
	"sync"
	"testing"
)

// pairs is a keeper that makes one value of two, or of what is left at the end.
type pairs struct {
	mu   sync.Mutex
	held []Held
	full chan []Held
}

func (p *pairs) Process(ctx context.Context, it *Item, _ Emitter) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held = append(p.held, Keep(it)); len(p.held) < 2 {
		return nil
	}
	pair := p.held
	p.held = nil
	select {
	case p.full <- pair:
		return nil
	case <-ctx.Done():
		for _, held := range pair {
			held.Done(ctx.Err())
		}
		return ctx.Err()
	}
}

func (p *pairs) Release(ctx context.Context, ended <-chan struct{}, out Emitter) error {
	for {
		select {
		case pair := <-p.full:
			if err := EmitGroup(ctx, out, "", len(pair), nil, pair); err != nil {
				return err
			}
		case <-ended:
			if len(p.held) == 0 {
				return nil
			}
			return EmitGroup(ctx, out, "", len(p.held), nil, p.held)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

type releaseFails struct{ *pairs }

func (releaseFails) Release(context.Context, <-chan struct{}, Emitter) error {
	return errors.New("no release")
}

func keeperGraph(keeper any, outcomes chan<- Outcome, take func(int) error) *Graph {
	g := NewGraph("test")
	number := Kinds(KindOf[int]())
	out := []Port{{Kind: KindOf[int]()}}
	g.AddStage("source", Spec{Type: "source", Out: out}, func(*Env) (any, error) {
		return sourceOf(func(ctx context.Context, out Emitter) error {
			for i := range 3 {
				if err := out.Emit(ctx, NewItem(i, func(o Outcome) { outcomes <- o })); err != nil {
					return err
				}
			}
			return nil
		}), nil
	})
	g.AddStage("keeper", Spec{Type: "keeper", In: number, Out: out}, func(*Env) (any, error) { return keeper, nil })
	g.AddStage("sink", Spec{Type: "sink", In: number}, func(*Env) (any, error) { return sinkOf(take), nil })
	g.Wire("source > keeper > sink")
	return g
}

type sourceOf func(context.Context, Emitter) error

func (f sourceOf) Run(ctx context.Context, out Emitter) error { return f(ctx, out) }

type sinkOf func(int) error

func (f sinkOf) Process(_ context.Context, it *Item, _ Emitter) error { return f(it.Value.(int)) }

func TestWhatAKeeperEmitsLetsGoOfWhatItWasMadeOf(t *testing.T) {
	outcomes := make(chan Outcome, 3)
	var sizes []int
	report, err := keeperGraph(&pairs{full: make(chan []Held)}, outcomes, func(n int) error { sizes = append(sizes, n); return nil }).Run(t.Context(), RunOptions{})
	if err != nil || len(sizes) != 2 || sizes[0]+sizes[1] != 3 {
		t.Errorf("groups of %v, %v", sizes, err)
	}
	if report.Stages["keeper"].Out != 2 {
		t.Errorf("%d came out", report.Stages["keeper"].Out)
	}
	for range 3 {
		select {
		case o := <-outcomes:
			if o.Err != nil {
				t.Error(o.Err)
			}
		default:
			t.Fatal("a lease has not ended")
		}
	}
}

func TestAFailureOfAGroupIsThatOfItsItems(t *testing.T) {
	outcomes := make(chan Outcome, 3)
	broken := errors.New("broken")
	_, err := keeperGraph(&pairs{full: make(chan []Held)}, outcomes, func(int) error { return broken }).Run(t.Context(), RunOptions{})
	if !errors.Is(err, broken) {
		t.Errorf("the run ended with %v", err)
	}
	if o := <-outcomes; o.Err == nil {
		t.Error("an item counts as done")
	}
}

func TestAReleaseThatFailsEndsTheRun(t *testing.T) {
	_, err := keeperGraph(releaseFails{&pairs{full: make(chan []Held, 3)}}, make(chan Outcome, 3), func(int) error { return nil }).Run(t.Context(), RunOptions{})
	if err == nil || err.Error() != "stage keeper: no release" {
		t.Errorf("got %v", err)
	}
}

// TestAKeeperGoesOnThroughAReload puts a stage behind a keeper that has something left, and takes another
// keeper out.
func TestAKeeperGoesOnThroughAReload(t *testing.T) {
	for name, keeps := range map[string]bool{"kept": true, "taken out": false} {
		t.Run(name, func(t *testing.T) {
			feed, outcomes, taken := make(chan int), make(chan Outcome, 3), make(chan int, 3)
			graph := func(flow string, added bool) *Graph {
				g := keeperGraph(&pairs{full: make(chan []Held)}, outcomes, func(n int) error { taken <- n; return nil })
				g.Edges, g.Stages[0].Make = nil, func(*Env) (any, error) {
					return sourceOf(func(ctx context.Context, out Emitter) error {
						for i := range feed {
							if err := out.Emit(ctx, NewItem(i, func(o Outcome) { outcomes <- o })); err != nil {
								return err
							}
						}
						return nil
					}), nil
				}
				if added {
					g.AddStage("added", Spec{Type: "added", In: Kinds(KindOf[int]()), Out: []Port{{Kind: KindOf[int]()}}}, func(*Env) (any, error) {
						return Map(func(_ context.Context, n int) (int, error) { return n * 10, nil }), nil
					})
				}
				if !keeps && added {
					g.Stages = append(g.Stages[:1], g.Stages[2:]...)
				}
				g.Wire(flow)
				return g
			}
			run, err := graph("source > keeper > sink", false).Start(t.Context(), RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			feed <- 1
			feed <- 2
			if n := <-taken; n != 2 {
				t.Errorf("a group of %d", n)
			}
			flow, want := "source > keeper > added > sink", []int{10}
			if !keeps {
				flow, want = "source > added > sink", []int{30}
			}
			if _, err := run.Reload(t.Context(), graph(flow, true)); err != nil {
				t.Fatal(err)
			}
			feed <- 3
			close(feed)
			if _, err := run.Wait(); err != nil {
				t.Error(err)
			}
			if got := <-taken; got != want[0] || len(outcomes) != 3 {
				t.Errorf("got %d, want %d; %d leases ended", got, want[0], len(outcomes))
			}
		})
	}
}
