package frontier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/schedule"
	"github.com/webrace/webrace/internal/scope"
)

// QueueOptions are the options of one pipeline's queue. The zero value works.
type QueueOptions struct {
	Fresh     time.Duration // a document validated so lately answers without a request; 0: a minute, negative: never
	Attempts  int           // how often a URL is tried in a round before it is given up; 0: 3
	MaxLeases int           // how many URLs may be out at once; 0: 1024
	Wait      time.Duration // how long a delay Take waits for once sealed, the rest is deferred; 0: a minute, negative: none
	Redirects int           // the longest chain of redirects; 0: 10
	Window    int           // hosts of each urgency in memory at once; 0: 4096
	Repeats   int           // URLs remembered to answer repeats from memory; 0: in three quarters of what the store's Cache takes
	HostURLs  int           // URLs of a host ever accepted at most; 0: 1,000,000, negative: no limit
	CrawlURLs int           // URLs that a crawl ever comes to at most; 0 or negative: no limit
	Order     Order         // of the URLs of a host; empty: BreadthFirst. It may change from run to run
	// Gate is what every URL is held against, with the rules of the configuration; nil lets all pass. The
	// queue adds the rules that were added to it ([Queue.AddRule]).
	Gate *scope.Gate
	// Dropped is told why a URL that was queued is refused when its turn comes. It must not block.
	Dropped func(Reason)
	// Landings says which redirects of a start its crawl follows out of its scope; empty: Permanent.
	Landings Landings
	// Began is when the run began that the queue is opened for. The rounds that it opens count from then, so
	// that a page which one crawl had fetched before the next was started is not fetched again for it. With
	// the zero time each round counts from its own start.
	Began time.Time
	// Continuous says that the run goes on and on. Each round counts from its own start, whatever Began is;
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
	// TrustLastmod lets the times of change that sitemaps and feeds list say whether a page is asked for: see
	// [Hint]. They are believed as far as the host's have proved right.
	TrustLastmod bool
	// ClockSetBack is told once that the clock was set back since the queue was last written. It must not block.
	// nil: the store's logger is.
	ClockSetBack func(ClockSetBack)
	// Gone says that nothing is stored any more of a URL whose last visit left a document. Then no stored
	// answer is handed out, and no validators by which a server would confirm what nobody has. It is asked
	// of URLs that are handed out again, and must not block. nil: never.
	Gone func(secret, url string) bool
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
	for _, d := range []*time.Duration{&o.Fresh, &o.Wait} {
		if *d == 0 {
			*d = time.Minute
		}
	}
	if o.Order == "" {
		o.Order = BreadthFirst
	}
	if o.Landings == "" {
		o.Landings = Permanent
	}
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
	seen     *repeats
	refused  [reasons]atomic.Int64
	bell     chan struct{}  // capacity 1: something changed for those who take
	calls    sync.WaitGroup // steps handed in and not yet called back

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

	needFilter func() // has it made, if it is not yet

	stop    chan struct{}  // closed to end what goes on behind
	behind  sync.WaitGroup // the making of the filter
	closing sync.Once      // of the filter

	mu      sync.Mutex
	window  window
	leases  map[urlID]*Lease
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
		bell:    make(chan struct{}, 1),
		leases:  map[urlID]*Lease{},
		reaches: newCache[string, []webrace.Reach](1 << 13),
	}
	q.seen = newRepeats(o.Repeats)
	q.treated = newCache[hostID, *hostRecord](treatedHosts)
	q.families = newCache[uint64, *family](knownFamilies)
	q.work = newChanges(q)
	q.window = window{store: s, keys: k, size: o.Window, park: q.park, hosts: map[hostID]*host{}}
	value, err := s.get(k.start(kindMeta))
	if err == nil && value != nil {
		q.count, err = decodeCounters(value)
	}
	if err != nil {
		return nil, err
	}
	if err := q.crawls.load(s, k); err != nil {
		return nil, err
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
	q.end()
	q.calls.Wait()
	err := q.fault()
	q.closeFilter(err)
	q.store.mu.Lock()
	defer q.store.mu.Unlock()
	if q.store.queues[q.pipeline] == q {
		delete(q.store.queues, q.pipeline)
		q.store.ran[q.pipeline] = q.ran()
	}
	return err
}

// end takes nothing further.
func (q *Queue) end() { q.fail(ErrClosed) }

// fault returns the error that ended the queue, if it was not closed.
func (q *Queue) fault() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if errors.Is(q.err, ErrClosed) {
		return nil
	}
	return q.err
}

// Seal says that no crawl will be started any more, so that Take can tell the end of the run.
func (q *Queue) Seal() {
	q.mu.Lock()
	q.sealed = true
	q.mu.Unlock()
	poke(q.bell)
}

