// Package keeper is an example of a stage that keeps items, and emits when time passes: debounce lets only the last
// item of a burst go on, once nothing more of it came for a while. A page that is edited ten times in a minute is told
// of once.
//
//	flow = ["objects > debounce > http-out"]
package keeper

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/expression"
	"github.com/webrace/webrace/pipeline/pending"
)

// Options of the stage.
type Options struct {
	Key      string            `toml:"key" is:"expression" doc:"an expression: items for which it gives the same are of one burst"`
	Quiet    pipeline.Duration `toml:"quiet" doc:"how long nothing of a burst must have come before its last item goes on"`
	MaxItems int               `toml:"max_items" doc:"items kept at most; beyond it all bursts end early"`
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "debounce",
		Single:  true,
		Summary: "lets the last item of a burst go on",
		In:      pipeline.Kinds(pipeline.KindOf[any]()),
		Out:     []pipeline.Port{{Kind: pipeline.SameAsInput, Doc: "the last of each burst"}},
	}, Options{Quiet: pipeline.Duration(time.Minute), MaxItems: 1000}, newStage)
}

// Validate refuses options that cannot work, before anything runs.
func (o Options) Validate() error {
	if o.Quiet <= 0 || o.MaxItems < 1 {
		return errors.New("quiet must be more than 0s, and max_items at least 1")
	}
	_, err := expression.CompileKey(o.Key)
	return err
}

// Holds returns for how long the last item of a burst is kept, which lint compares with how long its sender waits.
func (o Options) Holds() pipeline.Holding { return pipeline.Holding{For: o.Quiet} }

type stage struct {
	options Options
	key     *expression.Key
	queue   *pending.Queue // has a place for each item that is kept
	mu      sync.Mutex
	last    map[string]pipeline.Held // of each burst, by key
	due     map[string]time.Time     // when they go on
	full    bool                     // an item waits for a place: all bursts end
}

func newStage(o Options, _ *pipeline.Env) (any, error) {
	key, err := expression.CompileKey(o.Key)
	return &stage{options: o, key: key, queue: pending.New(o.MaxItems), last: make(map[string]pipeline.Held), due: make(map[string]time.Time)}, err
}

// Process keeps the item in the place of the one before it, whose lease ends here: it has been dealt with.
func (s *stage) Process(ctx context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	key, err := s.key.Of(it)
	if err != nil {
		return err
	}
	if err := s.queue.Take(ctx, s.endAll); err != nil {
		return err
	}
	s.mu.Lock()
	before, replaces := s.last[key]
	s.last[key], s.due[key] = pipeline.Keep(it), time.Now().Add(time.Duration(s.options.Quiet))
	s.mu.Unlock()
	if replaces {
		before.Done(nil)
		s.queue.Free(1)
	}
	s.queue.Put(s.endAll)
	s.queue.Wake() // there may be nothing that it waits for yet
	return nil
}

func (s *stage) endAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full = true
}

// Release emits what Due returns, until nothing more comes.
func (s *stage) Release(ctx context.Context, ended <-chan struct{}, out pipeline.Emitter) error {
	return s.queue.Release(ctx, ended, out, s)
}

// Due takes off what has been quiet for long enough, the longest first, and returns when the next will have been.
func (s *stage) Due(now time.Time, everything bool) (ready []pending.Item, next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range slices.SortedFunc(maps.Keys(s.due), func(a, b string) int { return s.due[a].Compare(s.due[b]) }) {
		if !everything && !s.full && s.due[key].After(now) {
			return ready, s.due[key]
		}
		held := s.last[key]
		ready = append(ready, pending.Item{Value: held.Item.Value, Meta: held.Item.Meta, Group: []pipeline.Held{held}, Size: 1})
		delete(s.last, key)
		delete(s.due, key)
	}
	s.full = false
	return ready, time.Time{}
}
