package frontier

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// filter tells most URLs that were never accepted from those that were, without asking the disk: every
// accepted one is in it, so what it does not have is new. What it may have is for the disk to tell, so that
// an error of its own costs a read and never a URL.
//
// It is a blocked Bloom filter in layers: when one is full, the next, twice as large up to a limit, takes what comes.
// Once all may not be larger together, the last one goes on taking, and errs more often.
type filter struct {
	most int // bytes

	mu     sync.Mutex
	whole  bool // it has every accepted URL; until then it tells nothing
	layers []layer
}

// layer is a filter of blocks as large as a line of the processor's cache.
type layer struct {
	room   uint64 // URLs that it is made for
	used   uint64
	blocks []block
}

type block [8]uint64

const (
	blockBits    = 512
	bitsEach     = 12 // of a layer, for each URL
	probes       = 7  // bits that a URL sets; with those above, one in 200 is taken for another
	leastRoom    = 1 << 16
	mostRoom     = 1 << 22  // of a layer that is added: a larger one would lie empty for long
	filterBytes  = 64 << 20 // of all layers: 44 million URLs
	filterHeader = "webrace frontier filter 1\n"
)

func newLayer(room uint64) layer {
	return layer{room: room, blocks: make([]block, (room*bitsEach+blockBits-1)/blockBits)}
}

// place returns the block of a URL, and a number that ends in its probes.
func (l *layer) place(id urlID) (*block, uint64) {
	i, _ := bits.Mul64(binary.BigEndian.Uint64(id[:8]), uint64(len(l.blocks)))
	return &l.blocks[i], binary.BigEndian.Uint64(id[8:])
}

func (l *layer) add(id urlID) {
	b, p := l.place(id)
	for range probes {
		b[p%blockBits/64] |= 1 << (p % 64)
		p /= blockBits
	}
	l.used++
}

func (l *layer) has(id urlID) bool {
	b, p := l.place(id)
	for range probes {
		if b[p%blockBits/64]&(1<<(p%64)) == 0 {
			return false
		}
		p /= blockBits
	}
	return true
}

// maybe reports whether a URL may have been accepted.
func (f *filter) maybe(id urlID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.whole {
		return true
	}
	for i := range f.layers {
		if f.layers[i].has(id) {
			return true
		}
	}
	return false
}

// add puts accepted URLs in.
func (f *filter) add(ids ...urlID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range ids {
		last := len(f.layers) - 1
		if last < 0 || f.layers[last].used >= f.layers[last].room {
			last = f.grow(last)
		}
		f.layers[last].add(id)
	}
}

// grow adds a layer if there may be one, and returns the last.
func (f *filter) grow(last int) int {
	room, bytes := uint64(leastRoom), uint64(0)
	for i := range f.layers {
		room = min(2*f.layers[i].room, mostRoom)
		bytes += uint64(len(f.layers[i].blocks)) * blockBits / 8
	}
	if last >= 0 && bytes+room*bitsEach/8 > uint64(f.most) {
		return last
	}
	f.layers = append(f.layers, newLayer(room))
	return last + 1
}

// reserve prepares for as many URLs as there are known to be.
func (f *filter) reserve(urls uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	room := uint64(leastRoom)
	for room < urls && room*bitsEach/8 <= uint64(f.most)/4 {
		room *= 2
	}
	f.layers = append(f.layers, newLayer(room))
}

// complete records that every accepted URL was added.
func (f *filter) complete() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.whole = true
}

// stamp is the state of a queue that a filter was written down in: a new URL changes it, so while it
// stands, none was accepted.
type stamp struct{ order, known uint64 }

func (c *counters) stamp() stamp { return stamp{c.order, c.known} }

// encode writes a filter down, or returns nil for one that is not complete.
func (f *filter) encode(at stamp) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.whole {
		return nil
	}
	size := len(filterHeader) + 32
	for i := range f.layers {
		size += 16 + len(f.layers[i].blocks)*blockBits/8
	}
	b := append(make([]byte, 0, size), filterHeader...)
	b = binary.LittleEndian.AppendUint64(b, at.order)
	b = binary.LittleEndian.AppendUint64(b, at.known)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(f.layers)))
	for i := range f.layers {
		l := &f.layers[i]
		b = binary.LittleEndian.AppendUint64(b, l.room)
		b = binary.LittleEndian.AppendUint64(b, l.used)
		for j := range l.blocks {
			for _, word := range l.blocks[j] {
				b = binary.LittleEndian.AppendUint64(b, word)
			}
		}
	}
	return binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b))
}

var errFilter = errors.New("filter is damaged, of another time or of an unknown version")

// decodeFilter reads what encode wrote, if it is whole and still stands.
func decodeFilter(b []byte, at stamp, most int) (*filter, error) {
	if len(b) < len(filterHeader)+32 || string(b[:len(filterHeader)]) != filterHeader {
		return nil, errFilter
	}
	body, sum := b[:len(b)-8], binary.LittleEndian.Uint64(b[len(b)-8:])
	if xxhash.Sum64(body) != sum {
		return nil, errFilter
	}
	rest := body[len(filterHeader):]
	next := func() (n uint64) {
		if len(rest) >= 8 {
			n, rest = binary.LittleEndian.Uint64(rest), rest[8:]
		}
		return n
	}
	if at != (stamp{next(), next()}) {
		return nil, errFilter
	}
	f := &filter{most: most, whole: true}
	for range next() {
		room, used := next(), next()
		if room == 0 || room > uint64(len(rest)) { // a byte and a half each
			return nil, errFilter
		}
		l := newLayer(room)
		if len(rest) < len(l.blocks)*blockBits/8 {
			return nil, errFilter
		}
		l.used = used
		for j := range l.blocks {
			for i := range l.blocks[j] {
				l.blocks[j][i] = next()
			}
		}
		f.layers = append(f.layers, l)
	}
	if len(rest) > 0 {
		return nil, errFilter
	}
	return f, nil
}
