package frontier

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/broadcast"
)

// CrawlStatus is how a crawl stands in a pipeline's frontier.
type CrawlStatus struct {
	Crawl    string
	Round    int           // 0 before the first
	Started  time.Time     // when the round began
	Pending  int           // URLs the crawl still waits for, those of other partitions as one; 0: the round is finished
	Requests uint64        // requests over the network ever made that served it; one that serves several crawls counts for each
	Visited  time.Time     // when its start was last validated; zero before
	Interval time.Duration // of its start, as adapted ([webrace.Visit] Interval); 0 before the first visit
	Changed  bool          // the last visit of the start found a new document
}

// CrawlStatuses returns how every crawl stands that was ever started in a pipeline, as of the last commit and
// in the order of their ids. The pipeline's queue may be open or not; one that never had a queue has none.
func (s *Store) CrawlStatuses(pipeline string) (all []CrawlStatus, err error) {
	err = s.crawls(pipeline, func(c *crawl) { all = append(all, c.status()) })
	return all, err
}

// Crawls returns the crawls that CrawlStatuses tells of.
func (s *Store) Crawls(pipeline string) (all []webrace.Crawl, err error) {
	err = s.crawls(pipeline, func(c *crawl) { all = append(all, c.pass().Crawl) })
	return all, err
}

func (s *Store) crawls(pipeline string, f func(*crawl)) error {
	k, known, err := s.knownKeys(pipeline)
	if err != nil || !known {
		return err
	}
	err = s.db.Scan(k.start(kindCrawl), k.end(kindCrawl), func(_, value []byte) (bool, error) {
		c, err := decodeCrawl(value)
		if err == nil {
			f(c)
		}
		return true, err
	})
	if err != nil {
		return fmt.Errorf("status of the crawls of %s: %w", pipeline, err)
	}
	return nil
}

func (c *crawl) status() CrawlStatus {
	p, pending := c.pass(), int(c.pending.Load())
	if p.left {
		pending = max(pending, 1)
	}
	return CrawlStatus{
		Crawl: p.ID, Round: int(p.number), Started: p.started, Pending: pending,
		Requests: c.history.requests, Visited: c.history.visited, Interval: c.history.interval, Changed: c.history.changed,
	}
}

// WaitStatus waits until crawls of a pipeline have news after a cursor: a start was visited, or a round
// ended. It returns how those crawls stand now, each once and the earliest news first, and the cursor to
// go on from. What it tells of is durable. A cursor is of this process: 0 is its beginning.
func (s *Store) WaitStatus(ctx context.Context, pipeline string, after uint64) ([]CrawlStatus, uint64, error) {
	ids, next, err := s.news.after(ctx, pipeline, after)
	if err != nil {
		return nil, after, err
	}
	k, _, err := s.knownKeys(pipeline)
	if err != nil {
		return nil, after, err
	}
	all := make([]CrawlStatus, 0, len(ids))
	for _, id := range ids {
		status, err := s.crawlStatus(k, id)
		if err != nil {
			return nil, after, fmt.Errorf("status of crawl %q of %s: %w", id, pipeline, err)
		}
		all = append(all, status)
	}
	return all, next, nil
}

// CrawlStatus returns how a crawl stands that was started in a pipeline, as CrawlStatuses does.
func (s *Store) CrawlStatus(pipeline, id string) (CrawlStatus, error) {
	k, _, err := s.knownKeys(pipeline)
	if err != nil {
		return CrawlStatus{}, err
	}
	status, err := s.crawlStatus(k, id)
	if err != nil {
		return CrawlStatus{}, fmt.Errorf("status of crawl %q of %s: %w", id, pipeline, err)
	}
	return status, nil
}

func (s *Store) crawlStatus(k keys, id string) (CrawlStatus, error) {
	value, err := s.db.Value(k.crawl(id))
	if err != nil {
		return CrawlStatus{}, err
	}
	c, err := decodeCrawl(value)
	if err != nil {
		return CrawlStatus{}, err
	}
	return c.status(), nil
}

// tell spreads the news of what was written.
func (q *Queue) tell(written *changes) {
	news := written.startVisited
	for cr := range written.crawls {
		if !cr.unfinished() {
			news = append(news, cr)
		}
	}
	if len(news) > 0 {
		q.store.news.tell(q.pipeline, news)
	}
}

// news holds which crawls have news, in the order of the last time that they had.
type news struct {
	mu     sync.Mutex
	of     map[string]*crawlNews // by pipeline
	come   broadcast.Cond        // at the next news, and at the end
	closed bool
}

type crawlNews struct {
	number uint64
	inTurn list.List // of told, the latest last
	last   map[string]*list.Element
}

// told is the number of the last news of a crawl.
type told struct {
	crawl  string
	number uint64
}

func (n *news) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	n.come.Broadcast()
}

func (n *news) tell(pipeline string, crawls []*crawl) {
	n.mu.Lock()
	defer n.mu.Unlock()
	of := n.of[pipeline]
	if of == nil {
		of = &crawlNews{last: map[string]*list.Element{}}
		n.of[pipeline] = of
	}
	for _, c := range crawls {
		of.number++
		id := c.pass().ID
		if e := of.last[id]; e != nil {
			e.Value = told{id, of.number}
			of.inTurn.MoveToBack(e)
			continue
		}
		of.last[id] = of.inTurn.PushBack(told{id, of.number})
	}
	n.come.Broadcast()
}

// after waits for news after a cursor, and returns the crawls that have some and the cursor after those.
func (n *news) after(ctx context.Context, pipeline string, cursor uint64) (crawls []string, next uint64, err error) {
	for {
		come := n.come.Next() // before looking, so that nothing slips in between
		crawls, next, err := n.since(pipeline, cursor)
		if len(crawls) > 0 || err != nil {
			return crawls, next, err
		}
		select {
		case <-come:
		case <-ctx.Done():
			return nil, cursor, ctx.Err()
		}
	}
}

func (n *news) since(pipeline string, cursor uint64) (crawls []string, next uint64, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, cursor, ErrClosed
	}
	of := n.of[pipeline]
	if of == nil || of.number <= cursor {
		return nil, cursor, nil
	}
	first := of.inTurn.Back()
	for e := first; e != nil && e.Value.(told).number > cursor; e = e.Prev() {
		first = e
	}
	for e := first; e != nil; e = e.Next() {
		crawls = append(crawls, e.Value.(told).crawl)
	}
	return crawls, of.number, nil
}
