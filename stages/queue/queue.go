// Package queue is the stage that keeps items on disk between two others, so that neither waits for the other: what
// comes in bursts is worked off in time, a receiver that is down loses nothing, and a crash on either side is not
// felt on the other.
//
// An item is acknowledged when it is durable, and gone from the queue when everything made from it has been dealt with:
// see storage/queue for what is guaranteed. What the stages behind it learn of a request ends here, since the
// request was acknowledged before.
package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
	_ "github.com/webrace/webrace/stages/kinds" // whose values are kept
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/queue"
)

// Options of the stage.
type Options struct {
	MaxBytes pipeline.Size     `toml:"max_bytes" doc:"how many bytes it holds at most, on disk and out; 0 sets no limit"`
	Full     string            `toml:"full" doc:"what becomes of an item for which there is no room: wait (the stages before wait as well), drop-oldest (the oldest items that are not out are removed, and counted), fail (it goes to on_error)" enum:"wait,drop-oldest,fail"`
	Leases   int               `toml:"leases" doc:"how many items may be out at once"`
	Wait     pipeline.Duration `toml:"wait" doc:"how long a run that is otherwise done waits for items that are to be given out again later; the rest is left for the next run"`
	Name     string            `toml:"name" doc:"what the queue is called in the data directory; empty: PIPELINE/STAGE. A stage that is renamed keeps its items by it, and pipelines share a queue by it: one has it as its end, the other as its source"`
}

var defaults = Options{MaxBytes: 1 << 30, Full: string(queue.Wait), Leases: 256, Wait: pipeline.Duration(time.Minute)}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "queue",
		Summary: "keeps items on disk until the stages behind it have dealt with them",
		Doc: "An item is acknowledged when it is durable, and survives kill -9 and power loss from then on. Items come out in the order in which they " +
			"came; one that the stages behind it put off comes again later. The levels `queued`, `bytes` and `oldest_seconds` say how much waits, and how long " +
			"the first has; `dropped` counts what there was no room for, `given_back` what a run that drained had no room for.",
		In:    pipeline.Kinds(pipeline.KindOf[any]()),
		Out:   []pipeline.Port{{Kind: pipeline.SameAsInput, Doc: "the item, when it is its turn"}},
		Queue: true,
		Whole: "what one partition puts into it no other takes from it, and each would have an order and a limit of its own",
		Needs: pipeline.NoParts,
	}, defaults, newStage)
}

// Validate refuses sizes and numbers below zero, and a limit of nothing.
func (o Options) Validate() error {
	switch {
	case o.MaxBytes < 0:
		return &pipeline.OptionError{Option: "max_bytes", Err: fmt.Errorf("%d is negative; 0 sets no limit", o.MaxBytes)}
	case o.Leases < 1:
		return &pipeline.OptionError{Option: "leases", Err: fmt.Errorf("%d is not at least 1", o.Leases)}
	case o.Wait < 0:
		return &pipeline.OptionError{Option: "wait", Err: fmt.Errorf("%v is negative", o.Wait)}
	case o.MaxBytes == 0 && o.Full != string(queue.Wait):
		return &pipeline.OptionError{Option: "full", Err: fmt.Errorf("%s has no meaning without a limit: set max_bytes", o.Full)}
	}
	return nil
}

// CheckNames refuses values that cannot be written.
func (o Options) CheckNames(given []pipeline.Kind) error {
	for _, kind := range given {
		if kind.Name() == "" && !kind.IsAny() {
			return noCodec(kind)
		}
	}
	return nil
}

func noCodec(what any) error {
	return fmt.Errorf("%v cannot be kept on disk: it has no codec (codec.Register)", what)
}

// Lends returns how many items may be out at once.
func (o Options) Lends() (leases int, option string) { return o.Leases, "leases" }

// Waits returns which option has a full queue wait for its own consumer; empty if none does. Such a queue may stand in
// no cycle, which the graph's check asks it for.
func (o Options) Waits() (option string) {
	if o.MaxBytes > 0 && o.Full == string(queue.Wait) {
		return "full"
	}
	return ""
}

// Shares returns under which name pipelines may share the queue.
func (o Options) Shares() (name string) { return o.Name }

