package frontier

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// The kinds of damage that Check finds.
const (
	damagedValue   = "damaged value"
	strayItem      = "stray item"          // its URL is queued elsewhere, or no crawl waits for it
	misplacedItem  = "misplaced item"      // its URL claims that it is queued where there is nothing
	lostItem       = "lost item"           // a URL that is queued nowhere, though crawls wait for it
	wrongItem      = "wrong item"          // it tells how a crawl came to its URL, and is wrong
	strandedHost   = "stranded host"       // it has items, and nothing leads to them
	strayHostKey   = "stray host key"      // a ready or parked host that is not
	wrongHostCount = "wrong count of host" // of its items
	wrongCrawl     = "wrong count of crawl"
	unknownCrawl   = "unknown crawl" // that came to a URL
	wrongFailure   = "wrong failure" // listed and not failed, or the other way round
	wrongTotals    = "wrong totals"
)

// Check verifies what every queue on disk rests on, and tells of each damage; asked to, it repairs it. No
// queue may be open. Afterwards everything that is queued is handed out, once. A URL whose item is lost
// cannot be brought back, for nothing else records what it was: it is accepted again when a page leads to it.
// Memory does not grow with the number of URLs, and what is sound is read twice.
func (s *Store) Check(ctx context.Context, repair bool, report fsck.Report) error {
	s.mu.Lock()
	open := len(s.queues)
	s.mu.Unlock()
	if open > 0 {
		return fmt.Errorf("check the frontier: %d queues are open", open)
	}
	checked, err := s.db.Check(ctx, repair, report)
	if err != nil {
		return err
	}
	names, err := s.Pipelines()
	if err != nil {
		return fmt.Errorf("check the frontier: %w", err)
	}
	for _, name := range names {
		k, known, err := s.knownKeys(name)
		if err == nil && known {
			if repair {
				s.forgetFilter(k)
			}
			c := &check{Check: checked, store: s, keys: k, pipeline: name, pending: map[uint32]int64{}}
			err = c.Run(
				c.countCrawls, c.hostQueues, c.delays, c.urls, c.lostItems, c.failures, c.hosts, c.strayHosts, c.crawlCounts, c.totals,
			)
		}
		if err != nil {
			return fmt.Errorf("check the frontier of %s: %w", name, err)
		}
	}
	return nil
}

// check goes over one pipeline. Each part relies on what the parts before it have checked: first the
// items, then what the records of URLs tell of them, then hosts, and at last what is counted.
type check struct {
	*pebbledb.Check
	store    *Store
	keys     keys
	pipeline string

	crawls  uint32           // how many there are
	pending map[uint32]int64 // URLs that each waits for
	total   counters         // as found
	items   uint64           // sound ones in host queues
	claims  uint64           // URLs that say they are in a host queue
}

// found tells of a damage; fix repairs it, unless it is nil.
func (c *check) found(kind, where string, fix func() error, format string, args ...any) error {
	repaired := false
	if c.Repair && fix != nil {
		if err := fix(); err != nil {
			return fmt.Errorf("repair %s %s: %w", kind, where, err)
		}
		repaired = true
	}
	c.Tell(kind, where, repaired, c.pipeline+": "+format, args...)
	return nil
}

// each goes through the keys of a kind. What cannot be read is damaged.
func (c *check) each(kind byte, visit func(key, value []byte) error) error {
	return c.Each("entries of "+c.pipeline, c.keys.start(kind), c.keys.end(kind), func(key, value []byte) error {
		err := visit(key, value)
		if errors.Is(err, errCorrupt) {
			fix := c.removing(key)
			if kind == kindCrawl {
				fix = nil // the URLs that it came to know it by its number
			}
			err = c.found(damagedValue, fmt.Sprintf("%x", key), fix, "%v", err)
		}
		return err
	})
}

func (c *check) removing(key []byte) func() error {
	key = bytes.Clone(key)
	return func() error { return c.Remove(key) }
}

func (c *check) saving(id urlID, rec *record) func() error {
	return func() error { return c.Set(c.keys.url(kindSeen, id), rec.encode()) }
}

func (c *check) countCrawls() error {
	return c.each(kindCrawl, func(_, value []byte) error {
		_, err := decodeCrawl(value)
		c.crawls++
		return err
	})
}

// hostQueues holds every item against the record of its URL.
func (c *check) hostQueues() error {
	return c.each(kindItem, func(key, value []byte) error {
		it, err := decodeItem(value)
		if err != nil {
			return err
		}
		host, at, order := hostID(be64(key[3:])), level(key[11]), lastNumber(key)
		if host != it.host() || at >= levels {
			return c.found(strayItem, it.url, c.removing(key), "it lies under another host or urgency")
		}
		sound, err := c.item(key, it, place{kind: inHostQueue, level: at, order: order})
		if sound {
			c.items++
		}
		return err
	})
}

