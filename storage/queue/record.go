package queue

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/webrace/webrace/storage/internal/values"
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
	w := append(make(values.Writer, 0, size), recordVersion)
	w.Int(r.At.UnixMilli())
	w.Text(r.Kind)
	w.Uint(uint64(len(r.Meta)))
	for _, name := range slices.Sorted(maps.Keys(r.Meta)) {
		w.Text(name)
		w.Text(r.Meta[name])
	}
	w.Uint(uint64(len(r.Header)))
	w.Fixed(r.Header)
	return append(w, r.Body...)
}

// decodeRecord reads what encode has written. The record uses the memory of value.
func decodeRecord(value []byte) (r Record, err error) {
	if len(value) == 0 || value[0] != recordVersion {
		return r, fmt.Errorf("%w: %d bytes that are no record", errDamaged, len(value))
	}
	d := values.Reader{Rest: value[1:]}
	r.At = time.UnixMilli(d.Int())
	r.Kind = d.Text()
	if n := d.Count(2); n > 0 {
		r.Meta = make(map[string]string, n)
		for range n {
			name := d.Text()
			r.Meta[name] = d.Text()
		}
	}
	r.Header = d.Fixed(d.Count(1))
	if d.Failed {
		return r, fmt.Errorf("%w: a record of %d bytes ends early", errDamaged, len(value))
	}
	r.Body = d.Rest
	return r, nil
}

// state is what a queue holds on disk.
type state struct{ records, bytes int64 }

func (s *state) add(records, bytes int64) {
	s.records += records
	s.bytes += bytes
}

func (s state) encode() []byte {
	w := values.Writer{recordVersion}
	w.Int(s.records)
	w.Int(s.bytes)
	return w
}

func decodeState(value []byte) (s state, err error) {
	if value == nil {
		return s, nil
	}
	if len(value) > 0 && value[0] == recordVersion {
		r := values.Reader{Rest: value[1:]}
		if s = (state{r.Int(), r.Int()}); r.End() {
			return s, nil
		}
	}
	return state{}, fmt.Errorf("%w: the totals of a queue are %x", errDamaged, value)
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
