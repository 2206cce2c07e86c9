package objects

import (
	"bytes"
	"errors"
	"net/netip"

	"github.com/webrace/webrace"
)

// metaLost finds that the record with the meta-info of a version is lost, where its body is there. Repaired, it is made
// again of the response and of the links in the index.
func (c *check) metaLost(e *entry, where string) error {
	return c.besides(e, damageMeta, where, c.metaRecord(e), (*commit).describe)
}

// screenshotLost finds that the screenshot of a version is lost. Repaired, the version is one without.
func (c *check) screenshotLost(e *entry, where string) error {
	return c.besides(e, damageScreenshot, where, c.screenshotRecord(e), (*commit).undress)
}

// besides reports, and repairs, that a record of a version is lost besides that of its response, if it is. All are
// written anew then, for they lie one behind the other.
func (c *check) besides(e *entry, kind, where string, lost error, mend func(*commit, *entry, []byte) error) error {
	if lost == nil {
		return nil
	}
	c.mended = true
	err := c.damage(kind, where, lost.Error(), func(r *removal) error {
		found, key, err := r.find(e.View(), e.Number)
		if err != nil || found == nil {
			return err
		}
		if err = mend(r.commit, found, key); errors.Is(err, ErrCorrupt) { // the response is damaged too
			return r.unlink(found, key)
		}
		*e = *found
		return err
	})
	if err == nil && c.repair {
		err = c.measure()
	}
	return err
}

// undress writes the records of a version anew, but for its screenshot.
func (c *commit) undress(e *entry, key []byte) error {
	own, err := c.store.segments.read(e.record)
	if err != nil {
		return err
	}
	meta, err := c.store.segments.read(e.meta())
	if err != nil {
		return err
	}
	return c.writeAgain(e, key, moved{own: own, meta: meta})
}

// describe writes the records of a version anew, with meta-info as it can be known.
func (c *commit) describe(e *entry, key []byte) error {
	raw, err := c.store.segments.read(e.record)
	if err != nil {
		return err
	}
	meta, err := c.store.metaOf(e, raw)
	if err != nil {
		return err
	}
	var shot []byte
	if _, err := c.store.screenshot(e); err == nil {
		if shot, err = c.store.segments.read(e.shot()); err != nil {
			return err
		}
	}
	return c.writeAgain(e, key, moved{own: raw, shot: shot, meta: meta})
}

// writeAgain writes the records of a version anew, as they are to be.
func (c *commit) writeAgain(e *entry, key []byte, m moved) (err error) {
	as := c.store.compression()
	if m, err = c.store.recompressed(m, as); err != nil {
		return err
	}
	from := e.record
	e.shotLength, e.metaLength, e.Screenshot = int64(len(m.shot)), int64(len(m.meta)), len(m.shot) > 0
	at, err := c.append(m.all(), e.records(), as)
	if err != nil {
		return err
	}
	e.record = location{at.segment, at.offset, int64(len(m.own))}
	if c.latest[e.View()] != e {
		c.setEntry(key, e)
	}
	p, err := c.body(e.Digest)
	if err == nil && p != nil && p.record == from {
		p.record = e.record
	}
	return err
}

// metaOf makes a metadata record for a version of its compressed record.
func (s *Store) metaOf(e *entry, raw []byte) ([]byte, error) {
	content, err := inflate(raw, e.Size+4<<10)
	if err != nil {
		return nil, err
	}
	r, err := parseRecord(content)
	if err != nil {
		return nil, err
	}
	h, err := r.held()
	if err != nil {
		return nil, err
	}
	links, _, err := get(s, linksKey(e.Seq), decodeLinks)
	if err != nil {
		links = nil // they are lost too
	}
	origin, _ := netip.ParseAddr(r.fields["warc-ip-address"])
	d := &webrace.Document{URL: e.URL, Header: h.header, Origin: origin, Links: links}
	var out bytes.Buffer
	c := s.compressor(s.compression())
	defer s.release(c)
	c.append(&out, metaRecord(&e.Version, encodeMeta(d, &e.Version), r.fields["warc-record-id"]))
	return out.Bytes(), nil
}
