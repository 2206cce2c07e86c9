package frontier

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/storage/schedule"
)

// QueueOptions are the options of one pipeline's queue. The zero value works.
type QueueOptions struct {
	Fresh     time.Duration // a document validated so lately answers without a request; 0: a minute, negative: never
	Attempts  int           // how often a URL is tried in a round before it is given up; 0: 3
	MaxLeases int           // how many URLs may be out at once; 0: 1024
	Wait      time.Duration // how long a delay Take waits for once sealed, the rest is deferred; 0: a minute, negative: none
	Redirects int           // the longest chain of redirects; 0: 10
	// SitemapLevels is how many levels further than a sitemap lies what it lists; 0: on its own, but below the start.
	SitemapLevels int
	Window        int   // hosts of each urgency in memory at once; 0: 4096
	Repeats       int   // URLs remembered to answer repeats from memory; 0: in half of what the store's Cache takes
	HostURLs      int   // URLs of a host ever accepted at most; 0: 1,000,000, negative: no limit
	CrawlURLs     int   // URLs that a crawl ever comes to at most; 0 or negative: no limit
	Order         Order // of the URLs of a host; empty: BreadthFirst. It may change from run to run
	// Gate is what every URL is held against, with the rules of the configuration; nil lets all pass. The
	// queue adds the rules that were added to it ([Queue.AddRule]).
	Gate *scope.Gate
	// Dropped is told why a URL that was queued is refused when its turn comes. It must not block.
	Dropped func(Reason)
	// StartRedirects determines which redirects of a start its crawl follows out of its scope; empty: Permanent.
	StartRedirects StartRedirects
	// Began is when the run began that the queue is opened for. The rounds that it opens count from then, so
	// that a page which one crawl had fetched before the next was started is not fetched again for it. With
	// the zero time each round counts from its own start.
	Began time.Time
	// Continuous means that the run goes on and on. Each round counts from its own start, whatever Began is;
	// it asks for the start of its crawl, and for the other pages only when their [webrace.Visit] Interval
	// has passed: until then they are Stored.
	Continuous bool
	// Revisit bounds that interval, but for starts, which are visited by their timing. A zero bound: the timing
	// of the crawl that asks most often, and 32 of it; where none has a timing, 1 h and 30 days. How fast the
	// interval moves holds for starts, too.
	Revisit schedule.Bounds
	// HonorFreshness is for how long at most a document that its server calls fresh (Visit Expires) is not asked
	// for; 0: such words count for nothing. A start is asked for all the same.
	HonorFreshness time.Duration
	// TrustLastmod lets the times of change that sitemaps and feeds list decide whether a page is asked for: see
	// [Hint]. They are believed as far as the host's have proved right.
	TrustLastmod bool
	// ClockSetBack is told once that the clock was set back since the queue was last written. It must not block.
	// nil: the store's logger is.
	ClockSetBack func(ClockSetBack)
	// Gone reports that nothing is stored any more of a URL whose last visit left a document. Then no stored
	// answer is handed out, and no validators by which a server would confirm what is not there. It is asked
	// of URLs that are handed out again, and must not block. nil: never.
	Gone func(secret, url string) bool
	// LedTo returns where the document at a URL led in a version, or in the latest one (0). If that is not there any
	// more where it leads now, it is asked whether it has moved, before what is new there is handed out. It must not
	// block. nil: nowhere.
	LedTo func(secret, url string, version int) []string
	// Elsewhere is the rest of the cluster of which the queue is one partition's; nil: all hosts are its own.
	Elsewhere Elsewhere
	// Received is told of the rounds that other partitions have begun here. It must not block. nil: nobody is.
	Received func(start string, r Round)
}