type stage struct {
	options Options
	env     *pipeline.Env
	dir     *storage.Dir

	mu       sync.Mutex
	queue    *queue.Queue // nil until it is opened
	side     queue.Side   // that the stage has of it
	closed   bool
	closing  <-chan struct{}
	stop     context.CancelFunc
	counting sync.WaitGroup
}

var (
	_ pipeline.Queue              = (*stage)(nil)
	_ pipeline.StarvationReporter = (*stage)(nil)
	_ pipeline.Opener             = (*stage)(nil)
	_ pipeline.Closer             = (*stage)(nil)
	_ pipeline.Checker            = (*stage)(nil)
	_ pipeline.Reconfigurer       = (*stage)(nil)
	_ pipeline.NameChecker        = Options{}
	_ pipeline.Lender             = Options{}
	_ pipeline.Sharer             = Options{}
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	dir, err := pipeline.Resource[*storage.Dir](env)
	if err != nil {
		return nil, err
	}
	return &stage{options: o, env: env, dir: dir}, nil
}

// Check opens the store; the queue is left as it is.
func (s *stage) Check(context.Context) error {
	_, err := s.dir.Queues()
	return err
}

func (s *stage) queueOptions(o Options) queue.QueueOptions {
	return queue.QueueOptions{
		Side: s.side, MaxBytes: int64(o.MaxBytes), Full: queue.Full(o.Full), Leases: o.Leases, Wait: time.Duration(o.Wait), Damaged: s.unreadable,
	}
}

func (o Options) name(env *pipeline.Env) string {
	if o.Name != "" {
		return o.Name
	}
	return env.Pipeline + "/" + env.Stage
}

// unreadable tells of an item that is left in the queue.
func (s *stage) unreadable(err error) {
	s.env.Counter("unreadable").Add(1)
	s.env.Logger.Error("an item of the queue cannot be read; webrace-store fsck --repair removes it if it is damaged", "error", err)
}

