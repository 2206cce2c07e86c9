package objects

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/internal/pebbledb"
	"github.com/webrace/webrace/storage/internal/values"
)

// harvest gathers what an index lacks from whole segments, however much that is: in the index itself, under keys that
// nothing else uses, in the order of their dates, in which versions are brought in.
//
//	o/<date8><segment4><offset8>  a version
//	b/<digest32>                  a body that the index does not have
type harvest struct {
	store *Store
	batch pebbledb.Batch
	files map[uint32]int64 // the sizes of segments
}

func (s *Store) newHarvest() (*harvest, error) {
	files, err := segmentFiles(s.options.FS, s.segments.dir)
	if err != nil {
		return nil, err
	}
	h := &harvest{store: s, batch: s.db.NewBatch(), files: files}
	return h, h.clear()
}

// clear takes away what was gathered.
func (h *harvest) clear() error {
	for _, prefix := range []string{"o/", "b/"} {
		if err := h.batch.DeleteRange([]byte(prefix), pebbledb.After([]byte(prefix))); err != nil {
			return err
		}
	}
	return h.flush()
}

// close ends the harvest.
func (h *harvest) close() error { return errors.Join(h.clear(), h.batch.Close()) }

func (h *harvest) flush() error {
	err := h.batch.Commit(pebbledb.NoSync)
	h.batch.Close()
	h.batch = h.store.db.NewBatch()
	return err
}

// extent gathers from the records of an extent, over what is none, and sets where they end.
func (h *harvest) extent(ctx context.Context, e *extent) error {
	file, err := h.store.options.FS.Open(h.store.segments.path(e.segment))
	if err != nil {
		return fmt.Errorf("open segment %d: %w", e.segment, err)
	}
	defer file.Close()
	p := pairs{add: h.add}
	for in := (&scanner{segment: e.segment, file: file, at: e.begin, end: e.size}); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		r, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		e.take(r)
		if err := p.next(r); err != nil {
			return err
		}
	}
	return errors.Join(p.end(e.size), h.flush())
}

// add gathers a version, unless the index has it there already, and its body, if the index lacks that.
func (h *harvest) add(v *salvaged) error {
	if v.payload != nil {
		p, known, err := get(h.store, payloadKey(v.Digest), decodePayload)
		if err != nil && !errors.Is(err, ErrCorrupt) {
			return err
		}
		if !known || !p.record.within(h.files) {
			h.batch.Set(gatheredBody(v.Digest), encodePayload(v.payload))
		}
	}
	if v.metaLength == 0 && !v.torn {
		return nil // a body that outlives its version
	}
	e, ok, err := h.store.find(v.View(), v.Number)
	if err != nil && !errors.Is(err, ErrCorrupt) {
		return err
	}
	if ok && e.record == v.record {
		return nil
	}
	h.batch.Set(gatheredVersion(v), encodeSalvaged(v))
	if h.batch.Len() > 1<<20 {
		return h.flush()
	}
	return nil
}

// versions yields what was gathered, by date.
func (h *harvest) versions() iter.Seq2[*salvaged, error] {
	return func(yield func(*salvaged, error) bool) {
		var failed error
		for _, value := range under(h.store.db, []byte("o/"), &failed) {
			v, err := decodeSalvaged(value)
			if err == nil {
				err = h.identify(v)
			}
			if !yield(v, err) {
				return
			}
		}
		if failed != nil {
			yield(nil, failed)
		}
	}
}

// identify gives a version the body that its own record holds, as the index is to know it.
func (h *harvest) identify(v *salvaged) error {
	p, err := h.body(v.Digest)
	if err == nil && p != nil && p.record == v.record {
		v.payload = p
	}
	return err
}

// body returns a body that was gathered; nil for none.
func (h *harvest) body(d webrace.Digest) (*payload, error) {
	p, ok, err := get(h.store, gatheredBody(d), decodePayload)
	if err != nil || !ok {
		return nil, err
	}
	return &p, nil
}

func gatheredBody(d webrace.Digest) []byte { return append([]byte("b/"), d[:]...) }

func gatheredVersion(v *salvaged) []byte {
	const sign = 1 << 63 // so that dates before 1970 sort before those after
	key := binary.BigEndian.AppendUint64([]byte("o/"), uint64(v.FetchedAt.UnixNano())^sign)
	key = binary.BigEndian.AppendUint32(key, v.record.segment)
	return binary.BigEndian.AppendUint64(key, uint64(v.record.offset))
}

func encodeSalvaged(v *salvaged) []byte {
	w := values.Writer{schema}
	w.Text(v.View())
	w.Text(string(encodeEntry(&v.entry)))
	w.Text(v.former)
	w.List(v.links)
	return w
}

func decodeSalvaged(value []byte) (*salvaged, error) {
	r := newReader(value)
	view, inner, former, links := r.Text(), r.Text(), r.Text(), r.List()
	if err := r.end("gathered version"); err != nil {
		return nil, err
	}
	e, err := decodeEntry(view, []byte(inner))
	if err != nil {
		return nil, err
	}
	return &salvaged{entry: e, links: links, former: former}, nil
}
