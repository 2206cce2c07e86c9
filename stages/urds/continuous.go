package urds

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/storage/schedule"
)

// rounds opens the rounds of a continuous run. One goroutine owns it.
type rounds struct {
	*stage
	frontier *frontier.Store
	out      pipeline.Emitter
	agenda   *schedule.Agenda
	book     *book
	ledger   *ledger
	failures failures
	latest   time.Time // when the agenda was last asked, by the clock
}

// failures are crawls whose round could not be opened.
type failures struct {
	mu     sync.Mutex
	crawls []string
	signal chan struct{} // capacity 1
}

func (f *failures) add(crawl string) {
	f.mu.Lock()
	f.crawls = append(f.crawls, crawl)
	f.mu.Unlock()
	select {
	case f.signal <- struct{}{}:
	default:
	}
}

func (f *failures) take() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.crawls
	f.crawls = nil
	return all
}

// event is what happens outside of the stage.
type event struct {
	changed  *control.Point
	statuses []frontier.CrawlStatus
}

func (s *stage) runContinuously(ctx context.Context, out pipeline.Emitter) error {
	r, from, err := s.newRounds(ctx, out)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	happened := make(chan event)
	var listeners sync.WaitGroup
	defer listeners.Wait()
	defer stop(nil) // before waiting
	listen := func(to func() error) { listeners.Go(func() { stop(s.env.Try(to)) }) }
	listen(func() error { return r.listenToChanges(ctx, from, happened) })
	listen(func() error { return r.listenToStatuses(ctx, happened) })
	if err := r.run(ctx, from, happened); err != nil && ctx.Err() == nil {
		return err
	}
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return r.ledger.write(context.WithoutCancel(ctx), time.Now())
}

// newRounds reads what people ask for, and how it stands.
func (s *stage) newRounds(ctx context.Context, out pipeline.Emitter) (*rounds, control.Point, error) {
	r := &rounds{stage: s, out: out, failures: failures{signal: make(chan struct{}, 1)}, agenda: schedule.New(schedule.Options{
		Policy: schedule.Policies[s.options.Policy], AtOnce: s.options.Rounds, Quota: s.options.Quota,
	})}
	from, err := s.control.Now(ctx)
	if err == nil {
		r.frontier, err = s.dir.Frontier()
	}
	if err == nil {
		r.ledger, err = openLedger(ctx, s.control, s.env.Pipeline, s.here != nil)
	}
	if err == nil {
		r.book, err = newBook(s.options, s.serves())
	}
	if err == nil {
		err = r.begin(ctx, from)
	}
	if err != nil {
		return nil, from, fmt.Errorf("read what people ask for: %w", err)
	}
	return r, from, nil
}

// begin enters all URDs into the agenda, with how their crawls stand: unfinished rounds are resumed, and
// those that are finished count from when they began.
func (r *rounds) begin(ctx context.Context, from control.Point) error {
	now := time.Now()
	if err := r.setQuotas(ctx, now); err != nil {
		return err
	}
	statuses, err := r.frontier.CrawlStatuses(r.env.Pipeline)
	if err == nil {
		err = r.complete(ctx, statuses)
	}
	if err != nil {
		return err
	}
	stood := make(map[string]frontier.CrawlStatus, len(statuses))
	for _, s := range statuses {
		stood[s.Crawl] = s
	}
	since, err := r.control.AllTimesSince(ctx)
	if err != nil {
		return err
	}
	for urd, err := range r.control.Query(ctx, r.options.Query) {
		if err != nil {
			return err
		}
		if r.book.chosen(urd) {
			r.enter(urd, stood, since[urd.ID], now)
		}
	}
	for _, s := range statuses {
		if c := r.book.crawls[s.Crawl]; c != nil && !c.open && r.ledger.cost(s) > 0 {
			r.account(s, visitOf(s, now), now)
		}
	}
	r.count()
	if len(r.book.urds) == 0 && r.here == nil {
		r.env.Logger.Info("no URD to crawl for; waiting for one", "xpath", r.options.Query, "ids", r.options.IDs)
	}
	return r.control.Copied(ctx, from.Revision)
}

// visitOf is the visit that the last round of a crawl was. Of one that began ahead of now, because the clock was
// set back since, nothing is known of when that was: the next one is due at once.
func visitOf(s frontier.CrawlStatus, now time.Time) schedule.Visit {
	v := schedule.Visit{Began: s.Started, Interval: s.Interval}
	if schedule.Ahead(s.Started, now) {
		v.Began = time.Unix(0, 0)
	}
	return v
}

// enter enters a URD when the run begins, the times of which count from since on.
func (r *rounds) enter(urd control.URD, stood map[string]frontier.CrawlStatus, since, now time.Time) {
	id := urd.Crawl.ID
	c := r.book.crawls[id]
	s := stood[id]
	if c == nil {
		c = r.book.crawl(id)
		c.round, c.opened = s.Round, s.Started
		if schedule.Ahead(s.Started, now) {
			c.opened = now
		}
		if s.Round > 0 {
			r.agenda.Visited(id, visitOf(s, now), now)
		}
		r.ledger.know(id, s.Requests)
	}
	if schedule.Ahead(since, now) {
		since = now
	}
	r.book.add(urd, since)
	r.agenda.Put(r.book.requestOf(urd.ID), now)
	switch {
	case s.Pending > 0 && !c.open:
		r.book.setOpen(c, true)
		c.round = s.Round - 1
		r.agenda.Resume(id)
		c.resume = true
	case s.Round == 0 && urd.At == "":
		return
	}
	if urd.At == "" && urd.Interest > r.ledger.openedFor(id) || urd.CheckAsked.After(s.Started) {
		r.agenda.CheckNow(urd.ID, now)
	}
}

