package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
)

var schedules = flag.Int("schedules", 3, "how many random schedules TestNothingIsOverBeforeAllIsDone goes through; a third as many with a server that fails")

// The work of the test is a tree of pages for each crawl: page n of a crawl leads to pages that follow from n, each of
// which is of any partition. In every other schedule it is one crawl alone whose pages are a chain, so that all but one
// partition have nothing to do.
const (
	crawls = 6
	pages  = 60 // of a crawl
)

// page is a page of a crawl: its number, and that of the crawl, in that order.
type page struct{ crawl, n uint32 }

func (p page) host() string { return fmt.Sprint("host", p.crawl, ".", p.n) }

func crawlName(n uint32) string { return fmt.Sprint("crawl", n) }

// disk is what a partition has durable: it outlives the process.
type disk struct {
	here int
	test *schedule

	mu    sync.Mutex
	todo  map[page]bool // known pages; whether they wait
	ended map[uint32]bool
}

func (d *disk) know(p page) {
	if _, known := d.todo[p]; !known {
		d.todo[p] = true
	}
}

// waits reports whether a crawl waits for pages here; any for crawls.
func (d *disk) waits(crawl uint32) bool {
	for p, waits := range d.todo {
		if waits && (p.crawl == crawl || crawl == crawls) {
			return true
		}
	}
	return false
}

// queue is the queue of a partition in a process, which may be killed.
type queue struct {
	*disk
	rest   frontier.Elsewhere
	killed chan struct{}
	over   chan struct{} // closed when it was told
	once   sync.Once
}

func (q *queue) dead() bool {
	select {
	case <-q.killed:
		return true
	default:
		return false
	}
}

func encodePage(p page) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, p.crawl), p.n)
}

func (q *queue) Receive(data []byte, done func(error)) {
	go func() {
		q.test.pause()
		q.mu.Lock()
		if q.dead() {
			q.mu.Unlock()
			return
		}
		q.know(page{binary.BigEndian.Uint32(data), binary.BigEndian.Uint32(data[4:])})
		q.mu.Unlock()
		done(nil)
	}()
}

func (q *queue) Requests(string) (uint64, error) { return 0, nil }
func (q *queue) Pending(all []frontier.Pass) []bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	pending := make([]bool, len(all))
	for i, p := range all {
		pending[i] = q.waits(numberOf(p.Crawl))
	}
	return pending
}

func numberOf(crawl string) (n uint32) {
	fmt.Sscanf(crawl, "crawl%d", &n)
	return n
}

func (q *queue) Leaving() (all []frontier.Pass) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for crawl := range uint32(crawls) {
		if q.test.of(page{crawl, 0}) == q.here && !q.waits(crawl) && !q.ended[crawl] {
			all = append(all, frontier.Pass{Crawl: crawlName(crawl), Number: 1})
		}
	}
	return all
}

func (q *queue) End(p frontier.Pass, done func(error)) {
	crawl := numberOf(p.Crawl)
	if left := q.test.left(crawl); left > 0 && !q.dead() {
		q.test.t.Errorf("%s is over, and %d of its pages are not done", p.Crawl, left)
	}
	q.mu.Lock()
	q.ended[crawl] = true
	q.mu.Unlock()
	done(nil)
}

func (q *queue) Idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.waits(crawls)
}

func (q *queue) Wake() {
	if q.rest.Over() {
		if left := q.test.left(crawls); left > 0 && !q.dead() {
			q.test.t.Errorf("the run is over, and %d pages are not done", left)
		}
		q.once.Do(func() { close(q.over) })
	}
}

// work does what waits until the run is over, or the process is killed.
func (q *queue) work() {
	for !q.dead() {
		select {
		case <-q.over:
			return
		default:
		}
		p, found := q.next()
		if !found {
			q.test.pause()
			continue
		}
		q.test.pause()
		var abroad []frontier.Envelope
		q.mu.Lock()
		for _, link := range q.test.leadsTo(p) {
			if to := q.rest.Of(link.host()); to == q.here {
				q.know(link)
			} else {
				passes := []frontier.Pass{{Crawl: crawlName(p.crawl), Number: 1}}
				abroad = append(abroad, frontier.Envelope{To: to, Passes: passes, Data: encodePage(link)})
			}
		}
		q.mu.Unlock()
		sent := make(chan error, 1)
		if q.rest.Send(abroad, func(err error) { sent <- err }); !q.arrives(sent) {
			return
		}
		q.mu.Lock()
		if !q.dead() {
			q.todo[p] = false
		}
		q.mu.Unlock()
	}
}

