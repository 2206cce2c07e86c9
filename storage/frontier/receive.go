package frontier

import (
	"errors"
	"fmt"

	"github.com/webrace/webrace/internal/pointer"
	"github.com/webrace/webrace/internal/scope"
)

// Receive takes what another partition has sent. See [Receiver].
func (q *Queue) Receive(data []byte, done func(error)) {
	m, err := decodeMessage(data)
	var all []arrival
	if err == nil {
		all, err = m.arrivals()
	}
	switch {
	case err != nil:
		done(&EnvelopeError{err})
	case m.start:
		q.receiveStart(m, all[0], done)
	default:
		q.receiveLinks(m, all, done)
	}
}

// arrival is a crawl that a message is for.
type arrival struct {
	carried
	scope   scope.Matcher
	landing landing
}

func (m *message) arrivals() ([]arrival, error) {
	all := make([]arrival, len(m.passes))
	for i, c := range m.passes {
		matcher, err := scope.New(c.Start, c.Scope)
		if err == nil && c.ID == "" {
			err = errors.New("it has no id")
		}
		l := landing{}
		if err == nil {
			l, err = newLanding(c.landing, c.Scope)
		}
		if err != nil {
			return nil, fmt.Errorf("crawl %q: %w", c.ID, err)
		}
		all[i] = arrival{c, matcher, l}
	}
	return all, nil
}

func (q *Queue) receiveStart(m *message, a arrival, done func(error)) {
	host, _ := scope.Host(a.Start)
	s := &start{q: q, crawl: a.Crawl, scope: a.scope, newRound: m.newRound, host: hostOf(host), received: true}
	q.begin(s, func(r Round, err error) {
		if err == nil && q.opt.Received != nil {
			q.opt.Received(a.Start, r)
		}
		done(err)
	})
}

// receiveLinks takes over the crawls of a message as they stand there, and offers its links for them.
func (q *Queue) receiveLinks(m *message, all []arrival, done func(error)) {
	passedOver := false // what waits here, because its crawl was not known to be of this run
	crawls := make([]*crawl, len(all))
	q.submit(step{
		apply: func(ch *changes) error {
			for i := range all {
				cr := all[i].adopt(ch)
				crawls[i] = cr
				passedOver = !q.crawls.activate(cr) && cr.pending.Load() > 0 || passedOver
			}
			return nil
		},
		after: func() error {
			for _, cr := range crawls {
				cr.shown = true
			}
			if passedOver {
				q.window.restart(q.store.now())
			}
			return nil
		},
		done: func(err error) {
			if err != nil {
				done(err)
				return
			}
			q.offerReceived(m, all, done)
		},
	})
}

// adopt makes a crawl stand as it does where the message is from, if that is later than what is known of it.
func (a *arrival) adopt(ch *changes) *crawl {
	cr := ch.crawl(a.Crawl)
	next := *cr.pass()
	switch {
	case a.number < next.number:
		return cr
	case a.number == next.number:
		next.raise(a.Crawl)
	default:
		if next.number == 0 || a.opened != next.opened {
			ch.q.open(&next, a.opened)
		}
		next.number, next.Crawl, next.scope = a.number, a.Crawl, a.scope
	}
	if a.hops > next.hops {
		next.landing, next.hops = a.landing, a.hops
	}
	if cr.pass().differs(&next) {
		pointer.Store(&cr.now, &next)
		ch.crawls[cr] = struct{}{}
	}
	return cr
}

// differs reports whether a pass is not as it was.
func (p *pass) differs(from *pass) bool {
	return p.Crawl != from.Crawl || p.number != from.number || p.spread != from.spread || p.landing.url != from.landing.url
}

// offerReceived queues the links of a message.
func (q *Queue) offerReceived(m *message, all []arrival, done func(error)) {
	o := &offer{q: q, again: m.again, links: m.links(), received: true}
	var bids []bid
	for i := range all {
		if cr := q.crawls.get(all[i].ID); cr.pass().number == all[i].number {
			bids = append(bids, bid{crawl: cr, distance: all[i].distance, lands: all[i].lands})
			o.secret = all[i].Secret
		}
	}
	if len(bids) == 0 {
		done(nil)
		return
	}
	o.judge(bids, m.sitemaps, nil)
	o.hits = nil // they were counted where the links are from
	q.submit(step{
		urls: len(o.candidates), wants: o.wants, apply: o.apply,
		after: func() error {
			q.seen.remember(o.candidates)
			q.note(&o.result)
			return nil
		},
		done: done,
	})
}
