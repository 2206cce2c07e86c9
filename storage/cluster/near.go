package cluster

import (
	"context"
	"slices"

	"github.com/webrace/webrace/storage/frontier"
)

// receiveNear has the queues receive what comes from this node. Before, it is noted that they have something to do, and
// for which crawls; mostly it is already, and the database is not asked. What is received is certain when it is
// durable: until then its page is not done.
func (c *Cluster) receiveNear(all []*attached) error {
	all = slices.DeleteFunc(slices.Clone(all), (*attached).isResting)
	near := make(map[*attached][]parcel)
	c.mu.Lock()
	for _, a := range all {
		if len(a.near) > 0 {
			near[a] = a.near
		}
	}
	c.mu.Unlock()
	var n note
	for a, parcels := range near {
		n.near(a, parcels)
	}
	if err := c.write(&n); err != nil {
		return err
	}
	for a, parcels := range near {
		c.mu.Lock()
		taken := len(a.near) > 0 // it was not detached
		if taken {
			a.near = a.near[len(parcels):]
		}
		c.mu.Unlock()
		if !taken {
			continue
		}
		for _, p := range parcels {
			for _, e := range p.envelopes {
				a.takeNear(e, p.done)
			}
		}
	}
	return nil
}

// near notes what a queue is about to receive, as far as it is not noted yet.
func (n *note) near(a *attached, parcels []parcel) {
	n.busy(a)
	var passes []frontier.Pass
	for _, parcel := range parcels {
		for _, e := range parcel.envelopes {
			passes = latest(passes, e.Passes)
		}
	}
	for _, p := range passes {
		n.wait(a, p)
	}
}

// takeNear has the queue receive an envelope. What it cannot receive goes to its inbox.
func (a *attached) takeNear(e frontier.Envelope, done func(error)) {
	a.receiving.Add(1)
	received := func(err error) {
		a.receiving.Add(-1)
		if err == nil {
			done(nil)
			return
		}
		a.post([]frontier.Envelope{e}, done)
	}
	if !a.call(func(to frontier.Receiver) { to.Receive(e.Data, received) }) {
		received(context.Canceled)
	}
}

// post puts envelopes into the outbox. done is called for each.
func (a *attached) post(all []frontier.Envelope, done func(error)) {
	a.send(parcel{a.pipeline, all, func(err error) {
		for range all {
			done(err)
		}
	}})
}
