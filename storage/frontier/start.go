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
// crawl that cannot be, of which Begin returns why.
func (q *Queue) Begin(c webrace.Crawl, newRound bool, done func(Round, error)) error {
	m, err := scope.New(c.Start, c.Scope)
	if err == nil && c.ID == "" {
		err = errors.New("it has no id")
	}
	if err != nil {
		return fmt.Errorf("start crawl %q: %w", c.ID, err)
	}
	host, _ := scope.Host(c.Start)
	s := &start{q: q, crawl: c, scope: m, newRound: newRound, host: hostOf(host)}
	q.mu.Lock()
	q.watchClock(q.store.now())
	q.mu.Unlock()
	q.submit(step{wants: s.wants, apply: s.apply, after: s.after, done: func(err error) {
		if err != nil {
			done(Round{}, fmt.Errorf("start crawl %q: %w", c.ID, err))
			return
		}
		done(s.round, nil)
	}})
	return nil
}

type start struct {
	q        *Queue
	crawl    webrace.Crawl
	scope    scope.Matcher
	newRound bool
	host     hostID

	round   Round
	restart bool // items may have been passed over because the crawl was not started yet
}

func (s *start) wants(ch *changes) {
	ch.want(identify(s.crawl.Secret, urlnorm.Identity(s.crawl.Start)))
}

func (s *start) apply(ch *changes) error {
	cr := s.q.crawls.get(s.crawl.ID)
	if cr == nil {
		ch.q.count.crawls++
		cr = &crawl{number: ch.q.count.crawls}
		pointer.Store(&cr.now, &pass{Crawl: s.crawl})
		s.q.crawls.add(s.crawl.ID, cr)
	}
	next := *cr.pass()
	unfinished := cr.pending.Load() > 0
	inThisRun := s.q.crawls.activate(cr)
	s.restart = unfinished && !inThisRun

	opens := !unfinished && s.newRound
	deeper := next.raise(s.crawl)
	if opens || !inThisRun {
		next.Crawl = s.crawl
	}
	next.scope = s.scope
	if opens {
		next.landing, next.moves, next.started = landing{}, nil, s.q.opt.Began
		if now := s.q.store.now(); next.started.IsZero() || isAhead(nanos.Of(next.started), now) {
			next.started = now
		}
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
	if s.restart {
		s.q.window.restart(s.q.store.now())
	}
	return nil
}
