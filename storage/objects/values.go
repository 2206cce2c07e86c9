package objects

import (
	"fmt"
	"math"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/internal/generation"
	"github.com/webrace/webrace/storage/internal/values"
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
	w := writer{values.Writer{schema}}
	w.Uint(uint64(e.Number))
	w.Uint(e.Seq)
	w.Fixed(e.Digest[:])
	w.Uint(uint64(e.Status))
	w.Text(e.MediaType)
	w.Text(e.Charset)
	w.Text(e.Language)
	w.Uint(uint64(e.Size))
	w.time(e.FetchedAt)
	w.time(e.ValidatedAt)
	w.Flag(e.Truncated)
	w.location(e.record)
	w.Uint(uint64(e.metaLength))
	if e.shotLength > 0 {
		w.Uint(uint64(e.shotLength))
	}
	return w.Writer
}

func decodeEntry(url string, value []byte) (entry, error) {
	r := newReader(value)
	var e entry
	e.Secret, e.URL = splitView(url)
	e.Number = int(r.Size())
	e.Seq = r.Uint()
	copy(e.Digest[:], r.Fixed(len(webrace.Digest{})))
	e.Status = int(r.Size())
	e.MediaType = r.Text()
	e.Charset = r.Text()
	e.Language = r.Text()
	e.Size = r.Size()
	e.FetchedAt = r.time()
	e.ValidatedAt = r.time()
	e.Truncated = r.Flag()
	e.record = r.location()
	e.metaLength = r.Size()
	if len(r.Rest) > 0 { // of a store of format 4
		e.shotLength = r.Size()
	}
	e.Screenshot = e.shotLength > 0
	return e, r.end("version")
}

func encodePayload(p *payload) []byte {
	w := writer{values.Writer{schema}}
	w.location(p.record)
	w.Uint(uint64(p.size))
	w.Uint(p.refs)
	w.Fixed(p.id[:])
	w.time(p.date)
	w.Text(p.url)
	return w.Writer
}

func decodePayload(value []byte) (payload, error) {
	r := newReader(value)
	var p payload
	p.record = r.location()
	p.size = r.Size()
	p.refs = r.Uint()
	copy(p.id[:], r.Fixed(len(recordID{})))
	p.date = r.time()
	p.url = r.Text()
	return p, r.end("payload")
}

func encodeSegment(s *segmentState) []byte {
	w := values.Writer{schema, byte(s.compression)}
	w.Uint(uint64(s.size))
	w.Uint(s.records)
	w.Uint(uint64(s.dead))
	return w
}

func decodeSegment(value []byte) (segmentState, error) {
	r := newReader(value)
	var s segmentState
	s.compression = Compression(r.Small(math.MaxUint8))
	s.size = r.Size()
	s.records = r.Uint()
	s.dead = r.Size()
	return s, r.end("segment")
}

func encodeCounters(c *counters) []byte {
	w := values.Writer{schema}
	for _, n := range []uint64{c.seq, c.urls, c.versions, c.payloads, c.payloadBytes, c.segments, c.segmentBytes} {
		w.Uint(n)
	}
	return w
}

func decodeCounters(value []byte) (counters, error) {
	r := newReader(value)
	var c counters
	for _, n := range []*uint64{&c.seq, &c.urls, &c.versions, &c.payloads, &c.payloadBytes, &c.segments, &c.segmentBytes} {
		*n = r.Uint()
	}
	return c, r.end("counters")
}

func encodeFormer(f webrace.Former) []byte {
	w := values.Writer{schema}
	w.Uint(uint64(f.Version))
	w.Text(f.URL)
	return w
}

func decodeFormer(value []byte) (f webrace.Former, err error) {
	r := newReader(value)
	f.Version = int(r.Size())
	f.URL = r.Text()
	return f, r.end("former URL")
}

// A log value names the version that a sequence number was given to.
func encodeLog(url string, number int) []byte {
	w := values.Writer{schema}
	w.Uint(uint64(number))
	w.Text(url)
	return w
}

func decodeLog(value []byte) (url string, number int, err error) {
	r := newReader(value)
	number = int(r.Size())
	url = r.Text()
	return url, number, r.end("log entry")
}

func encodeNumber(n uint64) []byte {
	w := values.Writer{schema}
	w.Uint(n)
	return w
}

func decodeNumber(value []byte) (uint64, error) {
	r := newReader(value)
	n := r.Uint()
	return n, r.end("number")
}

func decodeGeneration(value []byte) (generation.Generation, error) {
	g, err := generation.Varint.Decode(value)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return g, err
}

func encodeLinks(links []string) []byte {
	w := values.Writer{schema}
	w.List(links)
	return w
}

func decodeLinks(value []byte) ([]string, error) {
	r := newReader(value)
	links := r.List()
	return links, r.end("links")
}

// writer appends the parts of a value.
type writer struct{ values.Writer }

// time writes nanoseconds since 1970, which reach to 2262; the zero time has a value of its own.
func (w *writer) time(t time.Time) {
	nanos := int64(math.MinInt64)
	if !t.IsZero() {
		nanos = t.UnixNano()
	}
	w.Int(nanos)
}

func (w *writer) location(l location) {
	w.Uint(uint64(l.segment))
	w.Uint(uint64(l.offset))
	w.Uint(uint64(l.length))
}

// reader takes the parts of a value off again.
type reader struct{ values.Reader }

func newReader(value []byte) *reader {
	r := &reader{values.Reader{Rest: value}}
	if r.Uint() != schema {
		r.Fail()
	}
	return r
}

func (r *reader) time() time.Time {
	nanos := r.Int()
	if r.Failed || nanos == math.MinInt64 {
		return time.Time{}
	}
	return time.Unix(0, nanos).UTC()
}

func (r *reader) location() location { return location{r.Number(), r.Size(), r.Size()} }

func (r *reader) end(what string) error {
	if !r.End() {
		return fmt.Errorf("%w: %s cannot be decoded", ErrCorrupt, what)
	}
	return nil
}
