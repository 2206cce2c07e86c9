package objects

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/webrace/webrace/storage/internal/generation"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// Generation tells a state of the store from all others.
func (s *Store) Generation() generation.Generation { return s.generation }

// Named calls visit with each URL of which versions are stored, the name of the credentials it was asked for with, and
// where its latest version leads.
func (s *Store) Named(ctx context.Context, visit func(secret, url string, links []string) error) error {
	if err := s.users.enter(); err != nil {
		return err
	}
	defer s.users.Leave()
	return s.walk(ctx, func(k *known) error {
		var links []string
		var err error
		if k.latest != nil {
			links, _, err = get(s, linksKey(k.latest.Seq), decodeLinks)
		}
		if err != nil {
			return fmt.Errorf("links of %s: %w", shown(k.url), err)
		}
		secret, url := splitView(k.url)
		return visit(secret, url, links)
	})
}

// CopyPart copies all that is stored of some URLs to a store that is empty: versions with their numbers and their
// places in the log, byte for byte, the numbers that were used, and where followers are. A body that lies with another
// URL is copied as one that outlives its version. Neither store is used meanwhile.
func (s *Store) CopyPart(ctx context.Context, to *Store, has func(url string) bool) error {
	if err := s.users.enter(); err != nil {
		return err
	}
	defer s.users.Leave()
	p := &partCopy{from: s, to: to, has: has}
	err := p.versions(ctx)
	for _, prefix := range []string{"m/", "t/", "c/"} {
		if err == nil {
			err = p.values(prefix)
		}
	}
	if err == nil {
		err = to.exclusively(func(c *commit) error {
			c.counts.seq = s.durable.seq // what comes next is new to every follower
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("copy a part of the object cache: %w", err)
	}
	return nil
}

type partCopy struct {
	from, to *Store
	has      func(url string) bool

	group []entry
	bytes int64 // of its records
}

func (p *partCopy) hasView(view string) bool {
	_, url := splitView(view)
	return p.has(url)
}

// versions copies versions in the order of the log, in which they lie one behind the other.
func (p *partCopy) versions(ctx context.Context) error {
	var failed error
	for key, value := range under(p.from.db, []byte("l/"), &failed) {
		view, number, err := decodeLog(value)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("at %d of the log: %w", binary.BigEndian.Uint64(key[2:]), err)
		}
		if !p.hasView(view) {
			continue
		}
		e, there, err := p.from.find(view, number)
		if err == nil && there {
			err = p.add(e)
		}
		if err != nil {
			return fmt.Errorf("version %d of %s: %w", number, shown(view), err)
		}
	}
	if failed != nil {
		return failed
	}
	return p.flush()
}

func (p *partCopy) add(e entry) error {
	p.group, p.bytes = append(p.group, e), p.bytes+e.whole().length
	if len(p.group) < groupWrites && p.bytes < groupBytes {
		return nil
	}
	return p.flush()
}

func (p *partCopy) flush() error {
	err := p.to.exclusively(func(c *commit) error {
		for i := range p.group {
			if err := p.version(c, p.group[i]); err != nil {
				return fmt.Errorf("version %d of %s: %w", p.group[i].Number, shown(p.group[i].View()), err)
			}
		}
		return nil
	})
	p.group, p.bytes = p.group[:0], 0
	return err
}

// version copies the records of a version, and the body if it is not there yet.
func (p *partCopy) version(c *commit, e entry) error {
	records, err := p.from.segments.read(e.whole())
	if err != nil {
		return err
	}
	body, err := c.body(e.Digest)
	if err != nil {
		return err
	}
	holds := false // the version's own record holds it
	if body == nil {
		if body, holds, err = p.body(c, &e); err != nil {
			return err
		}
	}
	links, err := pebbledb.Get(p.from.db, linksKey(e.Seq))
	if err != nil {
		return err
	}
	last, err := c.last(e.View())
	if err != nil {
		return err
	}
	length := e.record.length
	if e.record, err = p.append(c, records, e.records()); err != nil {
		return err
	}
	e.record.length = length
	if holds {
		body.record = e.record
	}
	body.refs++
	c.insert(&e, last, links)
	return nil
}

// body brings a body that is not there yet, unless the version itself does.
func (p *partCopy) body(c *commit, e *entry) (body *payload, holds bool, err error) {
	known, there, err := get(p.from, payloadKey(e.Digest), decodePayload)
	if err == nil && !there {
		err = fmt.Errorf("%w: body %s is missing", ErrCorrupt, formatDigest(e.Digest))
	}
	if err != nil {
		return nil, false, err
	}
	holds = known.record == e.record
	if !holds {
		record, err := p.from.segments.read(known.record)
		if err != nil {
			return nil, false, err
		}
		if known.record, err = p.append(c, record, 1); err != nil {
			return nil, false, err
		}
	}
	known.refs = 0
	c.payloads[e.Digest] = &known
	c.counts.payloads++
	c.counts.payloadBytes += uint64(known.size)
	return &known, holds, nil
}

func (p *partCopy) append(c *commit, records []byte, n uint64) (location, error) {
	as := compressionOf(records)
	if as == Zstd {
		c.need(formatZstd)
	}
	return c.append(records, n, as)
}

// values copies values as they are: of cursors all, and of others those of the part's URLs.
func (p *partCopy) values(prefix string) error {
	return p.to.exclusively(func(c *commit) error {
		var failed error
		for key, value := range under(p.from.db, []byte(prefix), &failed) {
			if prefix == "c/" || p.hasView(string(key[len(prefix):])) {
				c.set(key, value)
			}
		}
		return failed
	})
}