func (q *queue) arrives(sent <-chan error) bool {
	select {
	case err := <-sent:
		return err == nil
	case <-q.killed:
		return false
	}
}

func (q *queue) next() (page, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for p, waits := range q.todo {
		if waits {
			return p, true
		}
	}
	return page{}, false
}

// schedule is a run of nodes of which some are killed.
type schedule struct {
	t     *testing.T
	url   string
	disks []*disk
	nodes []*process

	children uint32           // how many pages one leads to
	every    time.Duration    // how often nodes look
	server   *postgres.Server // that may be killed; nil: none

	mu     sync.Mutex
	random *rand.Rand
}

// leadsTo returns what links a page has: those below it, and one that is known.
func (s *schedule) leadsTo(p page) (all []page) {
	for i := range s.children {
		if n := p.n*s.children + 1 + i; n < pages {
			all = append(all, page{p.crawl, n})
		}
	}
	return append(all, page{p.crawl, p.n / 2})
}

func (s *schedule) of(p page) int { return PartitionOf(p.host(), len(s.disks)) }

func (s *schedule) intn(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.IntN(n)
}

// pause lets others go on, for as long as chance says.
func (s *schedule) pause() {
	time.Sleep(time.Duration(s.intn(2000)) * time.Microsecond) // what takes time, takes some
}

// left returns how many pages are not done of a crawl, or of all.
func (s *schedule) left(crawl uint32) (n int) {
	for c := range uint32(crawls) {
		if crawl != c && crawl != crawls {
			continue
		}
		for i := range uint32(pages) {
			d := s.disks[s.of(page{c, i})]
			d.mu.Lock()
			if waits, known := d.todo[page{c, i}]; !known || waits {
				n++
			}
			d.mu.Unlock()
		}
	}
	return n
}

// process is a node that runs.
type process struct {
	c       *Cluster
	queues  []*queue
	killed  chan struct{}
	working sync.WaitGroup
}

func (s *schedule) start(node int) *process {
	s.t.Helper()
	var c *Cluster
	err := retry(s.t.Context(), func() (err error) { // a node that finds the database away is started again
		c, err = Open(s.t.Context(), s.url, node, Options{
			Place: fmt.Sprint("place", node), Retry: retry, Logger: slog.New(slog.DiscardHandler), askEvery: s.every, lookEvery: s.every,
		})
		return control.AsAway("the server", err)
	})
	if err != nil {
		s.t.Fatal(err)
	}
	p := &process{c: c, killed: make(chan struct{})}
	for _, here := range c.Mine() {
		rest, err := c.Elsewhere("p", here, true)
		if err != nil {
			s.t.Fatal(err)
		}
		q := &queue{disk: s.disks[here], rest: rest, killed: p.killed, over: make(chan struct{})}
		p.queues = append(p.queues, q)
		detach := rest.Attach(q)
		p.working.Go(func() {
			q.work()
			<-either(q.over, q.killed)
			detach()
		})
	}
	return p
}

// retry asks again while the database is away.
func retry(ctx context.Context, f func() error) error {
	for {
		err := f()
		if !errors.As(err, new(*control.AwayError)) || ctx.Err() != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond) // between two tries of something that fails at once
	}
}

func either(a, b <-chan struct{}) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-a:
		case <-b:
		}
	}()
	return done
}

// kill ends a process where it stands: nothing that it has under way gets anywhere any more.
func (p *process) kill() {
	close(p.killed)
	p.c.db.Close()
	p.c.end()
	p.working.Wait()
	p.c.working.Wait()
}

func (p *process) isOver() bool {
	return !slices.ContainsFunc(p.queues, func(q *queue) bool {
		select {
		case <-q.over:
			return false
		default:
			return true
		}
	})
}

