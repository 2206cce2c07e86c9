package fulltext

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/blevesearch/bleve/v2/document"
	"github.com/blevesearch/bleve/v2/index/scorch"
	index "github.com/blevesearch/bleve_index_api"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	"github.com/blevesearch/vellum"
	zap "github.com/blevesearch/zapx/v17"
	"github.com/golang/snappy"
)

// segmentMaker makes the library's segments (zap 17, to the byte) of the terms as a termCounter has counted them. The
// library by itself looks up each term of each document in four maps, and keeps 100 bytes for each place, which took
// half the time of indexing. Reading and merging are the library's.
type segmentMaker struct{ zap.ZapPlugin }

func init() { scorch.RegisterSegmentPlugin(&segmentMaker{}, true) }

// mostDocuments of a segment that is made here: more would need more than one chunk of numbers a term.
const mostDocuments = 1000

// New makes a segment in memory.
func (m *segmentMaker) New(documents []index.Document) (segment.Segment, uint64, error) {
	return m.NewUsing(documents, nil)
}

// NewUsing makes a segment in memory. Of documents that are none of this package, the library makes it.
func (m *segmentMaker) NewUsing(documents []index.Document, config map[string]any) (segment.Segment, uint64, error) {
	w := segmentWriters.Get().(*segmentWriter)
	defer segmentWriters.Put(w)
	if !w.take(documents) {
		return m.ZapPlugin.NewUsing(documents, config)
	}
	stored, sections, err := w.write()
	if err != nil {
		return nil, 0, err
	}
	stats, ok := config[segment.StatsKey].(*segment.Stats)
	if !ok {
		stats = new(segment.Stats)
	}
	made, err := zap.InitSegmentBase(w.out, crc32.ChecksumIEEE(w.out), zap.DefaultChunkMode, uint64(len(documents)), stored, sections, config, stats)
	return made, uint64(len(w.out)), err
}

var segmentWriters = sync.Pool{New: func() any { return new(segmentWriter) }}

// segmentWriter writes a segment: its documents' stored fields, then for each field the terms, and then where each
// field is. Apart from out, it is room that serves again.
type segmentWriter struct {
	documents []*document.Document
	ids       []countedTerm // of the documents
	columns   []column
	out       []byte

	found      []sortedTerm
	postings   []posting
	tf, places []byte // of one term, as they are written
	key        []byte
	fst        *vellum.Builder
	dictionary bytes.Buffer
}

// column is a field of all documents.
type column struct {
	name    string
	options index.FieldIndexingOptions
	address uint64 // of what there is of it
}

// sortedTerm is a term with its first bytes, by which most are told apart.
type sortedTerm struct {
	begins uint64
	*countedTerm
}

// posting is how often, and where, a term stands in a document.
type posting struct {
	document, n, length uint32
	positions           []uint32
}

const idColumn = "_id" // the first, the others follow by name

// take reports whether these are documents of this package, and prepares to write them.
func (w *segmentWriter) take(documents []index.Document) bool {
	w.documents, w.ids, w.columns = w.documents[:0], w.ids[:0], append(w.columns[:0], column{name: idColumn, options: index.IndexField | index.StoreField})
	if len(documents) > mostDocuments {
		return false
	}
	options := map[string]index.FieldIndexingOptions{}
	for _, d := range documents {
		d, ok := d.(*document.Document)
		if !ok || d.HasComposite() || len(d.NestedDocuments) > 0 || !isOurs(d.Fields) {
			return false
		}
		w.documents, w.ids = append(w.documents, d), append(w.ids, countedTerm{term: d.ID()})
		for _, f := range d.Fields {
			options[f.Name()] |= f.Options()
		}
	}
	delete(options, idColumn)
	for name, o := range options {
		w.columns = append(w.columns, column{name: name, options: o})
	}
	slices.SortFunc(w.columns[1:], func(a, b column) int { return strings.Compare(a.name, b.name) })
	return true
}

// isOurs reports whether all fields that have terms have counted ones, but for the id.
func isOurs(fields []document.Field) bool {
	for _, f := range fields {
		if _, ok := f.(*wordField); !ok && f.Options().IsIndexed() && f.Name() != idColumn {
			return false
		}
	}
	return true
}

func (w *segmentWriter) write() (stored, sections uint64, err error) {
	w.out = make([]byte, 0, w.size()) // the one before belongs to its segment
	stored = w.writeStored()
	for i := range w.columns {
		if err := w.writeColumn(i); err != nil {
			return 0, 0, err
		}
	}
	return stored, w.writeSections(), nil
}

