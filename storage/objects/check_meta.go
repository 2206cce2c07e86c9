package objects

import (
	"bytes"
	"errors"
	"net/netip"

	"github.com/webrace/webrace"
)

// metaLost finds that the record with the meta-info of a version is lost, where all else is there. Repaired, it is
// made again of the response and of the links in the index, and both are written anew, for they lie one behind the
// other.
func (c *check) metaLost(e *entry, where string) error {
	lost := c.metaRecord(e)
	if lost == nil {
		return nil
	}
	c.mended = true
	err := c.damage(damageMeta, where, lost.Error(), func(r *removal) error {
		found, key, err := r.find(e.View(), e.Number)
		if err != nil || found == nil {
			return err
		}
		if err = r.describe(found, key); errors.Is(err, ErrCorrupt) { // the response is damaged too
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
	as := compressionOf(meta)
	if raw, err = c.store.recompress(bytes.Clone(raw), as); err != nil {
		return err
	}
	from := e.record
	at, err := c.append(append(raw, meta...), 2, as)
	if err != nil {
		return err
	}
	e.record, e.metaLength = location{at.segment, at.offset, int64(len(raw))}, int64(len(meta))
	if c.latest[e.View()] != e {
		c.set(key, encodeEntry(e))
	}
	p, err := c.body(e.Digest)
	if err == nil && p != nil && p.record == from {
		p.record = e.record
	}
	return err
}

// metaOf makes a metadata record for a version of its compressed response or revisit record.
func (s *Store) metaOf(e *entry, raw []byte) ([]byte, error) {
	content, err := inflate(raw, e.Size+4<<10)
	if err != nil {
		return nil, err
	}
	r, err := parseRecord(content)
	if err != nil {
		return nil, err
	}
	_, header, _, err := splitResponse(r.block)
	if err != nil {
		return nil, err
	}
	links, _, err := get(s, linksKey(e.Seq), decodeLinks)
	if err != nil {
		links = nil // they are lost too
	}
	origin, _ := netip.ParseAddr(r.fields["warc-ip-address"])
	d := &webrace.Document{URL: e.URL, Header: header, Origin: origin, Links: links}
	var out bytes.Buffer
	c := s.compressor(s.compression())
	defer s.release(c)
	c.append(&out, metaRecord(&e.Version, encodeMeta(d, &e.Version), r.fields["warc-record-id"]))
	return out.Bytes(), nil
}
