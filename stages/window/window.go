// Package window is the stage that sums up what comes by: for each window of time, or of so many items, and
// each key, one record with counts, sums, extremes or lists. Windows follow one another, or overlap if they
// slide.
//
// Every item is in the record of each window that it belongs to, also when a window is closed before its
// time: at the end of a run, when it drains, or when there is no room for more. The record tells why it was
// closed. A key is forgotten with its last window. Unless told otherwise, items are acknowledged when the
// records of their windows have been dealt with, so a crash repeats what is in open windows.
package window

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/pipeline/expression"
	"github.com/webrace/webrace/pipeline/pending"
	_ "github.com/webrace/webrace/stages/kinds" // whose fields expressions name
)

// Options of the stage. One of size and count determines what a window is.
type Options struct {
	Size      pipeline.Duration `toml:"size" doc:"the length of a window of time, by the clock: windows of 1h begin at full hours (UTC)"`
	Slide     pipeline.Duration `toml:"slide" doc:"with size: a window begins each so often; 0s is size, so that windows do not overlap"`
	Time      string            `toml:"time" is:"expression" doc:"with size: an expression, the time of an item by which it is counted, as in RFC 3339, a date, or in seconds since 1970; empty: when it comes"`
	Lateness  pipeline.Duration `toml:"lateness" doc:"with time: how long a window waits for items after one came that is as late as its end, by their time"`
	Count     int               `toml:"count" doc:"the items of a window that is not of time"`
	Step      int               `toml:"step" doc:"with count: a window begins after so many items; 0 is count"`
	Period    pipeline.Duration `toml:"period" doc:"with count: the longest that a window waits for its items"`
	Key       string            `toml:"key" is:"expression" doc:"an expression: each of its results has windows of its own; empty: all items share them"`
	Aggregate map[string]string `toml:"aggregate" is:"expression" doc:"the fields of the record: count, or sum, mean, min, max, first, last or collect and an expression"`
	Hold      bool              `toml:"hold" doc:"acknowledge items with the records of their windows; if not, at once: then a crash loses what is in open windows"`
	MaxItems  int               `toml:"max_items" doc:"items that are held or collected at most; beyond it the oldest window is closed early"`
	MaxKeys   int               `toml:"max_keys" doc:"open windows at most, of all keys; beyond it the oldest is closed early"`
}

var defaults = Options{
	Period: pipeline.Duration(time.Minute), Aggregate: map[string]string{"count": "count"}, Hold: true, MaxItems: 100_000, MaxKeys: 10_000,
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "window",
		Whole:   "each partition would sum up what it has alone",
		Summary: "sums up the items of each window of time, or of so many",
		Doc: "A record has the fields of `aggregate`, and `key`, `from` and `to`, and `closed`: \"time\", \"count\", \"period\", \"end\" or, " +
			"when there was no room for more or a queue could hand out nothing before, \"limit\". A window without items gives no record. An item " +
			"that has nothing of what is summed is left out, and counted as `skipped`. With `time`, an item whose windows are over goes to `late`, " +
			"and is counted so. Behind " +
			"a queue such as `frontier`, which hands out only so much before it is acknowledged, use short windows, or `hold = false`.",
		In: pipeline.Kinds(pipeline.KindOf[any]()),
		Out: []pipeline.Port{
			{Kind: pipeline.KindOf[pipeline.Record](), Doc: "the record of a window"},
			latePort,
		},
	}, defaults, newStage)
}

// NeededParts returns what the key and the aggregates need.
func (o Options) NeededParts() []pipeline.Part {
	parts := expression.KeyParts(o.Key)
	if at, err := expression.Compile(o.Time); o.Time != "" && err == nil {
		parts = append(parts, expression.Parts(at)...)
	}
	all, _ := parseAggregates(o.Aggregate) // what is wrong with them, Validate reports
	for _, a := range all {
		parts = append(parts, expression.Parts(a.of)...)
	}
	return parts
}

// mostOverlaps is how many windows an item may be in.
const mostOverlaps = 1000

// Validate refuses windows that are of nothing, or of everything.
func (o Options) Validate() error {
	fault := func(option, format string, args ...any) error {
		return &pipeline.OptionError{Option: option, Err: fmt.Errorf(format, args...)}
	}
	switch {
	case o.Size < 0:
		return fault("size", "%v is negative", o.Size)
	case (o.Size > 0) == (o.Count > 0):
		return fault("size", "exactly one of size and count must be set")
	case o.Count < 0 || o.Step < 0:
		return fault("count", "must not be negative, nor step")
	case o.Slide < 0, o.Slide > o.Size, o.Slide > 0 && o.Size/o.Slide > mostOverlaps:
		return fault("slide", "must be 0s, or at most size and not less than a thousandth of it")
	case o.Time != "" && o.Size == 0:
		return fault("time", "is for windows of size")
	case o.Lateness < 0, o.Lateness > 0 && o.Time == "":
		return fault("lateness", "must be 0s, or with time more than that")
	case o.Step > o.Count, o.Step > 0 && o.Count/o.Step > mostOverlaps:
		return fault("step", "must be 0, or at most count and not less than a thousandth of it")
	case o.Period <= 0:
		return fault("period", "must be more than 0s: sources may wait for what is held")
	case o.MaxItems < 1:
		return fault("max_items", "%d is less than 1", o.MaxItems)
	case o.MaxKeys < 1:
		return fault("max_keys", "%d is less than 1", o.MaxKeys)
	case len(o.Aggregate) == 0:
		return fault("aggregate", "is empty: a record would say nothing")
	}
	if _, err := parseAggregates(o.Aggregate); err != nil {
		return &pipeline.OptionError{Option: "aggregate", Err: err}
	}
	if _, err := o.timeOf(); err != nil {
		return &pipeline.OptionError{Option: "time", Err: err}
	}
	_, err := expression.CompileKey(o.Key)
	return err
}

