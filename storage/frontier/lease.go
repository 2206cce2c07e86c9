package frontier

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace"
)

// Lease is a URL that was handed out. It holds one of its host's slots until Release, and keeps the URL
// from being handed out again until Done.
type Lease struct {
	q       *Queue
	item    item
	host    hostID
	level   level
	request webrace.Request
	served  []served
	record  *record // of the URL, as of the last commit that was shown; the committer keeps it so
	hint    Hint    // that decided whether it is asked for
	left    bool    // it is asked only whether it has moved

	slot       bool // of its host; guarded by the queue's lock
	ended      atomic.Bool
	redirected bool  // the URL answered so; guarded by the queue's lock
	repeat     *item // the URL is queued again as this, because it may answer otherwise by now; guarded by the queue's lock

	leads bool // it was released with an answer that leads on; guarded by the queue's lock
	led   bool // where its document leads is queued; guarded by the queue's lock

	again []again // what came up while it was out, and waits for it; guarded by the queue's lock
	hits  hits    // of rules, by what was offered for it; guarded by the queue's lock
}

// again is where the same URL, or one that waits for what it answers or leads to, is, or was, queued.
type again struct {
	id urlID
	hostQueueID
	order uint64
}

// served is a crawl that this lease works for, as it stood when the URL was handed out.
type served struct {
	crawl           *crawl
	round, distance uint32
}

// Request returns what to fetch. Reach are the crawls that waited for the URL when it was handed out,
// and Stored means that no request is needed: the document was validated since the round of one of them began, or is
// fresh. A stored answer may be that there is no document: then Visit.Status tells why.
func (l *Lease) Request() webrace.Request { return l.request }

// Name returns what the lease is, whenever the URL is handed out: the URL for a crawl, and the round.
func (l *Lease) Name() (request string, round uint64) {
	request = l.request.Secret + " " + l.request.URL
	if len(l.served) > 0 {
		request, round = fmt.Sprintf("crawl %d: %s", l.served[0].crawl.number, request), uint64(l.served[0].round)
	}
	return request, round
}

// Take returns the next URL to fetch, and waits for one if need be. It returns [io.EOF] once the queue
// is sealed, no lease is out, and nothing is due any more for the crawls started in this run; what is
// delayed by more than the option Wait stays for the next one. In a cluster it waits until that is so everywhere.
func (q *Queue) Take(ctx context.Context) (*Lease, error) {
	defer notify(q.signal) // another taker may find more, or the same end
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
		next := q.window.pick(now)
		switch {
		case next != nil:
			if l, err := q.takeFrom(next, now); l != nil || err != nil {
				return l, 0, err
			}
		case !loaded:
			until, err := q.nothing(now)
			return nil, until, err
		}
	}
}

// bringBack asks for the hosts and items that are due, so that what waited gets its turn while others
// are busy.
func (q *Queue) bringBack(now time.Time) {
	if q.timer <= now.UnixNano() && !q.waking && q.err == nil {
		q.waking = true
		q.later(q.wakeStep(now))
	}
}

