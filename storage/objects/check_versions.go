package objects

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/webrace/webrace"
)

// versions checks every version by itself: its place among those of its URL, its records, its log entry
// and its links.
func (c *check) versions() error {
	return c.store.walk(c.ctx, func(k *known) error {
		for _, key := range k.bad {
			if err := c.damage(damageUnreadable, fmt.Sprintf("%q", key), "of a version", deleteKey(key)); err != nil {
				return err
			}
		}
		all := k.all()
		if len(all) == 0 {
			return nil
		}
		if err := c.order(k); err != nil {
			return err
		}
		for i := range all {
			if err := c.version(&all[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// order sees to it that the latest version of a URL is where it should be.
func (c *check) order(k *known) error {
	if k.inOrder() {
		return nil
	}
	all := k.all()
	return c.damage(damageOrder, k.url, fmt.Sprintf("%d versions", len(all)), func(r *removal) error {
		newest := slices.MaxFunc(all, func(a, b entry) int { return cmp.Compare(a.Number, b.Number) })
		for _, e := range all {
			r.setEntry(olderKey(k.url, e.Number), &e)
		}
		r.batch.Delete(olderKey(k.url, newest.Number))
		r.setEntry(latestKey(k.url), &newest)
		return nil
	})
}

func (c *check) version(e *entry) error {
	if c.sound(e) {
		return nil
	}
	where := fmt.Sprintf("%s version %d", e.URL, e.Number)
	if err := c.lost(e); err != nil {
		c.ours[e.Digest] = true
		return c.damage(damageLost, where, err.Error(), func(r *removal) error {
			found, key, err := r.find(e.View(), e.Number)
			if err != nil || found == nil {
				return err
			}
			return r.unlink(found, key)
		})
	}
	if err := c.metaLost(e, where); err != nil {
		return err
	}
	if err := c.screenshotLost(e, where); err != nil {
		return err
	}
	url, number, ok, err := c.logged(e.Seq)
	if err != nil || !ok || url != e.View() || number != e.Number {
		if err := c.damage(damageNoLog, where, "", setKey(logKey(e.Seq), encodeLog(e.View(), e.Number))); err != nil {
			return err
		}
	}
	if _, ok, err := get(c.store, linksKey(e.Seq), decodeLinks); err != nil || !ok {
		r, err := c.store.readRecord(e.meta(), 8*e.metaLength)
		if errors.Is(err, ErrCorrupt) && !c.repair {
			return nil // told by metaLost
		}
		if err != nil {
			return err
		}
		m, err := decodeMeta(r.block)
		if err != nil {
			return err
		}
		return c.damage(damageNoLinks, where, fmt.Sprintf("%d in the meta-info", len(m.Links)), setKey(linksKey(e.Seq), encodeLinks(m.Links)))
	}
	return nil
}

func (c *check) logged(seq uint64) (url string, number int, ok bool, err error) {
	_, ok, err = get(c.store, logKey(seq), func(value []byte) (struct{}, error) {
		var err error
		url, number, err = decodeLog(value)
		return struct{}{}, err
	})
	return url, number, ok, err
}

// lost returns why the body of a version cannot be read, if so.
func (c *check) lost(e *entry) error {
	if err := c.ownRecord(e); err != nil {
		return err
	}
	if c.found[e.Digest] {
		return nil
	}
	return c.body(e)
}

func (c *check) ownRecord(e *entry) error {
	r, err := c.record(e.record, map[string]string{
		"warc-target-uri": e.URL, strings.ToLower(versionField): strconv.Itoa(e.Number), strings.ToLower(viewField): e.Secret, "warc-payload-digest": formatDigest(e.Digest),
	})
	if err != nil {
		return err
	}
	if kind := r.fields["warc-type"]; !isOfVersion(kind) {
		return fmt.Errorf("%w: a %s record is there", ErrCorrupt, kind)
	}
	return nil
}

func (c *check) metaRecord(e *entry) error {
	r, err := c.record(e.meta(), map[string]string{
		"warc-type": typeMetadata, "warc-target-uri": e.URL, strings.ToLower(versionField): strconv.Itoa(e.Number), strings.ToLower(viewField): e.Secret,
	})
	if err == nil && c.deep {
		_, err = decodeMeta(r.block)
	}
	return err
}

// screenshotRecord returns why the screenshot of a version cannot be read, if so and if it has one.
func (c *check) screenshotRecord(e *entry) error {
	if e.shotLength == 0 {
		return nil
	}
	r, err := c.record(e.shot(), nil)
	if err == nil {
		err = e.pictured(r)
	}
	if err == nil && c.deep {
		err = picture(r)
	}
	return err
}

// verifiedBodies is how many answers a check remembers. A body whose answer is forgotten is read again.
const verifiedBodies = 1 << 16

// body returns why the body of a version cannot be read, if so.
func (c *check) body(e *entry) error {
	if err, known := c.bodies.Get(string(e.Digest[:])); known {
		return err
	}
	p, ok, err := get(c.store, payloadKey(e.Digest), decodePayload)
	if err == nil && !ok {
		err = fmt.Errorf("%w: body is missing", ErrCorrupt)
	}
	if err == nil {
		err = c.bodyAt(p.record, e.Digest)
	}
	c.bodies.Add(string(e.Digest[:]), err)
	return err
}

// bodyAt verifies that a record holds a body.
func (c *check) bodyAt(at location, digest webrace.Digest) error {
	r, err := c.record(at, map[string]string{"warc-payload-digest": formatDigest(digest)})
	if err == nil && !holdsBody(r.fields["warc-type"]) {
		err = fmt.Errorf("%w: a %s record is there", ErrCorrupt, r.fields["warc-type"])
	}
	if err != nil || !c.deep {
		return err
	}
	h, err := r.held()
	if err == nil && sha256.Sum256(h.body) != digest {
		err = fmt.Errorf("%w: body has another digest", ErrCorrupt)
	}
	return err
}

// payloadOf makes the index's entry of a body from the record of a version, if that holds it.
func (c *check) payloadOf(e *entry) (*payload, error) {
	if err := c.bodyAt(e.record, e.Digest); err != nil {
		return nil, err
	}
	r, err := c.record(e.record, nil)
	if err != nil {
		return nil, err
	}
	date, err1 := time.Parse(time.RFC3339Nano, r.fields["warc-date"])
	id, err2 := parseRecordID(r.fields["warc-record-id"])
	return &payload{record: e.record, size: e.Size, id: id, date: date, url: e.URL}, errors.Join(err1, err2)
}

// record reads the record at a place, a deep check all of it and others its header, and verifies that
// it has these fields.
func (c *check) record(at location, want map[string]string) (*parsedRecord, error) {
	end, known := c.readable[at.segment]
	if !known || at.offset < 0 || at.length < 1 || at.length > end || at.offset > end-at.length {
		return nil, fmt.Errorf("%w: no record of %d bytes at %d in segment %d", ErrCorrupt, at.length, at.offset, at.segment)
	}
	read := c.header
	if c.deep {
		read = func(at location) (*parsedRecord, error) { return c.store.readRecord(at, 8*at.length) }
	}
	r, err := read(at)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if r.fields[name] != want[name] {
			return nil, fmt.Errorf("%w: another record is there: %s is %.80q", ErrCorrupt, name, r.fields[name])
		}
	}
	return r, nil
}

// header reads the header of the record at a place: no more of it than that takes.
func (c *check) header(at location) (*parsedRecord, error) {
	at.length = min(at.length, c.store.segments.compressionOf(at.segment).enough())
	compressed, err := c.store.segments.read(at)
	if err != nil {
		return nil, err
	}
	d := decompressors.Get().(*decompressor)
	defer decompressors.Put(d)
	var raw bytes.Buffer
	if err := d.beginning(&raw, compressed, 4*maxURL); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	r, _, err := parseHeader(raw.Bytes())
	return r, err
}

// logs finds log entries that name no version.
func (c *check) logs() error {
	return c.sequences("l/", func(key []byte, seq uint64, value []byte) error {
		if c.soundEntry(seq) {
			return nil
		}
		url, number, err := decodeLog(value)
		if err == nil {
			var e entry
			var ok bool
			if e, ok, err = c.store.find(url, number); err == nil && ok && e.Seq == seq && number > 0 {
				return nil
			}
		}
		return c.damage(damageOrphanLog, strconv.FormatUint(seq, 10), fmt.Sprintf("version %d of %s", number, url), deleteKey(key))
	})
}

// links finds links that belong to no version.
func (c *check) links() error {
	return c.sequences("k/", func(key []byte, seq uint64, _ []byte) error {
		if c.soundEntry(seq) {
			return nil
		}
		if _, _, ok, err := c.logged(seq); err == nil && ok {
			return nil
		}
		return c.damage(damageOrphanLinks, strconv.FormatUint(seq, 10), "", deleteKey(key))
	})
}

// sequences visits all that is kept by sequence number.
func (c *check) sequences(prefix string, visit func(key []byte, seq uint64, value []byte) error) error {
	var failed error
	for key, value := range under(c.store.db, []byte(prefix), &failed) {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		seq := uint64(0)
		if len(key) == 10 {
			seq = binary.BigEndian.Uint64(key[2:])
		}
		if err := visit(bytes.Clone(key), seq, value); err != nil {
			return err
		}
	}
	return failed
}
