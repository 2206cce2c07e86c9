package frontier

import (
	"slices"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/scope"
)

// ending is how a lease ends on disk.
type ending struct {
	visit    *webrace.Visit // what it leaves behind; nil leaves the last one as it is
	changed  bool           // it found a new document
	failed   bool
	retryAt  time.Time
	notAsked bool    // that is no attempt
	last     *ending // what came of the URL, if no attempt is left
	dropped  bool    // no crawl came to the URL: it lies beyond the levels of all who waited for it
	refused  bool    // nor did any come to it in this round: it may be offered again
	hits     hits    // of rules, to be counted with it

	proof    *proof   // of what was listed for it; nil: there is none
	listings listings // of the host, with that
}

// ending returns the step that ends the lease.
func (l *Lease) ending(e *ending, done func(error)) step {
	return step{
		wants: func(ch *changes) { ch.lend(l) },
		apply: func(ch *changes) error { return ch.end(l, e) },
		after: func() error {
			if h := l.q.window.hosts[l.host]; h != nil && e.proof != nil {
				h.listings = e.listings
			}
			return l.gone()
		},
		done: done,
	}
}

// refusal returns the step that takes a URL off the queue that is refused by now. It is as if it had never
// been offered in this round: once nothing refuses it any more, it is accepted.
func (l *Lease) refusal(by *scope.Rule) step {
	e := &ending{dropped: true, refused: true}
	e.hits.add(by)
	return step{
		wants: func(ch *changes) { ch.lend(l) },
		apply: func(ch *changes) error { return ch.end(l, e) },
		after: func() error {
			for _, s := range l.served {
				l.q.seen.forget(l.item.url, s.crawl.number, s.crawl.pass().number)
			}
			return l.gone()
		},
	}
}

// forward sends the crawls that wait for a URL on to where it was redirected at its last visit, without asking
// it again. If that is in another partition, the lease ends once it is certain there.
func (l *Lease) forward(target string) step {
	o := l.q.newOffer(&webrace.Links{
		From: l.item.url, Reach: l.request.Reach, Via: webrace.ViaRedirect,
		Redirects: l.item.redirects + 1, Permanent: isPermanent(l.request.Visit.Status), URLs: []string{target},
	}, l.item.sitemaps)
	return step{
		wants: func(ch *changes) {
			ch.lend(l)
			o.wants(ch)
		},
		apply: func(ch *changes) error {
			if err := o.apply(ch); err != nil || len(o.parcels) > 0 {
				return err
			}
			return ch.end(l, &ending{})
		},
		after: func() error {
			l.q.seen.remember(o.candidates)
			if len(o.parcels) > 0 {
				l.q.abroad.leave(len(o.parcels))
				return nil
			}
			return l.gone()
		},
		done: func(err error) {
			o.send(err, func(err error) {
				switch {
				case err != nil:
					l.q.fail(err)
				case len(o.parcels) > 0:
					l.q.submit(l.ending(&ending{}, nil))
				}
			})
		},
	}
}

