package swar

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"testing"
)

func TestTheFirstZeroIsFound(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		var b [8]byte
		first := 8
		for i := range b {
			b[i] = []byte{0, 1, 2, 0x7f, 0x80, 0x81, 0xff}[random.IntN(7)]
			if b[i] == 0 && first == 8 {
				first = i
			}
		}
		if got := bits.TrailingZeros64(Zeroes(binary.LittleEndian.Uint64(b[:]))) / 8; got != first {
			t.Fatalf("%x: the first zero is at %d, want %d", b, got, first)
		}
	}
}

func TestEachByteIsReplaced(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 3))
	for range 100_000 {
		b := make([]byte, random.IntN(30))
		for i := range b {
			b[i] = []byte{'\n', '\v', '\t', ' ', 0, 0x8a, 0xff}[random.IntN(7)]
		}
		got := bytes.Clone(b)
		Replace(got, '\n', ' ')
		if want := bytes.ReplaceAll(b, []byte("\n"), []byte(" ")); !bytes.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", b, got, want)
		}
	}
}
