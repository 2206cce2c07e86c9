package frontier

import (
	"context"
	"errors"
	"fmt"

	"github.com/webrace/webrace/internal/pointer"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// CopyPart copies to a store that is empty what is known of the hosts and URLs of a part, and whatever is not known to
// be of another. A crawl goes with the part in which it begins, with what it has cost so far, and with all that have
// URLs that it came to. Rounds that are open stay so: see [Store.Waiting]. No queue of either is open.
func (s *Store) CopyPart(ctx context.Context, to *Store, d *Division, part int) error {
	last := to.db.NewBatch()
	err := s.eachPipeline(func(name string, from keys, crawls *registry) error {
		into, err := to.keysOf(name)
		if err != nil {
			return err
		}
		c := &partCopy{ctx: ctx, from: s, to: to, keys: from, into: into, d: d, part: part, batch: to.db.NewBatch()}
		for _, cr := range crawls.all() {
			c.crawls = append(c.crawls, copiedCrawl{crawl: cr})
		}
		return errors.Join(c.copy(), c.flush(), c.batch.Close())
	})
	if err == nil {
		err = to.db.Publish(last) // and with it all that was written before
	}
	if err = errors.Join(err, last.Close()); err != nil {
		return fmt.Errorf("copy a part of the frontier: %w", err)
	}
	return nil
}

// partCopy is the copying of what a pipeline has in a part.
type partCopy struct {
	ctx        context.Context
	from, to   *Store
	keys, into keys
	d          *Division
	part       int
	batch      pebbledb.Batch

	crawls []copiedCrawl
	count  counters
	record record // that was read last
}

// copiedCrawl is a crawl with what it has in the part.
type copiedCrawl struct {
	*crawl
	number         uint32 // in the part; 0 if it has nothing to do with it
	pending, known int64
	elsewhere      bool // it waits for URLs of other parts
}

func (c *partCopy) copy() error {
	for _, step := range []func() error{
		c.lookAtURLs, c.copyCrawls, c.copyRecords,
		func() error { return c.copyURLs(kindVisit) }, func() error { return c.copyURLs(kindFailed) },
		c.copyItems, c.copyHosts,
		func() error { return c.copyByHost(kindReady) }, func() error { return c.copyByHost(kindParked) },
		func() error { return c.copyAll(kindFamily) }, func() error { return c.copyAll(kindRules) },
		c.copyHits, c.copyCounters,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// each calls visit with what is stored of a kind.
func (c *partCopy) each(kind byte, visit func(key, value []byte) error) error {
	return c.from.db.Scan(c.keys.start(kind), c.keys.end(kind), func(key, value []byte) (bool, error) {
		return true, errors.Join(c.ctx.Err(), visit(key, value))
	})
}

// set writes a value under the same key.
func (c *partCopy) set(key, value []byte) error {
	key = append(c.into[:len(c.into):len(c.into)], key[len(c.keys):]...)
	if err := c.batch.Set(key, value); err != nil || c.batch.Len() < 1<<20 {
		return err
	}
	return c.flush()
}

func (c *partCopy) flush() error {
	err := errors.Join(c.batch.Commit(pebbledb.NoSync), c.batch.Close())
	c.batch = c.to.db.NewBatch()
	return err
}

// hashed calls visit with what is stored of a kind under hashes that are not known to be of another part.
func (c *partCopy) hashed(kind, letter byte, visit func(key, value []byte, elsewhere bool) error) error {
	elsewhere, end, err := c.d.in(c.part, letter)
	if err != nil {
		return err
	}
	err = c.each(kind, func(key, value []byte) error {
		return visit(key, value, elsewhere(key[len(c.keys)+1:]))
	})
	return errors.Join(err, end())
}

// records calls visit with the records of URLs, and whether they are of another part. The record is valid during the
// call.
func (c *partCopy) records(visit func(key []byte, rec *record, elsewhere bool) error) error {
	return c.hashed(kindSeen, dividedURL, func(key, value []byte, elsewhere bool) error {
		rec := &c.record
		if err := rec.decode(value); err != nil {
			return err
		}
		if spelling := rec.spelling(); spelling != "" {
			elsewhere = c.d.partOf(spelling) != c.part
		}
		return visit(key, rec, elsewhere)
	})
}

func (c *partCopy) crawl(number uint32) (*copiedCrawl, error) {
	if number < 1 || int(number) > len(c.crawls) {
		return nil, fmt.Errorf("crawl number %d of %d: %w", number, len(c.crawls), errCorrupt)
	}
	return &c.crawls[number-1], nil
}

// lookAtURLs finds out which crawls have URLs in the part.
func (c *partCopy) lookAtURLs() error {
	return c.records(func(_ []byte, rec *record, elsewhere bool) error {
		for _, m := range rec.marks {
			cr, err := c.crawl(m.crawl)
			if err != nil {
				return err
			}
			switch {
			case elsewhere && m.queued:
				cr.elsewhere = true
			case elsewhere:
			case m.queued:
				cr.pending++
				fallthrough
			default:
				cr.known++
			}
		}
		return nil
	})
}

func (c *partCopy) copyCrawls() error {
	for i := range c.crawls {
		cr, p := &c.crawls[i], *c.crawls[i].pass()
		here := c.d.partOf(p.Start) == c.part
		if !here && cr.known == 0 {
			continue
		}
		led, err := c.led(&p)
		if err != nil {
			return err
		}
		c.count.crawls++
		cr.number = c.count.crawls
		p.spread = spread{led: led}
		copied := &crawl{number: cr.number}
		if here {
			p.left, copied.history = cr.elsewhere, cr.history
		} else {
			p.moves = nil
		}
		copied.pending.Store(cr.pending)
		copied.known.Store(cr.known)
		pointer.Store(&copied.now, &p)
		if err := c.set(c.keys.crawl(p.ID), encodeCrawl(copied)); err != nil {
			return err
		}
	}
	return nil
}

// led returns where the start of a crawl led last from this part to another, if it was followed there.
func (c *partCopy) led(p *pass) (string, error) {
	url := p.Start
	for range maxHops {
		rec, _, err := c.from.find(c.keys, p.Secret, url)
		if err != nil || rec == nil || rec.redirect == "" {
			return "", err
		}
		next, known, err := c.from.find(c.keys, p.Secret, rec.redirect)
		if err != nil || next == nil || !next.isStart() {
			return "", err
		}
		if c.d.partOf(url) == c.part && c.d.partOf(known) != c.part {
			return urlnorm.Identity(known), nil
		}
		url = known
	}
	return "", nil
}

// copyRecords copies the records of URLs. The crawls have other numbers in the part, in the same order.
func (c *partCopy) copyRecords() error {
	return c.records(func(key []byte, rec *record, elsewhere bool) error {
		if elsewhere {
			return nil
		}
		for i := range rec.marks {
			rec.marks[i].crawl = c.crawls[rec.marks[i].crawl-1].number
		}
		for i := range rec.nearer {
			rec.nearer[i].crawl = c.crawls[rec.nearer[i].crawl-1].number
		}
		if rec.spelling() == "" {
			c.count.known++
		}
		if rec.failed {
			c.count.failed++
		}
		if rec.place.kind != nowhere {
			c.count.queued++
		}
		if rec.place.kind == delayed {
			c.count.delayed++
		}
		return c.set(key, rec.encode())
	})
}

// copyURLs copies what is stored of URLs as it is.
func (c *partCopy) copyURLs(kind byte) error {
	return c.hashed(kind, dividedURL, func(key, value []byte, elsewhere bool) error {
		if elsewhere {
			return nil
		}
		return c.set(key, value)
	})
}

func (c *partCopy) copyItems() error {
	return c.from.items(c.ctx, c.keys, func(key []byte, it item) error {
		if c.d.partOf(it.url) != c.part {
			return nil
		}
		if it.alone.crawl != 0 {
			cr, err := c.crawl(it.alone.crawl)
			if err != nil {
				return err
			}
			it.alone.crawl = cr.number
		}
		return c.set(key, it.encode())
	})
}

func (c *partCopy) copyHosts() error {
	return c.hashed(kindHost, dividedHost, func(key, value []byte, elsewhere bool) error {
		if elsewhere {
			return nil
		}
		return c.set(key, value)
	})
}

// copyByHost copies what has the hash of a host at the end of its key.
func (c *partCopy) copyByHost(kind byte) error {
	return c.each(kind, func(key, value []byte) error {
		if part, known, err := c.d.host(key[len(key)-8:]); err != nil || known && part != c.part {
			return err
		}
		return c.set(key, value)
	})
}

func (c *partCopy) copyAll(kind byte) error { return c.each(kind, c.set) }

// copyHits copies to the first part what rules have decided, because that is added up over all.
func (c *partCopy) copyHits() error {
	if c.part != 0 {
		return nil
	}
	return c.copyAll(kindHits)
}

func (c *partCopy) copyCounters() error {
	value, err := c.from.db.Value(c.keys.start(kindMeta))
	if err != nil || value == nil {
		return err
	}
	was, err := decodeCounters(value)
	if err != nil {
		return err
	}
	c.count.order, c.count.done, c.count.written = was.order, was.done, was.written
	return c.set(c.keys.start(kindMeta), c.count.encode())
}
