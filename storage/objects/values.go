package objects

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/internal/frontcode"
	"github.com/webrace/webrace/storage/internal/generation"
)

// Every value of the index begins with its schema, so that a later release can add to one kind of value
// and still read those written before.
const schema = 1

// location is where records lie: length bytes from offset in a segment.
type location struct {
	segment uint32
	offset  int64
	length  int64
}

// entry is what the index knows of a version. Its records lie one behind the other: the response or
// revisit record at record, that of its screenshot, if it has one, and the metadata record.
type entry struct {
	Version
	record     location
	shotLength int64 // 0 without a screenshot
	metaLength int64
}

func (e *entry) shot() location {
	return location{e.record.segment, e.record.offset + e.record.length, e.shotLength}
}

func (e *entry) meta() location {
	return location{e.record.segment, e.record.offset + e.record.length + e.shotLength, e.metaLength}
}

// whole is where all records of the version lie.
func (e *entry) whole() location {
	return location{e.record.segment, e.record.offset, e.record.length + e.shotLength + e.metaLength}
}

// records is how many they are.
func (e *entry) records() uint64 {
	if e.shotLength > 0 {
		return 3
	}
	return 2
}

// payload is what the index knows of a body: the response record that holds it, and how often it is
// referred to. ID, URL and date are what revisit records quote.
type payload struct {
	record location
	size   int64
	refs   uint64
	id     recordID
	date   time.Time
	url    string
}

// segmentState is what is known of a segment. Bytes beyond size belong to no record.
type segmentState struct {
	compression Compression
	size        int64
	records     uint64
	dead        int64 // bytes of records that nothing refers to any more
}

type counters struct {
	seq                                    uint64
	urls, versions, payloads, payloadBytes uint64
	segments, segmentBytes                 uint64
	dead                                   uint64 // not stored: the sum of what segments say
}

func encodeEntry(e *entry) []byte {
	w := writer{schema}
	w.uint(uint64(e.Number))
	w.uint(e.Seq)
	w = append(w, e.Digest[:]...)
	w.uint(uint64(e.Status))
	w.string(e.MediaType)
	w.string(e.Charset)
	w.string(e.Language)
	w.uint(uint64(e.Size))
	w.time(e.FetchedAt)
	w.time(e.ValidatedAt)
	w.bool(e.Truncated)
	w.location(e.record)
	w.uint(uint64(e.metaLength))
	if e.shotLength > 0 {
		w.uint(uint64(e.shotLength))
	}
	return w
}

func decodeEntry(url string, value []byte) (entry, error) {
	r := newReader(value)
	var e entry
	e.Secret, e.URL = splitView(url)
	e.Number = int(r.size())
	e.Seq = r.uint()
	copy(e.Digest[:], r.take(len(webrace.Digest{})))
	e.Status = int(r.size())
	e.MediaType = r.string()
	e.Charset = r.string()
	e.Language = r.string()
	e.Size = r.size()
	e.FetchedAt = r.time()
	e.ValidatedAt = r.time()
	e.Truncated = r.bool()
	e.record = r.location()
	e.metaLength = r.size()
	if len(r.rest) > 0 { // of a store of format 4
		e.shotLength = r.size()
	}
	e.Screenshot = e.shotLength > 0
	return e, r.end("version")
}

func encodePayload(p *payload) []byte {
	w := writer{schema}
	w.location(p.record)
	w.uint(uint64(p.size))
	w.uint(p.refs)
	w = append(w, p.id[:]...)
	w.time(p.date)
	w.string(p.url)
	return w
}

func decodePayload(value []byte) (payload, error) {
	r := newReader(value)
	var p payload
	p.record = r.location()
	p.size = r.size()
	p.refs = r.uint()
	copy(p.id[:], r.take(len(recordID{})))
	p.date = r.time()
	p.url = r.string()
	return p, r.end("payload")
}

func encodeSegment(s *segmentState) []byte {
	w := writer{schema, byte(s.compression)}
	w.uint(uint64(s.size))
	w.uint(s.records)
	w.uint(uint64(s.dead))
	return w
}

func decodeSegment(value []byte) (segmentState, error) {
	r := newReader(value)
	var s segmentState
	s.compression = Compression(r.byte())
	s.size = r.size()
	s.records = r.uint()
	s.dead = r.size()
	return s, r.end("segment")
}

func encodeCounters(c *counters) []byte {
	w := writer{schema}
	for _, n := range []uint64{c.seq, c.urls, c.versions, c.payloads, c.payloadBytes, c.segments, c.segmentBytes} {
		w.uint(n)
	}
	return w
}

