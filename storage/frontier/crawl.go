package frontier

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/pointer"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/storage/internal/nanos"
)

// crawl is a crawl that the queue has ever been told to start.
type crawl struct {
	number  uint32
	pending atomic.Int64         // URLs it waits for; only the committer changes it
	known   atomic.Int64         // URLs it ever came to, since that is counted; only the committer changes it
	active  atomic.Bool          // it was started in this run; only the committer changes it
	shown   bool                 // and that is durable: what waits for it may be handed out; guarded by the queue's lock
	now     pointer.Atomic[pass] // only the committer changes it
	history history              // the committer's
}

// pass returns how the crawl stands now.
func (c *crawl) pass() *pass { return pointer.Load(&c.now) }

// unfinished reports whether the round is not known to be over.
func (c *crawl) unfinished() bool { return c.pending.Load() > 0 || c.pass().left }

// history is what the crawl has cost so far, and what came of the last visit of its start.
type history struct {
	requests uint64 // over the network, for pages of the crawl
	visited  time.Time
	interval time.Duration
	changed  bool
}

// crawlSchema is that of crawls; 1 had no history, 2 did not count the URLs that the crawl ever came to, 3 had
// no landing, 4 no moves of the start, 5 no spread. One whose start has not moved is written as 4, which earlier
// releases read, and one that is on one machine as 5.
const crawlSchema = 6

// pass is how a crawl stands: its bounds, and its round.
type pass struct {
	webrace.Crawl
	scope   scope.Matcher
	landing landing  // where the start led in this round, if that is elsewhere
	moves   []string // where its document has moved for good, as it said in this round, the last move last

	// number tells the passes of a crawl apart. A round is one pass, and another one each time its
	// levels are raised while it runs: the new pass walks the same pages from the store again, because
	// their visits are no older than the round, and goes on beyond the old border.
	number  uint32
	started time.Time // when the round began

	spread
}

// admits reports whether the crawl may follow url at this distance.
func (p *pass) admits(url string, distance int) Reason {
	switch {
	case !(webrace.Reach{Distance: distance}).Within(p.Levels) || distance > math.MaxInt32:
		return Depth
	case !p.scope.Match(url) && !p.landing.match(url):
		return Scope
	}
	return accepted
}

// raise widens a crawl's bounds by those of another request for it, and reports whether more pages lie
// within them now.
func (p *pass) raise(c webrace.Crawl) (deeper bool) {
	if p.Levels != 0 && (c.Levels == 0 || c.Levels > p.Levels) {
		p.Levels, deeper = c.Levels, true
	}
	p.Urgency = max(p.Urgency, c.Urgency)
	if c.Timing > 0 && (p.Timing == 0 || c.Timing < p.Timing) {
		p.Timing = c.Timing
	}
	return deeper
}

func encodeCrawl(c *crawl) []byte {
	p := c.pass()
	schema := byte(4)
	switch {
	case p.spread != spread{}:
		schema = crawlSchema
	case len(p.moves) > 0:
		schema = 5
	}
	w := newWriterOf(schema, 80+len(p.Start))
	w.Uint(uint64(c.number))
	w.Text(p.ID)
	w.Text(p.Start)
	w.Text(string(p.Scope))
	w.Text(p.Secret)
	w.Int(int64(p.Levels))
	w.Int(int64(p.Urgency))
	w.Int(int64(p.Timing))
	w.Uint(uint64(p.number))
	w.Time(p.started)
	w.Int(c.pending.Load())
	w.Uint(c.history.requests)
	w.Time(c.history.visited)
	w.Int(int64(c.history.interval))
	w.Flag(c.history.changed)
	w.Uint(uint64(c.known.Load()))
	w.Text(p.landing.url)
	if schema > 4 {
		w.Uint(uint64(len(p.moves)))
		for _, url := range p.moves {
			w.Text(url)
		}
	}
	if schema > 5 {
		w.Flag(p.left)
		w.Uint(uint64(p.opened))
		w.Uint(uint64(p.hops))
		w.Text(p.led)
	}
	return w
}