// size returns about how many bytes the segment will have, rather too many.
func (w *segmentWriter) size() int {
	size := 0
	for _, d := range w.documents {
		size += 512
		for _, f := range d.Fields {
			if f, ok := f.(*wordField); ok {
				size += 7*len(f.positions) + 8*len(f.terms)
			}
		}
	}
	return size
}

func (w *segmentWriter) number(n ...uint64) {
	for _, n := range n {
		w.out = binary.AppendUvarint(w.out, n)
	}
}

func (w *segmentWriter) at() uint64 { return uint64(len(w.out)) }

// writeStored writes the stored fields of each document, where each of them is, and that none belongs to another one.
func (w *segmentWriter) writeStored() (address uint64) {
	var places, meta, data, packed []byte
	for _, d := range w.documents {
		meta, data = binary.AppendUvarint(meta[:0], uint64(len(d.ID()))), data[:0]
		for i := 1; i < len(w.columns); i++ {
			for _, f := range d.Fields {
				if f.Name() != w.columns[i].name || !f.Options().IsStored() {
					continue
				}
				value := f.Value()
				for _, n := range []int{i, int(f.EncodedFieldType()), len(data), len(value), 0} {
					meta = binary.AppendUvarint(meta, uint64(n))
				}
				data = append(data, value...)
			}
		}
		packed = snappy.Encode(packed[:cap(packed)], data)
		places = binary.BigEndian.AppendUint64(places, w.at())
		w.number(uint64(len(meta)), uint64(len(d.ID())+len(packed)))
		w.out = append(append(append(w.out, meta...), d.ID()...), packed...)
	}
	address = w.at()
	w.out = append(w.out, places...)
	w.number(0)
	return address
}

// writeColumn writes the postings of each term of a field, the dictionary, and the values of each document.
func (w *segmentWriter) writeColumn(i int) (err error) {
	w.dictionary.Reset()
	if w.fst == nil {
		w.fst, err = vellum.New(&w.dictionary, nil)
	} else {
		err = w.fst.Reset(&w.dictionary)
	}
	if err != nil {
		return err
	}
	w.collect(w.columns[i].name)
	defer func() { // also after an error, since the terms are of the next segment too
		for _, t := range w.found {
			t.documents = 0
		}
	}()
	for _, t := range w.found {
		w.key = append(w.key[:0], t.term...)
		if err := w.fst.Insert(w.key, w.writePostings(uint64(i), w.postings[t.at-t.documents:t.at])); err != nil {
			return err
		}
	}
	if err := w.fst.Close(); err != nil {
		return err
	}
	dictionary := w.at()
	w.number(uint64(w.dictionary.Len()))
	w.out = append(w.out, w.dictionary.Bytes()...)
	first, last := uint64(math.MaxUint64), uint64(math.MaxUint64) // none
	if w.columns[i].options.IncludeDocValues() {
		first = w.at()
		w.writeValues()
		last = w.at()
	}
	w.columns[i].address = w.at()
	w.number(first, last, dictionary)
	return nil
}

// collect finds the terms of a field, in their order, and the documents of each: first how many, then which.
func (w *segmentWriter) collect(name string) {
	w.found = w.found[:0]
	w.eachTerm(name, func(t *countedTerm, _ posting) {
		if t.documents++; t.documents == 1 {
			w.found = append(w.found, sortedTerm{beginning(t.term), t})
		}
	})
	slices.SortFunc(w.found, func(a, b sortedTerm) int {
		if c := cmp.Compare(a.begins, b.begins); c != 0 {
			return c
		}
		return strings.Compare(a.term, b.term)
	})
	next := uint32(0)
	for _, t := range w.found {
		t.at, next = next, next+t.documents
	}
	w.postings = slices.Grow(w.postings[:0], int(next))[:next]
	w.eachTerm(name, func(t *countedTerm, p posting) {
		w.postings[t.at] = p
		t.at++
	})
}

// beginning returns the first bytes of a term as a number of the same order.
func beginning(term string) uint64 {
	var first [8]byte
	copy(first[:], term)
	return binary.BigEndian.Uint64(first[:])
}