func (o QueueOptions) withDefaults() QueueOptions {
	for _, d := range []struct {
		of    *int
		value int
	}{{&o.Attempts, 3}, {&o.MaxLeases, 1024}, {&o.Redirects, 10}, {&o.Window, 4096}, {&o.HostURLs, 1_000_000}} {
		if *d.of == 0 || *d.of < 0 && d.of != &o.HostURLs {
			*d.of = d.value
		}
	}
	o.Fresh, o.Wait = cmp.Or(o.Fresh, time.Minute), cmp.Or(o.Wait, time.Minute)
	o.Order = cmp.Or(o.Order, BreadthFirst)
	o.StartRedirects = cmp.Or(o.StartRedirects, Permanent)
	if o.Continuous {
		o.Began = time.Time{}
	}
	return o
}

// Queue is the frontier of one pipeline. Its methods are safe for concurrent use.
type Queue struct {
	store    *Store
	pipeline string
	keys     keys
	opt      QueueOptions
	crawls   registry
	seen     *recent
	refused  [reasons]atomic.Int64
	signal   chan struct{}  // capacity 1: something changed for the callers of Take
	calls    sync.WaitGroup // steps handed in and not yet called back
	failures failures       // of this run

	// The committer's. The filter has a lock of its own.
	count    counters
	work     *changes
	treated  *cache[hostID, *hostRecord]
	families *cache[uint64, *family]
	added    *scope.Rules             // at run time, before those of the configuration
	counts   map[*scope.Rule]hitCount // where the hits of each rule are counted
	stale    [][]byte                 // keys of rules that are not there any more
	others   map[string]int64         // by key: hits of rules that this gate does not know, and another one does
	outdated bool                     // the rules are as an earlier release wrote them
	filter   *filter

	abroad *abroad // nil: all hosts are here

	needFilter func() // has it made, if it is not yet

	stop    chan struct{}  // closed to end what goes on behind
	behind  sync.WaitGroup // the making of the filter
	closing sync.Once      // of the filter

	mu      sync.Mutex
	window  window
	leases  map[urlID]*Lease
	held    map[urlID]*Lease // that URLs wait for which are not handed out meanwhile
	reaches *cache[string, []webrace.Reach]
	shown   counters // count, as of the last commit
	first   counters // count, as of the start of this run
	steps   int      // handed in and not yet settled
	timer   int64    // when the first parked host or delayed item is due; never when there is none
	waking  bool
	mending bool // what was dated while the clock was ahead
	sealed  bool
	err     error // why the queue takes and gives no more
}

const never = math.MaxInt64

// Queue opens the queue of a pipeline, which is made if need be. It is open once at a time.
func (s *Store) Queue(pipeline string, o QueueOptions) (*Queue, error) {
	q, err := s.queue(pipeline, o)
	if err == nil {
		q.attach()
	}
	return q, err
}

// queue is Queue, but nothing is received yet.
func (s *Store) queue(pipeline string, o QueueOptions) (*Queue, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	if s.queues[pipeline] != nil {
		return nil, fmt.Errorf("open the frontier of %s: it is open already", pipeline)
	}
	o = o.withDefaults()
	if o.Repeats <= 0 {
		o.Repeats = s.repeats
	}
	err := o.Order.check()
	var q *Queue
	if err == nil {
		q, err = s.openQueue(pipeline, o)
	}
	if err != nil {
		return nil, fmt.Errorf("open the frontier of %s: %w", pipeline, err)
	}
	s.queues[pipeline] = q
	return q, nil
}

func (s *Store) openQueue(pipeline string, o QueueOptions) (*Queue, error) {
	k, err := s.keysOf(pipeline)
	if err != nil {
		return nil, err
	}
	q := &Queue{
		store: s, pipeline: pipeline, keys: k, opt: o,
		signal:  make(chan struct{}, 1),
		leases:  map[urlID]*Lease{},
		held:    map[urlID]*Lease{},
		reaches: newCache[string, []webrace.Reach](1 << 13),
	}
	q.seen = newRecent(o.Repeats)
	q.treated = newCache[hostID, *hostRecord](treatedHosts)
	q.families = newCache[uint64, *family](knownFamilies)
	q.work = newChanges(q)
	q.window = window{store: s, keys: k, size: o.Window, park: q.park, hosts: map[hostID]*host{}}
	value, err := s.db.Value(k.start(kindMeta))
	if err == nil && value != nil {
		q.count, err = decodeCounters(value)
	}
	if err != nil {
		return nil, err
	}
	if err := q.crawls.load(s, k); err != nil {
		return nil, err
	}
	if o.Elsewhere != nil {
		q.joinCluster(o.Elsewhere)
	}
	q.count.written = max(q.count.written, q.crawls.latest())
	q.shown, q.first = q.count, q.count
	if q.timer, err = q.nextDue(); err != nil {
		return nil, err
	}
	if err := q.loadRules(); err != nil {
		return nil, err
	}
	q.openFilter()
	return q, nil
}

