package queue

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Record is what a queue holds: the value of an item as its codec writes it, and the item's meta data.
type Record struct {
	At     time.Time // when it was put, to the millisecond; Put sets it
	Kind   string
	Meta   map[string]string
	Header []byte
	Body   []byte
}

// errDamaged is wrapped by what is said of a value that cannot be read.
var errDamaged = errors.New("damaged value")

const recordVersion = 1

// encode writes a record: its version, and then each part behind its length, the body without.
func (r *Record) encode() []byte {
	size := 64 + len(r.Kind) + len(r.Header) + len(r.Body)
	for name, value := range r.Meta {
		size += 2*binary.MaxVarintLen32 + len(name) + len(value)
	}
	b := append(make([]byte, 0, size), recordVersion)
	b = binary.AppendVarint(b, r.At.UnixMilli())
	b = appendPart(b, r.Kind)
	b = binary.AppendUvarint(b, uint64(len(r.Meta)))
	for _, name := range slices.Sorted(maps.Keys(r.Meta)) {
		b = appendPart(appendPart(b, name), r.Meta[name])
	}
	b = appendPart(b, r.Header)
	return append(b, r.Body...)
}

func appendPart[T ~string | ~[]byte](b []byte, part T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(part))), part...)
}

// decodeRecord reads what encode has written. The record uses the memory of value.
func decodeRecord(value []byte) (r Record, err error) {
	if len(value) == 0 || value[0] != recordVersion {
		return r, fmt.Errorf("%w: %d bytes that are no record", errDamaged, len(value))
	}
	d := decoder{rest: value[1:]}
	at, n := binary.Varint(d.rest)
	if d.advance(n) {
		r.At = time.UnixMilli(at)
	}
	r.Kind = string(d.part())
	if metas := d.uint(); metas > 0 && metas <= uint64(len(d.rest)) {
		r.Meta = make(map[string]string, metas)
		for range metas {
			name := string(d.part())
			r.Meta[name] = string(d.part())
		}
	} else if metas > 0 {
		d.wrong = true
	}
	r.Header = d.part()
	if d.wrong {
		return r, fmt.Errorf("%w: a record of %d bytes ends early", errDamaged, len(value))
	}
	r.Body = d.rest
	return r, nil
}

// decoder reads parts; what is missing makes it wrong.
type decoder struct {
	rest  []byte
	wrong bool
}

// advance leaves n bytes behind, if there are so many and n is no error of package binary.
func (d *decoder) advance(n int) bool {
	if d.wrong || n <= 0 {
		d.wrong = true
		return false
	}
	d.rest = d.rest[n:]
	return true
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if !d.advance(n) {
		return 0
	}
	return v
}

func (d *decoder) part() []byte {
	n := d.uint()
	if d.wrong || n > uint64(len(d.rest)) {
		d.wrong = true
		return nil
	}
	part := d.rest[:n:n]
	d.rest = d.rest[n:]
	return part
}

// state is what a queue holds on disk.
type state struct{ records, bytes int64 }

func (s *state) add(records, bytes int64) {
	s.records += records
	s.bytes += bytes
}

func (s state) encode() []byte {
	return binary.AppendVarint(binary.AppendVarint([]byte{recordVersion}, s.records), s.bytes)
}

func decodeState(value []byte) (s state, err error) {
	if value == nil {
		return s, nil
	}
	if len(value) > 0 && value[0] == recordVersion {
		records, n := binary.Varint(value[1:])
		if n > 0 {
			bytes, m := binary.Varint(value[1+n:])
			if m > 0 && 1+n+m == len(value) {
				return state{records, bytes}, nil
			}
		}
	}
	return s, fmt.Errorf("%w: the totals of a queue are %x", errDamaged, value)
}

// state reads what a queue holds.
func (s *Store) state(number uint32) (state, error) {
	value, err := s.db.Value(keyOf(stateKey, number))
	if err != nil {
		return state{}, err
	}
	return decodeState(value)
}

func keyOf(kind string, number uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte(kind), number)
}

func keyOfRecord(number uint32, sequence uint64) []byte {
	return binary.BigEndian.AppendUint64(keyOf(recordKey, number), sequence)
}

// sizeOf is how many bytes a record takes, key included.
func sizeOf(value []byte) int64 {
	return int64(len(recordKey) + numberSize + sequenceSize + len(value))
}
