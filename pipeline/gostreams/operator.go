package gostreams

import (
	"context"
	"fmt"
	"sync"

	"github.com/reugn/go-streams"

	"github.com/webrace/webrace/pipeline"
)

// stage is an operator over items that runs: one goroutine feeds it, Release takes what it gives.
type stage struct {
	inputs
	operator func() streams.Flow
	in       chan pipeline.Held
	hurried  chan struct{}

	mu   sync.Mutex
	held map[*pipeline.Item]func(error) // what the operator holds, and how it is let go
}

func newStage(operator func() streams.Flow) *stage {
	return &stage{
		operator: operator, in: make(chan pipeline.Held), hurried: make(chan struct{}, 1),
		held: make(map[*pipeline.Item]func(error)),
	}
}

// Process hands the item to the goroutine that feeds the operator. It is given on as an item of its own, because the
// same one may come by two branches.
func (s *stage) Process(ctx context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	if err := s.check(it); err != nil {
		return err
	}
	held := pipeline.Keep(it.With(it.Value))
	select {
	case s.in <- held:
		return nil
	case <-ctx.Done():
		held.Done(nil) // the item that is in work has the error
		return ctx.Err()
	}
}

// Release emits what the operator gives, until nothing more will come. An operator that is to hurry has its input
// ended, by which it gives out all that it holds, and another takes its place.
func (s *stage) Release(ctx context.Context, ended <-chan struct{}, out pipeline.Emitter) error {
	feeding, stop := context.WithCancel(ctx)
	defer stop()
	for {
		operator, last := s.operator(), make(chan bool, 1)
		go func() { last <- s.feed(feeding, ended, operator.In()) }()
		err := s.collect(ctx, operator.Out(), out)
		if err != nil {
			stop()
			go func() {
				for range operator.Out() { // so that its goroutines end
				}
			}()
		}
		over := <-last
		if err == nil || ctx.Err() != nil { // else the error ends the run
			s.letGo(err)
		}
		if over || err != nil { // no other operator takes the place of one that failed
			return err
		}
	}
}

// feed gives the operator what comes, and ends its input. It reports whether nothing more will come.
func (s *stage) feed(ctx context.Context, ended <-chan struct{}, in chan<- any) (last bool) {
	defer close(in)
	for {
		select {
		case held := <-s.in:
			if !s.enter(ctx, held, in) {
				return true
			}
		case <-s.hurried:
			return false
		case <-ended:
			return true
		case <-ctx.Done():
			return true
		}
	}
}

func (s *stage) enter(ctx context.Context, held pipeline.Held, in chan<- any) bool {
	s.mu.Lock()
	s.held[held.Item] = held.Done
	s.mu.Unlock()
	select {
	case in <- held.Item:
		return true
	case <-ctx.Done():
		return false
	}
}

// collect emits what comes out of the operator.
func (s *stage) collect(ctx context.Context, from <-chan any, out pipeline.Emitter) error {
	for {
		select {
		case element, more := <-from:
			if !more {
				return nil
			}
			if err := s.emit(ctx, element, out); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *stage) emit(ctx context.Context, element any, out pipeline.Emitter) error {
	switch e := element.(type) {
	case *pipeline.Item:
		group, err := s.take([]*pipeline.Item{e}, 1)
		if err != nil {
			return err
		}
		return pipeline.EmitGroup(ctx, out, "", e.Value, e.Meta, group)
	case []*pipeline.Item:
		return s.emitList(ctx, e, len(e), out)
	case span:
		return s.emitList(ctx, e.items, e.leaving, out)
	}
	return fmt.Errorf("the go-streams operator gave out %T: it may give out the items that it was given, alone or as []*pipeline.Item", element)
}

// emitList emits a list of the values of items, of which the first so many leave the operator.
func (s *stage) emitList(ctx context.Context, items []*pipeline.Item, leaving int, out pipeline.Emitter) error {
	group, err := s.take(items, leaving)
	if err != nil {
		return err
	}
	list := make(pipeline.List, len(items))
	for i, it := range items {
		list[i] = it.Value
	}
	return pipeline.EmitGroup(ctx, out, "", list, nil, group)
}

// take returns the items of a group, of which the first so many leave the operator. The others are in a group to
// come as well, which has a hold on them of its own.
func (s *stage) take(items []*pipeline.Item, leaving int) ([]pipeline.Held, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	group := make([]pipeline.Held, len(items))
	for i, it := range items {
		done := s.held[it]
		switch {
		case done == nil:
			return nil, fmt.Errorf("the go-streams operator gave out an item that it does not hold, of %T: it may give out those that it was given, once", it.Value)
		case i < leaving:
			delete(s.held, it)
			group[i] = pipeline.Held{Item: it, Done: done}
		default:
			group[i] = pipeline.Keep(it)
		}
	}
	return group, nil
}

// letGo ends what an operator that has ended still held: with no error, what it has dropped.
func (s *stage) letGo(err error) {
	s.mu.Lock()
	held := s.held
	s.held = make(map[*pipeline.Item]func(error))
	s.mu.Unlock()
	for _, done := range held {
		done(err)
	}
}
