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
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/storage/objects"
)

// Options of the stage.
type Options struct {
	Fresh          pipeline.Duration `toml:"fresh" doc:"a document validated so lately answers without a request; 0s asks every time"`
	Attempts       int               `toml:"attempts" doc:"how often a URL that does not answer is tried in a round"`
	Leases         int               `toml:"leases" doc:"how many URLs may be out at once"`
	Wait           pipeline.Duration `toml:"wait" doc:"how long a run that is otherwise done waits for delayed hosts; the rest is deferred to the next run"`
	Redirects      int               `toml:"redirects" doc:"the longest chain of redirects that is followed"`
	SitemapLevels  int               `toml:"sitemap_levels" doc:"how many levels further than a sitemap lies what it lists: 0 (its own) or 1. A sitemap lies one level further than what names it, but for those in an index; so with 0, the pages that it lists lie where those do that the start links to"`
	StartRedirects string            `toml:"start_redirects" doc:"which redirects of a start its crawl follows out of its scope, which is then that of where they lead: permanent (301 and 308 anywhere, others within the domain), any, or none" enum:"permanent,any,none"`
	Order          string            `toml:"order" doc:"which URL of a host comes next: bfs (the order of discovery), dfs (the newest first) or best-first (the highest score first); it may change from run to run"`
	HostURLs       int               `toml:"host_urls" doc:"how many URLs of a host are accepted in all, so that a trap does not fill the disk; 0 sets no limit"`
	CrawlURLs      int               `toml:"crawl_urls" doc:"how many URLs a crawl comes to in all; 0 sets no limit"`
	Rules          []string          `toml:"rules" doc:"what every URL is held against, in order: \"deny path /private\", \"allow host example.org\", \"deny extension pdf\", \"deny regexp [?&]C=\""`

	BlockedDomainsFile string   `toml:"blocked_domains_file" doc:"a file with domains that are not asked, nor what is under them: one a line, or in the format of hosts files; read again when it changes"`
	BlockedURLsFile    string   `toml:"blocked_urls_file" doc:"a file with URLs that are not asked for, one a line; read again when it changes"`
	IgnoreTypes        []string `toml:"ignore_types" doc:"extensions of what is no document: links that end so are not followed"`

	URLLength       int `toml:"url_length" doc:"the most bytes of a URL; a longer one is a trap. Here and below, 0 sets no limit"`
	PathDepth       int `toml:"path_depth" doc:"the most segments of a path"`
	PathRepeats     int `toml:"path_repeats" doc:"how often the same segments stand in a row in the path of a trap; one where twice as many segments repeat earlier ones is a trap, too"`
	QueryParameters int `toml:"query_parameters" doc:"the most parameters of a query"`
	PathQueries     int `toml:"path_queries" doc:"how many queries of one path are accepted; those of one or two parameters do not count"`
	DatedPages      int `toml:"dated_pages" doc:"how many URLs are accepted that differ in a date alone"`
	FarDates        int `toml:"far_dates" doc:"how many of these with a date before 1900 or more than a year ahead"`

	RevisitOptions
	RunOptions
}

var defaults = Options{
	Fresh: pipeline.Duration(time.Minute), Attempts: 3, Leases: 256, Wait: pipeline.Duration(time.Minute), Redirects: 10,
	StartRedirects: string(frontier.Permanent), Order: string(frontier.BreadthFirst), HostURLs: 1_000_000, CrawlURLs: 10_000_000,
	IgnoreTypes: notDocuments, URLLength: 2048, PathDepth: 20, PathRepeats: 3, QueryParameters: 20, PathQueries: 10_000, DatedPages: 20_000, FarDates: 50,
	RevisitOptions: defaultRevisits,
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "frontier",
		Summary: "the durable queue of URLs to fetch: the way back of every crawl",
		Doc: "Seeds open or resume a round of their crawl; links and redirects go through the one scope gate, and each URL is handed out " +
			"once a round, when its host is due, with what its last visit taught. What is accepted survives kill -9 and power loss.",
		In:    pipeline.Kinds(pipeline.KindOf[webrace.Request](), pipeline.KindOf[*webrace.Links]()),
		Needs: pipeline.NoParts,
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
	if order := frontier.Order(o.Order); !slices.Contains(frontier.Orders, order) {
		return &pipeline.OptionError{Option: "order", Err: fmt.Errorf("%q is none of %v", o.Order, frontier.Orders)}
	}
	if o.SitemapLevels != 0 && o.SitemapLevels != 1 {
		return &pipeline.OptionError{Option: "sitemap_levels", Err: fmt.Errorf("%d is neither 0 nor 1", o.SitemapLevels)}
	}
	if err := errors.Join(o.RevisitOptions.validate(), o.RunOptions.validate()); err != nil {
		return err
	}
	return o.validateGate()
}