func (c *check) delays() error {
	return c.each(kindDelayed, func(key, value []byte) error {
		it, err := decodeItem(value)
		if err != nil {
			return err
		}
		rec, err := c.store.readRecord(c.keys, it.id)
		if err != nil && !errors.Is(err, errCorrupt) {
			return err
		}
		at := levelOf(1)
		if rec != nil {
			at = rec.place.level
		}
		_, err = c.item(key, it, place{kind: delayed, level: at, order: lastNumber(key), due: dueOf(key)})
		return err
	})
}

// item checks one item, and reports whether it is to stay where it is.
func (c *check) item(key []byte, it item, here place) (sound bool, err error) {
	rec, err := c.store.readRecord(c.keys, it.id)
	if err != nil && !errors.Is(err, errCorrupt) {
		return false, err
	}
	if err != nil || rec == nil || !c.awaited(rec) {
		return false, c.found(strayItem, it.url, c.removing(key), "no crawl waits for it")
	}
	if rec.place == here {
		c.total.order = max(c.total.order, numberOf(here.order))
		return true, c.saysRight(key, it, rec)
	}
	elsewhere, err := c.queuedAt(rec.place, &it)
	if err != nil {
		return false, err
	}
	if elsewhere {
		return false, c.found(strayItem, it.url, c.removing(key), "it is queued elsewhere")
	}
	rec.place = here
	return c.Repair, c.found(misplacedItem, it.url, c.saving(it.id, rec), "its record names a place where there is nothing")
}

// saysRight checks what an item in its place tells of its URL.
func (c *check) saysRight(key []byte, it item, rec *record) error {
	if it.alone == (coming{}) || it.alone == rec.alone() {
		return nil
	}
	it.alone, key = coming{}, bytes.Clone(key)
	return c.found(wrongItem, it.url, func() error { return c.Set(key, it.encode()) }, "its record says otherwise who came to it")
}

// awaited reports whether a crawl that there is waits for a URL.
func (c *check) awaited(rec *record) bool {
	return slices.ContainsFunc(rec.marks, func(m mark) bool { return m.queued && m.crawl >= 1 && m.crawl <= c.crawls })
}

// queuedAt reports whether the item of a URL lies at a place.
func (c *check) queuedAt(p place, it *item) (bool, error) {
	var key []byte
	switch p.kind {
	case inHostQueue:
		key = c.keys.item(it.host(), p.level, p.order)
	case delayed:
		key = c.keys.timed(kindDelayed, p.due, p.order)
	default:
		return false, nil
	}
	value, err := c.store.db.Value(key)
	if err != nil || value == nil {
		return false, err
	}
	there, err := decodeItem(value)
	return err == nil && there.id == it.id, nil
}

// numberOf is the number of discovery in an order, in whichever order of the queue it was given.
func numberOf(order uint64) uint64 {
	n := order & discovered
	if n > discovered/2 {
		n = discovered - n
	}
	return n
}

func (c *check) totals() error {
	value, err := c.store.db.Value(c.keys.start(kindMeta))
	if err != nil {
		return err
	}
	var stored counters
	if value != nil {
		if stored, err = decodeCounters(value); err != nil {
			stored = counters{}
		}
	}
	want := c.total
	want.order, want.crawls, want.done, want.written = max(want.order, stored.order), c.crawls, stored.done, stored.written
	if err == nil && (stored == want || value == nil && c.crawls == 0) {
		return nil
	}
	return c.found(wrongTotals, "", func() error { return c.Set(c.keys.start(kindMeta), want.encode()) },
		"%+v are written, %+v were found", stored, want)
}

func (c *check) crawlCounts() error {
	return c.each(kindCrawl, func(key, value []byte) error {
		cr, err := decodeCrawl(value)
		if err != nil {
			return nil // told of already
		}
		have, want := cr.pending.Load(), c.pending[cr.number]
		if have == want {
			return nil
		}
		cr.pending.Store(want)
		key = bytes.Clone(key)
		return c.found(wrongCrawl, cr.pass().ID, func() error { return c.Set(key, encodeCrawl(cr)) },
			"it waits for %d URLs, and %d are written", want, have)
	})
}

func (c *check) addPending(rec *record) {
	for _, m := range rec.marks {
		if m.queued {
			c.pending[m.crawl]++
		}
	}
	switch rec.place.kind {
	case inHostQueue:
		c.total.queued++
		c.claims++
	case delayed:
		c.total.queued++
		c.total.delayed++
	}
}