// takeFrom leases the next item of a host queue, unless it turns out that it is not to be handed out.
func (q *Queue) takeFrom(from *hostQueue, now time.Time) (*Lease, error) {
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

// lease hands out an item, or returns nil when it is not to be handed out: it is out already, is no
// longer queued here, or no crawl of this run waits for it.
func (q *Queue) lease(from *hostQueue, it queued, now time.Time) (*Lease, error) {
	here := again{it.id, hostQueueID{from.host.id, from.level}, it.order}
	if out := q.leases[it.id]; out != nil {
		out.holdBack(here)
		return nil, nil
	}
	at := place{kind: inHostQueue, level: from.level, order: it.order}
	rec, err := q.recordOf(&it.item, at)
	if err != nil || rec == nil || rec.place != at {
		return nil, err
	}
	l := &Lease{q: q, item: it.item, host: from.host.id, level: from.level, record: rec}
	within, active, err := l.serve(rec)
	if err != nil || !active {
		return nil, err
	}
	if why, by := q.still(it.url); why != accepted {
		q.leases[it.id] = l
		l.ended.Store(true)
		q.later(l.refusal(by))
		return nil, nil
	}
	if err := l.describe(within, from.host, now); err != nil {
		return nil, err
	}
	if out := l.waitsFor(it.order); out != nil {
		out.holdBack(here)
		return nil, nil
	}
	q.leases[it.id] = l
	switch {
	case len(within) == 0: // the levels were lowered since it was queued
		l.ended.Store(true)
		q.later(l.ending(&ending{dropped: true}, nil))
		return nil, nil
	case l.left && l.request.Stored && !isPermanent(l.request.Visit.Status):
		l.ended.Store(true)
		q.later(l.ending(&ending{dropped: true}, nil))
		return nil, nil
	case l.request.Stored && isRedirect(l.request.Visit.Status) && rec.redirect != "":
		l.ended.Store(true)
		q.later(l.forward(rec.redirect))
		return nil, nil
	}
	l.slot = true
	from.host.inflight++
	return l, nil
}

// waitsFor returns the lease that a URL in this place of its queue waits for before it is handed out; nil for none.
func (l *Lease) waitsFor(order uint64) *Lease {
	if out := l.mayFollow(order); out != nil {
		return out
	}
	return l.leader()
}

// leader returns the lease of the document that the URL was found in, if that has not offered its links: a process died
// before it was done with it, after these were durable; or that which such a document waits for itself. So a page is
// handed out after those that lead to it, as it is when no process dies, and what it says can be compared with what
// they say now. It is a wait for the links, not for what becomes of the document.
func (l *Lease) leader() *Lease {
	if l.item.from == "" {
		return nil
	}
	from := identify(l.served[0].crawl.pass().Secret, l.item.from)
	out := l.q.leases[from]
	if out == nil {
		return l.q.held[from]
	}
	if out.led {
		return nil
	}
	return out
}

// holdBack notes what is to wait for the lease.
func (l *Lease) holdBack(what again) {
	if !slices.Contains(l.again, what) {
		l.again = append(l.again, what)
	}
	l.q.held[what.id] = l
}

// describe fills in what to fetch for the crawls within whose levels it lies, with what the last visit left behind.
func (l *Lease) describe(within []mark, on *host, now time.Time) (err error) {
	q := l.q
	var visit *webrace.Visit
	if l.record.visited() {
		if visit, err = q.store.readVisit(q.keys, l.item.id); err != nil {
			return err
		}
	}
	if visit != nil {
		if visit.Shown, err = q.shownTo(l.record); err != nil {
			return err
		}
	}
	secret := l.served[0].crawl.pass().Secret
	gone := q.gone(secret, l.item.url, visit) || l.mayAnswerOtherwise(visit)
	l.request = webrace.Request{
		URL: l.item.url, From: l.item.from, Redirects: l.item.redirects, Secret: secret, Visit: visit,
		Left: l.left, Instead: l.item.instead,
	}
	if l.left {
		l.request.Stored = visit != nil && !visit.At.Before(l.served[0].crawl.pass().started)
	} else {
		l.request.Stored = !gone && l.answers(visit, on, now)
	}
	l.request.Reach, err = q.reach(within)
	return err
}

// mayAnswerOtherwise reports whether the last visit found a redirect that does not hold any more.
func (l *Lease) mayAnswerOtherwise(v *webrace.Visit) bool {
	return v != nil && v.Error == "" && isRedirect(v.Status) && l.record.redirect == ""
}

// recordOf returns the record of the URL of an item in the window: if the item holds all of it, without
// reading it. What the window holds of an item is not older than the last commit that was shown.
func (q *Queue) recordOf(it *item, at place) (*record, error) {
	if it.alone != (coming{}) {
		return it.alone.record(at), nil
	}
	return q.store.readRecord(q.keys, it.id)
}

// serve notes the crawls that wait for a URL. It returns the marks of those within whose levels it lies,
// and whether any is known to have been started in this run.
func (l *Lease) serve(rec *record) (within []mark, active bool, err error) {
	l.left = !slices.ContainsFunc(rec.marks, func(m mark) bool { return m.queued && !m.isLeft() })
	for _, m := range rec.marks {
		if !m.queued {
			continue
		}
		cr, err := l.q.crawls.numbered(m.crawl)
		if err != nil {
			return nil, false, err
		}
		active = active || cr.shown
		if m.isLeft() != l.left {
			continue // it gets its turn once the others have been served
		}
		l.served = append(l.served, served{cr, m.round, m.distance})
		if (webrace.Reach{Distance: int(m.distance)}).Within(cr.pass().Levels) {
			within = append(within, m)
		}
	}
	return within, active, nil
}

// gone reports whether the document that answered at a visit was removed since, and takes from the visit
// what would let the server confirm it. What else the visit knows stays: by it, an owner who was told of the
// document is not told again.
func (q *Queue) gone(secret, url string, v *webrace.Visit) bool {
	if v == nil || v.Version == 0 || q.opt.Gone == nil || !q.opt.Gone(secret, url) {
		return false
	}
	v.ETag, v.LastModified = "", ""
	return v.Status < 300 || v.Status == 304 // else the answer was that there is no document, which stands
}

// reach returns the crawls of marks, at the distances of this round. Equal lists are one list: the pages
// of a level share it.
func (q *Queue) reach(marks []mark) ([]webrace.Reach, error) {
	var key writer
	for _, m := range marks {
		key.Uint(uint64(m.crawl))
		key.Uint(uint64(m.distance))
	}
	if list, ok := q.reaches.get(string(key)); ok || len(key) == 0 {
		return list, nil
	}
	var list []webrace.Reach
	for _, m := range marks {
		cr, err := q.crawls.numbered(m.crawl)
		if err != nil {
			return nil, err
		}
		list = append(list, webrace.Reach{Crawl: cr.pass().ID, Distance: int(m.distance)})
	}
	slices.SortFunc(list, func(a, b webrace.Reach) int { return strings.Compare(a.Crawl, b.Crawl) })
	q.reaches.put(string(key), list)
	return list, nil
}

// shownTo returns what the crawls that came to a URL were shown at earlier visits.
func (q *Queue) shownTo(rec *record) ([]webrace.Shown, error) {
	var list []webrace.Shown
	for _, m := range rec.marks {
		if m.best == 0 {
			continue
		}
		cr, err := q.crawls.numbered(m.crawl)
		if err != nil {
			return nil, err
		}
		last := webrace.Shown{
			Crawl: cr.pass().ID, Distance: int(m.best) - 1, Version: int(m.version), Revision: m.revision,
			Since: int(m.since), SinceRevision: m.sinceRevision, Later: int(m.later), LaterRevision: m.laterRevision,
		}
		for _, s := range rec.nearerOf(m.crawl) {
			before := last
			before.Distance, before.Version, before.Revision = int(s.best)-1, int(s.version), s.revision
			list = append(list, before)
		}
		list = append(list, last)
	}
	slices.SortStableFunc(list, func(a, b webrace.Shown) int { return strings.Compare(a.Crawl, b.Crawl) })
	return list, nil
}

// nothing returns when to look again while there is nothing to take: io.EOF for never.
func (q *Queue) nothing(now time.Time) (until int64, err error) {
	until = q.nextTime()
	if q.sealed && len(q.leases) == 0 && q.steps == 0 && q.nothingBy(until, now) && q.abroad.over() {
		return 0, io.EOF
	}
	return until, nil
}

// nothingBy reports whether a sealed queue whose next URL is due then ends, as soon as no lease is out.
func (q *Queue) nothingBy(until int64, now time.Time) bool {
	return until == never || q.crawls.pending.Load() == 0 || time.Duration(until-now.UnixNano()) > max(q.opt.Wait, 0)
}

// nextTime returns when a host or an item is due that is not now; never when there is none.
func (q *Queue) nextTime() int64 {
	until := q.timer
	if q.waking {
		until = never // its end notifies
	}
	if len(q.window.waiting) > 0 {
		until = min(until, q.window.waiting[0].notBefore.UnixNano())
	}
	return until
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
	case <-q.signal:
	case <-due:
	case <-ctx.Done():
	}
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
	for _, l := range q.leases {
		blocked = blocked || len(l.again) > 0
	}
	switch {
	case len(q.leases) >= q.opt.MaxLeases, blocked:
		return true
	case ready:
		return false
	}
	return q.sealed && q.nothingBy(q.nextTime(), now)
}