// Close writes what was handed in and forgets the rest: leases that are out are handed out again when
// the queue is next opened.
func (q *Queue) Close() error {
	q.fail(ErrClosed)
	q.detach()
	q.calls.Wait()
	err := q.fault()
	q.closeFilter(err)
	q.store.mu.Lock()
	defer q.store.mu.Unlock()
	if q.store.queues[q.pipeline] == q {
		delete(q.store.queues, q.pipeline)
		q.store.ran[q.pipeline] = q.ran()
		q.store.failed[q.pipeline] = &q.failures
	}
	return err
}

// fault returns the error that ended the queue, if it was not closed.
func (q *Queue) fault() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if errors.Is(q.err, ErrClosed) {
		return nil
	}
	return q.err
}

// Seal tells the queue that no crawl will be started any more, so that Take can tell the end of the run.
func (q *Queue) Seal() {
	q.mu.Lock()
	q.sealed = true
	q.mu.Unlock()
	notify(q.signal)
}

// submit hands a step to the committer.
func (q *Queue) submit(s step) {
	q.mu.Lock()
	err := q.later(s)
	q.mu.Unlock()
	if err != nil && s.done != nil {
		s.done(err)
	}
}

// later hands in a step under the queue's lock: it is applied later, in the order of the calls. A queue
// that has ended takes none.
func (q *Queue) later(s step) error {
	if q.err != nil {
		return q.err
	}
	if q.store.readOnly {
		return ErrReadOnly
	}
	s.queue = q
	q.steps++
	q.calls.Add(1)
	if q.err = q.store.committer.submit(s); q.err != nil {
		q.steps--
		q.calls.Done()
	}
	return q.err
}

// settled shows the takers what a group of steps came to.
func (q *Queue) settled(steps []step, written *changes, err error) {
	q.mu.Lock()
	q.steps -= len(steps)
	q.abroad.stir()
	if err == nil {
		for _, s := range steps {
			if s.after != nil && err == nil {
				err = s.after()
			}
		}
		err = errors.Join(err, q.show(written))
	}
	q.endWith(err)
	q.mu.Unlock()
	notify(q.signal)
}

// show makes what was written visible to the window.
func (q *Queue) show(written *changes) (err error) {
	q.shown = q.count
	q.abroad.note(written)
	q.tell(written)
	q.renew(written)
	for _, at := range written.altered {
		q.window.altered(at)
	}
	now := q.store.now()
	for id, where := range written.queues {
		if err := q.window.arrived(id, where, now); err != nil {
			return err
		}
	}
	if written.timed {
		q.timer, err = q.nextDue()
	}
	return err
}

// renew tells the leases out what became of their URLs' records.
func (q *Queue) renew(written *changes) {
	if len(q.leases) == 0 {
		return
	}
	for id, rec := range written.records {
		if !rec.dirty || rec.fresh {
			continue
		}
		if l := q.leases[id]; l != nil {
			l.record.copy(rec)
		}
	}
}

// fail ends the queue: it takes and gives nothing further.
func (q *Queue) fail(err error) {
	q.mu.Lock()
	q.endWith(err)
	q.mu.Unlock()
	notify(q.signal)
}

// endWith ends the queue because of an error, if it is one and the first. It wants the queue's lock.
func (q *Queue) endWith(err error) {
	if q.err == nil {
		q.err = err
	}
}