// end takes the URL of a lease off the queue, or puts it back for those whom the lease did not serve.
func (c *changes) end(l *Lease, e *ending) error {
	rec, err := c.record(l.item.id)
	if err != nil {
		return err
	}
	rec.dirty = true
	c.countHits(e.hits)
	held := rec.place.kind != nowhere // it was not dropped meanwhile
	if err := c.dequeue(rec, l.host); err != nil {
		return err
	}
	if !e.notAsked {
		rec.tries++
	}
	again := held && !e.retryAt.IsZero() && rec.tries < c.q.opt.Attempts
	if !again && e.last != nil {
		*e = *e.last
	}
	c.visited(l, rec, e)
	if err := c.proved(l, e); err != nil {
		return err
	}
	if again {
		c.delay(rec, l.item, rec.place.level, e.retryAt)
		return nil
	}
	it := l.item
	repeat := l.repeated()
	if repeat != nil {
		it = *repeat
	}
	for _, s := range l.served {
		m := rec.addMark(s.crawl.number)
		if m.round == s.round && m.distance >= s.distance && repeat == nil {
			c.await(s.crawl, m, false)
			if e.refused {
				m.round = 0
			}
		}
		isShown := !e.visit.IsPlaceholder()
		if best := s.distance + 1; !e.failed && !e.dropped && (m.best == 0 || m.version == 0 && best < m.best && isShown) {
			m.best = best
		}
		if v := e.visit; isShown && v != nil && !e.failed && v.Version > 0 && v.Status < 400 && !isRedirect(v.Status) {
			rec.show(m, s.distance, uint32(v.Version), v.Revision)
		}
	}
	c.settleFailure(l, rec, e)
	rec.tries = 0
	if slices.ContainsFunc(rec.marks, func(m mark) bool { return m.queued }) {
		_, at, err := c.q.waitedFor(rec)
		if err != nil {
			return err
		}
		return c.enqueue(rec, it, l.host, at)
	}
	c.forget(rec)
	return nil
}

// visited writes what the visit left behind.
func (c *changes) visited(l *Lease, rec *record, e *ending) {
	if e.visit == nil {
		return
	}
	c.account(l, e)
	if !e.failed {
		c.q.count.done++
		if status := e.visit.Status; status < 300 || status > 399 {
			rec.redirect = ""
		}
	}
	c.writes.set(c.q.keys.url(kindVisit, l.item.id), encodeVisit(e.visit))
}

// account notes what a visit cost the crawls that it served, and what it means to those that start there.
func (c *changes) account(l *Lease, e *ending) {
	for _, s := range l.served {
		h := &s.crawl.history
		if !l.request.Stored {
			h.requests++
			c.crawls[s.crawl] = struct{}{}
		}
		if s.distance > 0 || e.failed {
			continue
		}
		if h.visited = e.visit.At; !isRedirect(e.visit.Status) && e.visit.Refresh == "" { // else where it leads to tells whether there is news
			h.interval = e.visit.Interval
			h.changed = e.changed || l.request.Stored && h.changed
		}
		c.crawls[s.crawl] = struct{}{}
		c.startVisited = append(c.startVisited, s.crawl)
	}
}

// proved notes how far what the host lists can be believed.
func (c *changes) proved(l *Lease, e *ending) error {
	if e.proof == nil {
		return nil
	}
	h, err := c.host(l.host)
	if err != nil {
		return err
	}
	h.listings.note(e.proof.listed, e.proof.changed)
	h.dirty = true
	e.listings = h.listings
	return nil
}

// settleFailure lists the URL among those that gave no document, or takes it off that list. Without a
// visit it stays as it is.
func (c *changes) settleFailure(l *Lease, rec *record, e *ending) {
	if e.visit == nil {
		return
	}
	if e.visit.Error != "" {
		c.q.failures.note(Failure{URL: l.item.url, Visit: *e.visit})
	}
	key := c.q.keys.url(kindFailed, l.item.id)
	switch failed := e.visit.Error != ""; {
	case failed && !rec.failed:
		rec.failed = true
		c.q.count.failed++
		w := newWriter(len(l.item.url) + 4)
		w.Text(l.item.url)
		c.writes.set(key, w)
	case !failed && rec.failed:
		rec.failed = false
		c.q.count.failed--
		c.writes.delete(key)
	}
}

// gone forgets the lease. What came up while it was out gets its turn now: mostly it is stale, but the
// URL may have been queued anew.
func (l *Lease) gone() error {
	delete(l.q.leases, l.item.id)
	return l.callUp()
}

// callUp lets what waits for the lease have its turn: under the lock under which it ceased to wait, or what is queued
// behind it would come first.
func (l *Lease) callUp() error {
	waiting := l.again
	l.again = nil
	for _, again := range waiting {
		delete(l.q.held, again.id)
		if err := l.q.window.arrived(again.hostQueueID, stretch{again.order, again.order}, l.q.store.now()); err != nil {
			return err
		}
	}
	return nil
}
