// Package throttle is the stage that lets items pass at a rate: so many in a time, for all workers of the
// stage together, or for each key. After a pause, a burst may pass at once. Items of a key keep their order,
// and no key waits for another. When the run drains, what still waits is given back to where it came from, so
// that neither the rate is broken nor the end is put off; it counts as not done.
package throttle

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/expression"
	"github.com/webrace/webrace/pipeline/pending"
	_ "github.com/webrace/webrace/stages/kinds" // whose fields expressions name
)

// Options of the stage.
type Options struct {
	Count   int               `toml:"count" doc:"items that may pass in each period"`
	Period  pipeline.Duration `toml:"period" doc:"the time in which so many may pass"`
	Burst   int               `toml:"burst" doc:"items that may pass at once after a pause"`
	Key     string            `toml:"key" is:"expression" doc:"an expression: each of its results has a rate of its own; empty: all items share one"`
	Waiting int               `toml:"waiting" doc:"items that may wait, of all keys; beyond it the stages before wait as well"`
	MaxKeys int               `toml:"max_keys" doc:"keys that are told apart at a time; beyond it others share one rate"`
}

var defaults = Options{Count: 1, Period: pipeline.Duration(time.Second), Burst: 1, Waiting: 64, MaxKeys: 100_000}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "throttle",
		Single:  true,
		Whole:   "in each partition so many items would pass",
		Summary: "lets items pass at a rate",
		Doc: "They are spread evenly: `count = 10` and `period = \"1s\"` is one each 100 ms, and a burst after a pause. In a run that drains, " +
			"those that wait are given back, as `given_back` counts. `delayed` counts those that had to wait, `shared_keys` those for whose key there was no room.",
		In:  pipeline.Kinds(pipeline.KindOf[any]()),
		Out: []pipeline.Port{{Kind: pipeline.SameAsInput, Doc: "the item, in its turn"}},
	}, defaults, newStage)
}

// NeededParts returns what the key needs.
func (o Options) NeededParts() []pipeline.Part { return expression.KeyParts(o.Key) }

// Validate refuses rates of nothing, and keys that are no expressions.
func (o Options) Validate() error {
	for _, option := range []struct {
		name  string
		value int
	}{{"count", o.Count}, {"burst", o.Burst}, {"waiting", o.Waiting}, {"max_keys", o.MaxKeys}} {
		if option.value < 1 {
			return &pipeline.OptionError{Option: option.name, Err: fmt.Errorf("%d is less than 1", option.value)}
		}
	}
	if o.interval() <= 0 {
		return &pipeline.OptionError{Option: "period", Err: errors.New("must be more than 0s, and long enough for as many items")}
	}
	_, err := expression.CompileKey(o.Key)
	return err
}

// CheckNames refuses a key that names what nothing that comes has.
func (o Options) CheckNames(given []pipeline.Kind) error { return expression.CheckKey(o.Key, given) }

// interval is the time between two items.
func (o Options) interval() time.Duration {
	return time.Duration(o.Period) / time.Duration(max(o.Count, 1))
}

type stage struct {
	options Options
	env     *pipeline.Env
	key     *expression.Key
	pending *pending.Queue
	added   chan struct{} // an item has come

	mu     sync.Mutex
	queues map[string]*keyQueue
	due    queueHeap // those in which items wait
	idle   queueHeap // the others, while their last items count
}

// keyQueue is the queue of a key. An empty one is kept until its rate would let a whole burst pass, and then forgotten.
type keyQueue struct {
	key     string
	waiting []pipeline.Held
	full    time.Time // when a whole burst may pass again
	at      time.Time // when the next item may pass; of an idle one, full
	place   int       // in the heap
}

var (
	_ pipeline.Keeper      = (*stage)(nil)
	_ pipeline.NameChecker = Options{}
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	key, err := expression.CompileKey(o.Key)
	return &stage{options: o, env: env, key: key, pending: pending.New(o.Waiting), added: make(chan struct{}, 1), queues: make(map[string]*keyQueue)}, err
}

// Process puts the item in the queue of its key.
func (s *stage) Process(ctx context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	key, err := s.key.Of(it)
	if err != nil {
		return err
	}
	if err := s.pending.Take(ctx, func() {}); err != nil {
		return err
	}
	s.enqueue("k"+key, pipeline.Keep(it))
	select {
	case s.added <- struct{}{}:
	default:
	}
	return nil
}