// Release frees the host's slot, while the work on what it answered goes on, and tells how the host wants
// to be treated. Only the first call counts; Done releases what was not.
func (l *Lease) Release(r webrace.HostReport) {
	l.q.mu.Lock()
	l.release(r)
	l.q.mu.Unlock()
	notify(l.q.signal)
}

// release wants the queue's lock.
func (l *Lease) release(r webrace.HostReport) {
	q := l.q
	h := q.window.hosts[l.host]
	if !l.slot || h == nil {
		return
	}
	l.slot, l.leads = false, r.Redirect
	h.inflight--
	changed := r.Parallel > 0 && r.Parallel != h.parallel || r.NotBefore.After(h.notBefore)
	if r.Parallel > 0 {
		h.parallel = r.Parallel
	}
	if r.NotBefore.After(h.notBefore) { // never sooner: another answer may have asked for longer
		h.notBefore, h.why, h.reported = r.NotBefore, r.Why, q.store.now().UnixNano()
	}
	if changed {
		h.saving++
		q.later(q.saveStep(h))
	}
	if !l.leads {
		q.endWith(l.callUp())
	}
	q.window.settle(h, q.store.now())
}

// saveStep makes durable how a host wants to be treated.
func (q *Queue) saveStep(h *host) step {
	parallel, notBefore, why, reported := h.parallel, h.notBefore, h.why, h.reported
	return step{
		apply: func(ch *changes) error {
			rec, err := ch.host(h.id)
			if err == nil {
				rec.parallel, rec.notBefore, rec.why, rec.reported, rec.dirty = parallel, notBefore, why, reported, true
			}
			return err
		},
		after: func() error {
			h.saving--
			q.window.settle(h, q.store.now())
			return nil
		},
	}
}
