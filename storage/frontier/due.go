package frontier

import (
	"time"

	"github.com/webrace/webrace/storage/internal/nanos"
)

// wakeChunk is how many parked hosts, and delayed items, one step brings back.
const wakeChunk = 256

// park puts a waiting host aside: its ready keys give way to one that tells until when. It wants the
// queue's lock.
func (q *Queue) park(h *host) {
	due := h.notBefore
	q.later(step{
		apply: func(ch *changes) error { return ch.park(h.id, nanos.Of(due)) },
		after: func() error {
			h.parking = false
			q.window.drop(h)
			return nil
		},
	})
}

func (c *changes) park(id hostID, due int64) error {
	h, err := c.host(id)
	if err != nil {
		return err
	}
	if h.items == ([levels]uint64{}) || h.parked != 0 {
		return nil // its record tells until when it waits, or it is paused
	}
	c.putAside(id, h, due, nil)
	return nil
}

// putAside parks a host; the value is that of its key.
func (c *changes) putAside(id hostID, h *hostRecord, due int64, value []byte) {
	h.parked, h.dirty = due, true
	c.timed = true
	for i, n := range h.items {
		delete(c.queues, hostQueueID{id, level(i)})
		if n > 0 {
			c.writes.delete(c.q.keys.ready(level(i), id))
		}
	}
	c.writes.set(c.q.keys.timed(kindParked, due, uint64(id)), value)
}

// unpark gives a host its ready keys back. The key that it was parked under is the caller's to remove.
func (c *changes) unpark(id hostID, h *hostRecord) {
	h.parked, h.dirty = 0, true
	for i, n := range h.items {
		if n == 0 {
			continue
		}
		c.ready(hostQueueID{id, level(i)}, everywhere)
		c.writes.set(c.q.keys.ready(level(i), id), nil)
	}
}

// wakeStep brings back what is due.
func (q *Queue) wakeStep(now time.Time) step {
	return step{
		apply: func(ch *changes) error {
			ch.timed = true
			if err := ch.wakeHosts(now.UnixNano()); err != nil {
				return err
			}
			return ch.wakeItems(now.UnixNano())
		},
		after: func() error {
			q.waking = false
			return nil
		},
	}
}

func (c *changes) wakeHosts(now int64) error {
	return c.eachDue(kindParked, now, func(key, _ []byte) error {
		id := hostID(lastNumber(key))
		h, err := c.host(id)
		if err == nil && h.parked == dueOf(key) {
			c.unpark(id, h)
		}
		return err
	})
}

func (c *changes) wakeItems(now int64) error {
	return c.eachDue(kindDelayed, now, func(key, value []byte) error {
		it, err := decodeItem(value)
		if err != nil {
			return err
		}
		return c.bringBack(it, lastNumber(key))
	})
}

// bringBack queues an item that was delayed under an order. Its key is the caller's to remove.
func (c *changes) bringBack(it item, order uint64) error {
	rec, err := c.record(it.id)
	if err != nil || rec.place.kind != delayed || rec.place.order != order {
		return err
	}
	_, at, err := c.q.waitedFor(rec)
	if err != nil {
		return err
	}
	c.q.count.delayed--
	return c.enqueue(rec, it, it.host(), at)
}

// eachDue calls back for the keys that are due, and takes them away.
func (c *changes) eachDue(kind byte, now int64, back func(key, value []byte) error) error {
	n := 0
	return c.q.store.db.Scan(c.q.keys.start(kind), c.q.keys.timed(kind, now+1, 0), func(key, value []byte) (bool, error) {
		if n++; n > wakeChunk {
			return false, nil
		}
		c.writes.delete(key)
		return true, back(key, value)
	})
}

// nextDue returns when the first parked host or delayed item is due.
func (q *Queue) nextDue() (int64, error) {
	due := int64(never)
	for _, kind := range []byte{kindParked, kindDelayed} {
		err := q.store.db.Scan(q.keys.start(kind), q.keys.end(kind), func(key, _ []byte) (bool, error) {
			due = min(due, dueOf(key))
			return false, nil
		})
		if err != nil {
			return 0, err
		}
	}
	return due, nil
}