// eachTerm calls yield for each term of a field, document by document.
func (w *segmentWriter) eachTerm(name string, yield func(*countedTerm, posting)) {
	for i, d := range w.documents {
		if name == idColumn {
			yield(&w.ids[i], posting{document: uint32(i), n: 1, length: 1})
			continue
		}
		for _, f := range d.Fields {
			f, ok := f.(*wordField)
			if !ok || f.name != name {
				continue
			}
			positions := f.positions
			for _, t := range f.terms {
				yield(t.term, posting{uint32(i), t.n, uint32(f.length), positions[:t.places]})
				positions = positions[t.places:]
			}
		}
	}
}

// writePostings writes the documents of a term, and returns where.
func (w *segmentWriter) writePostings(column uint64, list []posting) (address uint64) {
	w.tf, w.places = w.tf[:0], w.places[:0]
	for _, p := range list {
		placed := uint64(min(len(p.positions), 1))
		w.tf = binary.AppendUvarint(w.tf, uint64(p.n)<<1|placed)
		if p.n > 0 {
			w.tf = binary.AppendUvarint(w.tf, uint64(p.length))
		}
		if placed > 0 {
			w.placesOf(column, p.positions)
		}
	}
	tf, places := w.chunk(w.tf), w.chunk(w.places)
	address = w.at()
	w.number(tf, places)
	w.bitmap(list)
	return address
}

// placesOf writes the field, the position, the first and last byte, and how many further numbers (none) of each place,
// and before them how many bytes that takes.
func (w *segmentWriter) placesOf(column uint64, positions []uint32) {
	size := 0
	for _, p := range positions {
		size += (bits.Len32(p|1)+6)/7 + (bits.Len64(column|1)+6)/7 + 3
	}
	w.places = binary.AppendUvarint(w.places, uint64(size))
	for _, p := range positions {
		w.places = binary.AppendUvarint(w.places, column)
		w.places = append(binary.AppendUvarint(w.places, uint64(p)), 0, 0, 0)
	}
}

// chunk writes numbers as a list of one chunk, and returns where; 0 if there are none.
func (w *segmentWriter) chunk(numbers []byte) (address uint64) {
	if len(numbers) == 0 {
		return 0
	}
	address = w.at()
	w.number(1, uint64(len(numbers)))
	w.out = append(w.out, numbers...)
	return address
}

// bitmap writes the documents of a term as a roaring bitmap of one container, which is an array.
func (w *segmentWriter) bitmap(list []posting) {
	const noRuns, containers, header = 12346, 1, 16
	w.number(uint64(header + 2*len(list)))
	for _, n := range []uint32{noRuns, containers, uint32(len(list)-1) << 16, header} {
		w.out = binary.LittleEndian.AppendUint32(w.out, n)
	}
	for _, p := range list {
		w.out = binary.LittleEndian.AppendUint16(w.out, uint16(p.document))
	}
}

// writeValues writes the terms of each document that has any as one chunk.
func (w *segmentWriter) writeValues() {
	values := make([][]byte, len(w.documents))
	for _, t := range w.found {
		for _, p := range w.postings[t.at-t.documents : t.at] {
			values[p.document] = append(append(values[p.document], t.term...), index.DocValueTermSeparator)
		}
	}
	var ends, all []byte
	n := uint64(0)
	for i, v := range values {
		if len(v) > 0 {
			all = append(all, v...)
			ends = binary.AppendUvarint(binary.AppendUvarint(ends, uint64(i)), uint64(len(all)))
			n++
		}
	}
	start := len(w.out)
	w.number(n)
	w.out = append(append(w.out, ends...), snappy.Encode(nil, all)...)
	chunk := binary.AppendUvarint(nil, uint64(len(w.out)-start))
	w.out = append(w.out, chunk...)
	w.out = binary.BigEndian.AppendUint64(w.out, uint64(len(chunk)))
	w.out = binary.BigEndian.AppendUint64(w.out, 1)
}

// writeSections writes the name and the options of each field and where it is, and then where each of that is.
func (w *segmentWriter) writeSections() (address uint64) {
	var places []byte
	for _, c := range w.columns {
		places = binary.BigEndian.AppendUint64(places, w.at())
		w.number(uint64(len(c.name)))
		w.out = append(w.out, c.name...)
		w.number(uint64(c.options), 1)
		w.out = binary.BigEndian.AppendUint16(w.out, zap.SectionInvertedTextIndex)
		w.out = binary.BigEndian.AppendUint64(w.out, c.address)
	}
	address = w.at()
	w.number(uint64(len(w.columns)))
	w.out = append(w.out, places...)
	return address
}
