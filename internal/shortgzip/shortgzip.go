// Package shortgzip compresses what is so short that gzip's own Huffman codes cost more to make than they save: it
// writes one gzip member (RFC 1952) of one deflate block with the fixed codes (RFC 1951, section 3.2.6). What it writes
// is read by whatever reads gzip.
package shortgzip

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
)

// Longest is the most bytes that can be compressed. Distances reach back to the first of them.
const Longest = 32 << 10

const (
	minMatch = 4 // of the format it is 3
	maxMatch = 258
	hashBits = 12
)

// code is that of a symbol with its extra bits, the first bit lowest.
type code struct {
	bits  uint32
	count uint8
}

var (
	literals [256]code
	lengths  [maxMatch + 1]code
	end      = fixed(256)
)

func init() {
	for b := range literals {
		literals[b] = fixed(b)
	}
	// The lengths of 257 and what follows it: four of each number of extra bits, but eight of none.
	length := 3
	for symbol := 257; symbol < 285; symbol++ {
		extra := max(0, (symbol-261)/4)
		for i := range 1 << extra {
			c := fixed(symbol)
			lengths[length] = code{c.bits | uint32(i)<<c.count, c.count + uint8(extra)}
			length++
		}
	}
	lengths[maxMatch] = fixed(285)
}

// fixed is the code of a literal or length.
func fixed(symbol int) code {
	switch {
	case symbol < 144:
		return reversed(0x30+symbol, 8)
	case symbol < 256:
		return reversed(0x190+symbol-144, 9)
	case symbol < 280:
		return reversed(symbol-256, 7)
	}
	return reversed(0xc0+symbol-280, 8)
}

func reversed(value, count int) code {
	return code{uint32(bits.Reverse16(uint16(value)) >> (16 - count)), uint8(count)}
}

// distance is the code of how far back a match lies: two of each number of extra bits, but four of none.
func distance(d int) code {
	d--
	if d < 4 {
		return reversed(d, 5)
	}
	extra := bits.Len(uint(d)) - 2
	c := reversed(2*extra+d>>extra, 5)
	return code{c.bits | uint32(d&(1<<extra-1))<<5, uint8(5 + extra)}
}

// Append appends content as a gzip member, which must not be longer than [Longest].
func Append(out, content []byte) []byte {
	out = append(out, 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255) // no name and time, the fastest compression, of an unknown system
	w := writer{out: out}
	w.put(code{1 | 1<<1, 3}) // the last block, with fixed codes
	w.block(content)
	w.put(end)
	w.flush()
	out = binary.LittleEndian.AppendUint32(w.out, crc32.ChecksumIEEE(content))
	return binary.LittleEndian.AppendUint32(out, uint32(len(content)))
}

type writer struct {
	out   []byte
	held  uint64
	count uint8 // of the bits that are held, less than 32 between calls
}

func (w *writer) put(c code) {
	w.held |= uint64(c.bits) << w.count
	if w.count += c.count; w.count >= 32 {
		w.out = binary.LittleEndian.AppendUint32(w.out, uint32(w.held))
		w.held >>= 32
		w.count -= 32
	}
}

func (w *writer) flush() {
	for n := 0; n < int(w.count); n += 8 {
		w.out = append(w.out, byte(w.held>>n))
	}
}

// block writes literals, and for what was there before where it is.
func (w *writer) block(content []byte) {
	var last [1 << hashBits]uint16 // where four bytes of that hash stood last
	from, at := 0, 1               // so that 0 is always a place before
	for at+minMatch <= len(content) {
		four := binary.LittleEndian.Uint32(content[at:])
		h := four * 2654435761 >> (32 - hashBits)
		before := int(last[h])
		last[h] = uint16(at)
		if binary.LittleEndian.Uint32(content[before:]) != four {
			at += 1 + (at-from)>>6 // what does not repeat itself is not looked at everywhere
			continue
		}
		w.literals(content[from:at])
		length := minMatch + same(content[before+minMatch:], content[at+minMatch:])
		length = min(length, maxMatch)
		w.put(lengths[length])
		w.put(distance(at - before))
		at += length
		from = at
	}
	w.literals(content[from:])
}

func (w *writer) literals(content []byte) {
	for _, b := range content {
		w.put(literals[b])
	}
}

// same is how many bytes a and b, which is not the longer one, have alike at the beginning.
func same(a, b []byte) (n int) {
	for n+8 <= len(b) {
		if differ := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); differ != 0 {
			return n + bits.TrailingZeros64(differ)/8
		}
		n += 8
	}
	for n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
