package simhash

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// slowVotes counts bit by bit.
type slowVotes struct {
	sums     [64]int64
	features int
}

func (v *slowVotes) add(hash uint64) {
	for bit := range v.sums {
		v.sums[bit] += int64(hash>>bit&1)*2 - 1
	}
	v.features++
}

func (v *slowVotes) fingerprint() uint64 {
	if v.features < least {
		return 0
	}
	fingerprint := uint64(0)
	for bit, sum := range v.sums {
		if sum > 0 {
			fingerprint |= 1 << bit
		}
	}
	return max(fingerprint, 1)
}

func TestVotesAreCountedAsBitByBit(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, lean := range []int{0, 1, 2} { // bits at random, rare, frequent
		var fast Votes
		var slow slowVotes
		for i := range 5000 {
			if f, s := fast.Fingerprint(), slow.fingerprint(); f != s {
				t.Fatalf("%x of %d features, want %x", f, i, s)
			}
			hash := random.Uint64()
			switch lean {
			case 1:
				hash &= random.Uint64()
			case 2:
				hash |= random.Uint64()
			}
			fast.Add(hash)
			slow.add(hash)
		}
	}
}

// Fingerprints are stored with annotations: those of tomorrow must be those of yesterday.
func TestFingerprintsStayTheSame(t *testing.T) {
	t.Parallel()
	var v Votes
	for i := range uint64(100) {
		v.Add((i + 1) * 0x9E3779B97F4A7C15)
	}
	if got := v.Fingerprint(); got != 0x1f0438107b19c034 {
		t.Errorf("%#x", got)
	}
	var same Votes
	for range least {
		same.Add(0)
	}
	if got := same.Fingerprint(); got != 1 {
		t.Errorf("%#x of features without a bit, want 1: 0 is that of no text", got)
	}
}

func FuzzVotes(f *testing.F) {
	f.Add([]byte("some features, eight bytes each"), uint16(3))
	f.Add([]byte{0xff, 0, 1}, uint16(300))
	f.Fuzz(func(t *testing.T, data []byte, times uint16) {
		var fast Votes
		var slow slowVotes
		for range times%64 + 1 {
			for rest := data; len(rest) > 0; rest = rest[min(8, len(rest)):] {
				var eight [8]byte
				copy(eight[:], rest)
				fast.Add(binary.LittleEndian.Uint64(eight[:]))
				slow.add(binary.LittleEndian.Uint64(eight[:]))
			}
		}
		if f, s := fast.Fingerprint(), slow.fingerprint(); f != s {
			t.Errorf("%x of %d features, want %x", f, slow.features, s)
		}
	})
}
