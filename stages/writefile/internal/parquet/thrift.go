package parquet

import "encoding/binary"

// thrift writes the compact protocol of Apache Thrift (thrift-compact-protocol.md), as far as the footer needs it.
type thrift struct {
	out  []byte
	last int // the number of the field before
}

// Kinds of fields.
const (
	kindTrue, kindInt8, kindInt32, kindInt64 = 1, 3, 5, 6
	kindBinary, kindList, kindStruct         = 8, 9, 12
)

// structure writes a structure whose fields f writes.
func (t *thrift) structure(f func()) {
	outer := t.last
	t.last = 0
	f()
	t.out, t.last = append(t.out, 0), outer
}

// field begins a field, whose number is at most 15 more than that of the one before.
func (t *thrift) field(id int, kind byte) {
	t.out = append(t.out, byte(id-t.last)<<4|kind)
	t.last = id
}

// list begins a field that is a list of so many elements.
func (t *thrift) list(id int, kind byte, n int) {
	t.field(id, kindList)
	if n < 15 {
		t.out = append(t.out, byte(n)<<4|kind)
		return
	}
	t.out = binary.AppendUvarint(append(t.out, 0xF0|kind), uint64(n))
}

func (t *thrift) int32(id int, n int64) {
	t.field(id, kindInt32)
	t.number(n)
}

func (t *thrift) int64(id int, n int64) {
	t.field(id, kindInt64)
	t.number(n)
}

func (t *thrift) int8(id int, n byte) {
	t.field(id, kindInt8)
	t.out = append(t.out, n)
}

func (t *thrift) yes(id int) { t.field(id, kindTrue) }

func (t *thrift) binary(id int, b []byte) {
	t.field(id, kindBinary)
	t.bytes(b)
}

// number writes a number of 32 or 64 bits; small ones are short, whatever their sign.
func (t *thrift) number(n int64) { t.out = binary.AppendVarint(t.out, n) }

func (t *thrift) bytes(b []byte) { t.out = append(binary.AppendUvarint(t.out, uint64(len(b))), b...) }