// Nodes work off pages that lead to those of others, are killed at random moments and started again. Everything is
// done; a crawl is over, where it begins, once that is so, and so is the run, on all nodes.
func TestNothingIsOverBeforeAllIsDone(t *testing.T) {
	t.Parallel()
	for seed := range *schedules {
		newSchedule(t, made(t, Shape{4, 2}), seed).run()
	}
}

// The same holds when the server is killed, too, and of many transactions nobody learns whether they were committed.
func TestNothingIsOverBeforeAllIsDoneThoughTheDatabaseFails(t *testing.T) {
	if testing.Short() {
		t.Skip("the same as TestNothingIsOverBeforeAllIsDone once more: not in short mode")
	}
	t.Parallel()
	server := postgres.New(t, postgres.Options{})
	proxy := postgres.NewProxy(t, server)
	for seed := range (*schedules + 2) / 3 {
		url := server.Database(t)
		makeIn(t, url, Shape{4, 2})
		s := newSchedule(t, proxy.URL(t, url), seed)
		s.server = server
		var lost atomic.Int64
		cut := func() bool {
			is := s.intn(10) == 0
			if is {
				lost.Add(1)
			}
			return is
		}
		proxy.AtCommit(cut)
		proxy.AtAnswer(cut)
		proxy.AtChange(func(statement string) bool { return strings.Contains(statement, "webrace.inbox") && cut() })
		s.run()
		t.Logf("seed %d: %d commits or answers lost", seed, lost.Load())
	}
}

// newSchedule begins the crawls.
func newSchedule(t *testing.T, url string, seed int) *schedule {
	s := &schedule{t: t, url: url, children: 3, every: 20 * time.Millisecond, random: rand.New(rand.NewPCG(7, uint64(seed)))}
	for here := range 4 {
		s.disks = append(s.disks, &disk{here: here, test: s, todo: make(map[page]bool), ended: make(map[uint32]bool)})
	}
	for c := range uint32(crawls) {
		s.disks[s.of(page{c, 0})].know(page{c, 0})
	}
	if seed%2 == 0 {
		return s
	}
	s.every = time.Millisecond // something is seen as over though it is not, if it ever is
	s.children = 1
	for c := range uint32(crawls - 1) {
		for n := range uint32(pages) {
			s.disks[s.of(page{c, n})].todo[page{c, n}] = false
		}
	}
	return s
}

// run has the nodes do all, and kills some.
func (s *schedule) run() {
	s.t.Helper()
	s.nodes = []*process{s.start(0), s.start(1)}
	kills := 0
	for range 6 {
		time.Sleep(time.Duration(s.intn(60)) * time.Millisecond) // the moment of the kill
		if s.left(crawls) < crawls*pages/10 {
			break // what is over while a node is down begins anew with it
		}
		s.killOne()
		kills++
	}
	deadline := time.Now().Add(time.Minute)
	for !s.nodes[0].isOver() || !s.nodes[1].isOver() {
		if time.Sleep(time.Millisecond); time.Now().After(deadline) { // asks again
			s.t.Fatalf("the run does not end: %d pages are not done", s.left(crawls))
		}
	}
	for _, n := range s.nodes {
		n.working.Wait()
		if err := n.c.Close(); err != nil {
			s.t.Error(err)
		}
	}
	ended := 0
	for _, d := range s.disks {
		ended += len(d.ended)
	}
	if left := s.left(crawls); left > 0 {
		s.t.Errorf("%d pages are not done at the end", left)
	}
	if ended != crawls {
		s.t.Errorf("%d crawls are over with the run, want %d", ended, crawls)
	}
	s.t.Logf("%d kills", kills)
}

// killOne kills a node, or the server under them all, and starts it again.
func (s *schedule) killOne() {
	s.t.Helper()
	if s.server != nil && s.intn(2) == 0 {
		s.server.Kill(s.t)
		s.pause()
		s.server.Start(s.t)
		return
	}
	node := s.intn(len(s.nodes))
	s.nodes[node].kill()
	s.nodes[node] = s.start(node)
}