// Lends returns how many URLs may be out at once.
func (o Options) Lends() (leases int, option string) { return o.Leases, "leases" }

// QueueOptions returns what the options set of a queue, and its gate, with the lists of what is blocked as
// they are now.
func (o Options) QueueOptions(env *pipeline.Env) (frontier.QueueOptions, error) {
	q, lists, err := o.queue(env)
	if err == nil {
		err = lists.load()
	}
	return q, err
}

func (o Options) queue(env *pipeline.Env) (frontier.QueueOptions, *lists, error) {
	gate, err := o.gate()
	if err != nil {
		return frontier.QueueOptions{}, nil, err
	}
	return frontier.QueueOptions{
		Fresh: orNever(o.Fresh), Attempts: o.Attempts, MaxLeases: o.Leases, Wait: orNever(o.Wait), Redirects: o.Redirects, SitemapLevels: o.SitemapLevels,
		StartRedirects: frontier.StartRedirects(o.StartRedirects), Order: frontier.Order(o.Order), HostURLs: orNone(o.HostURLs), CrawlURLs: orNone(o.CrawlURLs), Gate: gate,
		Revisit: o.RevisitOptions.bounds(), HonorFreshness: time.Duration(o.HonorFreshness), TrustLastmod: o.TrustLastmod,
	}, newLists(o, gate, env), nil
}

// stage is a queue of the data directory's frontier store.
type stage struct {
	options Options
	env     *pipeline.Env
	dir     *storage.Dir

	failures atomic.Int64 // as they were counted last
	quota    quota
	unscored atomic.Bool   // the order does not look at scores, and the run has not been told so yet
	starting chan struct{} // has a place for each crawl that is begun at once
	begins   sync.Map      // of these, by id, a channel that is closed when it has begun

	elsewhere frontier.Elsewhere // nil: all hosts are this queue's

	mu           sync.Mutex
	queue        *frontier.Queue
	stopWatching context.CancelFunc
	watching     sync.WaitGroup // the files of what is blocked, and the counters
}

// countEvery is how often what shows a state is brought up to date.
const countEvery = time.Second

// startsAtOnce is how many crawls may be on their way to the disk at once: about as many as one sync serves.
const startsAtOnce = 256

var (
	_ pipeline.Queue              = (*stage)(nil)
	_ pipeline.StarvationReporter = (*stage)(nil)
	_ pipeline.Opener             = (*stage)(nil)
	_ pipeline.Closer             = (*stage)(nil)
	_ pipeline.Checker            = (*stage)(nil)
	_ pipeline.Reconfigurer       = (*stage)(nil)
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	dir, err := pipeline.Resource[*storage.Dir](env)
	if err != nil {
		return nil, err
	}
	return &stage{options: o, env: env, dir: dir, starting: make(chan struct{}, startsAtOnce), quota: quota{drain: env.Drain}}, nil
}

// Check opens the store, and reads the lists of what is blocked; the queue is left as it is.
func (s *stage) Check(context.Context) error {
	_, err := s.dir.Frontier()
	_, lists, wrong := s.options.queue(s.env)
	if wrong == nil {
		wrong = lists.load()
	}
	return errors.Join(err, wrong)
}

// Open opens the pipeline's queue in the frontier store.
func (s *stage) Open(context.Context) error {
	store, err := s.dir.Frontier()
	if err != nil {
		return err
	}
	if open, err := pipeline.Resource[frontier.OpenElsewhere](s.env); err == nil && open != nil {
		if s.elsewhere, err = open(s.env.Pipeline); err != nil {
			return err
		}
	}
	options, lists, err := s.queueOptions(s.options)
	if err != nil {
		return err
	}
	options.Began = time.Now()
	queue, err := store.Queue(s.env.Pipeline, options)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.use(queue, lists)
	s.quota.began = options.Began
	s.quota.set(s.options.RunOptions)
	return nil
}

