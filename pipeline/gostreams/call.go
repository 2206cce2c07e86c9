package gostreams

import (
	"context"
	"sync"

	"github.com/reugn/go-streams"
	"github.com/reugn/go-streams/flow"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
)

// Map makes a stage that emits what f makes of each item, on [flow.NewMap]. What fails has the policy of the stage, as
// has a panic of f; the same holds for [FlatMap], [Filter] and [Reduce]. As many items are in work at once as the
// stage has workers and parallelism allow. f makes a changed item by [pipeline.Item.With].
func Map(f func(context.Context, *pipeline.Item) (*pipeline.Item, error), parallelism int) pipeline.Processor {
	return newCaller(func() streams.Flow {
		return flow.NewMap(func(c *call) *call {
			c.try(func() error {
				it, err := f(c.ctx, c.item)
				c.emits = []*pipeline.Item{it}
				return err
			})
			return c
		}, parallelism)
	})
}

// FlatMap makes a stage that emits all that f makes of each item, on [flow.NewFlatMap].
func FlatMap(f func(context.Context, *pipeline.Item) ([]*pipeline.Item, error), parallelism int) pipeline.Processor {
	return newCaller(func() streams.Flow {
		return flow.NewFlatMap(func(c *call) []*call {
			c.try(func() (err error) {
				c.emits, err = f(c.ctx, c.item)
				return err
			})
			return []*call{c}
		}, parallelism)
	})
}

// Filter makes a stage that emits the items for which keep returns true, on [flow.NewFilter]. The lease of another
// ends.
func Filter(keep func(context.Context, *pipeline.Item) (bool, error), parallelism int) pipeline.Processor {
	return newCaller(func() streams.Flow {
		return flow.NewFilter(func(c *call) (kept bool) {
			c.try(func() (err error) {
				kept, err = keep(c.ctx, c.item)
				return err
			})
			if kept {
				c.emits = []*pipeline.Item{c.item}
			} else {
				close(c.over)
			}
			return kept
		}, parallelism)
	})
}

// Reduce makes a stage that emits, for each item but the first, what f makes of what it emitted last and of the item,
// on [flow.NewReduce]; the first item passes. What comes out belongs to the lease of the item that came in. What was
// reduced before is kept as a value of its own ([codec.Own]) in memory alone: after a crash, and when a reload
// replaces the stage, reducing begins anew. An item that fails is left out of it.
func Reduce(f func(ctx context.Context, last any, it *pipeline.Item) (any, error)) pipeline.Processor {
	s := newCaller(func() streams.Flow {
		return flow.NewReduce(func(last, c *call) *call {
			c.reduced = last.reduced
			c.try(func() error {
				value, err := f(c.ctx, last.reduced, c.item)
				if err != nil {
					return err
				}
				c.reduced, c.emits = codec.Own(value), []*pipeline.Item{c.item.With(value)}
				return nil
			})
			return c
		})
	})
	s.prepare = func(c *call) { // the operator passes the first one without a word
		c.reduced, c.emits = codec.Own(c.item.Value), []*pipeline.Item{c.item}
	}
	return s
}

// caller is an operator that is called like a function: Process waits until its element has come out, or has been
// dropped.
type caller struct {
	inputs
	make     func() streams.Flow
	prepare  func(*call) // may be nil
	begin    sync.Once
	operator streams.Flow
	end      sync.Once
	ended    chan struct{}
}

// call is the element of an item that is in work.
type call struct {
	ctx      context.Context
	item     *pipeline.Item
	emits    []*pipeline.Item
	reduced  any // so far
	err      error
	panicked any
	over     chan struct{}
}

// try calls a function in a goroutine of the operator, where the runtime cannot see to panics.
func (c *call) try(f func() error) {
	defer func() { c.panicked = recover() }()
	c.err = f()
}

func newCaller(operator func() streams.Flow) *caller {
	return &caller{make: operator, ended: make(chan struct{})}
}

func (s *caller) start() {
	s.operator = s.make()
	go func() {
		defer close(s.ended)
		for element := range s.operator.Out() {
			close(element.(*call).over)
		}
	}()
}

func (s *caller) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	if err := s.check(it); err != nil {
		return err
	}
	s.begin.Do(s.start)
	c := &call{ctx: ctx, item: it, over: make(chan struct{})}
	if s.prepare != nil {
		s.prepare(c)
	}
	s.operator.In() <- c
	<-c.over
	if c.panicked != nil {
		panic(c.panicked) // where the runtime makes an error of it
	}
	if c.err != nil {
		return c.err
	}
	for _, emitted := range c.emits {
		if err := out.Emit(ctx, emitted); err != nil {
			return err
		}
	}
	return nil
}

// Close waits for the operator, if it was used.
func (s *caller) Close() error {
	s.begin.Do(func() {})
	s.end.Do(func() {
		if s.operator != nil {
			close(s.operator.In())
			<-s.ended
		}
	})
	return nil
}
