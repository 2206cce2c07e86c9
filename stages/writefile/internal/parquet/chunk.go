package parquet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"

	"github.com/klauspost/compress/zstd"
)

// chunk is a column of a group of rows: pages, one of which is being filled.
type chunk struct {
	Column
	out      []byte // pages with their headers
	unpacked int    // how long those are before they are compressed
	values   int    // in those, with the missing ones
	missing  int
	page     page

	least, greatest []byte // as in a page, but without a length; nil while there are none
}

// page is what is compressed together: which values there are, then those.
type page struct {
	levels []byte // runs of values that are there, or missing
	run    int    // how long the last one is, which is not in there yet
	there  bool   // what that is
	values int    // with the missing ones
	plain  []byte
	bits   int // of booleans, eight of which are a byte
}

func (p *page) size() int { return len(p.plain) + len(p.levels) }

// level notes whether a value is there.
func (c *chunk) level(there bool) {
	if there != c.page.there {
		c.page.endRun()
	}
	c.page.there = there
	c.page.run++
	c.page.values++
	if !there {
		c.missing++
	}
}

// endRun writes a run as RLE of one bit.
func (p *page) endRun() {
	if p.run == 0 {
		return
	}
	p.levels = binary.AppendUvarint(p.levels, uint64(p.run)<<1)
	bit := byte(0)
	if p.there {
		bit = 1
	}
	p.levels, p.run = append(p.levels, bit), 0
}

func (c *chunk) boolean(b bool) {
	c.level(true)
	if c.page.bits%8 == 0 {
		c.page.plain = append(c.page.plain, 0)
	}
	value := []byte{0}
	if b {
		value[0] = 1
		c.page.plain[len(c.page.plain)-1] |= 1 << (c.page.bits % 8)
	}
	c.page.bits++
	c.extend(value, bytes.Compare)
}

func (c *chunk) double(f float64) {
	c.level(true)
	c.page.plain = binary.LittleEndian.AppendUint64(c.page.plain, math.Float64bits(f))
	if f == 0 { // of both, readers are to expect the other one
		c.extend(binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.Copysign(0, -1))), doubles)
		f = 0
	}
	c.extend(binary.LittleEndian.AppendUint64(nil, math.Float64bits(f)), doubles)
}

func (c *chunk) integer(n int64) {
	c.level(true)
	c.page.plain = binary.LittleEndian.AppendUint64(c.page.plain, uint64(n))
	c.extend(binary.LittleEndian.AppendUint64(nil, uint64(n)), integers)
}

func (c *chunk) bytes(b []byte) {
	c.level(true)
	c.page.plain = binary.LittleEndian.AppendUint32(c.page.plain, uint32(len(b)))
	c.page.plain = append(c.page.plain, b...)
	c.extend(b, bytes.Compare)
}

// extend keeps the least and the greatest value.
func (c *chunk) extend(value []byte, compare func(a, b []byte) int) {
	if c.least == nil || compare(value, c.least) < 0 {
		c.least = append(make([]byte, 0, len(value)), value...)
	}
	if c.greatest == nil || compare(value, c.greatest) > 0 {
		c.greatest = append(make([]byte, 0, len(value)), value...)
	}
}

func doubles(a, b []byte) int {
	x, y := math.Float64frombits(binary.LittleEndian.Uint64(a)), math.Float64frombits(binary.LittleEndian.Uint64(b))
	if x == 0 && y == 0 { // the negative one is less
		return cmp.Compare(math.Copysign(1, x), math.Copysign(1, y))
	}
	return cmp.Compare(x, y)
}

func integers(a, b []byte) int {
	return cmp.Compare(int64(binary.LittleEndian.Uint64(a)), int64(binary.LittleEndian.Uint64(b)))
}

// endPage compresses a page and adds it, with its header.
func (c *chunk) endPage(packer *zstd.Encoder) {
	p := &c.page
	if p.values == 0 {
		return
	}
	p.endRun()
	plain := binary.LittleEndian.AppendUint32(nil, uint32(len(p.levels)))
	plain = append(append(plain, p.levels...), p.plain...)
	packed := packer.EncodeAll(plain, nil)
	header := pageHeader(len(plain), len(packed), p.values)
	c.out = append(append(c.out, header...), packed...)
	c.unpacked += len(header) + len(plain)
	c.values += p.values
	*p = page{levels: p.levels[:0], plain: p.plain[:0]}
}
