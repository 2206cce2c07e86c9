package simhash

const (
	least = 16 // features: in a text of fewer words, one word is the matter

	batch    = 8  // features that are counted at once
	counters = 32 // bits of a count
)

// Votes collects the features of a text: each is a vote for and against every bit. The zero value is that of
// no text. There may be 2³² features less batch.
//
// The 64 counts stand on edge: counts[i] holds the bits of value 2ⁱ of them all, so that one addition is
// one for all of them. Eight features are first added up among themselves, by full adders of three bits,
// so that few carries reach the counts.
type Votes struct {
	counts   [counters]uint64
	pending  [batch]uint64
	features int
}

// Add adds a feature by its hash.
func (v *Votes) Add(hash uint64) {
	v.pending[v.features%batch] = hash
	if v.features++; v.features%batch == 0 {
		v.count()
	}
}

// count adds the pending features to the counts.
func (v *Votes) count() {
	p := &v.pending
	ones, twosA := add(v.counts[0], p[0], p[1])
	ones, twosB := add(ones, p[2], p[3])
	twos, foursA := add(v.counts[1], twosA, twosB)
	ones, twosA = add(ones, p[4], p[5])
	ones, twosB = add(ones, p[6], p[7])
	twos, foursB := add(twos, twosA, twosB)
	fours, carry := add(v.counts[2], foursA, foursB)
	v.counts[0], v.counts[1], v.counts[2] = ones, twos, fours
	v.carry(3, carry)
}

// carry adds bits of the value 2 to the i.
func (v *Votes) carry(i int, bits uint64) {
	for ; bits != 0 && i < counters; i++ {
		v.counts[i], bits = v.counts[i]^bits, v.counts[i]&bits
	}
}

// add adds three bits in each of 64 places.
func add(x, y, z uint64) (sum, carry uint64) {
	both := x ^ y
	return both ^ z, x&y | both&z
}

// Fingerprint returns the fingerprint, whose bits are those that most features have: 0 if there are too few
// features for one. More may be added after it.
func (v *Votes) Fingerprint() uint64 {
	if v.features < least {
		return 0
	}
	all := *v
	for _, hash := range v.pending[:v.features%batch] {
		all.carry(0, hash)
	}
	return max(all.above(uint64(v.features/2)), 1)
}

// above returns the bits whose count is larger than a limit.
func (v *Votes) above(limit uint64) (larger uint64) {
	equal := ^uint64(0)
	for i := counters - 1; i >= 0; i-- {
		if limit>>i&1 == 1 {
			equal &= v.counts[i]
		} else {
			larger |= equal & v.counts[i]
			equal &^= v.counts[i]
		}
	}
	return larger
}
