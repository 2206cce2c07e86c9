package frontier

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/pointer"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/storage/internal/nanos"
)

// Round is one pass of a crawl over its pages.
type Round struct {
	Number  int       // tells the rounds of a crawl apart and grows; 0 before the first
	Started time.Time // what was validated since then is not asked for again in this round
	Resumed bool      // an earlier start had opened it, and it is not finished
	Pending int       // URLs that the crawl waits for
	Refused Reason    // why the start itself is not fetched; 0 when it is
}

// Start makes c one of the crawls of this run: URLs that only other crawls wait for stay queued. It
// resumes the crawl's round if that is unfinished; otherwise, if newRound is set, it opens a new one
// and offers the start. What it did is durable when it returns.
//
// The bounds of c replace those of earlier runs and rounds. Another start within the same round of the
// same run can only widen them, so that it does not matter which of several URDs comes first. Pages that
// lie within a crawl's bounds only since its levels were raised are still reached in this round: those
// on the way to them are walked again, as Stored.
func (q *Queue) Start(ctx context.Context, c webrace.Crawl, newRound bool) (Round, error) {
	type outcome struct {
		round Round
		err   error
	}
	begun := make(chan outcome, 1)
	if err := q.Begin(c, newRound, func(r Round, err error) { begun <- outcome{r, err} }); err != nil {
		return Round{}, err
	}
	select {
	case o := <-begun:
		return o.round, o.err
	case <-ctx.Done():
		return Round{}, fmt.Errorf("start crawl %q: %w", c.ID, ctx.Err())
	}
}

// Begin is Start for a caller who begins many crawls: it does not wait, and one sync of the disk serves all that were
// begun meanwhile. done is called once, as soon as what it did is durable, and must not block; it is not called for a
// crawl that cannot be, of which Begin returns why. A crawl that begins in another partition is begun there; done gets
// the zero Round once that is certain.
func (q *Queue) Begin(c webrace.Crawl, newRound bool, done func(Round, error)) error {
	m, err := scope.New(c.Start, c.Scope)
	if err == nil && c.ID == "" {
		err = errors.New("it has no id")
	}
	if err != nil {
		return fmt.Errorf("start crawl %q: %w", c.ID, err)
	}
	host, _ := scope.Host(c.Start)
	if to, abroad := q.partitionOf(host); abroad {
		q.sendStart(to, c, newRound, done)
		return nil
	}
	q.begin(&start{q: q, crawl: c, scope: m, newRound: newRound, host: hostOf(host)}, done)
	return nil
}

// begin hands in a start that is to be made here.
func (q *Queue) begin(s *start, done func(Round, error)) {
	q.mu.Lock()
	q.watchClock(q.store.now())
	q.mu.Unlock()
	q.submit(step{wants: s.wants, apply: s.apply, after: s.after, done: func(err error) {
		if err != nil {
			done(Round{}, fmt.Errorf("start crawl %q: %w", s.crawl.ID, err))
			return
		}
		done(s.round, nil)
	}})
}

type start struct {
	q        *Queue
	crawl    webrace.Crawl
	scope    scope.Matcher
	newRound bool
	host     hostID
	received bool // from another partition

	round   Round
	begun   *crawl
	restart bool // items may have been passed over because the crawl was not started yet
}

func (s *start) wants(ch *changes) {
	ch.want(identify(s.crawl.Secret, urlnorm.Identity(s.crawl.Start)))
}

func (s *start) apply(ch *changes) error {
	cr := ch.crawl(s.crawl)
	next := *cr.pass()
	if s.q.abroad == nil {
		next.spread = spread{} // the directory was a partition's: there are no others any more
	}
	unfinished := cr.pending.Load() > 0 || next.left
	inThisRun := s.q.crawls.activate(cr)
	s.begun, s.restart = cr, unfinished && !inThisRun

	opens := !unfinished && s.newRound
	deeper := next.raise(s.crawl)
	if opens || !inThisRun {
		next.Crawl = s.crawl
	}
	next.scope = s.scope
	if opens {
		s.q.open(&next, next.number+1)
	}
	if s.received && (opens || unfinished) {
		next.left = true // received again, it opens no other round
	}
	walks := opens || unfinished && deeper
	if walks {
		next.number++
	}
	pointer.Store(&cr.now, &next)
	ch.crawls[cr] = struct{}{}
	if walks {
		if err := s.offer(ch, cr); err != nil {
			return err
		}
	}
	s.round.Number, s.round.Started = int(next.number), next.started
	s.round.Resumed = unfinished
	s.round.Pending = int(cr.pending.Load())
	return nil
}

// crawl returns a crawl, made known if it is not yet.
func (c *changes) crawl(of webrace.Crawl) *crawl {
	cr := c.q.crawls.get(of.ID)
	if cr == nil {
		c.q.count.crawls++
		cr = &crawl{number: c.q.count.crawls}
		pointer.Store(&cr.now, &pass{Crawl: of})
		c.q.crawls.add(of.ID, cr)
	}
	return cr
}

// open makes p that of a new round, whose first pass has this number.
func (q *Queue) open(p *pass, number uint32) {
	p.landing, p.moves, p.started = landing{}, nil, q.opt.Began
	if now := q.store.now(); p.started.IsZero() || isAhead(nanos.Of(p.started), now) {
		p.started = now
	}
	if q.abroad != nil {
		p.spread = spread{opened: number, led: p.led}
	}
}

// offer queues the start. Nothing but the rules and the lists of what is blocked can refuse it: it lies
// within its own scope and depth, and an owner who names a page knows what it looks like.
func (s *start) offer(ch *changes, cr *crawl) error {
	why, by := s.q.opt.Gate.Admit(s.crawl.Start)
	ch.hit(by, 1)
	if why != scope.Pass {
		s.round.Refused = reasonOf(why)
		s.q.refused[s.round.Refused].Add(1)
		return nil
	}
	url, secret := s.crawl.Start, s.crawl.Secret
	identity := urlnorm.Identity(url)
	c := candidate{
		item:     item{id: identify(secret, url), url: url},
		identity: identity, root: identify(secret, identity), secret: secret,
		host: s.host,
		bids: []bid{{crawl: cr}}, start: true,
	}
	_, err := ch.accept(&c)
	return err
}

func (s *start) after() error {
	s.begun.shown = true
	if s.restart {
		s.q.window.restart(s.q.store.now())
	}
	return nil
}
