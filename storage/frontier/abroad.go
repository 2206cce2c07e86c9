package frontier

import (
	"sync"

	"github.com/webrace/webrace/internal/scope"
)

// A queue that is one partition's of a cluster has the hosts of that partition. Links to others leave as envelopes, and
// are certain to arrive before the page that they are on is done. What partitions know of a crawl they know by its
// passes, which are numbered where it begins: there a round is opened, and a partition that receives a link of a pass
// that it does not know takes the crawl over as it stands in the envelope. A link of an earlier pass than is known
// causes nothing: the later pass walks the same pages again.
//
// Where a crawl begins it is noted, before the first envelope leaves, that something of the round has left. Then the
// round is over when it is over everywhere, which [Elsewhere] finds out ([Receiver] Leaving, End).
//
// No two clocks are compared: when a round began is, in each partition, when that has first heard of it.

// spread is how the round of a crawl stands in a cluster. It is zero on one machine.
type spread struct {
	left   bool   // something has left for other partitions, and may be under way there; only where the crawl begins
	opened uint32 // the number of the first pass of the round
	hops   int    // by how many redirects in a row the start led to its landing
	led    string // where the start led last in another partition, in whatever round
}

// abroad is what a queue knows of the rest of its cluster. The queue's lock guards what is below it.
type abroad struct {
	Elsewhere
	once   sync.Once
	detach func() // nil before it is attached

	waits   map[string]struct{} // the crawls that wait for URLs here, as of the last commit
	leaving map[string]uint32   // by crawl: the pass of those that only wait for others, as of the last commit
	sending int                 // envelopes that have left and are not certain yet
	resting bool                // alone, the queue would end its run
}

// joinCluster makes the queue one of a cluster. The crawls whose rounds are not over go on at once: they may have been
// started in another partition, which does not start them again when this one is opened again.
func (q *Queue) joinCluster(e Elsewhere) {
	q.abroad = &abroad{Elsewhere: e, waits: map[string]struct{}{}, leaving: map[string]uint32{}}
	for _, cr := range q.crawls.all() {
		q.abroad.noteCrawl(cr)
		if cr.unfinished() {
			q.crawls.activate(cr)
			cr.shown = true
		}
	}
}

// attach begins to receive.
func (q *Queue) attach() {
	if q.abroad != nil {
		detach := q.abroad.Attach(q)
		q.mu.Lock()
		q.abroad.detach = detach
		q.mu.Unlock()
	}
}

// detach ends receiving.
func (q *Queue) detach() {
	if q.abroad == nil {
		return
	}
	q.mu.Lock()
	detach := q.abroad.detach
	q.mu.Unlock()
	if detach != nil {
		q.abroad.once.Do(detach)
	}
}

// partitionOf returns the partition that a host is of, and whether it is another one.
func (q *Queue) partitionOf(host string) (p int, abroad bool) {
	if q.abroad == nil {
		return 0, false
	}
	p = q.abroad.Of(host)
	return p, p != q.abroad.Here()
}

// beginsHere reports whether a crawl begins in this partition.
func (q *Queue) beginsHere(p *pass) bool {
	host, _ := scope.Host(p.Start)
	_, abroad := q.partitionOf(host)
	return !abroad
}

// note notes how the crawls stand that were written.
func (a *abroad) note(written *changes) {
	if a == nil {
		return
	}
	for cr := range written.crawls {
		a.noteCrawl(cr)
	}
}

func (a *abroad) noteCrawl(cr *crawl) {
	p := cr.pass()
	delete(a.waits, p.ID)
	delete(a.leaving, p.ID)
	switch {
	case cr.pending.Load() > 0:
		a.waits[p.ID] = struct{}{}
	case p.left:
		a.leaving[p.ID] = p.number
	}
}

// leave notes that envelopes are on their way.
func (a *abroad) leave(n int) {
	if a != nil {
		a.sending += n
	}
}

// arrived notes that envelopes have arrived, or never will.
func (q *Queue) arrived(n int) {
	q.mu.Lock()
	q.abroad.sending -= n
	q.mu.Unlock()
	notify(q.signal)
}

// over reports whether a queue that has come to its end need not wait for others.
func (a *abroad) over() bool {
	if a == nil {
		return true
	}
	a.resting = true
	return a.Over()
}

// stir notes that there may be something to hand out again.
func (a *abroad) stir() {
	if a != nil {
		a.resting = false
	}
}

// Pending reports for each pass whether its crawl waits for URLs here, as far as is durable. See [Receiver].
func (q *Queue) Pending(all []Pass) []bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	pending := make([]bool, len(all))
	for i, p := range all {
		_, pending[i] = q.abroad.waits[p.Crawl]
	}
	return pending
}

// Requests returns how many requests a crawl has caused here. See [Receiver].
func (q *Queue) Requests(crawl string) (uint64, error) {
	status, err := q.store.CrawlStatus(q.pipeline, crawl)
	return status.Requests, err
}

// Leaving returns the passes of the crawls that begin here and wait for nothing but other partitions. See [Receiver].
func (q *Queue) Leaving() []Pass {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := make([]Pass, 0, len(q.abroad.leaving))
	for id, number := range q.abroad.leaving {
		all = append(all, Pass{Crawl: id, Number: number})
	}
	return all
}

// End notes that a pass is over everywhere. If the crawl has gone on since, that means nothing. See [Receiver].
func (q *Queue) End(p Pass, done func(error)) {
	q.submit(step{apply: func(ch *changes) error {
		if cr := q.crawls.get(p.Crawl); cr != nil && cr.pass().number == p.Number && cr.pending.Load() == 0 {
			cr.alter(ch, func(next *pass) { next.left = false })
		}
		return nil
	}, done: done})
}

// Idle reports whether the queue would end its run, were it alone. See [Receiver].
func (q *Queue) Idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.abroad.resting && len(q.leases) == 0 && q.steps == 0 && q.abroad.sending == 0 && q.err == nil
}

// Wake has a waiting Take ask whether the run is over. See [Receiver].
func (q *Queue) Wake() { notify(q.signal) }
