package frontier

import (
	"slices"

	"github.com/webrace/webrace/internal/scope"
)

// A site that moves a page for good often links its new address at once, and the old one nowhere: nothing asks there
// any more, and the new address is that of a new page. So where a page leads to something new, and no more to pages
// that it led to when it was visited last, these are asked once more, before the new ones are: for nothing but whether
// they have moved ([webrace.Request] Left). What they say otherwise is shown to nobody.
//
// On disk such a page is queued, and its marks are of no round: so it is accepted as any other where a page leads there
// later in the round.

// leave queues the pages to which a document led at its last visit, and does not any more, for the crawls that have
// been shown them; unless it leads to nothing new on their hosts.
func (o *offer) leave(ch *changes) error {
	if o.visit == nil {
		return nil
	}
	hosts, err := o.newHosts(ch)
	if err != nil || len(hosts) == 0 {
		return err
	}
	for _, cand := range o.left(hosts) {
		if err := ch.leave(&cand); err != nil {
			return err
		}
	}
	return nil
}

// newHosts returns the hosts of the candidates that a crawl has never been shown.
func (o *offer) newHosts(ch *changes) (hosts []hostID, err error) {
	for i := range o.candidates {
		cand := &o.candidates[i]
		rec, _, err := ch.known(cand)
		if err != nil {
			return nil, err
		}
		isNew := slices.ContainsFunc(cand.bids, func(b bid) bool {
			m := rec.mark(b.crawl.number)
			return m == nil || m.version == 0
		})
		if isNew && !slices.Contains(hosts, cand.host) {
			hosts = append(hosts, cand.host)
		}
	}
	return hosts, nil
}

// left returns candidates for the pages on hosts to which the document led at its last visit, and does not any more.
func (o *offer) left(hosts []hostID) []candidate {
	before := o.ledBefore()
	now := make(map[string]bool, len(o.links.URLs))
	for _, url := range o.links.URLs {
		now[url] = true
	}
	var list []admitted
	bids := o.q.bids(o.links, 0)[o.secret]
	for _, url := range before {
		if host, ok := scope.Host(url); now[url] || !ok || !slices.Contains(hosts, hostOf(host)) {
			continue
		}
		if a, why := o.q.admit(o.links, url, bids); why == accepted {
			if a.score = 0; o.q.opt.Order == BestFirst {
				a.score = 0xff
			}
			list = append(list, a)
		}
	}
	all := offer{q: o.q}
	all.add(o.links, o.secret, list, 0)
	return all.candidates
}

// ledBefore returns where the document led at its last visit.
func (o *offer) ledBefore() []string {
	if o.before != nil {
		return o.before
	}
	whole := o.visit.AsOfWhole()
	from := o.links.From
	if whole.IsInherited() {
		from = whole.Former.URL
	}
	if o.before = whole.Links; o.before == nil && whole.Version > 0 {
		o.before = o.q.opt.LedTo(o.secret, from, whole.Version)
	}
	return o.before
}

// leave queues a URL for the crawls that have been shown a document there, and have not come to it in this round;
// unless it is known to redirect for good.
func (c *changes) leave(cand *candidate) error {
	rec, _, err := c.known(cand)
	if err != nil {
		return err
	}
	if rec.redirect != "" {
		if v, err := c.visit(cand.id); err != nil || v != nil && isPermanent(v.Status) {
			return err
		}
	}
	left := false
	for _, b := range cand.bids {
		m := rec.mark(b.crawl.number)
		if m == nil || m.version == 0 || m.queued || m.round == b.crawl.pass().number {
			continue
		}
		m.round, m.distance = 0, b.distance
		c.await(b.crawl, m, true)
		left, rec.dirty = true, true
	}
	if !left || rec.place.kind != nowhere {
		return nil
	}
	_, at, err := c.q.waitedFor(rec)
	if err != nil {
		return err
	}
	return c.enqueue(rec, cand.item, cand.host, at)
}

// isLeft reports whether a crawl waits for a URL only to learn whether it has moved.
func (m mark) isLeft() bool { return m.queued && m.round == 0 }

// hasMoved reports whether the lease of a URL that was left was answered by where its document is now.
func (l *Lease) hasMoved() bool {
	l.q.mu.Lock()
	defer l.q.mu.Unlock()
	return l.redirected
}
