package frontier

import (
	"math"
	"time"
)

// hostRecord is how a host is treated, and what it has queued. The host has a ready key at each level
// where it has items, except while it is parked. One that is paused is parked for ever.
type hostRecord struct {
	parallel  int
	notBefore time.Time
	parked    int64 // until when it waits on disk; 0 when it does not
	items     [levels]uint64
	known     uint64 // URLs ever accepted
	listings  listings
	why       string // it waits until notBefore, if not for the usual pause
	reported  int64  // when that was said, in nanoseconds since 1970; 0: not known

	dirty bool
}

// hostSchema is that of hosts; 1 did not count the URLs ever accepted, 2 knew nothing of
// listings, 3 not why a host waits, and 4 not since when.
const hostSchema = 5

func (h *hostRecord) encode() []byte {
	w := newWriterOf(hostSchema, 32)
	w.Uint(uint64(h.parallel))
	w.Time(h.notBefore)
	w.Int(h.parked)
	for _, n := range h.items {
		w.Uint(n)
	}
	w.Uint(h.known)
	for _, n := range []uint8{h.listings.right, h.listings.wrong, h.listings.silent} {
		w.Uint(uint64(n))
	}
	w.Text(h.why)
	w.Int(h.reported)
	return w
}

func decodeHost(value []byte) (*hostRecord, error) {
	r := newReaderUpTo(hostSchema, value)
	h := &hostRecord{parallel: int(r.Small(math.MaxInt32)), notBefore: r.Time(), parked: r.Int()}
	for i := range h.items {
		h.items[i] = r.Uint()
	}
	if r.schema > 1 {
		h.known = r.Uint()
	}
	if r.schema > 2 {
		for _, n := range []*uint8{&h.listings.right, &h.listings.wrong, &h.listings.silent} {
			*n = uint8(r.Small(math.MaxUint8))
		}
	}
	if r.schema > 3 {
		h.why = r.Text()
	}
	if r.schema > 4 {
		h.reported = r.Int()
	}
	return h, r.done()
}
