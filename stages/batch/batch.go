// Package batch is the stage that makes one value of several: a list, for stages that do better with many at
// once. A list is complete when it has enough items or bytes, or when its first item has waited long enough;
// with a key, there is a list for each. What it is made of is acknowledged when the list has been dealt with,
// and not before: a crash repeats all of it. When the run ends or drains, what has been gathered goes on as
// it is.
package batch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/expression"
	"github.com/webrace/webrace/pipeline/memsize"
	"github.com/webrace/webrace/pipeline/pending"
	_ "github.com/webrace/webrace/stages/kinds" // whose fields expressions name
)

// Options of the stage.
type Options struct {
	Count    int               `toml:"count" doc:"items in a full list"`
	Bytes    pipeline.Size     `toml:"bytes" doc:"about how many bytes a list has at most, an item that has more alone excepted; 0 is no limit"`
	Period   pipeline.Duration `toml:"period" doc:"the longest that the first item of a list waits"`
	Key      string            `toml:"key" is:"expression" doc:"an expression: items go into one list if it gives the same for them; empty: all do"`
	MaxItems int               `toml:"max_items" doc:"items kept at most, in all lists: beyond it the oldest list goes on before it is full"`
	MaxKeys  int               `toml:"max_keys" doc:"lists open at most, of different keys: likewise"`
}

var defaults = Options{Count: 100, Period: pipeline.Duration(time.Second), MaxItems: 10_000, MaxKeys: 1000}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "batch",
		Single:  true,
		Summary: "makes one list of several items",
		Doc: "The items of a list are acknowledged together, when it has been dealt with. Its meta data has its `key`. " +
			"The counters `full`, `timed_out`, `closed_early` and `closed_at_end` say why lists were complete.",
		In:  pipeline.Kinds(pipeline.KindOf[any]()),
		Out: []pipeline.Port{{Kind: pipeline.ListOfInput, Doc: "the list", Passes: true}},
	}, defaults, newStage)
}

// NeededParts returns what the key needs.
func (o Options) NeededParts() []pipeline.Part { return expression.KeyParts(o.Key) }

// Validate refuses lists that are never complete, and keys that are no expressions.
func (o Options) Validate() error {
	for _, option := range []struct {
		name  string
		value int
	}{{"count", o.Count}, {"max_items", o.MaxItems}, {"max_keys", o.MaxKeys}} {
		if option.value < 1 {
			return &pipeline.OptionError{Option: option.name, Err: fmt.Errorf("%d is less than 1", option.value)}
		}
	}
	if o.Period <= 0 {
		return &pipeline.OptionError{Option: "period", Err: errors.New("must be more than 0s: sources may wait for what is kept")}
	}
	_, err := expression.CompileKey(o.Key)
	return err
}

// Holds returns what a list waits for. One of bytes may be complete with any number of items.
func (o Options) Holds() pipeline.Holding {
	if o.Bytes > 0 && o.Count > 1 {
		return pipeline.Holding{For: o.Period}
	}
	return pipeline.Holding{Items: o.Count, Option: "count", For: o.Period}
}

// CheckNames refuses a key that names what nothing that comes has.
func (o Options) CheckNames(given []pipeline.Kind) error { return expression.CheckKey(o.Key, given) }

type stage struct {
	options Options
	env     *pipeline.Env
	key     *expression.Key
	pending *pending.Queue

	mu    sync.Mutex
	open  map[string]*list // by key
	order []*list          // all that were opened, the oldest first; those that are complete are skipped
	ready []pending.Item
}

// list is one that is being filled.
type list struct {
	key      string
	name     string // what the key is as a text
	values   pipeline.List
	held     []pipeline.Held
	bytes    int
	due      time.Time
	complete bool
}

var (
	_ pipeline.Keeper        = (*stage)(nil)
	_ pipeline.EarlyReleaser = (*stage)(nil)
	_ pipeline.NameChecker   = Options{}
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	key, err := expression.CompileKey(o.Key)
	return &stage{options: o, env: env, key: key, open: make(map[string]*list), pending: pending.New(o.MaxItems)}, err
}

// Process puts the item into its list.
func (s *stage) Process(ctx context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	key, value, err := s.key.Value(it)
	if err != nil {
		return err
	}
	bytes := 0
	if s.options.Bytes > 0 {
		bytes = memsize.Of(it.Value)
	}
	if err := s.pending.Take(ctx, s.closeOldest); err != nil {
		return err
	}
	s.add(key, expression.Text(value), bytes, it)
	s.pending.Put(s.closeOldest)
	return nil
}

func (s *stage) add(key, name string, bytes int, it *pipeline.Item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.open[key]
	if l != nil && s.options.Bytes > 0 && l.bytes+bytes > int(s.options.Bytes) {
		s.complete(l, "full")
		l = nil
	}
	if l == nil {
		l = s.begin(key, name)
	}
	l.values = append(l.values, it.Value)
	l.held = append(l.held, pipeline.Keep(it))
	l.bytes += bytes
	if len(l.values) >= s.options.Count || s.options.Bytes > 0 && l.bytes >= int(s.options.Bytes) {
		s.complete(l, "full")
	}
}

// begin opens a list. Who holds s.mu may call it.
func (s *stage) begin(key, name string) *list {
	if len(s.open) >= s.options.MaxKeys {
		s.completeOldest()
	}
	l := &list{key: key, name: name, due: time.Now().Add(time.Duration(s.options.Period))}
	s.open[key] = l
	s.order = append(s.order, l)
	if s.oldest() == l {
		s.pending.Wake() // nothing was due before
	}
	return l
}

// complete makes a list ready to be emitted. Who holds s.mu may call it.
func (s *stage) complete(l *list, why string) {
	delete(s.open, l.key)
	l.complete = true
	var meta map[string]string
	if s.key != nil {
		meta = map[string]string{"key": l.name}
	}
	s.ready = append(s.ready, pending.Item{Value: l.values, Meta: meta, Group: l.held, Size: len(l.held)})
	l.values, l.held = nil, nil
	s.env.Counter(why).Add(1)
	s.pending.Wake()
}

// closeOldest makes room.
func (s *stage) closeOldest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ready) == 0 {
		s.completeOldest()
	}
}

func (s *stage) completeOldest() {
	if l := s.oldest(); l != nil {
		s.complete(l, "closed_early")
	}
}

// oldest returns the open list that was begun first, or nil.
func (s *stage) oldest() *list {
	for len(s.order) > 0 && s.order[0].complete {
		s.order = s.order[1:]
	}
	if len(s.order) == 0 {
		return nil
	}
	return s.order[0]
}

// Due returns the lists that are complete.
func (s *stage) Due(now time.Time, everything bool) (ready []pending.Item, next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := s.oldest(); l != nil; l = s.oldest() {
		if !everything && l.due.After(now) {
			next = l.due
			break
		}
		if everything {
			s.complete(l, "closed_at_end")
		} else {
			s.complete(l, "timed_out")
		}
	}
	ready, s.ready = s.ready, nil
	return ready, next
}

// Hurry closes all lists: a queue waits for what is in them.
func (s *stage) Hurry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.oldest() != nil {
		s.completeOldest()
	}
}

// Release emits lists as they are complete.
func (s *stage) Release(ctx context.Context, ended <-chan struct{}, out pipeline.Emitter) error {
	return s.pending.Release(ctx, ended, out, s)
}