// run opens rounds until the run drains.
func (r *rounds) run(ctx context.Context, at control.Point, happened <-chan event) error {
	for _, c := range r.book.toResume() {
		if err := r.emit(ctx, c, 0); err != nil {
			return err
		}
	}
	for {
		now := time.Now()
		r.watchClock(now)
		due, next, err := r.due(ctx, now)
		if err != nil {
			return err
		}
		for _, id := range due {
			if err := r.open(ctx, id, at.Revision, now); err != nil {
				return err
			}
		}
		r.showNext(next)
		timer := time.NewTimer(r.wait(next))
		select {
		case e := <-happened:
			if e.changed != nil {
				err = r.changed(ctx, at, *e.changed)
				at = *e.changed
			}
			err = errors.Join(err, r.ended(ctx, e.statuses, time.Now()))
		case <-r.failures.signal:
			r.notOpened(r.failures.take(), time.Now())
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			r.showNext(time.Time{})
			return nil
		}
		timer.Stop()
		if err == nil {
			err = r.ledger.writeWhenDue(ctx, time.Now())
		}
		if err != nil {
			return err
		}
	}
}

// watchClock finds out whether the clock was set back since the agenda was last asked.
func (r *rounds) watchClock(now time.Time) {
	at := now.Round(0) // by the clock, and not by how long the process runs
	if schedule.Ahead(r.latest, at) {
		r.agenda.ClockSetBack(at)
		for _, c := range r.book.crawls {
			if schedule.Ahead(c.opened, at) {
				c.opened = at
			}
		}
	}
	r.latest = at
}

// lookAgain is how long the clock may be put forward, or the machine sleep, before that is noticed.
const lookAgain = time.Minute

// wait is how long nothing has to be done, if nothing happens.
func (r *rounds) wait(next time.Time) time.Duration {
	wait := time.Duration(1<<63 - 1)
	if !next.IsZero() {
		wait = min(time.Until(next), lookAgain)
	}
	if r.ledger.dirty() {
		wait = min(wait, writeEvery)
	}
	return wait
}

// showNext shows how many rounds are open, and when the next one is due, to operators who watch the run.
func (r *rounds) showNext(next time.Time) {
	at := int64(0)
	if !next.IsZero() {
		at = next.UnixMilli()
	}
	r.env.Level("next_round").Store(at)
	r.env.Level("open_rounds").Store(int64(r.book.open))
}

// open opens a round of a crawl, for the URDs of a revision.
func (r *rounds) open(ctx context.Context, id string, revision int64, now time.Time) error {
	c := r.book.crawls[id]
	r.book.setOpen(c, true)
	c.opened = now
	r.ledger.know(id, 0)
	r.env.Counter("opened").Add(1)
	return r.emit(ctx, c, revision)
}

// emit sends the seed of a crawl. Once it has been dealt with, the round is open, and durable; a revision
// of 0 means that it was before.
func (r *rounds) emit(ctx context.Context, c *crawl, revision int64) error {
	seed := c.merged()
	return r.out.Emit(ctx, pipeline.NewItem(webrace.Request{URL: seed.Start, Crawl: &seed}, func(o pipeline.Outcome) {
		if o.Err == nil {
			r.ledger.opened(c.id, revision)
		} else {
			r.failures.add(c.id)
		}
	}))
}

// notOpened gives up rounds that could not be opened: the next ones are due as if they had been.
func (r *rounds) notOpened(ids []string, now time.Time) {
	for _, id := range ids {
		if c := r.book.crawls[id]; c.open {
			r.book.setOpen(c, false)
			r.agenda.Visited(id, schedule.Visit{Began: c.opened}, now)
		}
	}
}

// ended takes note of rounds that have ended, and charges for them.
func (r *rounds) ended(ctx context.Context, statuses []frontier.CrawlStatus, now time.Time) error {
	var over []frontier.CrawlStatus
	for _, s := range statuses {
		if c := r.book.crawls[s.Crawl]; c != nil && c.open && s.Pending == 0 && s.Round > c.round {
			over = append(over, s)
		}
	}
	if err := r.complete(ctx, over); err != nil {
		return err
	}
	for _, s := range over {
		c := r.book.crawls[s.Crawl]
		r.book.setOpen(c, false)
		c.round = s.Round
		r.account(s, schedule.Visit{Began: c.opened, Interval: s.Interval}, now)
	}
	return nil
}

// account charges the owners of a crawl for a visit, which is no longer under way.
func (r *rounds) account(s frontier.CrawlStatus, v schedule.Visit, now time.Time) {
	v.Cost = r.ledger.cost(s)
	owners, share := r.agenda.Visited(s.Crawl, v, now)
	r.ledger.charge(s, owners, share)
	if r.here != nil && slices.ContainsFunc(owners, func(owner string) bool { return r.quotaOf(owner) > 0 }) {
		r.ledger.written = time.Time{} // others look at it before they open a round
	}
}

// listenToChanges passes on that something was changed, once every copy of the URDs has it: what is opened
// for a URD is matched with it.
func (r *rounds) listenToChanges(ctx context.Context, at control.Point, happened chan<- event) error {
	for {
		next, err := r.control.NextChange(ctx, at)
		if err == nil {
			err = r.control.Copied(ctx, next.Revision)
		}
		if err != nil {
			return err
		}
		at = next
		select {
		case happened <- event{changed: &next}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (r *rounds) listenToStatuses(ctx context.Context, happened chan<- event) error {
	for cursor := uint64(0); ; {
		statuses, next, err := r.frontier.WaitStatus(ctx, r.env.Pipeline, cursor)
		if err != nil {
			return err
		}
		cursor = next
		select {
		case happened <- event{statuses: statuses}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
