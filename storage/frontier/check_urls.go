package frontier

import (
	"encoding/binary"
	"fmt"
	"slices"
)

func be64(b []byte) uint64 { return binary.BigEndian.Uint64(b) }

// searched is how many URLs are looked for among the items in one pass over them.
const searched = 1 << 18

// urls checks what the records of URLs tell, and counts it.
func (c *check) urls() error {
	return c.each(kindSeen, func(key, value []byte) error {
		rec, err := decodeRecord(value)
		if err != nil {
			return err
		}
		id := urlID(key[3:])
		if rec.spelling() == "" {
			c.total.known++
		}
		if slices.ContainsFunc(rec.marks, func(m mark) bool { return m.crawl < 1 || m.crawl > c.crawls }) {
			rec.marks = slices.DeleteFunc(rec.marks, func(m mark) bool { return m.crawl < 1 || m.crawl > c.crawls })
			if len(rec.marks) == 0 {
				rec.redirect = "" // which would be taken for a spelling
			}
			if err := c.found(unknownCrawl, urlName(id), c.saving(id, rec), "a crawl came to it that there is not"); err != nil {
				return err
			}
		}
		if err := c.queued(id, rec); err != nil {
			return err
		}
		if rec.failed {
			return c.failed(id, rec)
		}
		return nil
	})
}

func urlName(id urlID) string { return fmt.Sprintf("URL %x", id[:]) }

// queued checks that a URL is queued if and only if a crawl waits for it. Whether its item is in its host queue
// is for lostItems to find.
func (c *check) queued(id urlID, rec *record) error {
	awaited, lost := c.awaited(rec), false
	switch rec.place.kind {
	case nowhere:
		lost = awaited
	case delayed:
		there, err := c.Has(c.keys.timed(kindDelayed, rec.place.due, rec.place.order))
		if err != nil {
			return err
		}
		lost = !there
	}
	if lost || !awaited && rec.place.kind != nowhere {
		return c.lose(id, rec)
	}
	c.addPending(rec)
	return nil
}

// lose gives a URL up that is queued nowhere.
func (c *check) lose(id urlID, rec *record) error {
	rec.place, rec.tries = place{}, 0
	for i := range rec.marks {
		if m := &rec.marks[i]; m.queued {
			m.queued, m.round = false, 0
		}
	}
	return c.found(lostItem, urlName(id), c.saving(id, rec), "it is queued nowhere; it is accepted again when a page leads to it")
}

// lostItems looks for the URLs that claim to be in a host queue and are not. Every sound item belongs to one URL, so
// that there are none when there are as many items as URLs that claim it.
func (c *check) lostItems() error {
	if c.claims == c.items {
		return nil
	}
	for next := c.keys.start(kindSeen); next != nil; {
		batch := map[urlID]*record{}
		rest, err := c.claimants(next, batch)
		if err != nil {
			return err
		}
		err = c.store.db.Scan(c.keys.start(kindItem), c.keys.end(kindItem), func(key, value []byte) (bool, error) {
			it, err := decodeItem(value)
			if err != nil {
				return true, nil // told of already
			}
			if rec := batch[it.id]; rec != nil && rec.place.order == lastNumber(key) && rec.place.level == level(key[11]) {
				delete(batch, it.id)
			}
			return true, c.Context.Err()
		})
		if err != nil {
			return err
		}
		for id, rec := range batch {
			for _, m := range rec.marks {
				if m.queued {
					c.pending[m.crawl]--
				}
			}
			c.total.queued--
			if err := c.lose(id, rec); err != nil {
				return err
			}
		}
		next = rest
	}
	return nil
}

// claimants reads some URLs that claim to be in a host queue, and returns the key to go on from.
func (c *check) claimants(from []byte, batch map[urlID]*record) (rest []byte, err error) {
	err = c.store.db.Scan(from, c.keys.end(kindSeen), func(key, value []byte) (bool, error) {
		if len(batch) == searched {
			rest = slices.Clone(key)
			return false, nil
		}
		if rec, err := decodeRecord(value); err == nil && rec.place.kind == inHostQueue {
			batch[urlID(key[3:])] = rec
		}
		return true, c.Context.Err()
	})
	return rest, err
}

// failed checks that a URL without a document is listed.
func (c *check) failed(id urlID, rec *record) error {
	listed, err := c.Has(c.keys.url(kindFailed, id))
	if err != nil {
		return err
	}
	if listed {
		c.total.failed++
		return nil
	}
	stored, err := c.store.readRecord(c.keys, id) // as it was repaired
	if err != nil {
		return err
	}
	stored.failed = false
	return c.found(wrongFailure, urlName(id), c.saving(id, stored), "it failed, and is not listed")
}

// failures checks that what is listed has failed.
func (c *check) failures() error {
	return c.each(kindFailed, func(key, value []byte) error {
		r := newReader(value)
		url := r.Text()
		if err := r.done(); err != nil {
			return err
		}
		rec, err := c.store.readRecord(c.keys, urlID(key[3:]))
		if err != nil && rec != nil {
			return err
		}
		if rec != nil && rec.failed {
			return nil
		}
		return c.found(wrongFailure, url, c.removing(key), "it is listed, and has not failed")
	})
}