func (s *stage) queueOptions(o Options) (frontier.QueueOptions, *lists, error) {
	options, lists, err := o.queue(s.env)
	if err == nil {
		err = lists.load()
	}
	s.unscored.Store(options.Order != frontier.BestFirst)
	options.Continuous, options.Gone, options.LedTo = s.env.Continuous, s.gone, s.ledTo
	options.Dropped, options.ClockSetBack = s.refused, s.clockSetBack
	options.Elsewhere, options.Received = s.elsewhere, s.started
	return options, lists, err
}

// use makes the stage that of a queue, and keeps its lists up to date.
func (s *stage) use(queue *frontier.Queue, lists *lists) {
	watching, stop := context.WithCancel(context.Background())
	s.queue, s.stopWatching = queue, stop
	s.watching.Go(s.env.Guard(func() { lists.watch(watching) }))
	s.watching.Go(s.env.Guard(func() { s.keepCounting(watching, queue) }))
}

func (s *stage) keepCounting(ctx context.Context, queue *frontier.Queue) {
	ticker := time.NewTicker(countEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			s.count(queue)
		case <-ctx.Done():
			return
		}
	}
}

// Reconfigure opens the queue anew with other options, while no URL is out: the crawls of this run go on.
func (s *stage) Reconfigure(_ context.Context, options any) error {
	changed := options.(Options)
	o, lists, err := s.queueOptions(changed)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopWatching()
	s.watching.Wait()
	queue, err := s.queue.Reopen(o)
	if err != nil {
		return err // the run ends: the queue tells why when it is asked for the next URL
	}
	s.options = changed
	s.use(queue, lists)
	s.quota.set(changed.RunOptions)
	return nil
}

// refused counts a URL that was queued and is refused by now.
func (s *stage) refused(why frontier.Reason) { s.env.Counter("refused_" + why.String()).Add(1) }

// clockSetBack logs that the clock had run ahead.
func (s *stage) clockSetBack(c frontier.ClockSetBack) { c.Log(s.env.Logger) }

// gone reports whether a document that was stored has been removed from the object cache.
func (s *stage) gone(secret, url string) bool {
	documents, err := s.dir.Objects()
	if err != nil {
		return false // the stage that reads what is stored will say so
	}
	_, err = documents.Latest(objects.View(secret, url))
	return errors.Is(err, objects.ErrNotFound)
}

// ledTo returns the links of a stored version of a document; none if it was removed.
func (s *stage) ledTo(secret, url string, version int) []string {
	documents, err := s.dir.Objects()
	if err != nil {
		return nil // the stage that reads what is stored will say so
	}
	v, err := documents.Get(objects.View(secret, url), version)
	if err != nil {
		return nil
	}
	links, err := documents.Links(v)
	if err != nil {
		return nil
	}
	return links
}

// orNever gives the store what 0 means to a person: not at all.
func orNever(d pipeline.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return time.Duration(d)
}