// overflow is the queue of the items for whose key there is none; no key is called so.
const overflow = ""

func (s *stage) enqueue(key string, held pipeline.Held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.forget(now)
	if _, known := s.queues[key]; !known && len(s.queues) >= s.options.MaxKeys {
		key = overflow
		s.env.Counter("shared_keys").Add(1)
	}
	q := s.queues[key]
	switch {
	case q == nil:
		q = &keyQueue{key: key}
		s.queues[key] = q
	case len(q.waiting) == 0:
		heap.Remove(&s.idle, q.place)
	}
	q.waiting = append(q.waiting, held)
	if len(q.waiting) == 1 {
		q.at = s.allowed(q)
		heap.Push(&s.due, q)
	}
	if q.at.After(now) {
		s.env.Counter("delayed").Add(1)
	}
}

// allowed returns when the next item of a queue may pass.
func (s *stage) allowed(q *keyQueue) time.Time {
	return q.full.Add(-time.Duration(s.options.Burst-1) * s.options.interval())
}

// forget removes the queues whose past does not matter any more.
func (s *stage) forget(now time.Time) {
	for len(s.idle) > 0 && !s.idle[0].at.After(now) {
		delete(s.queues, heap.Pop(&s.idle).(*keyQueue).key)
	}
}

// next returns the item whose turn has come, or when there will be one: the zero time if none waits.
func (s *stage) next(now time.Time) (held pipeline.Held, found bool, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(now)
	if len(s.due) == 0 {
		return held, false, at
	}
	q := s.due[0]
	if q.at.After(now) {
		return held, false, q.at
	}
	held, q.waiting[0] = q.waiting[0], pipeline.Held{} // the queue outlives its items
	q.waiting = q.waiting[1:]
	if q.full.Before(now) {
		q.full = now
	}
	q.full = q.full.Add(s.options.interval())
	if len(q.waiting) > 0 {
		q.at = s.allowed(q)
		heap.Fix(&s.due, 0)
		return held, true, at
	}
	heap.Pop(&s.due)
	q.at, q.waiting = q.full, nil
	heap.Push(&s.idle, q)
	return held, true, at
}

// all takes all items that wait.
func (s *stage) all() (waiting []pipeline.Held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.due) > 0 {
		q := heap.Pop(&s.due).(*keyQueue)
		waiting = append(waiting, q.waiting...)
		delete(s.queues, q.key)
	}
	return waiting
}

// Release lets items pass, one at a time, until none waits and none will come.
func (s *stage) Release(ctx context.Context, ended <-chan struct{}, out pipeline.Emitter) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	over, draining := false, s.env.Draining()
	for {
		held, found, at := s.next(time.Now())
		switch {
		case found:
			s.pending.Free(1)
			if err := pipeline.EmitGroup(ctx, out, "", held.Item.Value, held.Item.Meta, []pipeline.Held{held}); err != nil {
				return s.giveBack(ended, err)
			}
			if ctx.Err() == nil && !closed(draining) {
				continue
			}
		case over && at.IsZero():
			return nil
		}
		timer.Stop()
		var turn <-chan time.Time
		if !at.IsZero() {
			timer.Reset(time.Until(at))
			turn = timer.C
		}
		select {
		case <-turn:
		case <-s.added:
		case <-ended:
			over, ended = true, nil
		case <-draining:
			return s.giveBack(ended, context.Canceled)
		case <-ctx.Done():
			return s.giveBack(ended, ctx.Err())
		}
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// giveBack lets go of all that wait, until none comes any more: they were not dealt with.
func (s *stage) giveBack(ended <-chan struct{}, why error) error {
	for over := ended == nil; ; {
		waiting := s.all()
		for _, held := range waiting {
			held.Done(why)
		}
		s.pending.Free(len(waiting))
		s.env.Counter("given_back").Add(int64(len(waiting)))
		if over {
			return nil
		}
		select {
		case <-s.added:
		case <-ended:
			over = true
		}
	}
}

// queueHeap is a heap of the queues whose time comes first.
type queueHeap []*keyQueue

func (h queueHeap) Len() int           { return len(h) }
func (h queueHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h queueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}
func (h *queueHeap) Push(x any) {
	one := x.(*keyQueue)
	one.place = len(*h)
	*h = append(*h, one)
}
func (h *queueHeap) Pop() any {
	last := len(*h) - 1
	one := (*h)[last]
	*h = (*h)[:last]
	return one
}
