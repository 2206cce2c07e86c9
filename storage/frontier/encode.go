package frontier

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/webrace/webrace/storage/internal/frontcode"
	"github.com/webrace/webrace/storage/internal/nanos"
)

// schema is the first byte of every value. A later layout of a value takes another, and the reader of
// that value still reads the earlier ones.
const schema = 1

var errCorrupt = errors.New("value is damaged or of an unknown schema")

type writer []byte

func newWriter(size int) writer { return newWriterOf(schema, size) }

func newWriterOf(schema byte, size int) writer { return append(make(writer, 0, size), schema) }

func (w *writer) uint(n uint64)    { *w = binary.AppendUvarint(*w, n) }
func (w *writer) int(n int64)      { *w = binary.AppendVarint(*w, n) }
func (w *writer) text(s string)    { w.uint(uint64(len(s))); *w = append(*w, s...) }
func (w *writer) time(t time.Time) { w.int(nanos.Of(t)) }
func (w *writer) fixed(b []byte)   { *w = append(*w, b...) }

func (w *writer) flag(b bool) {
	if b {
		w.uint(1)
	} else {
		w.uint(0)
	}
}

func (w *writer) words(ns []uint64) {
	w.uint(uint64(len(ns)))
	for _, n := range ns {
		*w = binary.BigEndian.AppendUint64(*w, n)
	}
}

// reader reads what a writer wrote. After a fault it returns zeros, and err reports it.
type reader struct {
	rest   []byte
	schema byte
	err    error
}

func newReader(value []byte) *reader { return newReaderUpTo(schema, value) }

// newReaderUpTo reads a value of any schema up to latest.
func newReaderUpTo(latest byte, value []byte) *reader {
	r := &reader{rest: value}
	if b := r.fixed(1); b != nil {
		if r.schema = b[0]; r.schema < schema || r.schema > latest {
			r.fail()
		}
	}
	return r
}

func (r *reader) fail() { r.rest, r.err = nil, errCorrupt }

// done reports what went wrong, bytes left over included.
func (r *reader) done() error {
	if r.err == nil && len(r.rest) > 0 {
		r.fail()
	}
	return r.err
}

func (r *reader) uint() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *reader) int() int64 {
	n, size := binary.Varint(r.rest)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// small reads a number that may be at most limit.
func (r *reader) small(limit uint64) uint64 {
	n := r.uint()
	if n > limit {
		r.fail()
		return 0
	}
	return n
}

// count reads how many things of at least size bytes follow.
func (r *reader) count(size int) int {
	n := r.uint()
	if n > uint64(len(r.rest)/size) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reader) fixed(n int) []byte {
	if len(r.rest) < n {
		r.fail()
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) text() string    { return string(r.fixed(r.count(1))) }
func (r *reader) time() time.Time { return nanos.Time(r.int()) }
func (r *reader) flag() bool      { return r.small(1) == 1 }

func (r *reader) words() []uint64 {
	n := r.count(8)
	if n == 0 {
		return nil
	}
	ns := make([]uint64, n)
	for i := range ns {
		ns[i] = binary.BigEndian.Uint64(r.fixed(8))
	}
	return ns
}

// list reads what frontcode wrote.
func (r *reader) list() []string {
	list, rest, err := frontcode.Cut(r.rest)
	if err != nil {
		r.fail()
		return nil
	}
	r.rest = rest
	return list
}
