package objects

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/fsck"
)

// expected is a record that the index names.
type expected struct {
	at      location
	kind    recordKind
	version uint64 // whose record it is, unless it is that of a body
	body    int    // which of the bodies that are looked for
	sum     uint64 // of what its header is to say
}

type recordKind uint8

const (
	ofVersion recordKind = iota // a response, resource or revisit
	ofShot
	ofMeta
	ofBody // the response or resource that holds a body
)

// joinRecords joins the index with the segments, each of which is read once, from its beginning to its end.
func (s *screener) joinRecords() error {
	all, err := s.store.indexedSegments()
	if err != nil {
		return err
	}
	var done, total int64
	for _, k := range all {
		s.found.extents[k.number] = s.readable[k.number]
		total += s.readable[k.number]
	}
	for len(all) > 0 {
		group, records := map[uint32]bool{}, uint64(0)
		for len(all) > 0 && (records == 0 || records+all[0].state.records <= 2*screened) {
			group[all[0].number] = true
			records += all[0].state.records
			all = all[1:]
		}
		expected, bodies, err := s.expect(group)
		if err != nil {
			return err
		}
		err = s.verifyAll(expected, bodies, func(n int64) {
			done += n
			fsck.Tell(s.ctx, fsck.Progress{Store: "objects", Step: "segments", Done: done, Total: total})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// expect gathers the records that the index names in a group of segments, in the order in which they lie there.
// Those that cannot be where it has them are suspect at once.
func (s *screener) expect(group map[uint32]bool) (all []expected, bodies []webrace.Digest, err error) {
	add := func(e expected) (there bool) {
		end, known := s.readable[e.at.segment]
		if !known || e.at.offset < 0 || e.at.length < 1 || e.at.length > end || e.at.offset > end-e.at.length {
			return false
		}
		if group[e.at.segment] {
			all = append(all, e)
		}
		return true
	}
	err = s.eachVersion(func(e *entry) {
		number := strconv.Itoa(e.Number)
		own := expected{at: e.record, kind: ofVersion, version: e.Seq}
		shot := expected{at: e.shot(), kind: ofShot, version: e.Seq}
		meta := expected{at: e.meta(), kind: ofMeta, version: e.Seq}
		if group[e.record.segment] {
			own.sum = s.sum(e.URL, number, e.Secret, formatDigest(e.Digest))
			meta.sum = s.sum(e.URL, number, e.Secret)
			shot.sum = meta.sum
		}
		if !add(own) || e.shotLength > 0 && !add(shot) || !add(meta) {
			s.found.versions.add(e.Seq)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	err = s.store.eachPayload(s.ctx, func(d webrace.Digest, p *payload, _ error) error {
		if p == nil {
			return nil
		}
		e := expected{at: p.record, kind: ofBody, body: len(bodies)}
		if group[p.record.segment] {
			e.sum = s.sum(formatDigest(d))
			bodies = append(bodies, d)
		}
		if !add(e) {
			s.found.bodies.add(d)
		}
		return nil
	})
	slices.SortFunc(all, func(a, b expected) int {
		return cmp.Or(cmp.Compare(a.at.segment, b.at.segment), cmp.Compare(a.at.offset, b.at.offset), cmp.Compare(a.at.length, b.at.length))
	})
	return all, bodies, err
}

// Segments are read in pieces of about readAtOnce, over gaps of up to readOver: a seek costs as much.
const (
	readAtOnce = 1 << 20
	readOver   = 64 << 10
)

// piece is a part of a segment with the records that lie in it.
type piece struct {
	bytes  *bytes.Buffer
	offset int64 // of the first byte
	all    []expected
}

// verifyAll reads records one behind the other, and has them verified by as many workers as there are processors.
func (s *screener) verifyAll(all []expected, bodies []webrace.Digest, progress func(int64)) error {
	buffers := sync.Pool{New: func() any { return new(bytes.Buffer) }}
	pieces := make(chan piece)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			v := &verifier{screener: s, bodies: bodies}
			for p := range pieces {
				v.piece(p)
				buffers.Put(p.bytes)
			}
		})
	}
	err := s.eachPiece(all, func(file vfs.File, p piece, size int64) error {
		p.bytes = buffers.Get().(*bytes.Buffer)
		p.bytes.Reset()
		p.bytes.Grow(int(size))
		raw := p.bytes.AvailableBuffer()[:size]
		if n, _ := file.ReadAt(raw, p.offset); n < len(raw) {
			s.suspect(p.all, bodies) // reading them one by one tells what the error is
			return nil
		}
		p.bytes.Write(raw)
		progress(size)
		pieces <- p
		return s.ctx.Err()
	})
	close(pieces)
	workers.Wait()
	return err
}

// eachPiece divides records into pieces.
func (s *screener) eachPiece(all []expected, visit func(vfs.File, piece, int64) error) (err error) {
	var file vfs.File
	closeFile := func() {
		if file != nil {
			err = errors.Join(err, file.Close())
		}
	}
	defer func() { closeFile() }()
	for open := uint32(0); len(all) > 0; {
		first := all[0].at
		if file == nil || first.segment != open {
			closeFile()
			if file, err = s.store.options.FS.Open(s.store.segments.path(first.segment)); err != nil {
				if errors.Is(err, fs.ErrNotExist) { // it was there a moment ago
					return fmt.Errorf("%w: segment %d is missing", ErrCorrupt, first.segment)
				}
				return fmt.Errorf("open segment %d: %w", first.segment, err)
			}
			open = first.segment
		}
		n, end := 0, first.offset
		for ; n < len(all); n++ {
			at := all[n].at
			next := at.offset + s.need(at)
			if n > 0 && (at.segment != open || at.offset > end+readOver || next > first.offset+readAtOnce) {
				break
			}
			end = max(end, next)
		}
		if err := visit(file, piece{offset: first.offset, all: all[:n]}, end-first.offset); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// need is how much of a record has to be read.
func (s *screener) need(at location) int64 {
	if s.deep {
		return at.length
	}
	return min(at.length, s.store.segments.compressionOf(at.segment).enough())
}

func (s *screener) suspect(all []expected, bodies []webrace.Digest) {
	for _, e := range all {
		if e.kind == ofBody {
			s.found.bodies.add(bodies[e.body])
		} else {
			s.found.versions.add(e.version)
		}
	}
}

// verifier verifies records; a worker has its own.
type verifier struct {
	*screener
	decompressor
	bodies  []webrace.Digest
	content bytes.Buffer
}

// piece verifies the records of a piece, each for all that is expected of it.
func (v *verifier) piece(p piece) {
	raw := p.bytes.Bytes()
	for all := p.all; len(all) > 0; {
		n, at := 1, all[0].at
		for n < len(all) && all[n].at == at {
			n++
		}
		begin := at.offset - p.offset
		v.record(raw[begin:begin+v.need(at)], all[:n])
		all = all[n:]
	}
}

func (v *verifier) record(compressed []byte, all []expected) {
	const kept = 4 << 20
	if v.content.Reset(); v.content.Cap() > kept {
		v.content = bytes.Buffer{}
	}
	limit := int64(4 * maxURL)
	if v.deep {
		limit = maxRecord
	}
	err := v.beginning(&v.content, compressed, limit)
	if !v.deep && errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // no more of it was read
	}
	whole := v.input.Len() == 0
	var said said
	rest, ok := said.parse(v.content.Bytes())
	var block []byte
	if ok = ok && err == nil; ok && v.deep {
		block, ok = bytes.CutSuffix(rest, []byte(recordEnd))
		ok = ok && whole && strconv.Itoa(len(block)) == said.length
	}
	for i, e := range all {
		if !ok || !v.is(e, &said) || v.deep && !v.deeply(e, &said, block) {
			v.suspect(all[i:i+1], v.bodies)
		}
	}
}

// is reports whether a header holds what is expected.
func (v *verifier) is(e expected, h *said) bool {
	switch e.kind {
	case ofVersion:
		return isOfVersion(h.kind) && v.sum(h.url, h.version, h.view, h.digest) == e.sum
	case ofShot:
		page, _, ok := ScreenshotOf(h.url)
		return ok && h.kind == typeResource && v.sum(page, h.version, h.view) == e.sum
	case ofMeta:
		return h.kind == typeMetadata && v.sum(h.url, h.version, h.view) == e.sum
	}
	return holdsBody(h.kind) && v.sum(h.digest) == e.sum
}

// deeply reports whether the block of a record is what it is to be.
func (v *verifier) deeply(e expected, h *said, block []byte) bool {
	switch e.kind {
	case ofShot:
		return IsPNG(block) && blockDigest(block) == h.block
	case ofMeta:
		_, err := decodeMeta(block)
		return err == nil
	case ofBody:
		body, err := block, error(nil)
		if h.kind == typeResponse {
			_, _, body, err = splitResponse(block)
		}
		return err == nil && sha256.Sum256(body) == v.bodies[e.body]
	}
	return true
}

// said is what the header of a record holds, as this package writes it.
type said struct{ kind, url, version, view, digest, block, length string }

// parse takes the header of a record off; rest is what follows.
func (h *said) parse(raw []byte) (rest []byte, ok bool) {
	rest, ok = bytes.CutPrefix(raw, []byte(warcVersion))
	for ok {
		var line []byte
		if line, rest, ok = bytes.Cut(rest, []byte("\r\n")); ok && len(line) == 0 {
			return rest, true
		}
		name, value, colon := bytes.Cut(line, []byte(":"))
		if ok = ok && colon; !ok {
			break
		}
		value = bytes.TrimSpace(value)
		switch string(name) {
		case "WARC-Type":
			h.kind = string(value)
		case "WARC-Target-URI":
			h.url = string(value)
		case versionField:
			h.version = string(value)
		case viewField:
			h.view = string(value)
		case "WARC-Payload-Digest":
			h.digest = string(value)
		case "WARC-Block-Digest":
			h.block = string(value)
		case "Content-Length":
			h.length = string(value)
		}
	}
	return nil, false
}
