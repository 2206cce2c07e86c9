// Package frontier is the stage that closes the loop of a crawl: URLs come in from seeds, links and
// redirects, and go out one at a time, each when its host is due. What it accepts, it hands out, whenever
// the process dies: see storage/frontier for what is guaranteed.
package frontier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/storage/objects"
)

// Options of the stage.
type Options struct {
	Fresh     pipeline.Duration `toml:"fresh" doc:"a document validated so lately answers without a request; 0s asks every time"`
	Attempts  int               `toml:"attempts" doc:"how often a URL that does not answer is tried in a round"`
	Leases    int               `toml:"leases" doc:"how many URLs may be out at once"`
	Wait      pipeline.Duration `toml:"wait" doc:"how long a run that is otherwise done waits for delayed hosts; the rest is deferred to the next run"`
	Redirects int               `toml:"redirects" doc:"the longest chain of redirects that is followed"`
	Order     string            `toml:"order" doc:"which URL of a host comes next: bfs (the order of discovery), dfs (the newest first) or best-first (the highest score first); it may change from run to run"`
	HostURLs  int               `toml:"host_urls" doc:"how many URLs of a host are accepted in all, so that a trap does not fill the disk; 0 sets no limit"`
	Rules     []string          `toml:"rules" doc:"what every URL is held against, in order: \"deny path /private\", \"allow host example.org\", \"deny extension pdf\", \"deny regexp [?&]C=\""`
}

var defaults = Options{
	Fresh: pipeline.Duration(time.Minute), Attempts: 3, Leases: 256, Wait: pipeline.Duration(time.Minute), Redirects: 10,
	Order: string(frontier.BreadthFirst), HostURLs: 1_000_000,
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "frontier",
		Summary: "the durable queue of URLs to fetch: the way back of every crawl",
		Doc: "Seeds open or resume a round of their crawl; links and redirects go through the one scope gate, and each URL is handed out " +
			"once a round, when its host is due, with what its last visit taught. What is accepted survives kill -9 and power loss.",
		In:    pipeline.Kinds(pipeline.KindOf[webrace.Request](), pipeline.KindOf[*webrace.Links]()),
		Out:   []pipeline.Port{{Kind: pipeline.KindOf[webrace.Request](), Doc: "the next URL to fetch"}},
		Queue: true,
	}, defaults, newStage)
}

// Validate refuses numbers below one, an order that there is not and rules that cannot be read.
func (o Options) Validate() error {
	for name, n := range map[string]int{"attempts": o.Attempts, "leases": o.Leases, "redirects": o.Redirects} {
		if n < 1 {
			return &pipeline.OptionError{Option: name, Err: fmt.Errorf("%d is not at least 1", n)}
		}
	}
	if o.HostURLs < 0 {
		return &pipeline.OptionError{Option: "host_urls", Err: fmt.Errorf("%d is negative", o.HostURLs)}
	}
	if order := frontier.Order(o.Order); !slices.Contains(frontier.Orders, order) {
		return &pipeline.OptionError{Option: "order", Err: fmt.Errorf("%q is none of %v", o.Order, frontier.Orders)}
	}
	if _, err := scope.ParseRules(o.Rules); err != nil {
		return &pipeline.OptionError{Option: "rules", Err: err}
	}
	return nil
}

// stage is a queue of the data directory's frontier store.
type stage struct {
	options Options
	env     *pipeline.Env
	dir     *storage.Dir

	taken atomic.Int64

	mu    sync.Mutex
	queue *frontier.Queue
}

// countEvery is how many URLs are handed out between two updates of the counters that show a state.
const countEvery = 32

var (
	_ pipeline.Queue  = (*stage)(nil)
	_ pipeline.Opener = (*stage)(nil)
	_ pipeline.Closer = (*stage)(nil)
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	dir, err := pipeline.Resource[*storage.Dir](env)
	if err != nil {
		return nil, err
	}
	return &stage{options: o, env: env, dir: dir}, nil
}