// Open opens the queue, or one side of it.
func (s *stage) Open(ctx context.Context) error {
	switch begins, ends := s.env.Shares(); {
	case begins:
		s.side = queue.Takes
	case ends:
		s.side = queue.Puts
	}
	store, err := s.dir.Queues()
	if err != nil {
		return err
	}
	q, err := store.Queue(ctx, s.options.name(s.env), s.queueOptions(s.options))
	if err != nil {
		return err
	}
	counting, stop := context.WithCancel(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue, s.closing, s.stop = q, counting.Done(), stop
	s.count(q)
	s.counting.Go(s.env.Guard(func() { s.keepCounting(counting, q) }))
	return nil
}

// Reconfigure changes limits. Another name is another queue, which takes a new start.
func (s *stage) Reconfigure(_ context.Context, options any) error {
	o := options.(Options)
	if before, after := s.options.name(s.env), o.name(s.env); before != after {
		return &pipeline.OptionError{Option: "name", Err: fmt.Errorf("the queue is %s as long as the pipeline runs; start it anew to have it be %s", before, after)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options = o
	s.queue.SetOptions(s.queueOptions(o))
	return nil
}

// Close writes what was handed in.
func (s *stage) Close() error {
	s.mu.Lock()
	q, again := s.queue, s.closed
	s.closed = true
	s.mu.Unlock()
	if q == nil || again {
		return nil
	}
	s.stop()
	s.counting.Wait()
	err := q.Leave(s.side)
	s.count(q) // as it is left for the next run
	return err
}

// countEvery is how often what shows a state is brought up to date.
const countEvery = time.Second

func (s *stage) keepCounting(ctx context.Context, q *queue.Queue) {
	ticker := time.NewTicker(countEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			s.count(q)
		case <-ctx.Done():
			return
		}
	}
}

func (s *stage) count(q *queue.Queue) {
	stats := q.Stats()
	s.env.Level("queued").Store(stats.Records)
	s.env.Level("bytes").Store(stats.Bytes)
	if s.side != queue.Takes { // whose items were never dropped
		s.env.Counter("dropped").Store(stats.Dropped)
	}
	age := int64(0)
	if !stats.Oldest.IsZero() {
		age = int64(time.Since(stats.Oldest).Seconds())
	}
	s.env.Level("oldest_seconds").Store(age)
}

// keyEntry is where the meta data of a record keep the key of its item.
const keyEntry = "webrace.key"

// Put takes an item, and holds it until it is durable.
func (s *stage) Put(ctx context.Context, it *pipeline.Item) error {
	if err := checkCodec(it.Value); err != nil {
		return err
	}
	kind, header, body, err := codec.Encode(it.Value)
	if err != nil {
		return err
	}
	done := it.Hold()
	patience := queue.Patience{Stop: s.env.Draining(), Exceed: s.env.Reloading()}
	err = s.queue.Put(ctx, patience, queue.Record{Kind: kind, Meta: it.WithMeta(keyEntry, pipeline.KeyOf(it)).Meta, Header: header, Body: body}, done)
	switch {
	case errors.Is(err, queue.ErrStopped):
		s.env.Counter("given_back").Add(1)
		done(context.Canceled)
		return nil
	case err != nil:
		done(nil) // the error of this call decides
		return err
	}
	return nil
}

// checkCodec refuses a value that would not come back as what it is.
func checkCodec(value any) error {
	if _, err := pipeline.KindNamed(codec.Kind(value)); err != nil {
		return noCodec(fmt.Sprintf("a %T", value))
	}
	if list, ok := value.(pipeline.List); ok {
		for _, v := range list {
			if err := checkCodec(v); err != nil {
				return err
			}
		}
	}
	return nil
}

// Take returns the next item.
func (s *stage) Take(ctx context.Context) (pipeline.Lease, error) {
	for {
		l, err := s.queue.Take(ctx)
		if err != nil {
			return nil, err
		}
		r := l.Record()
		value, err := codec.Decode(r.Kind, r.Header, r.Body)
		if err != nil {
			l.Leave()
			s.unreadable(err)
			continue
		}
		return &lease{stage: s, lease: l, item: s.item(value, r.Meta, l.Number())}, nil
	}
}

// item returns an item as it was put, with the key that it had. What an earlier release has put has its number.
func (s *stage) item(value any, meta map[string]string, number uint64) *pipeline.Item {
	it := &pipeline.Item{Value: value, Meta: meta}
	key, has := meta[keyEntry]
	if !has {
		return it.From("queue "+s.options.name(s.env), number)
	}
	if delete(meta, keyEntry); len(meta) == 0 {
		it.Meta = nil
	}
	return it.From(key, 0)
}

// Seal tells the queue that nothing more will come from this pipeline. To the source of one, more comes from others:
// until the last one that has the queue as its end has ended, and all that could begin in this process has begun.
func (s *stage) Seal() {
	switch {
	case s.side == queue.Both:
		s.queue.Seal()
	case s.side == queue.Takes && !s.env.Continuous:
		s.counting.Go(s.env.Guard(func() {
			select {
			case <-s.env.Upstream:
				s.queue.Seal()
			case <-s.closing:
			}
		}))
	}
}

// Starved reports whether items wait for nothing but the end of leases that are out, or the run does.
func (s *stage) Starved() bool {
	s.mu.Lock()
	q := s.queue
	s.mu.Unlock()
	return q != nil && q.Starved()
}

// lease is one item on loan.
type lease struct {
	stage *stage
	lease *queue.Lease
	item  *pipeline.Item
}

func (l *lease) Item() *pipeline.Item { return l.item }

// Done removes the item, or has it come again: at its time, or at once if it was not finished because the run ends or
// is reloaded.
func (l *lease) Done(o pipeline.Outcome) {
	switch {
	case o.Err == nil:
		l.lease.Done(l.stage.removed)
	case o.RetryAt.IsZero() || errors.Is(o.Err, context.Canceled):
		l.lease.GiveBack()
	default:
		l.lease.Again(o.RetryAt)
	}
}

func (s *stage) removed(err error) {
	if err != nil && !errors.Is(err, queue.ErrClosed) {
		s.env.Logger.Error("an item that was dealt with is still in the queue, and will be given out again", "error", err)
	}
}