func decodeCounters(value []byte) (counters, error) {
	r := newReader(value)
	var c counters
	for _, n := range []*uint64{&c.seq, &c.urls, &c.versions, &c.payloads, &c.payloadBytes, &c.segments, &c.segmentBytes} {
		*n = r.uint()
	}
	return c, r.end("counters")
}

func encodeFormer(f webrace.Former) []byte {
	w := writer{schema}
	w.uint(uint64(f.Version))
	w.string(f.URL)
	return w
}

func decodeFormer(value []byte) (f webrace.Former, err error) {
	r := newReader(value)
	f.Version = int(r.size())
	f.URL = r.string()
	return f, r.end("former URL")
}

// A log value names the version that a sequence number was given to.
func encodeLog(url string, number int) []byte {
	w := writer{schema}
	w.uint(uint64(number))
	w.string(url)
	return w
}

func decodeLog(value []byte) (url string, number int, err error) {
	r := newReader(value)
	number = int(r.size())
	url = r.string()
	return url, number, r.end("log entry")
}

func encodeNumber(n uint64) []byte {
	w := writer{schema}
	w.uint(n)
	return w
}

func decodeNumber(value []byte) (uint64, error) {
	r := newReader(value)
	n := r.uint()
	return n, r.end("number")
}

func decodeGeneration(value []byte) (generation.Generation, error) {
	g, err := generation.Varint.Decode(value)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return g, err
}

func encodeLinks(links []string) []byte { return frontcode.Append([]byte{schema}, links) }

func decodeLinks(value []byte) ([]string, error) {
	if len(value) == 0 || value[0] != schema {
		return nil, fmt.Errorf("%w: links cannot be decoded", ErrCorrupt)
	}
	links, rest, err := frontcode.Cut(value[1:])
	if err != nil || len(rest) > 0 {
		return nil, fmt.Errorf("%w: links cannot be decoded", ErrCorrupt)
	}
	return links, nil
}

// writer appends the parts of a value.
type writer []byte

func (w *writer) uint(n uint64) { *w = binary.AppendUvarint(*w, n) }
func (w *writer) string(s string) {
	w.uint(uint64(len(s)))
	*w = append(*w, s...)
}

func (w *writer) bool(b bool) {
	if b {
		*w = append(*w, 1)
	} else {
		*w = append(*w, 0)
	}
}

// time writes nanoseconds since 1970, which reach to 2262; the zero time has a value of its own.
func (w *writer) time(t time.Time) {
	nanos := int64(math.MinInt64)
	if !t.IsZero() {
		nanos = t.UnixNano()
	}
	*w = binary.AppendVarint(*w, nanos)
}

func (w *writer) location(l location) {
	w.uint(uint64(l.segment))
	w.uint(uint64(l.offset))
	w.uint(uint64(l.length))
}

// reader takes the parts of a value off again. After a failure it yields zeros, and end reports it.
type reader struct {
	rest   []byte
	failed bool
}

func newReader(value []byte) *reader {
	r := &reader{rest: value}
	if r.byte() != schema {
		r.failed = true
	}
	return r
}

func (r *reader) take(n int) []byte {
	if r.failed || n > len(r.rest) {
		r.failed = true
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) bool() bool { return r.byte() != 0 }

func (r *reader) uint() uint64 {
	n, width := binary.Uvarint(r.rest)
	if width <= 0 {
		r.failed = true
	}
	if r.failed {
		return 0
	}
	r.rest = r.rest[width:]
	return n
}

// size reads a number that must be positive as an int64.
func (r *reader) size() int64 {
	n := r.uint()
	if n > math.MaxInt64 {
		r.failed = true
		return 0
	}
	return int64(n)
}

func (r *reader) string() string {
	n := r.uint()
	if n > uint64(len(r.rest)) {
		r.failed = true
		return ""
	}
	return string(r.take(int(n)))
}

func (r *reader) time() time.Time {
	nanos, width := binary.Varint(r.rest)
	if width <= 0 {
		r.failed = true
	}
	if r.failed {
		return time.Time{}
	}
	r.rest = r.rest[width:]
	if nanos == math.MinInt64 {
		return time.Time{}
	}
	return time.Unix(0, nanos).UTC()
}

func (r *reader) location() location {
	segment := r.uint()
	if segment > math.MaxUint32 {
		r.failed = true
	}
	return location{uint32(segment), r.size(), r.size()}
}

func (r *reader) end(what string) error {
	if r.failed || len(r.rest) > 0 {
		return fmt.Errorf("%w: %s cannot be decoded", ErrCorrupt, what)
	}
	return nil
}