// Holds returns what a window waits for: one of time for no number of items, and for its end by the clock or by what
// comes.
func (o Options) Holds() pipeline.Holding {
	switch {
	case !o.Hold:
		return pipeline.Holding{}
	case o.Time != "":
		return pipeline.Holding{For: pipeline.UntilMore}
	case o.Size > 0:
		return pipeline.Holding{For: o.Size}
	}
	return pipeline.Holding{Items: o.Count, Option: "count", For: o.Period}
}

// Ports returns the port of a window's records, with their fields, and that of late items.
func (o Options) Ports() []pipeline.Port {
	fields := slices.AppendSeq(slices.Clone(reserved), maps.Keys(o.Aggregate))
	return []pipeline.Port{{Kind: pipeline.RecordOf(fields...), Doc: "the record of a window"}, latePort}
}

// CheckNames refuses a key and aggregates that name what nothing that comes has.
func (o Options) CheckNames(given []pipeline.Kind) error {
	all := []error{expression.CheckKey(o.Key, given)}
	if o.Time != "" {
		all = append(all, expression.CheckNames("time", o.Time, given))
	}
	for _, name := range slices.Sorted(maps.Keys(o.Aggregate)) {
		if a, err := parseAggregate(name, o.Aggregate[name]); err == nil && a.of != nil {
			before := strings.Index(o.Aggregate[name], a.of.String())
			all = append(all, expression.CheckNamesAt("aggregate."+name, before, a.of.String(), given))
		}
	}
	return errors.Join(all...)
}

type stage struct {
	options    Options
	key        *expression.Key
	time       *expression.Program // nil: items are counted when they come
	aggregates []aggregate
	keeps      bool // items take places of the queue
	pending    *pending.Queue
	windows    *windows
}

var (
	_ pipeline.Keeper        = (*stage)(nil)
	_ pipeline.EarlyReleaser = (*stage)(nil)
	_ pipeline.PortsProvider = Options{}
	_ pipeline.NameChecker   = Options{}
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	if o.Slide == 0 {
		o.Slide = o.Size
	}
	if o.Step == 0 {
		o.Step = o.Count
	}
	all, err := parseAggregates(o.Aggregate)
	if err != nil {
		return nil, err
	}
	at, err := o.timeOf()
	if err != nil {
		return nil, err
	}
	key, err := expression.CompileKey(o.Key)
	s := &stage{options: o, key: key, time: at, aggregates: all, pending: pending.New(o.MaxItems), windows: newWindows(o, all, env)}
	s.keeps = o.Hold
	for _, a := range all {
		s.keeps = s.keeps || a.function == "collect"
	}
	return s, err
}

// Process adds the item to the windows that it belongs to.
func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	a, err := s.arrival(it)
	if errors.Is(err, errNothing) {
		s.windows.env.Counter("skipped").Add(1)
		return nil
	}
	if err != nil {
		return err
	}
	if s.keeps {
		a.places = 1
		if err := s.pending.Take(ctx, s.windows.closeOldest); err != nil {
			return err
		}
	}
	sooner, late := s.windows.add(a, time.Now())
	switch {
	case sooner:
		s.pending.Wake()
	case late:
		s.pending.Free(a.places)
		s.windows.env.Counter("late").Add(1)
		return out.EmitTo(ctx, latePort.Name, it)
	}
	if s.keeps {
		s.pending.Put(s.windows.closeOldest)
	}
	return nil
}

// arrival evaluates what the windows need of the item.
func (s *stage) arrival(it *pipeline.Item) (a arrival, err error) {
	key, value, err := s.key.Value(it)
	if err != nil {
		return a, err
	}
	a = arrival{item: it, key: strings.Clone(key), value: codec.Own(value)} // of a value that may be borrowed
	if s.time != nil {
		if a.at, err = timeOf(s.time, it); err != nil {
			return a, err
		}
	}
	a.arguments = make([]any, len(s.aggregates))
	nothing := false
	for i, aggregate := range s.aggregates {
		var wrong error
		a.arguments[i], wrong = aggregate.argument(it)
		if wrong == errNothing {
			nothing = true
			continue
		}
		err = errors.Join(err, wrong)
	}
	if err == nil && nothing {
		err = errNothing
	}
	return a, err
}

// Hurry closes all windows that hold items: a queue waits for these.
func (s *stage) Hurry() {
	if s.options.Hold {
		s.windows.closeAll()
		s.pending.Wake()
	}
}

// Release emits the records of windows as they are closed.
func (s *stage) Release(ctx context.Context, ended <-chan struct{}, out pipeline.Emitter) error {
	return s.pending.Release(ctx, ended, out, s.windows)
}
