// Package values writes and reads the values that stores keep: numbers in as few bytes as they take, and texts behind
// their length. Readers take no more for granted than that there are some bytes.
package values

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/webrace/webrace/storage/internal/frontcode"
	"github.com/webrace/webrace/storage/internal/nanos"
)

// Writer appends the parts of a value.
type Writer []byte

func (w *Writer) Uint(n uint64) { *w = binary.AppendUvarint(*w, n) }

func (w *Writer) Int(n int64) { *w = binary.AppendVarint(*w, n) }

func (w *Writer) Text(s string) { w.Uint(uint64(len(s))); *w = append(*w, s...) }

func (w *Writer) Time(t time.Time) { w.Int(nanos.Of(t)) }

// List appends texts that mostly begin alike.
func (w *Writer) List(list []string) { *w = frontcode.Append(*w, list) }

func (w *Writer) Words(ns []uint64) {
	w.Uint(uint64(len(ns)))
	for _, n := range ns {
		*w = binary.BigEndian.AppendUint64(*w, n)
	}
}

func (w *Writer) Fixed(b []byte) { *w = append(*w, b...) }

func (w *Writer) Flag(b bool) {
	if b {
		w.Uint(1)
	} else {
		w.Uint(0)
	}
}

// Reader takes off what a Writer appended. Where something else is there it has failed, and returns zeros.
type Reader struct {
	Rest   []byte
	Failed bool
}

// Fail is called by whoever finds that what was read cannot be.
func (r *Reader) Fail() { r.Rest, r.Failed = nil, true }

// End reports whether all was there, and nothing else is.
func (r *Reader) End() bool { return !r.Failed && len(r.Rest) == 0 }

func (r *Reader) Uint() uint64 {
	n, size := binary.Uvarint(r.Rest)
	if size <= 0 {
		r.Fail()
		return 0
	}
	r.Rest = r.Rest[size:]
	return n
}

func (r *Reader) Int() int64 {
	n, size := binary.Varint(r.Rest)
	if size <= 0 {
		r.Fail()
		return 0
	}
	r.Rest = r.Rest[size:]
	return n
}

// Small reads a number that may be at most limit.
func (r *Reader) Small(limit uint64) uint64 {
	n := r.Uint()
	if n > limit {
		r.Fail()
		return 0
	}
	return n
}

// Number reads one of 32 bits.
func (r *Reader) Number() uint32 { return uint32(r.Small(math.MaxUint32)) }

// Size reads a number that is not negative as an int64.
func (r *Reader) Size() int64 { return int64(r.Small(math.MaxInt64)) }

// Count reads how many things of at least size bytes follow.
func (r *Reader) Count(size int) int {
	n := r.Uint()
	if n > uint64(len(r.Rest)/size) {
		r.Fail()
		return 0
	}
	return int(n)
}

// Fixed reads n bytes, which are those of the value; nil if there are fewer.
func (r *Reader) Fixed(n int) []byte {
	if len(r.Rest) < n {
		r.Fail()
		return nil
	}
	b := r.Rest[:n:n]
	r.Rest = r.Rest[n:]
	return b
}

func (r *Reader) Text() string { return string(r.Fixed(r.Count(1))) }

func (r *Reader) Flag() bool { return r.Small(1) == 1 }

func (r *Reader) Time() time.Time { return nanos.Time(r.Int()) }

func (r *Reader) List() []string {
	list, rest, err := frontcode.Cut(r.Rest)
	if err != nil {
		r.Fail()
		return nil
	}
	r.Rest = rest
	return list
}

func (r *Reader) Words() []uint64 {
	n := r.Count(8)
	if n == 0 {
		return nil
	}
	ns := make([]uint64, n)
	for i := range ns {
		ns[i] = binary.BigEndian.Uint64(r.Fixed(8))
	}
	return ns
}
