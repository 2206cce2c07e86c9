package frontier

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// writes are what a group of steps writes. They go to the database in the order of their keys, which
// finds each one's place beside that of the one before; of several writes of a key, the last one goes.
type writes struct {
	data []byte // keys and values, one after the other
	list []write
}

type write struct {
	rank              uint64 // sorts as the bytes of the key behind the pipeline do, so far as they go
	start, value, end uint32
	remove            bool
}

func (w *writes) reset() { w.data, w.list = w.data[:0], w.list[:0] }

func (w *writes) set(key, value []byte) {
	w.open(key)
	w.data = append(w.data, value...)
	w.close()
}

func (w *writes) delete(key []byte) {
	w.open(key)
	w.close()
	w.list[len(w.list)-1].remove = true
}

// open begins a write. Until close, the value is appended to data.
func (w *writes) open(key []byte) {
	var head [8]byte
	copy(head[:], key[len(keys{}):])
	start := uint32(len(w.data))
	w.data = append(w.data, key...)
	w.list = append(w.list, write{rank: binary.BigEndian.Uint64(head[:]), start: start, value: uint32(len(w.data))})
}

func (w *writes) close() { w.list[len(w.list)-1].end = uint32(len(w.data)) }

func (w *writes) key(i int) []byte { return w.data[w.list[i].start:w.list[i].value] }

// last returns what was last written under a key, nil for nothing. It looks at every write.
func (w *writes) last(key []byte) []byte {
	for i := len(w.list) - 1; i >= 0; i-- {
		if bytes.Equal(w.key(i), key) {
			return bytes.Clone(w.data[w.list[i].value:w.list[i].end])
		}
	}
	return nil
}

// apply hands everything over to the batch.
func (w *writes) apply(batch pebbledb.Batch) error {
	slices.SortFunc(w.list, func(a, b write) int {
		if a.rank != b.rank {
			return cmp.Compare(a.rank, b.rank)
		}
		if n := bytes.Compare(w.data[a.start:a.value], w.data[b.start:b.value]); n != 0 {
			return n
		}
		return cmp.Compare(a.start, b.start)
	})
	for i := range w.list {
		key := w.key(i)
		if i+1 < len(w.list) && w.list[i+1].rank == w.list[i].rank && bytes.Equal(w.key(i+1), key) {
			continue
		}
		var err error
		if w.list[i].remove {
			err = batch.Delete(key)
		} else {
			err = batch.Set(key, w.data[w.list[i].value:w.list[i].end])
		}
		if err != nil {
			return err
		}
	}
	return nil
}