// Open opens the pipeline's queue in the frontier store.
func (s *stage) Open(context.Context) error {
	store, err := s.dir.Frontier()
	if err != nil {
		return err
	}
	rules, err := scope.ParseRules(s.options.Rules)
	if err != nil {
		return err
	}
	queue, err := store.Queue(s.env.Pipeline, frontier.QueueOptions{
		Began: time.Now(), Continuous: s.env.Continuous,
		Fresh: orNever(s.options.Fresh), Attempts: s.options.Attempts, MaxLeases: s.options.Leases,
		Wait: orNever(s.options.Wait), Redirects: s.options.Redirects, Rules: rules,
		Order: frontier.Order(s.options.Order), HostURLs: orNone(s.options.HostURLs), Gone: s.gone,
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = queue
	return nil
}

// gone reports whether a document that was stored has been removed from the object cache.
func (s *stage) gone(url string) bool {
	documents, err := s.dir.Objects()
	if err != nil {
		return false // whoever needs what is stored will say so
	}
	_, err = documents.Latest(url)
	return errors.Is(err, objects.ErrNotFound)
}

// orNever says to the store what 0 means to a person: not at all.
func orNever(d pipeline.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return time.Duration(d)
}

// orNone says to the store what 0 means to a person: no limit.
func orNone(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// Close writes what was handed in.
func (s *stage) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue == nil {
		return nil
	}
	queue := s.queue
	s.queue = nil
	err := queue.Close()
	s.count(queue) // with what was handed in last
	return err
}

// count brings the counters that show a state up to date: what is queued, what is left for the next run
// once this one has ended, and the URLs that gave no document when they were last visited.
func (s *stage) count(queue *frontier.Queue) {
	stats := queue.Stats()
	s.env.Counter("queued").Store(int64(stats.Queued))
	s.env.Counter("deferred").Store(int64(stats.Due))
	s.env.Counter("dead").Store(int64(stats.Failed))
}

// Put takes a seed or a set of links. The item is held until what was accepted is durable.
func (s *stage) Put(ctx context.Context, it *pipeline.Item) error {
	switch v := it.Value.(type) {
	case webrace.Request:
		return s.start(ctx, v)
	case *webrace.Links:
		s.offer(v, it.Hold())
		return nil
	}
	return fmt.Errorf("takes webrace.Request or *webrace.Links, got %T", it.Value)
}

func (s *stage) start(ctx context.Context, seed webrace.Request) error {
	if seed.Crawl == nil {
		return fmt.Errorf("request for %s names no crawl: it is no seed", seed.URL)
	}
	round, err := s.queue.Start(ctx, *seed.Crawl, true)
	if err != nil {
		return fmt.Errorf("start the crawl of %s: %w", seed.URL, err)
	}
	if round.Resumed {
		s.env.Counter("rounds_resumed").Add(1)
		s.env.Logger.Info("round resumed", "start", seed.URL, "pending", round.Pending)
	} else {
		s.env.Counter("rounds").Add(1)
	}
	return nil
}

func (s *stage) offer(links *webrace.Links, done func(error)) {
	s.env.Counter("offered").Add(int64(len(links.URLs)))
	s.queue.Offer(links, func(o frontier.Offered, err error) {
		s.env.Counter("accepted").Add(int64(o.Accepted))
		for reason, n := range o.Refused {
			if n > 0 {
				s.env.Counter("refused_" + frontier.Reason(reason).String()).Add(int64(n))
			}
		}
		done(err)
	})
}

// Take returns the next URL that is due.
func (s *stage) Take(ctx context.Context) (pipeline.Lease, error) {
	l, err := s.queue.Take(ctx)
	if err != nil {
		return nil, err
	}
	if s.taken.Add(1)%countEvery == 0 {
		s.count(s.queue)
	}
	return &lease{stage: s, lease: l}, nil
}

// Seal says that no crawl will be started any more.
func (s *stage) Seal() { s.queue.Seal() }

// lease is one URL on loan.
type lease struct {
	stage *stage
	lease *frontier.Lease
}

func (l *lease) Item() *pipeline.Item { return &pipeline.Item{Value: l.lease.Request()} }

// Release frees the URL's host.
func (l *lease) Release(note any) {
	if report, ok := note.(webrace.HostReport); ok {
		l.lease.Release(report)
	}
}

// Done records the outcome. A request that was not finished, because the run has failed or was cancelled,
// is left as it is: nothing on disk says that it was handed out, so it will be again.
func (l *lease) Done(o pipeline.Outcome) {
	if o.Err != nil && o.RetryAt.IsZero() {
		return
	}
	outcome := frontier.Outcome{Err: o.Err, RetryAt: o.RetryAt, Forget: errors.Is(o.Err, webrace.ErrNotStored)}
	for _, what := range o.Learned {
		if learned, ok := what.(webrace.Learned); ok {
			outcome.Learned = append(outcome.Learned, learned)
		}
	}
	l.lease.Done(outcome, func(err error) {
		if err != nil && !errors.Is(err, frontier.ErrClosed) {
			l.stage.env.Logger.Error("outcome of a request not recorded; it will be repeated", "url", l.lease.Request().URL, "error", err)
		}
	})
}
