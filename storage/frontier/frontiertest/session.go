package frontiertest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/frontier"
)

// session is one frontier in use, with one queue. Its methods end the test when something fails.
type session struct {
	ctx     context.Context
	backend Backend
	at      time.Time
	ticks   atomic.Int64 // the clock never stands still
	options frontier.QueueOptions

	store   Store
	queue   Queue
	started map[string]bool
}

const pipeline = "conformance"

// failure ends a test.
type failure struct{ error }

func (s *session) failf(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

func (s *session) must(err error, what string) {
	if err != nil {
		s.failf("%s: %w", what, err)
	}
}

func (s *session) now() time.Time { return s.at.Add(time.Duration(s.ticks.Add(1))) }

func (s *session) open() {
	var err error
	s.store, err = s.backend.Open(s.now)
	s.must(err, "open")
	s.queue, err = s.store.Queue(pipeline, s.options)
	s.must(err, "open the queue")
}

// kill loses power, goes on after d, and has the crawls go on that were started before; others begin.
func (s *session) kill(d time.Duration, crawls ...webrace.Crawl) {
	s.must(s.backend.Kill(s.store), "kill")
	s.store = nil
	s.at = s.at.Add(d)
	s.open()
	for _, c := range crawls {
		_, err := s.queue.Start(s.ctx, c, !s.started[c.ID])
		s.must(err, "start again")
		s.started[c.ID] = true
	}
}

func (s *session) start(c webrace.Crawl) frontier.Round {
	r, err := s.queue.Start(s.ctx, c, true)
	s.must(err, "start")
	s.started[c.ID] = true
	return r
}

func (s *session) take() Lease {
	l, err := s.queue.Take(s.ctx)
	s.must(err, "take")
	return l
}

// links offers urls as links of a page that is out.
func (s *session) links(l Lease, urls ...string) frontier.Offered {
	type answer struct {
		o   frontier.Offered
		err error
	}
	got := make(chan answer, 1)
	req := l.Request()
	s.queue.Offer(&webrace.Links{From: req.URL, Reach: req.Reach, Via: webrace.ViaLink, URLs: urls},
		func(o frontier.Offered, err error) { got <- answer{o, err} })
	select {
	case a := <-got:
		s.must(a.err, "offer")
		return a.o
	case <-s.ctx.Done():
		s.failf("offer: it is never done")
	}
	return frontier.Offered{}
}

func (s *session) finish(l Lease, o frontier.Outcome) {
	got := make(chan error, 1)
	l.Done(o, func(err error) { got <- err })
	select {
	case err := <-got:
		s.must(err, "done")
	case <-s.ctx.Done():
		s.failf("done: it is never called back")
	}
}

// done ends a lease as a visit that brought a document.
func (s *session) done(l Lease) {
	s.finish(l, frontier.Outcome{Learned: []webrace.Learned{func(v *webrace.Visit) { v.At, v.Status, v.Version = s.now(), 200, 1 }}})
}

// seed starts a crawl with some URLs, whose start is done.
func (s *session) seed(c webrace.Crawl, urls ...string) {
	s.start(c)
	l := s.take()
	if o := s.links(l, urls...); o.Accepted != len(urls) {
		s.failf("of %d URLs that are new %d were accepted", len(urls), o.Accepted)
	}
	s.done(l)
}

// drain works off everything, and returns the requests in order.
func (s *session) drain() (all []webrace.Request) {
	s.queue.Seal()
	for {
		l, err := s.queue.Take(s.ctx)
		if errors.Is(err, io.EOF) {
			return all
		}
		s.must(err, "take")
		all = append(all, l.Request())
		s.done(l)
	}
}

// want expects that draining gives each of urls once, and nothing else.
func (s *session) want(urls ...string) {
	left := map[string]bool{}
	for _, u := range urls {
		left[u] = true
	}
	for _, r := range s.drain() {
		if !left[r.URL] {
			s.failf("%s is handed out, and was not to be, or for the second time", r.URL)
		}
		delete(left, r.URL)
	}
	for u := range left {
		s.failf("%s is never handed out", u)
	}
}

func crawlOf(host string) webrace.Crawl {
	return webrace.Crawl{ID: host, Start: "http://" + host + "/", Scope: webrace.ScopeAny, Urgency: 1}
}

func pages(host string, n int) (urls []string) {
	for i := range n {
		urls = append(urls, fmt.Sprintf("http://%s/%d", host, i))
	}
	return urls
}