func decodeCrawl(value []byte) (*crawl, error) {
	r := newReaderUpTo(crawlSchema, value)
	c, p := &crawl{number: r.Number()}, &pass{}
	p.ID, p.Start, p.Scope, p.Secret = r.Text(), r.Text(), webrace.Scope(r.Text()), r.Text()
	p.Levels, p.Urgency, p.Timing = int(r.Int()), int(r.Int()), time.Duration(r.Int())
	p.number, p.started = r.Number(), r.Time()
	c.pending.Store(r.Int())
	if r.schema > 1 {
		c.history = history{r.Uint(), r.Time(), time.Duration(r.Int()), r.Flag()}
	}
	if r.schema > 2 {
		c.known.Store(r.Size())
	}
	landed := ""
	if r.schema > 3 {
		landed = r.Text()
	}
	if r.schema > 4 {
		for range r.Count(1) {
			p.moves = append(p.moves, r.Text())
		}
	}
	if r.schema > 5 {
		p.spread = spread{left: r.Flag(), opened: r.Number(), hops: int(r.Small(math.MaxInt32)), led: r.Text()}
	}
	if err := r.done(); err != nil {
		return nil, err
	}
	m, err := scope.New(p.Start, p.Scope)
	if err == nil {
		p.landing, err = newLanding(landed, p.Scope)
	}
	if err != nil {
		return nil, fmt.Errorf("stored crawl %q: %w", p.ID, err)
	}
	p.scope = m
	pointer.Store(&c.now, p)
	return c, nil
}

// registry holds every crawl of a queue.
type registry struct {
	mu     sync.RWMutex
	byID   map[string]*crawl
	inTurn []*crawl // by number, which counts from 1

	pending atomic.Int64 // URLs that the crawls of this run wait for; changed as those of each crawl
}

func (r *registry) load(s *Store, k keys) error {
	r.byID = map[string]*crawl{}
	err := s.db.Scan(k.start(kindCrawl), k.end(kindCrawl), func(_, value []byte) (bool, error) {
		c, err := decodeCrawl(value)
		if err != nil {
			return false, err
		}
		r.byID[c.pass().ID] = c
		return true, nil
	})
	r.inTurn = make([]*crawl, len(r.byID))
	for id, c := range r.byID {
		if n := int(c.number); n < 1 || n > len(r.inTurn) || r.inTurn[n-1] != nil {
			return errors.Join(err, fmt.Errorf("crawl %q has number %d of %d: %w", id, n, len(r.byID), errCorrupt))
		}
		r.inTurn[c.number-1] = c
	}
	return err
}

func (r *registry) add(id string, c *crawl) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byID[id] = c
	r.inTurn = append(r.inTurn, c)
}

func (r *registry) get(id string) *crawl {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.byID[id]
}

func (r *registry) numbered(n uint32) (*crawl, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if n < 1 || int(n) > len(r.inTurn) {
		return nil, fmt.Errorf("crawl number %d of %d: %w", n, len(r.inTurn), errCorrupt)
	}
	return r.inTurn[n-1], nil
}

// all returns the crawls by number. The list is not to be changed.
func (r *registry) all() []*crawl {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.inTurn[:len(r.inTurn):len(r.inTurn)]
}

// activate makes a crawl one of this run, and reports whether it was. What waits for it is handed out once it is shown:
// takers that found it active in between, and had passed over what is queued first, would go on in the middle.
func (r *registry) activate(c *crawl) (before bool) {
	if before = c.active.Swap(true); !before {
		r.pending.Add(c.pending.Load())
	}
	return before
}

// await counts the URLs that a crawl waits for, n more.
func (r *registry) await(c *crawl, n int64) {
	c.pending.Add(n)
	if c.active.Load() {
		r.pending.Add(n)
	}
}

// latest is when a crawl last began a round, or visited its start, in nanoseconds since 1970: what a queue of an
// earlier release knows of when it was written.
func (r *registry) latest() (at int64) {
	for _, c := range r.all() {
		at = max(at, nanos.Of(c.pass().started), nanos.Of(c.history.visited))
	}
	return at
}