// Take returns the next URL to fetch, and waits for one if need be. It returns [io.EOF] once the queue
// is sealed, no lease is out, and nothing is due any more for the crawls started in this run; what is
// delayed by more than the option Wait stays for the next one.
func (q *Queue) Take(ctx context.Context) (*Lease, error) {
	defer poke(q.bell) // whoever else takes may find more, or the same end
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		q.mu.Lock()
		l, until, err := q.try(q.store.now())
		q.mu.Unlock()
		if l != nil || err != nil {
			return l, err
		}
		q.sleep(ctx, until)
	}
}

// sleep returns when something changed, at the time until, or when the context ends.
func (q *Queue) sleep(ctx context.Context, until int64) {
	var due <-chan time.Time
	if until != never {
		timer := time.NewTimer(time.Unix(0, until).Sub(q.store.now()))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-q.bell:
	case <-due:
	case <-ctx.Done():
	}
}

// try returns a lease, or when to try again.
func (q *Queue) try(now time.Time) (*Lease, int64, error) {
	q.watchClock(now)
	q.window.wake(now)
	q.bringBack(now)
	for {
		if q.err != nil {
			return nil, 0, q.err
		}
		if q.store.readOnly {
			return nil, 0, ErrReadOnly
		}
		if q.mending || len(q.leases) >= q.opt.MaxLeases {
			return nil, never, nil
		}
		loaded, err := q.window.fill(now)
		if err != nil {
			return nil, 0, err
		}
		lane := q.window.pick(now)
		switch {
		case lane != nil:
			if l, err := q.takeFrom(lane, now); l != nil || err != nil {
				return l, 0, err
			}
		case !loaded:
			until, err := q.nothing(now)
			return nil, until, err
		}
	}
}

// bringBack asks for the hosts and items that are due, so that those who waited get their turn while others
// are busy.
func (q *Queue) bringBack(now time.Time) {
	if q.timer <= now.UnixNano() && !q.waking && q.err == nil {
		q.waking = true
		q.later(q.wakeStep(now))
	}
}

// takeFrom leases the next item of a lane, unless it turns out that it is not to be handed out.
func (q *Queue) takeFrom(from *lane, now time.Time) (*Lease, error) {
	var l *Lease
	it, ok, err := q.window.pop(from)
	if ok {
		if l, err = q.lease(from, it, now); l != nil {
			q.window.rotate(from)
		}
	}
	q.window.settle(from.host, now)
	return l, err
}

// nothing says when to look again while there is nothing to take: io.EOF for never.
func (q *Queue) nothing(now time.Time) (until int64, err error) {
	until = q.nextTime()
	if q.sealed && len(q.leases) == 0 && q.steps == 0 && q.nothingBy(until, now) {
		return 0, io.EOF
	}
	return until, nil
}

// nothingBy reports whether a sealed queue whose next URL is due then ends, as soon as no lease is out.
func (q *Queue) nothingBy(until int64, now time.Time) bool {
	return until == never || q.crawls.pending.Load() == 0 || time.Duration(until-now.UnixNano()) > max(q.opt.Wait, 0)
}

// Starved reports whether only leases that are out keep the queue from handing out another URL, or from its end: as
// many are out as may be, or as a host that has URLs allows, or nothing is left to be handed out in this run.
func (q *Queue) Starved() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil || q.steps > 0 || q.waking || len(q.leases) == 0 {
		return false
	}
	now := q.store.now()
	ready, blocked := q.window.look(now)
	switch {
	case len(q.leases) >= q.opt.MaxLeases, blocked:
		return true
	case ready:
		return false
	}
	return q.sealed && q.nothingBy(q.nextTime(), now)
}

// nextTime returns when a host or an item is due that is not now; never when there is none.
func (q *Queue) nextTime() int64 {
	until := q.timer
	if q.waking {
		until = never // its end rings the bell
	}
	if len(q.window.waiting) > 0 {
		until = min(until, q.window.waiting[0].notBefore.UnixNano())
	}
	return until
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
	if err == nil {
		for _, s := range steps {
			if s.after != nil && err == nil {
				err = s.after()
			}
		}
		err = errors.Join(err, q.show(written))
	}
	if err != nil && q.err == nil {
		q.err = err
	}
	q.mu.Unlock()
	poke(q.bell)
}

// show makes what was written visible to the window.
func (q *Queue) show(written *changes) (err error) {
	q.shown = q.count
	q.tell(written)
	q.renew(written)
	for _, at := range written.altered {
		q.window.altered(at)
	}
	now := q.store.now()
	for id, where := range written.lanes {
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

func (q *Queue) fail(err error) {
	q.mu.Lock()
	if q.err == nil {
		q.err = err
	}
	q.mu.Unlock()
	poke(q.bell)
}