// orNone gives the store what 0 means to a person: no limit.
func orNone(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// Close writes what was handed in.
func (s *stage) Close() error {
	s.quota.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue == nil {
		return nil
	}
	queue := s.queue
	s.queue = nil
	s.stopWatching()
	s.watching.Wait()
	err := queue.Close()
	s.count(queue) // with what was handed in last
	return err
}

// count brings the counters that show a state up to date: what is queued, what is left for the next run
// once this one has ended, and the URLs that gave no document when they were last visited; and how many visits of
// this run gave none.
func (s *stage) count(queue *frontier.Queue) {
	stats := queue.Stats()
	s.env.Level("queued").Store(int64(stats.Queued))
	s.env.Level("not_due").Store(int64(stats.NotDue))
	s.env.Level("deferred").Store(int64(stats.Due))
	s.env.Level("dead").Store(int64(stats.Failed))
	s.env.Counter("failures").Add(int64(stats.NoDoc) - s.failures.Swap(int64(stats.NoDoc)))
}

// Put takes a seed or a set of links. The item is held until what was accepted is durable.
func (s *stage) Put(ctx context.Context, it *pipeline.Item) error {
	switch v := it.Value.(type) {
	case webrace.Request:
		return s.start(ctx, v, it)
	case *webrace.Links:
		if err := s.await(ctx, v); err != nil {
			return err
		}
		if v.Scores != nil && s.unscored.CompareAndSwap(true, false) {
			s.env.Logger.Warn(`links come with scores, which only the order best-first looks at: set frontier.order = "best-first"`)
		}
		s.offer(v, it)
		return nil
	}
	return fmt.Errorf("takes webrace.Request or *webrace.Links, got %T", it.Value)
}

// start begins the crawl of a seed, and does not wait for the disk: many crawls that begin share a sync of it.
func (s *stage) start(ctx context.Context, seed webrace.Request, it *pipeline.Item) error {
	if seed.Crawl == nil {
		return fmt.Errorf("request for %s names no crawl: it is no seed", seed.URL)
	}
	select {
	case s.starting <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	begun := make(chan struct{})
	for {
		other, twice := s.begins.LoadOrStore(seed.Crawl.ID, begun)
		if !twice {
			break
		}
		<-other.(chan struct{})
	}
	hold := it.Hold()
	done := func(err error) {
		s.begins.Delete(seed.Crawl.ID)
		close(begun)
		<-s.starting
		hold(err)
	}
	err := s.queue.Begin(*seed.Crawl, true, func(round frontier.Round, err error) {
		if err == nil {
			s.started(seed.URL, round)
		}
		done(err)
	})
	if err != nil {
		done(nil) // the error of this call decides
	}
	return err
}

// await waits for the crawls that links are of, if they are about to begin: before, the frontier does not know them.
func (s *stage) await(ctx context.Context, links *webrace.Links) error {
	if len(s.starting) == 0 {
		return nil
	}
	for _, r := range links.Reach {
		if begun, ok := s.begins.Load(r.Crawl); ok {
			select {
			case <-begun.(chan struct{}):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

// started tells of a round that was begun or resumed here. One that is in another partition is told of there.
func (s *stage) started(url string, round frontier.Round) {
	if round.Number == 0 {
		return
	}
	if round.Refused != 0 {
		s.refused(round.Refused)
	}
	if round.Resumed {
		s.env.Counter("rounds_resumed").Add(1)
		s.env.Logger.Info("round resumed", "start", url, "pending", round.Pending)
	} else {
		s.env.Counter("rounds").Add(1)
	}
}

func (s *stage) offer(links *webrace.Links, it *pipeline.Item) {
	done := it.Hold()
	s.env.Counter("offered").Add(int64(len(links.URLs)))
	s.queue.Offer(links, func(o frontier.Offered, err error) {
		s.env.Counter("accepted").Add(int64(o.Accepted))
		if o.Sent > 0 {
			s.env.Counter("sent").Add(int64(o.Sent))
		}
		for reason, n := range o.Refused {
			if n > 0 {
				s.env.Counter("refused_" + frontier.Reason(reason).String()).Add(int64(n))
			}
		}
		if o.Landed > 0 {
			s.env.Counter("landed").Add(int64(o.Landed))
			s.env.Logger.Info("start redirected: its crawl goes on from there", "from", links.From, "to", links.URLs[0])
		}
		if why := s.leadsNowhere(links, o); why != "" {
			it.Learn(webrace.Learned(func(v *webrace.Visit) { v.Error = why }))
		}
		done(err)
	})
}

// Take returns the next URL that is due.
func (s *stage) Take(ctx context.Context) (pipeline.Lease, error) {
	if err := s.quota.take(ctx); err != nil {
		return nil, err
	}
	l, err := s.queue.Take(ctx)
	if err != nil {
		s.quota.settle(webrace.HostReport{})
		return nil, err
	}
	if hint := l.Hint(); hint != frontier.NoHint {
		s.env.Counter(hint.String()).Add(1)
	}
	return &lease{stage: s, lease: l}, nil
}

// Starved reports whether URLs wait for nothing but the end of leases that are out, or the run does.
func (s *stage) Starved() bool {
	s.mu.Lock()
	queue := s.queue
	s.mu.Unlock()
	return queue != nil && (queue.Starved() || s.quota.full())
}

// Seal tells the queue that no crawl will be started any more.
func (s *stage) Seal() { s.queue.Seal() }
