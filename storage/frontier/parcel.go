package frontier

import (
	"fmt"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/pointer"
)

// parcel is what an offer has for another partition.
type parcel struct {
	to         int
	secret     string
	candidates []candidate
	passes     []carried // of their crawls, as of the commit of the offer
}

// pack adds a candidate of another partition. What the frontier knows of a document stays where that is from.
func (o *offer) pack(to int, cand candidate) {
	cand.former = nil
	i := slices.IndexFunc(o.parcels, func(p parcel) bool { return p.to == to && p.secret == cand.secret })
	if i < 0 {
		i = len(o.parcels)
		o.parcels = append(o.parcels, parcel{to: to, secret: cand.secret})
	}
	o.parcels[i].candidates = append(o.parcels[i].candidates, cand)
}

// depart notes what leaves for other partitions with the offer, and how the crawls stand that it is for.
func (o *offer) depart(ch *changes) error {
	for i := range o.parcels {
		p := &o.parcels[i]
		kept := p.candidates[:0]
		for _, cand := range p.candidates {
			if followed, err := o.keepHome(ch, &cand); err != nil {
				return err
			} else if !followed {
				continue
			}
			if err := o.land(ch, &cand); err != nil {
				return err
			}
			kept = append(kept, cand)
		}
		p.candidates = kept
		o.result.Sent += len(kept)
	}
	o.parcels = slices.DeleteFunc(o.parcels, func(p parcel) bool { return len(p.candidates) == 0 })
	for i := range o.parcels {
		o.parcels[i].passes = o.carry(ch, o.parcels[i].candidates)
	}
	return nil
}

// carry returns how the crawls stand that come to candidates of another partition, and notes that they do.
func (o *offer) carry(ch *changes, all []candidate) (passes []carried) {
	var known []*crawl
	for i := range all {
		for j := range all[i].bids {
			b := &all[i].bids[j]
			if !slices.Contains(known, b.crawl) {
				known = append(known, b.crawl)
				passes = append(passes, o.carryOne(ch, b, all[i].identity))
			}
			b.round = b.crawl.pass().number
		}
	}
	return passes
}

// carryOne is carry for one crawl, and the first URL that it comes to there.
func (o *offer) carryOne(ch *changes, b *bid, identity string) carried {
	b.crawl.alter(ch, func(next *pass) {
		next.left = next.left || o.q.beginsHere(next)
		if o.redirect != nil && b.distance == 0 {
			next.led = identity
		}
	})
	p := b.crawl.pass()
	return carried{
		Crawl: p.Crawl, number: p.number, opened: p.opened, landing: p.landing.url, hops: p.hops,
		distance: b.distance, lands: b.lands,
	}
}

// alter changes how the crawl stands in a cluster.
func (c *crawl) alter(ch *changes, how func(*pass)) {
	p := c.pass()
	next := *p
	if how(&next); next.spread != p.spread {
		pointer.Store(&c.now, &next)
		ch.crawls[c] = struct{}{}
	}
}

// send sends what the offer has for other partitions, if what it has here is durable, and calls done once both are.
func (o *offer) send(err error, done func(error)) {
	if err != nil || len(o.parcels) == 0 {
		done(err)
		return
	}
	all := make([]Envelope, len(o.parcels))
	for i := range o.parcels {
		all[i] = o.envelope(&o.parcels[i])
	}
	o.q.abroad.Send(all, func(err error) {
		if err == nil {
			for i := range o.parcels {
				o.q.seen.remember(o.parcels[i].candidates)
			}
		}
		done(err)
		o.q.arrived(len(all))
	})
}

func (o *offer) envelope(p *parcel) Envelope {
	m := message{
		passes: p.passes, from: o.links.From, via: o.links.Via, redirects: o.links.Redirects,
		permanent: o.links.Permanent, again: o.links.Again, sitemaps: p.candidates[0].sitemaps,
	}
	for i := range p.candidates {
		c := &p.candidates[i]
		m.urls = append(m.urls, c.url)
		m.scores = append(m.scores, c.score)
		m.changed = append(m.changed, c.changed)
	}
	e := Envelope{To: p.to, Data: m.encode()}
	for _, c := range p.passes {
		e.Passes = append(e.Passes, Pass{Crawl: c.ID, Number: c.number})
	}
	return e
}

// sendStart has a crawl begun in the partition of its start.
func (q *Queue) sendStart(to int, c webrace.Crawl, newRound bool, done func(Round, error)) {
	q.mu.Lock()
	err := q.err
	if err == nil && q.store.readOnly {
		err = ErrReadOnly
	}
	if err == nil {
		q.abroad.leave(1)
	}
	q.mu.Unlock()
	finish := func(err error) {
		if err != nil {
			err = fmt.Errorf("start crawl %q: %w", c.ID, err)
		}
		done(Round{}, err)
	}
	if err != nil {
		finish(err)
		return
	}
	m := message{start: true, newRound: newRound, passes: []carried{{Crawl: c}}}
	q.abroad.Send([]Envelope{{To: to, Passes: []Pass{{Crawl: c.ID}}, Data: m.encode()}}, func(err error) {
		finish(err)
		q.arrived(1)
	})
}
